"""Failures arrive as exceptions of their own kind, with the library's text; good ranks hear of bad ones."""
import pickle
import unittest

import rig

import hcomm

MISMATCH = """
import hcomm, array, sys
comm = hcomm.Communicator.from_env()
data = array.array("f", [1] * (3 + comm.rank))
for _ in range(2):
    try:
        comm.all_reduce(data, data)
    except hcomm.Mismatch as error:
        print(f"{comm.rank}: {error.code.name}: {str(error)!r}")
assert comm.async_error().code == hcomm.Result.mismatch
assert comm.last_error() == str(comm.async_error()) != ""
comm.close()
"""

DEATH = """
import hcomm, os, signal
comm = hcomm.Communicator.from_env()
comm.barrier()
if comm.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    comm.barrier()
except hcomm.RemoteError as error:
    print(error)
"""

FORK = """
import hcomm, os
comm = hcomm.Communicator.from_env()
child = os.fork()
if child == 0:
    try:
        comm.barrier()
    except hcomm.InvalidUsage as error:
        os.write(1, f"{error}\\n".encode())
        os._exit(5)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
comm.barrier()
"""


class Errors(unittest.TestCase):
    def test_kinds(self):
        comm, = hcomm.Communicator.all_in_process(1)
        with self.assertRaises(hcomm.InvalidArgument) as caught:
            comm.all_reduce(memoryview(b"1234").cast("f"), bytearray(4), op="band", dtype="float32")
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual(error.code, hcomm.Result.invalid_argument)
        self.assertIn("op band is not defined for dtype float32; legal for it are sum", str(error))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), copy.code, str(copy)), (type(error), error.code, str(error)))
        self.assertIsNone(comm.async_error())  # nothing was changed
        self.assertEqual(comm.last_error(), "")

    def test_partial_overlap_is_named(self):
        comm, = hcomm.Communicator.all_in_process(1)
        memory = bytearray(8)
        with self.assertRaises(hcomm.InvalidArgument) as caught:
            comm.all_reduce(memoryview(memory)[:6], memoryview(memory)[2:])
        self.assertIn("overlap in part", str(caught.exception))

    def test_no_launcher(self):
        with self.assertRaises(hcomm.Error) as caught:
            hcomm.Communicator.from_env()
        self.assertIn("there is no job to join", str(caught.exception))

    def test_abort_is_final(self):
        comm, = hcomm.Communicator.all_in_process(1)
        comm.abort()
        for _ in range(2):
            with self.assertRaises(hcomm.Aborted):
                comm.barrier()
        self.assertIsInstance(comm.async_error(), hcomm.Aborted)
        comm.close()

    def test_calls_that_do_not_fit_are_told_to_all_in_full(self):
        done = rig.run_ranks(2, "-c", MISMATCH)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(sorted(line[0] for line in lines), ["0", "0", "1", "1"])
        for line in lines:
            self.assertIn(": mismatch: ", line)
            self.assertIn("allreduce(count 3, float32, sum)", line)
            self.assertIn("allreduce(count 4, float32, sum)", line)

    def test_a_death_is_told_to_the_others(self):
        done = rig.run_ranks(2, "-c", DEATH, options=["--keep-going"])
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertIn("rank 1", done.stdout)
        self.assertIn("barrier", done.stdout)

    def test_the_child_of_a_fork_has_no_communicators(self):
        done = rig.run_ranks(2, "-c", FORK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("fork"), 2, done.stdout)

    def test_a_code_of_a_newer_library(self):
        from hcomm._errors import KINDS, error_of
        error = error_of(99, "news")
        self.assertEqual((type(error), error.code, str(error)), (hcomm.Error, 99, "news"))
        self.assertEqual(set(KINDS), set(hcomm.Result) - {hcomm.Result.success, hcomm.Result.in_progress})


if __name__ == "__main__":
    rig.main()
