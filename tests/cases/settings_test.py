"""Environment variables and options: missing, contradictory, different between ranks; and what is written where."""
import json
import os
import re
import subprocess
import tempfile

import cases_harness
import harness
from cases_harness import CasesTest, Wrapped
from harness import hcomm

JOB = "0" * 256
ONLY_ON_RANK_1 = 'if [ "$HCOMM_RANK" = 1 ]; then export {}; fi; exec "$0" "$@"'


class Launch(CasesTest):
    def test_B067_what_is_missing_or_contradictory_is_named_and_never_one_rank(self):
        table = [
            ({}, ["HCOMM_RANK", "hcomm run"]),
            ({"HCOMM_RANK": "0", "HCOMM_JOB": JOB}, ["HCOMM_SIZE"]),
            ({"HCOMM_RANK": "0", "HCOMM_SIZE": "", "HCOMM_JOB": JOB}, ["HCOMM_SIZE"]),
            ({"HCOMM_RANK": "0", "HCOMM_SIZE": "two", "HCOMM_JOB": JOB}, ["HCOMM_SIZE", "two"]),
            ({"HCOMM_RANK": "0", "HCOMM_SIZE": "0", "HCOMM_JOB": JOB}, ["HCOMM_SIZE", "'0'"]),
            ({"HCOMM_SIZE": "2", "HCOMM_JOB": JOB}, ["HCOMM_RANK"]),
            ({"HCOMM_RANK": "2", "HCOMM_SIZE": "2", "HCOMM_JOB": JOB}, ["HCOMM_RANK", "HCOMM_SIZE", "2"]),
            ({"HCOMM_RANK": "0", "HCOMM_SIZE": "1"}, ["HCOMM_JOB"]),
            ({"HCOMM_RANK": "0", "HCOMM_SIZE": "2", "HCOMM_JOB": "xyz"}, ["HCOMM_JOB"]),
            ({"WORLD_SIZE": "2", "RANK": "0"}, ["WORLD_SIZE", "MASTER_ADDR"]),
            ({"WORLD_SIZE": "two", "RANK": "0", "MASTER_ADDR": "h", "MASTER_PORT": "1"}, ["WORLD_SIZE", "'two'"]),
            ({"WORLD_SIZE": "0", "RANK": "0", "MASTER_ADDR": "h", "MASTER_PORT": "1"}, ["WORLD_SIZE", "'0'"]),
            ({"WORLD_SIZE": "", "RANK": "0", "MASTER_ADDR": "h", "MASTER_PORT": "1"}, ["WORLD_SIZE"]),
            ({"WORLD_SIZE": "2", "RANK": "0", "HCOMM_SIZE": "3"}, ["HCOMM_SIZE", "HCOMM_RANK"]),
        ]
        for environment, words in table:
            with self.subTest(environment=environment):
                run = self.run_command([cases_harness.RANK, "sum", "8", "1", "0"], environment)
                self.assertEqual(run.code, 3, run.err)
                self.assertEqual(run.out, b"")
                for word in words:
                    self.assertIn(word, run.err.decode())

    def test_B067_a_rank_that_never_starts_is_named(self):
        script = 'if [ "$HCOMM_RANK" = 1 ]; then sleep 4; exit 0; fi; exec "$0" "$@"'
        run = self.run_job(3, "sum", 8, 1, 0, before=("sh", "-c", script), environment={"HCOMM_CONNECT_TIMEOUT": "1s"})
        self.assertEqual(run.code, 3)
        self.assertRegex(run.err.decode(), r"2 of 3 ranks .*missing: 1\b")


class Agreement(CasesTest):
    def on_rank_1(self, setting, environment=None):
        return self.run_job(2, "sum", 4096, 2, 0, before=("sh", "-c", ONLY_ON_RANK_1.format(setting)), environment=environment)

    def test_B068_what_must_agree_is_named_with_both_values(self):
        for name, one, other in (("HCOMM_SLOTS", "1", "2"), ("HCOMM_ALGO", "ring", "direct"), ("HCOMM_CHUNK_SIZE", "64K", "128K"),
                                 ("HCOMM_BUFFSIZE", "64K", "128K"), ("HCOMM_TUNER", "rules", "model"),
                                 ("HCOMM_CHECK", "off", "signature"),
                                 ("HCOMM_DETERMINISTIC", "on", "off"),
                                 ("HCOMM_TRANSPORT", "shm", "shm,loopback")):
            with self.subTest(name=name):
                run = self.on_rank_1(f"{name}={one}", {name: other})
                text = run.err.decode()
                self.assertEqual(run.code, 3, text)
                self.assertIn(name, text)
                for value in (one, other):
                    bytes_of = str(int(value[:-1]) * 1024) if value.endswith("K") else value
                    self.assertIn(bytes_of, text)
                self.assertEqual(run.out, b"")

    def test_B068_what_means_the_same_or_may_differ_is_no_error(self):
        for setting, environment in (("HCOMM_CHUNK_SIZE=65536", {"HCOMM_CHUNK_SIZE": "64K"}), ("HCOMM_TIMEOUT=33", None),
                                     ("HCOMM_CONNECT_TIMEOUT=33", None), ("HCOMM_PEER_TIMEOUT=33", None),
                                     ("HCOMM_KERNELS=scalar", None), ("HCOMM_DEBUG=error", None), ("HCOMM_ALGO=adaptive", None)):
            with self.subTest(setting=setting):
                self.assert_right(self.on_rank_1(setting, environment), 2)


