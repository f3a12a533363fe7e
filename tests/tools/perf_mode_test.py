"""`hcomm perf --mode`: the layouts, the sizes that are measured, and that everything is checked in them, too."""
import json
import os
import re
import tempfile

import harness
from harness import hcomm

FEW = ["--iters", "2", "--warmup", "1", "--repetitions", "1"]
COLUMNS = {"latency": ["Avg Latency(us)", "Min Latency(us)", "P99 Latency(us)", "Max Latency(us)"],
           "bandwidth": ["Alg Bw(GB/s)", "Bus Bw(GB/s)", "Avg Time(us)"],
           "osu": ["Avg Latency(us)"]}
IN_PARTS = {"allgather", "gather", "scatter", "alltoall"}  # the size of osu is that of one rank's part


class Modes(harness.ToolsTest):
    def measure(self, *arguments):
        """The lines of standard output, and the rows of the JSON."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            run = hcomm("perf", *arguments, "--json", path, timeout=120)
            self.assertEqual(run.code, 0, run.err.decode())
            with open(path, encoding="utf-8") as file:
                return run.out.decode().splitlines(), json.load(file)["rows"]

    def numbers(self, lines, mode):
        """The rows as lists of words: a size, flush left in ten columns, then numbers flush right in eighteen each."""
        rows = [line for line in lines if line and not line.startswith("#")]
        for line in rows:
            self.assertRegex(line, r"^\d+ *" + r"( *\d+\.\d\d)" * len(COLUMNS[mode]) + "$")
            self.assertEqual(len(line), 10 + 18 * len(COLUMNS[mode]))
        return [line.split() for line in rows]

    def test_osu_has_two_columns(self):
        lines, rows = self.measure("allreduce", "-n", "2", "--mode", "osu", "-b", "4", "-e", "64", *FEW)
        self.assertEqual(lines[:4], ["", f"# hcomm allreduce Latency Test v{self.version()}, 2 ranks", "# Datatype: float32, sum",
                                     "# Size       Avg Latency(us)"])
        self.assertEqual(lines[-1], "# Out of bounds values : 0 OK")
        numbers = self.numbers(lines, "osu")
        self.assertEqual([size for size, _ in numbers], ["4", "8", "16", "32", "64"])
        self.assertEqual([time for _, time in numbers], [f"{row['time_us']:.2f}" for row in rows])
        self.assertTrue(all(not row["in_place"] for row in rows))

    def test_osu_counts_one_part_where_ranks_have_parts(self):
        lines, rows = self.measure("all", "-n", "3", "--mode", "osu", "-b", "12", "-e", "48", "-t", "int32", *FEW)
        sizes = {}
        for line in lines:
            heading = re.match(r"# hcomm (\w+) Latency Test", line)
            if heading:
                collective = heading[1]
                sizes[collective] = []
            elif line and not line.startswith("#") and collective != "barrier":
                sizes[collective].append(int(line.split()[0]))
        self.assertEqual(set(sizes), {row["collective"] for row in rows})
        for collective, shown in sizes.items():
            self.assertEqual(shown, [] if collective == "barrier" else [12, 24, 48], collective)
            bytes_of = [row["bytes"] for row in rows if row["collective"] == collective and collective != "barrier"]
            self.assertEqual(bytes_of, [size * (3 if collective in IN_PARTS else 1) for size in shown], collective)
        barrier = lines[lines.index(f"# hcomm barrier Latency Test v{self.version()}, 3 ranks") + 1:]
        self.assertEqual(barrier[0], "#   Avg Latency(us)")
        self.assertRegex(barrier[1], r"^ +\d+\.\d\d$")

    def test_latency(self):
        lines, rows = self.measure("broadcast", "-n", "2", "--mode", "latency", *FEW)
        self.assertEqual(lines[2], "# Datatype: float32")
        self.assertEqual(lines[3], "# Size    " + "".join(f"{name:>18}" for name in COLUMNS["latency"]))
        numbers = self.numbers(lines, "latency")
        self.assertEqual([int(row[0]) for row in numbers], [8 << turn for turn in range(11)])
        for row, measured in zip(numbers, rows):
            self.assertEqual(row[1:], [f"{measured[key]:.2f}" for key in ("time_us", "min_us", "p99_us", "max_us")])

    def test_bandwidth(self):
        lines, rows = self.measure("allgather", "-n", "2", "--mode", "bandwidth", "-e", "4M", *FEW)
        self.assertEqual(lines[1], f"# hcomm allgather Bandwidth Test v{self.version()}, 2 ranks")
        self.assertEqual(lines[3], "# Size    " + "".join(f"{name:>18}" for name in COLUMNS["bandwidth"]))
        numbers = self.numbers(lines, "bandwidth")
        self.assertEqual([int(row[0]) for row in numbers], [1 << 20, 1 << 21, 1 << 22])
        for row, measured in zip(numbers, rows):
            self.assertEqual(row[1:], [f"{measured[key]:.2f}" for key in ("algbw_gbs", "busbw_gbs", "time_us")])

    def test_all_of_bandwidth_leaves_the_barrier_out(self):
        lines, rows = self.measure("all", "-n", "2", "--mode", "bandwidth", "-b", "4K", "-e", "4K", *FEW)
        self.assertEqual(len(self.numbers(lines, "bandwidth")), len(rows))
        self.assertNotIn("barrier", {row["collective"] for row in rows})
        self.assertIn("alltoall", {row["collective"] for row in rows})

    def version(self):
        return hcomm("--version").out.decode().split()[1]


if __name__ == "__main__":
    harness.main()
