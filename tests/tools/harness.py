"""Starts the program `hcomm` and watches what it leaves behind. Every process that a test starts, and all their
descendants, carry a mark in their environment, by which they are found in /proc."""
import os
import signal
import subprocess
import sys
import time
import unittest
import uuid

HCOMM = None  # path of the program; main() sets it
MARK_NAME = "TOOLS_TEST_MARK"

# Whoever starts the tests may ignore signals (nohup, a job in the background); programs under test must not inherit that.
for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.SIG_DFL)


class Marked:
    """One run, started but not waited for."""

    def __init__(self, arguments, environment=None, **options):
        self.mark = uuid.uuid4().hex
        full = {name: value for name, value in os.environ.items() if not name.startswith("HCOMM_")}
        full[MARK_NAME] = self.mark
        full.update(environment or {})
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen([HCOMM, *arguments], env=full, **options)

    def finish(self, stdin=None, timeout=60):
        try:
            self.out, self.err = self.process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(f"hcomm did not end within {timeout} s: {self.process.args}")
        self.code = self.process.returncode
        return self

    def living(self):
        """Pids of all processes of this run that are not zombies."""
        wanted = f"{MARK_NAME}={self.mark}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        found.append(int(entry))
            except OSError:
                continue
        return found

    def clean_up(self):
        for pid in self.living():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue


def hcomm(*arguments, stdin=None, environment=None, timeout=60, **options):
    if stdin is not None:
        options["stdin"] = subprocess.PIPE
    return Marked(arguments, environment, **options).finish(stdin, timeout)


def eventually(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


class ToolsTest(unittest.TestCase):
    def assert_nobody_left(self, run, seconds=20):
        try:
            self.assertTrue(eventually(lambda: not run.living(), seconds), f"left behind: {run.living()}")
        finally:
            run.clean_up()


def main():
    global HCOMM
    HCOMM = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__", verbosity=1)
