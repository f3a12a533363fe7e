"""`hcomm plan`: every candidate with its schedule, its bytes on each kind of link, its time and its class, and who decided."""
import json
import re
import tempfile

import harness
from harness import hcomm

HEX = re.compile(r"^[0-9a-f]{16}$")


def plans(*arguments, **more):
    run = hcomm("plan", *arguments, "--json", **more)
    assert run.code == 0, run.err.decode()
    return json.loads(run.out)["plans"]


def candidates(plan):
    return {each["algorithm"]: each for each in plan["candidates"]}


class Plan(harness.ToolsTest):
    def test_every_candidate_is_complete(self):
        for plan in plans("-n", "4", "-b", "1M"):
            self.assertIn(plan["chosen"], candidates(plan))
            for each in plan["candidates"]:
                with self.subTest(collective=plan["collective"], algorithm=each["algorithm"]):
                    self.assertRegex(each["schedule"], HEX)
                    self.assertEqual(set(each["link_bytes"]), {"window", "shm", "tcp"})
                    self.assertEqual(each["link_bytes"]["tcp"], 0)
                    self.assertGreater(each["predicted_us"], 0)
                    reduces = plan["collective"] in ("allreduce", "reduce_scatter", "reduce")
                    self.assertEqual(each["result_class"] != "", reduces)

    def test_bytes_by_link(self):
        m = 1 << 20
        [near] = plans("allreduce", "-n", "4", "-b", "1M")
        self.assertEqual(candidates(near)["ring"]["link_bytes"], {"window": 0, "shm": 3 * m // 2, "tcp": 0})
        self.assertEqual(candidates(near)["direct"]["link_bytes"], {"window": 3 * m // 2, "shm": 0, "tcp": 0})
        [far] = plans("allreduce", "-n", "4", "-b", "1M", "--layout", "2x2")
        self.assertEqual(far["layout"], "2+2")
        self.assertIn("window", candidates(far)["flat"]["refused"])
        self.assertEqual(candidates(far)["ring"]["link_bytes"]["tcp"], 3 * m // 2)
        self.assertEqual(candidates(far)["recursive_doubling"]["link_bytes"], {"window": 0, "shm": m, "tcp": m})
        # Neighbours exchange halves, hosts quarters.
        self.assertEqual(candidates(far)["halving_doubling"]["link_bytes"], {"window": 0, "shm": m, "tcp": m // 2})
        self.assertEqual(plans("allreduce", "-n", "4", "-b", "1M", "--hosts", "2"), [far])
        self.assertGreater(candidates(far)["ring"]["predicted_us"], candidates(near)["ring"]["predicted_us"])

    def test_hosts_made_of_one_machine_run_what_is_planned_for_hosts(self):
        with tempfile.NamedTemporaryFile() as rows:
            perf = (f"HCOMM_HOST_ID=host$((HCOMM_RANK / 2)) exec {harness.HCOMM} perf all -b 64K -e 4M -f 8 "
                    f"--iters 1 --warmup 0 --repetitions 1 --json {rows.name}")
            run = hcomm("run", "-n", "4", "--", "sh", "-c", perf)
            self.assertEqual(run.code, 0, run.err.decode())
            ran = {(row["collective"], row["bytes"]): row["algorithm"] for row in json.load(rows)["rows"]}
        self.assertGreater(len(ran), 10)
        for (collective, size), algorithm in ran.items():
            with self.subTest(collective=collective, bytes=size):
                [plan] = plans(collective, "-n", "4", "-b", str(size), "--hosts", "2")
                self.assertEqual(plan["chosen"], algorithm)

    def test_the_hash_is_of_all_ranks(self):
        def hashes(*arguments):
            return {name: each["schedule"] for name, each in candidates(plans(*arguments)[0]).items()}
        base = hashes("broadcast", "-n", "4", "-b", "1M")
        self.assertEqual(len(set(base.values())), len(base))
        self.assertEqual(base, hashes("broadcast", "-n", "4", "-b", "8"))  # no sizes in it
        for other in (("broadcast", "-n", "5"), ("broadcast", "-n", "4", "--root", "1")):
            for name, value in hashes(*other).items():
                self.assertNotEqual(value, base[name])

    def test_who_decided(self):
        cases = [
            (("allreduce", "-n", "4"), {}, "model", "least predicted time"),
            (("allreduce", "-n", "4", "--algo", "tree"), {}, "HCOMM_ALGO", "by name"),
            (("allgather", "-n", "4"), {"HCOMM_ALGO": "tree"}, "model", "HCOMM_ALGO=tree leaves it adaptive"),
            (("allreduce", "-n", "6", "-b", "2M"), {"HCOMM_TUNER": "rules"}, "rules", "1 to 16 MB: tree"),
            (("allgather", "-n", "6", "-b", "12M"), {"HCOMM_TUNER": "rules"}, "rules", "instead recursive_doubling"),
            (("allreduce", "-n", "12"), {"HCOMM_TUNER": "rules"}, "rules", "hierarchical_ring, which is not written"),
            (("allreduce", "-n", "12", "--hosts", "3"), {"HCOMM_TUNER": "rules"}, "rules", "up to 4 ranks on a host: ring"),
        ]
        for arguments, environment, by, why in cases:
            with self.subTest(arguments=arguments):
                [plan] = plans(*arguments, environment=environment)
                self.assertEqual(plan["decided_by"], by)
                self.assertIn(why, plan["why"])

    def test_text(self):
        run = hcomm("plan", "reduce", "-n", "4", "-b", "64K", "--layout", "3+1")
        self.assertEqual(run.code, 0, run.err.decode())
        text = run.out.decode()
        for part in ("reduce of 4 ranks", "on 2 hosts (3+1)", "no window", "tcp bytes", "predicted us", "refused: needs a window",
                     "decided by model: the least predicted time"):
            self.assertIn(part, text)
        self.assertEqual(len(re.findall(r"^\* ", text, re.M)), 1)

    def test_wrong_usage(self):
        cases = [(("--layout", "2x3"), "there are 4 ranks"), (("--layout", "two"), "2x2"), (("--hosts", "5"), "legal are 1 to 4"),
                 (("--layout", "2x2", "--hosts", "2"), "give one of them"),
                 (("--algo", "allgather=tree"), "not written for allgather"),
                 (("--algo", "level0:NA;level1:ring"), "HCCL's form by levels")]
        for arguments, word in cases:
            with self.subTest(arguments=arguments):
                run = hcomm("plan", "allreduce", "-n", "4", *arguments)
                self.assertEqual(run.code, 2)
                self.assertEqual(run.out, b"")
                self.assertIn(word, run.err.decode())


if __name__ == "__main__":
    harness.main()
