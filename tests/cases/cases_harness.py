"""What the scripts of public cases share: jobs of the program case_rank, also under wrappers such as sh or unshare."""
import os
import subprocess
import sys
import uuid

import harness
from harness import Marked

RANK = DENY = SHIFT = None  # paths of the helpers; main() sets them


class Wrapped(Marked):
    """A run of any command; what it starts is found by its mark."""

    def __init__(self, command, environment=None, **options):
        self.mark = uuid.uuid4().hex
        full = {name: value for name, value in os.environ.items() if not name.startswith("HCOMM_")}
        full[harness.MARK_NAME] = self.mark
        full.update(environment or {})
        for stream in ("stdout", "stderr"):
            options.setdefault(stream, subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(command, env=full, **options)


def job_command(ranks, *words, options=(), before=()):
    """`before` comes before each rank's program."""
    return [harness.HCOMM, "run", "-n", str(ranks), *options, "--", *before, RANK, *map(str, words)]


class CasesTest(harness.ToolsTest):
    def run_command(self, command, environment=None, timeout=60, **options):
        run = Wrapped(command, environment, **options)
        try:
            return run.finish(timeout=timeout)
        finally:
            self.assert_nobody_left(run)

    def run_job(self, ranks, *words, options=(), before=(), environment=None, wrapper=(), timeout=60):
        return self.run_command([*wrapper, *job_command(ranks, *words, options=options, before=before)], environment, timeout)

    def assert_right(self, run, ranks):
        self.assertEqual(run.code, 0, run.err.decode())
        self.assertEqual(run.out, b"right\n" * ranks)

    def assert_right_or_refused(self, run, ranks, *words):
        """Right values, or an error that says what is wrong; never a signal, never silence."""
        if run.code == 0:
            self.assert_right(run, ranks)
            return
        self.assertIn(run.code, (1, 2, 3), run.err.decode())
        self.assertGreater(len(run.err.strip()), 20)
        for word in words:
            self.assertIn(word, run.err.decode())

    def skip_unless(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            self.skipTest(f"not permitted here: {' '.join(command)}: {done.stderr.strip()}")


def main():
    global RANK, DENY, SHIFT
    RANK, DENY, SHIFT = (os.path.abspath(path) for path in sys.argv[2:5])
    del sys.argv[2:5]
    harness.main()
