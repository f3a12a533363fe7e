"""What the tests of the Python package share: how they start and end, ranks as threads, and expected numbers."""
import struct
import subprocess
import sys
import threading
import unittest

SKIPPED = 77
HCOMM = SOURCE = None  # the program and the source tree, where main() got them


def need_numpy():
    """numpy, or the end of this program as skipped, which says why."""
    try:
        import numpy
    except ImportError:
        print(f"skipped: {sys.executable} has no numpy (scripts/setup installs it, as python3-numpy)")
        sys.exit(SKIPPED)
    return numpy


def on_threads(comms, work):
    """work(comm) on a thread for each, all at once. What they returned, in order; the first exception is raised."""
    results, failures = [None] * len(comms), []

    def run(place, comm):
        try:
            results[place] = work(comm)
        except BaseException as failure:  # told to who waits
            failures.append(failure)

    threads = [threading.Thread(target=run, args=each) for each in enumerate(comms)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


def run_ranks(ranks, *words, options=()):
    """Starts Python with these words as so many ranks; what it printed and how it ended."""
    return subprocess.run([HCOMM, "run", "-n", str(ranks), *options, "--", sys.executable, *words], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)


def bfloat16(number):
    """The bits of a number that bfloat16 holds exactly."""
    bits, = struct.unpack("<I", struct.pack("<f", number))
    assert bits & 0xFFFF == 0, number
    return bits >> 16


def main(comm=None):
    """Runs the tests of the program. With a communicator all ranks run the same; the first of them that fails ends the job."""
    global HCOMM, SOURCE
    if comm is None and len(sys.argv) == 3:
        SOURCE, HCOMM = sys.argv.pop(), sys.argv.pop()
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=1, failfast=comm is not None).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    if comm is None or comm.rank == 0:
        passed = result.testsRun - failed - len(result.skipped)
        print(f"{passed} passed, {failed} failed" + (f", {len(result.skipped)} skipped" if result.skipped else ""))
    sys.exit(0 if result.wasSuccessful() else 1)
