"""What `hcomm run` does with standard input, output and error of its ranks."""
import collections
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time

import harness
from harness import Marked, hcomm


def python(ranks, program, *options, **more):
    return hcomm("run", "-n", str(ranks), *options, "--", sys.executable, "-S", "-c", program, **more)


MANY_LINES = """
import os, sys
rank = os.environ["HCOMM_RANK"]
for line in range(5000):
    (sys.stdout if line % 2 else sys.stderr).write(f"<{rank} {line} {'x' * (line % 200)}>\\n")
"""


class Lines(harness.ToolsTest):
    def check_lines(self, text, ranks, lines):
        seen = collections.defaultdict(list)
        for line in text.decode().splitlines():
            found = re.fullmatch(r"<(\d+) (\d+) (x*)>", line)
            self.assertIsNotNone(found, line)
            self.assertEqual(len(found[3]), int(found[2]) % 200)
            seen[int(found[1])].append(int(found[2]))
        self.assertEqual(sorted(seen), list(range(ranks)))
        for numbers in seen.values():
            self.assertEqual(len(numbers), lines)
        return seen

    def test_40000_lines_of_8_ranks_never_mix(self):
        run = python(8, MANY_LINES, timeout=120)
        self.assertEqual(run.code, 0, run.err[-300:])
        for text in (run.out, run.err):
            for numbers in self.check_lines(text, 8, 2500).values():
                self.assertEqual(numbers, sorted(numbers))  # order is kept within a rank

    def test_nor_in_one_pipe_for_both_streams(self):
        run = python(8, MANY_LINES, stderr=subprocess.STDOUT, timeout=120)
        self.check_lines(run.out, 8, 5000)

    def test_prefix(self):
        run = python(3, MANY_LINES, "--prefix")
        for line in run.out.decode().splitlines():
            self.assertRegex(line, r"^\[(\d)\] <\1 ")

    def test_a_line_of_a_megabyte_stays_whole(self):
        run = python(4, "import os; print(os.environ['HCOMM_RANK'] * 1000000)")
        self.assertEqual(sorted(run.out.splitlines()), [digit * 1000000 for digit in (b"0", b"1", b"2", b"3")])

    def test_binary_output_is_passed_on_bit_for_bit(self):
        data = b"".join(hashlib.sha256(bytes([turn])).digest() for turn in range(256)) * 100
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.assertEqual(hcomm("run", "-n", "1", "--", "cat", file.name).out, data)
            run = hcomm("run", "-n", "3", "--", "cat", file.name)
        self.assertEqual(sorted(run.out.replace(b"\n", b"")), sorted(data.replace(b"\n", b"") * 3))

    def test_last_lines_without_an_end_do_not_run_together(self):
        run = hcomm("run", "-n", "3", "--", "printf", "last")
        self.assertEqual(run.out, b"last\nlast\nlast")

    def test_last_words_before_a_death_are_there(self):
        script = 'echo "words $HCOMM_RANK"; [ $HCOMM_RANK = 0 ] || kill -KILL $$; sleep 30'
        run = hcomm("run", "-n", "2", "--", "sh", "-c", script)
        self.assertEqual(run.code, 137)
        self.assertIn(b"words 1\n", run.out)

    def test_output_to_a_file(self):
        with tempfile.TemporaryFile() as file:
            run = python(4, MANY_LINES, stdout=file, stderr=file, timeout=120)
            self.assertEqual(run.code, 0)
            file.seek(0)
            self.check_lines(file.read(), 4, 5000)

    def test_a_reader_that_leaves_ends_writers_as_without_the_launcher(self):
        run = Marked(["run", "-n", "3", "--", "yes"])
        self.assertEqual(run.process.stdout.readline(), b"y\n")
        run.process.stdout.close()
        self.assertEqual(run.process.wait(timeout=60), 141)
        run.process.stderr.close()
        self.assert_nobody_left(run)

    def test_a_slow_reader_loses_nothing_and_memory_stays_bounded(self):
        size = 60_000_000
        run = Marked(["run", "-n", "2", "--", "sh", "-c", f"head -c {size} /dev/zero | tr '\\0' a"])
        first = os.read(run.process.stdout.fileno(), 1)
        with open(f"/proc/{run.process.pid}/task/{run.process.pid}/children") as file:
            supervisor = file.read().split()[0]
        time.sleep(1)  # the ranks write on as long as anybody takes it
        with open(f"/proc/{supervisor}/status") as file:
            peak_kib = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])
        self.assertLess(peak_kib, 100_000)
        run.finish(timeout=120)
        self.assertEqual(len(first + run.out.replace(b"\n", b"")), 2 * size)
        self.assertEqual(set(run.out) - {10}, {ord("a")})

    def test_a_full_disk_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            run = hcomm("run", "-n", "2", "--", "sh", "-c", "echo x; sleep 0.1; echo x; exec sleep 30", stdout=full)
        self.assertEqual(run.code, 1)
        self.assertIn(b"No space left", run.err)


class Input(harness.ToolsTest):
    PROGRAM = 'echo "$HCOMM_RANK:$(cat)"'

    def test_standard_input_goes_to_rank_0_alone(self):
        run = hcomm("run", "-n", "3", "--", "sh", "-c", self.PROGRAM, stdin=b"hello")
        self.assertEqual(sorted(run.out.splitlines()), [b"0:hello", b"1:", b"2:"])

    def test_standard_input_from_a_file(self):
        with tempfile.TemporaryFile() as file:
            file.write(b"from a file")
            file.seek(0)
            run = Marked(["run", "-n", "2", "--", "sh", "-c", self.PROGRAM], stdin=file).finish()
        self.assertEqual(sorted(run.out.splitlines()), [b"0:from a file", b"1:"])

    def test_closed_descriptors_do_not_confuse(self):
        lines = b"x\nx\n"
        for closed, out, err in (("<&-", lines, lines), (">&-", b"", lines), ("2>&-", lines, b""), ("<&- >&- 2>&-", b"", b"")):
            with self.subTest(closed=closed):
                command = f"'{harness.HCOMM}' run -n 2 -- sh -c 'echo x; echo x >&2' {closed}"
                done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, out, err))


if __name__ == "__main__":
    harness.main()
