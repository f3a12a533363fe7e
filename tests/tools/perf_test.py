"""`hcomm perf`: right values, the table, CSV and JSON."""
import csv
import io
import json
import os
import re
import tempfile

import harness
from harness import hcomm

ROW = re.compile(r"^ +(\d+) +(\d+) +(\w+) +(\w+) +(-?\d+)((?: +[\d.-]+){8})$")
FACTORS = {
    "allreduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "allgather": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1 if n > 1 else 0,
    "barrier": lambda n: 0,
    "reduce": lambda n: 1 if n > 1 else 0,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "alltoall": lambda n: (n - 1) / n,
}
KEYS = {"collective", "bytes", "count", "dtype", "op", "root", "algorithm", "transport", "in_place", "iterations", "time_us",
        "min_us", "max_us", "p99_us", "algbw_gbs", "busbw_gbs", "wrong"}


def perf(*arguments, **more):
    return hcomm("perf", *arguments, "--iters", "3", "--warmup", "1", "--repetitions", "2", timeout=120, **more)


class Perf(harness.ToolsTest):
    def rows(self, text):
        found = [ROW.match(line) for line in text.decode().splitlines() if line and not line.startswith("#")]
        self.assertTrue(found and all(found), text.decode())
        return found

    def check_well(self, run):
        self.assertEqual(run.code, 0, run.err.decode())
        self.assertIn(b"# Out of bounds values : 0 OK", run.out)
        self.assert_nobody_left(run)

    def test_all_collectives(self):
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                run = perf("all", "-n", str(ranks), "-b", "4", "-e", "256K", "-f", "8")
                self.check_well(run)
                for row in self.rows(run.out):
                    numbers = row[6].split()
                    self.assertEqual(numbers[3], "0")
                    self.assertIn(numbers[7], ("0", "-"))

    def test_all_types_and_operations(self):
        run = perf("allreduce", "-n", "3", "-b", "4000", "-e", "4000", "-t", "all", "-o", "all")
        self.check_well(run)
        self.assertEqual(len(self.rows(run.out)), 8 * 11 + 10 + 6 * 5 + 2 * 3)

    def test_odd_sizes_and_roots_and_private_memory(self):
        self.check_well(perf("broadcast", "-n", "3", "-b", "12", "-e", "100012", "-i", "50000", "-r", "2", "-t", "half"))
        self.check_well(perf("all", "-n", "2", "-b", "1000003", "-e", "1000003", "--memory", "private", "-t", "int32"))

    def test_json(self):
        for ranks in (1, 3):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "out.json")
                run = perf("all", "-n", str(ranks), "-b", "1K", "-e", "64K", "-f", "64", "--json", path)
                self.check_well(run)
                with open(path) as file:
                    whole = json.load(file)
            self.assertEqual(set(whole), {"machine", "version", "settings", "ranks", "init", "idle_communicator", "traffic",
                                          "rows"})
            self.assertEqual(whole["ranks"], ranks)
            self.assertIn("HCOMM_ALGO", whole["settings"])
            self.assertEqual({row["collective"] for row in whole["rows"]}, set(FACTORS))
            for row in whole["rows"]:
                self.assertEqual(set(row), KEYS)
                self.assertEqual(row["wrong"], 0)
                self.assertGreater(row["time_us"], 0)
                self.assertLessEqual(row["min_us"], row["p99_us"])
                self.assertLessEqual(row["p99_us"], row["max_us"])
                self.assertAlmostEqual(row["algbw_gbs"], row["bytes"] / row["time_us"] / 1000, places=9)
                factor = FACTORS[row["collective"]](ranks)
                self.assertAlmostEqual(row["busbw_gbs"], row["algbw_gbs"] * factor, places=9)

    def test_csv(self):
        run = perf("allreduce", "-n", "2", "-b", "8", "-e", "64", "--csv")
        rows = list(csv.DictReader(io.StringIO(run.out.decode())))
        self.assertEqual(set(rows[0]), KEYS)
        self.assertEqual([row["bytes"] for row in rows], ["8", "8", "16", "16", "32", "32", "64", "64"])

    def test_under_the_launcher(self):
        run = hcomm("run", "-n", "2", "--", harness.HCOMM, "perf", "allreduce", "-b", "8", "-e", "8", "--iters", "2")
        self.check_well(run)
        self.assertEqual(len(self.rows(run.out)), 1)

    def test_an_algorithm_asked_for_is_the_one_that_ran(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            run = perf("allreduce", "-n", "3", "-b", "64K", "-e", "64K", "--algo", "ring", "--json", path)
            self.check_well(run)
            with open(path) as file:
                rows = json.load(file)["rows"]
        self.assertEqual({row["algorithm"] for row in rows}, {"ring"})


if __name__ == "__main__":
    harness.main()
