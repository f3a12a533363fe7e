"""Wrong usage: exit 2, one line that names what is wrong and the legal or nearest value, and nothing on standard output."""
import json

import harness
from harness import hcomm

CASES = [
    ([], ["no command"]),
    (["rnu"], ["'rnu'", "did you mean 'run'"]),
    (["perf"], ["collective"]),
    (["perf", "allredcue"], ["'allredcue'", "did you mean 'allreduce'", "broadcast"]),
    (["perf", "allreduce", "-t", "float33"], ["'float33'", "float32"]),
    (["perf", "allreduce", "-o", "summ"], ["'summ'", "did you mean 'sum'"]),
    (["perf", "allreduce", "-b", "8", "-e", "4"], ["-e 4", "-b 8"]),
    (["perf", "allreduce", "-b", "x"], ["-b", "'x'"]),
    (["perf", "allreduce", "-b", "0"], ["-b is 0"]),
    (["perf", "allreduce", "-b", "8", "-e", "1G", "-i", "1"], ["sizes"]),
    (["perf", "allreduce", "-f", "1"], ["-f is 1"]),
    (["perf", "allreduce", "-f", "2", "-i", "8"], ["-f and -i"]),
    (["perf", "allreduce", "-n", "0"], ["-n is 0", "1 to 4096"]),
    (["perf", "allreduce", "-n", "-1"], ["-n is -1", "1 to 4096"]),
    (["perf", "allreduce", "-n", "5000"], ["-n is 5000", "1 to 4096"]),
    (["perf", "broadcast", "-n", "2", "-r", "2"], ["-r is 2", "0 to 1"]),
    (["perf", "broadcast", "-n", "2", "-r", "-1"], ["-r is -1"]),
    (["perf", "allreduce", "--iters", "-5"], ["--iters is -5"]),
    (["perf", "allreduce", "--algo", "rign"], ["rign", "ring"]),
    (["perf", "allreduce", "--memory", "pivate"], ["did you mean 'private'"]),
    (["perf", "allreduce", "--json", "/nope/x"], ["--json", "/nope/x", "No such file"]),
    (["perf", "allreduce", "--json", "/"], ["--json", "'/'", "directory"]),
    (["perf", "allreduce", "--mode", "latncy"], ["--mode", "did you mean 'latency'"]),
    (["perf", "allreduce", "--mode", "osu", "--csv"], ["--csv", "--mode osu", "exclude"]),
    (["perf", "allreduce", "--mode", "osu", "-t", "all"], ["--mode osu", "one type", "-t"]),
    (["perf", "barrier", "--mode", "bandwidth"], ["--mode bandwidth", "barrier"]),
    (["perf", "allreduce", "--bogus"], ["--bogus"]),
    (["run", "--", "true"], ["-n"]),
    (["run", "-n", "0", "--", "true"], ["-n is 0", "1 to 4096"]),
    (["run", "-n", "-2", "--", "true"], ["-n is -2"]),
    (["run", "-n", "4097", "--", "true"], ["4097", "1 to 4096"]),
    (["run", "-n", "two", "--", "true"], ["two"]),
    (["run", "-n", "2"], ["no program"]),
    (["run", "-n", "2", "--"], ["no program"]),
    (["run", "-n", "2", "--grace", "soon", "--", "true"], ["--grace"]),
    (["env", "--bogus"], ["--bogus"]),
]


class Usage(harness.ToolsTest):
    def test_table(self):
        for arguments, words in CASES:
            with self.subTest(arguments=arguments):
                run = hcomm(*arguments)
                self.assertEqual(run.code, 2, run.err)
                self.assertEqual(run.out, b"")
                for word in words:
                    self.assertIn(word, run.err.decode())
                self.assertLess(len(run.err.splitlines()), 6)

    def test_bad_knob_is_named_before_anything_starts(self):
        for command in (["env"], ["perf", "allreduce", "-n", "2"]):
            run = hcomm(*command, environment={"HCOMM_TIMEOUT": "abc"})
            self.assertEqual(run.code, 2)
            self.assertIn("HCOMM_TIMEOUT='abc'", run.err.decode())

    def test_names_that_only_other_rooms_know_are_checked_as_early(self):
        for name, value, word in (("HCOMM_ALGO", "rign", "ring"), ("HCOMM_TRANSPORT", "foo", "shm")):
            run = hcomm("perf", "allreduce", "-n", "2", environment={name: value})
            self.assertEqual(run.code, 2, run.err)
            self.assertEqual(len(run.err.splitlines()), 1)
            for text in (name, value, word):
                self.assertIn(text, run.err.decode())

    def test_a_launcher_that_contradicts_is_named(self):
        run = hcomm("perf", "allreduce", environment={"HCOMM_RANK": "0"})
        self.assertEqual(run.code, 2)
        self.assertIn("HCOMM_SIZE", run.err.decode())
        run = hcomm("run", "-n", "2", "--", harness.HCOMM, "perf", "allreduce", "-n", "3")
        self.assertEqual(run.code, 2)
        self.assertIn("the launcher started 2", run.err.decode())

    def test_help_and_version(self):
        for arguments in (["--help"], ["run", "--help"], ["perf", "--help"], ["env", "--help"]):
            run = hcomm(*arguments)
            self.assertEqual(run.code, 0)
            self.assertIn(b"Usage", run.out)
        self.assertRegex(hcomm("--version").out.decode(), r"^hcomm \d+\.\d+\.\d+\n$")

    def test_env(self):
        run = hcomm("env", environment={"HCOMM_SLOTS": "1"})
        self.assertEqual(run.code, 0)
        line = next(line for line in run.out.decode().splitlines() if line.startswith("HCOMM_SLOTS"))
        self.assertEqual(line.split()[1:3], ["1", "environment"])
        knobs = json.loads(hcomm("env", "--json", environment={"HCOMM_SLOTS": "1"}).out)["knobs"]
        slots = next(knob for knob in knobs if knob["name"] == "HCOMM_SLOTS")
        self.assertEqual((slots["value"], slots["source"]), ("1", "environment"))
        self.assertTrue(all(knob["help"] and knob["grammar"] for knob in knobs))

    def test_an_unknown_knob_is_a_warning_with_the_nearest_name(self):
        run = hcomm("env", environment={"HCOMM_ALOG": "ring"})
        self.assertEqual(run.code, 0)
        self.assertIn("HCOMM_ALGO", run.err.decode())


if __name__ == "__main__":
    harness.main()