class Algorithms(CasesTest):
    def test_B125_every_collective_with_every_name(self):
        for name in ("adaptive", "flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree", "pairwise"):
            with self.subTest(name=name):
                run = hcomm("perf", "all", "-n", "3", "-b", "2K", "-e", "2K", "--iters", "2", "--warmup", "1",
                            environment={"HCOMM_ALGO": name}, timeout=120)
                text = run.out.decode() + run.err.decode()
                self.assertEqual(run.code, 0, text)
                self.assertIn("# Out of bounds values : 0 OK", text)

    def test_B125_a_name_that_is_none_is_refused_alike_and_the_legal_ones_are_listed(self):
        for name in ("trees", "hierarchical", "Ring", "ring ", "rign", "allreduce", "0", "-", "r" * 2000):
            with self.subTest(name=name[:20]):
                run = hcomm("perf", "allreduce", "-n", "2", "-b", "8", "-e", "8", environment={"HCOMM_ALGO": name})
                self.assertEqual(run.code, 2, run.err)
                self.assertIn("HCOMM_ALGO", run.err.decode())
                run = self.run_job(2, "sum", 8, 1, 0, environment={"HCOMM_ALGO": name})
                self.assertEqual(run.code, 3, run.err)
                self.assertIn("HCOMM_ALGO", run.err.decode())
                if len(name) < 100:
                    for legal in ("flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree", "pairwise"):
                        self.assertIn(legal, run.err.decode())


class Perf(CasesTest):
    def rows(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            run = hcomm("perf", *arguments, "--json", path, timeout=120)
            self.assertEqual(run.code, 0, run.err)
            with open(path) as file:
                return json.load(file)["rows"]

    def test_B130_bandwidths_by_hand_also_for_one_rank_one_iteration_and_no_warmup(self):
        for ranks, factor in ((1, 0), (2, 1), (3, 4 / 3)):
            for extra in (("--iters", "1", "--warmup", "0"), ("--iters", "5", "--warmup", "1")):
                rows = self.rows("allreduce", "-n", str(ranks), "-b", "4", "-e", "1M", "-f", "512", *extra)
                self.assertGreaterEqual(len(rows), 3)  # 4 bytes are one element: fewer than ranks
                for row in rows:
                    self.assertEqual(row["wrong"], 0)
                    by_hand = row["bytes"] / (row["time_us"] * 1e-6) / 1e9
                    self.assertAlmostEqual(row["algbw_gbs"], by_hand, delta=1e-6 * by_hand)
                    self.assertAlmostEqual(row["busbw_gbs"], by_hand * factor, delta=1e-6 * by_hand)
                    self.assertLess(row["algbw_gbs"], 10_000)


class Log(CasesTest):
    # A setting that is none makes each rank write a warning.
    LINE = re.compile(rb"^\S+Z \S+ (\d+) rank (\d+) warn knobs: HCOMM_NO_SUCH .*$")
    NOISE = {"HCOMM_NO_SUCH": "1", "HCOMM_DEBUG": "info"}

    def check_lines(self, text, ranks):
        found = [self.LINE.match(line) for line in text.splitlines()]
        self.assertTrue(all(found), text.decode())
        return sorted(int(match[2]) for match in found)

    def run_json(self, file_pattern=None, stderr=subprocess.PIPE):
        environment = dict(self.NOISE, **({"HCOMM_DEBUG_FILE": file_pattern} if file_pattern else {}))
        command = cases_harness.job_command(8, "json")
        run = Wrapped(command, environment, stderr=stderr).finish(timeout=60)
        self.assertEqual(run.code, 0)
        self.assertEqual(sorted(json.loads(line)["rank"] for line in run.out.splitlines()), list(range(8)))
        self.assert_nobody_left(run)
        return run

    def test_B136_lines_on_standard_error_are_whole_and_standard_output_is_the_programs(self):
        self.assertEqual(self.check_lines(self.run_json().err, 8), list(range(8)))

    def test_B136_one_file_for_all_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log")
            for turn in (1, 2):  # the second job adds, and overwrites nothing
                self.assertEqual(self.run_json(path).err, b"")
                with open(path, "rb") as file:
                    self.assertEqual(self.check_lines(file.read(), 8), sorted(list(range(8)) * turn))

    def test_B136_a_file_for_each_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_json(os.path.join(folder, "%h.%p.%r"))
            self.assertEqual(sorted(name.rsplit(".", 1)[1] for name in os.listdir(folder)), [str(rank) for rank in range(8)])

    def test_B136_a_path_that_cannot_be_written_is_said_and_nothing_is_lost(self):
        text = self.run_json("/no/such/folder/log").err
        self.assertIn(b"/no/such/folder/log", text)
        self.assertEqual(text.count(b"HCOMM_NO_SUCH"), 8)


class Timeouts(CasesTest):
    def test_B077_huge_timeouts_never_fire_early(self):
        for value in ("9223372036854775807", "99999999999999999999", "1000000000", "0"):
            with self.subTest(value=value):
                self.assert_right(self.run_job(3, "late", 300, environment={"HCOMM_TIMEOUT": value}), 3)

    def test_B077_values_that_are_none_are_refused_with_name_and_value(self):
        for value in ("-1", "abc", "10m", " 5 ", "5x", "nan", "inf", "0x10", "1e3"):
            with self.subTest(value=value):
                run = self.run_job(2, "late", 0, environment={"HCOMM_TIMEOUT": value})
                self.assertEqual(run.code, 3, run.err)
                self.assertIn(f"HCOMM_TIMEOUT='{value}'", run.err.decode())


if __name__ == "__main__":
    cases_harness.main()
