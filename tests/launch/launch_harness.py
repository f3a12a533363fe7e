"""What the tests of launchers share: a job is a command that starts 4 ranks of what stands behind it."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid

import harness
from harness import Marked

HELLO = None  # path of the example; main() sets it
RANKS = 4
GREETINGS = sorted(f"rank {rank} of {RANKS}: success, 6" for rank in range(RANKS))
# Variables that would tell a test about a launcher around the tests themselves.
FOREIGN = ("OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM", "HCOMM_", "TORCHELASTIC_")
FOREIGN_NAMES = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "RANK_TABLE_FILE"}


class Launched(Marked):
    """A run of any command; what it starts is found by its mark."""

    def __init__(self, command, environment=None):
        self.mark = uuid.uuid4().hex
        full = {name: value for name, value in os.environ.items()
                if not name.startswith(FOREIGN) and name not in FOREIGN_NAMES}
        full[harness.MARK_NAME] = self.mark
        full.update(environment or {})
        self.process = subprocess.Popen(command, env=full, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)


class LaunchTest(harness.ToolsTest):
    """A launcher's tests say how it starts 4 ranks, and which variable tells a rank its number."""
    launcher = None        # as `hcomm env --launcher` names it
    rank_variable = None
    environment = {}

    @classmethod
    def command(cls):
        raise NotImplementedError

    def launch(self, *words, environment=None, before=None, timeout=60):
        run = Launched([*(before or self.command()), *words], {**self.environment, **(environment or {})})
        try:
            return run.finish(timeout=timeout)
        finally:
            self.assert_nobody_left(run)

    def assert_greeted(self, run, times=1):
        self.assertEqual(run.code, 0, run.err.decode())
        self.assertEqual(sorted(run.out.decode().splitlines()), sorted(GREETINGS * times))

    def assert_measured(self, run, ranks=RANKS):
        text = run.out.decode()
        self.assertEqual(run.code, 0, text + run.err.decode())
        self.assertEqual(text.count("# hcomm "), 1, text)  # one rank prints the table
        self.assertIn(f": {ranks} ranks on ", text)
        self.assertEqual(text.count("Out of bounds values : 0 OK"), 1, text)
        rows = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.assertEqual([int(row.split()[0]) for row in rows], [8 << power for power in range(14)])


class EveryLauncher:
    """Mixed into the tests of each."""

    def test_the_example(self):
        self.assert_greeted(self.launch(HELLO))

    def test_perf_measures_the_launchers_ranks_and_starts_none(self):
        self.assert_measured(self.launch(harness.HCOMM, "perf", "allreduce", "-b", "8", "-e", "64K"))

    def test_perf_refuses_another_number_of_ranks(self):
        run = self.launch(harness.HCOMM, "perf", "allreduce", "-n", "3", "-b", "8", "-e", "8")
        self.assertNotEqual(run.code, 0)
        self.assertIn("the launcher started 4 ranks", run.err.decode())

    def test_a_rank_that_does_not_start_is_named(self):
        for missing, words in ((2, "3 of 4 ranks arrived within 2 s; missing: 2"),
                               (0, "rank 0, which serves the meeting, did not come within 2 s")):
            with self.subTest(missing=missing):
                script = f'[ "${self.rank_variable}" = {missing} ] && sleep 4 && exit 0; exec {shlex.quote(HELLO)}'
                run = self.launch("sh", "-c", script, environment={"HCOMM_CONNECT_TIMEOUT": "2s"})
                self.assertNotEqual(run.code, 0)
                self.assertNotIn(b"success", run.out)
                self.assertIn(words, run.err.decode())

    def test_the_launcher_is_named(self):
        script = f'exec {shlex.quote(harness.HCOMM)} env --launcher --json > "$1.${self.rank_variable}"'
        with temporary_folder() as folder:
            path = os.path.join(folder, "seen")
            run = self.launch("sh", "-c", script, "sh", path)
            self.assertEqual(run.code, 0, run.err.decode())
            seen = []
            for rank in range(RANKS):
                with open(f"{path}.{rank}") as file:
                    seen.append(json.load(file))
        for rank, what in enumerate(seen):
            self.assertEqual((what["launcher"], what["rank"], what["size"]), (self.launcher, rank, RANKS))
            self.assertEqual((what["one_host"], what["serves"], what["error"]), (True, rank == 0, None))
            self.assertEqual(what["meeting"], seen[0]["meeting"])


class RankZeroServes:
    """Mixed into the tests of launchers that serve no meeting themselves."""

    def test_programs_one_after_the_other(self):
        thrice = f"{shlex.quote(HELLO)} && {shlex.quote(HELLO)} && {shlex.quote(HELLO)}"
        self.assert_greeted(self.launch("sh", "-c", thrice), times=3)


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="hcomm-launch-")


def needs(*programs):
    missing = [program for program in programs if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
    return unittest.skipIf(missing, "not installed (scripts/setup does it): " + ", ".join(missing))


def main():
    global HELLO
    HELLO = os.path.abspath(sys.argv.pop(2))
    harness.main()
