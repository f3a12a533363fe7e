"""What the ranks of `hcomm perf` pay before and beside their calls: the time to meet, what an idle communicator holds, and which
way their messages go."""
import json
import os
import tempfile

import harness
from harness import hcomm

QUICK = ["--iters", "1", "--warmup", "1", "--repetitions", "1"]
PARTS = ("prepare_us", "gather_us", "table_us", "segment_us", "transport_us", "agree_us")
MOST_IDLE_BYTES = 16 << 10


def host(rank, ranks, hosts):
    return rank * hosts // ranks


class Transport(harness.ToolsTest):
    def perf(self, *words, ranks, hosts=1, environment=None):
        """The run and its JSON. Several hosts are made of one, with as many ranks each."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            command = ["perf", *words, *QUICK, "--json", path]
            if hosts == 1:
                run = hcomm(*command, "-n", str(ranks), environment=environment, timeout=120)
            else:
                script = f'HCOMM_HOST_ID=host-$((HCOMM_RANK * {hosts} / HCOMM_SIZE)) exec "$0" "$@"'
                run = hcomm("run", "-n", str(ranks), "--", "sh", "-c", script, harness.HCOMM, *command,
                            environment=environment, timeout=120)
            self.assertEqual(run.code, 0, run.err.decode())
            self.assertIn(b"# Out of bounds values : 0 OK", run.out)
            self.assert_nobody_left(run)
            with open(path) as file:
                return run, json.load(file)

    def test_64_ranks_meet_and_say_where_the_time_went(self):
        run, whole = self.perf("allreduce", "-b", "8", "-e", "8", ranks=64)
        self.assertRegex(run.out.decode(), r"(?m)^# init              : [\d.]+ ms on rank \d+, the slowest: [\d.]+ to prepare, ")
        self.assertEqual({row["wrong"] for row in whole["rows"]}, {0})
        init = whole["init"]
        self.assertEqual(set(init), {"rank", "whole_us", *PARTS})
        self.assertIn(init["rank"], range(64))
        for part in ("prepare_us", "gather_us", "table_us", "transport_us", "agree_us"):
            self.assertGreater(init[part], 0, part)
        self.assertAlmostEqual(init["whole_us"], sum(init[part] for part in PARTS), places=2)

    def test_neighbours_use_memory_alone_and_others_the_network_alone(self):
        # Between them these two talk over every pair.
        algorithms = {"HCOMM_ALGO": "allreduce=ring,allgather=recursive_doubling"}
        for ranks in (3, 4):  # 2+1 and 2+2
            with self.subTest(ranks=ranks):
                _, whole = self.perf("all", "-b", "1K", "-e", "1K", ranks=ranks, hosts=2, environment=algorithms)
                self.assertEqual({row["transport"] for row in whole["rows"]}, {"shm+tcp"})
                pairs = {(pair["from"], pair["to"]): pair for pair in whole["traffic"]}
                self.assertEqual(set(pairs), {(a, b) for a in range(ranks) for b in range(ranks) if a != b})
                for (a, b), pair in pairs.items():
                    used, unused = "in_memory", "over_network"
                    if host(a, ranks, 2) != host(b, ranks, 2):
                        used, unused = unused, used
                    self.assertEqual(pair[unused], 0, pair)
                    self.assertGreater(pair[used], 1024, pair)

    def test_an_idle_communicator_costs_little(self):
        for ranks in (2, 4, 8, 64):
            for name, hosts, environment in (("shm", 1, {}), ("tcp", 1, {"HCOMM_TRANSPORT": "tcp"}), ("mixed", 2, {})):
                with self.subTest(ranks=ranks, transport=name):
                    run, whole = self.perf("barrier", ranks=ranks, hosts=hosts, environment=environment)
                    self.assertRegex(run.out.decode(), r"(?m)^# idle communicator : \d+ bytes a rank \(")
                    idle = whole["idle_communicator"]
                    self.assertEqual(idle["bytes"], idle["heap_bytes"] + idle["shared_bytes"])
                    self.assertLessEqual(idle["bytes"], MOST_IDLE_BYTES, idle)
                    self.assertLessEqual(idle["descriptors"], 0, idle)  # fewer: one was on its way out when it began
                    self.assertLessEqual(idle["threads"], 0, idle)


if __name__ == "__main__":
    harness.main()
