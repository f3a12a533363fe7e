"""Without numpy."""
import array
import sys
import unittest

import rig

sys.modules["numpy"] = None  # from here on it cannot be imported

import hcomm  # noqa: E402  after that


class Plain(unittest.TestCase):
    def test_every_collective(self):
        def work(comm):
            mine = array.array("i", [comm.rank + 1])
            four = array.array("i", [10 * comm.rank + i for i in range(4)])
            one, all_of = array.array("i", [0]), array.array("i", [0] * 4)
            got = [comm.all_reduce(mine, one)[0], comm.reduce_scatter(four, one)[0], comm.scatter(four, one, 2)[0],
                   comm.all_gather(mine, all_of).tolist(), comm.all_to_all(four, all_of).tolist()]
            for root in range(4):
                comm.reduce(mine, one if comm.rank == root else None, root, op="max")
                comm.gather(mine, all_of if comm.rank == root else None, root)
            got += [one[0], all_of.tolist(), comm.broadcast(bytearray([comm.rank] * 3), 3)]
            comm.barrier()
            return got

        for rank, got in enumerate(rig.on_threads(hcomm.Communicator.all_in_process(4), work)):
            self.assertEqual(got, [10, 60 + 4 * rank, 20 + rank, [1, 2, 3, 4], [rank, 10 + rank, 20 + rank, 30 + rank], 4,
                                   [1, 2, 3, 4], b"\3\3\3"])

    def test_a_result_needs_memory(self):
        comm, = hcomm.Communicator.all_in_process(1)
        with self.assertRaises(TypeError) as caught:
            comm.all_reduce(array.array("f", [1]))
        self.assertIn("numpy, which would make an array for the result, is not installed", str(caught.exception))

    def test_memory(self):
        memory = hcomm.Memory(8)
        numbers = memory.cast("f")
        numbers[1] = 2.5
        comm, = hcomm.Communicator.all_in_process(1)
        out = array.array("f", [0, 0])
        comm.all_reduce(numbers, out)
        self.assertEqual(out.tolist(), [0, 2.5])
        with self.assertRaises(ImportError):
            memory.array()


if __name__ == "__main__":
    rig.main()
