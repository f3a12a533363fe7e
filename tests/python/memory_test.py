"""hcomm.Memory lives as long as anything looks at it, and not longer; buffers of a group live until it ends."""
import gc
import unittest
import weakref

import rig

numpy = rig.need_numpy()

import hcomm  # noqa: E402  after the skip

MIB = 1 << 20


def mapped_bytes():
    """Of the memory that the library gave out: files without a name of which this process has mapped all."""
    total = 0
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            if "/memfd:hcomm" in line:
                begin, end = line.split()[0].split("-")
                total += int(end, 16) - int(begin, 16)
    return total


class Lifetime(unittest.TestCase):
    def test_freed_with_the_last_view(self):
        before = mapped_bytes()
        memory = hcomm.Memory(4 * MIB)
        self.assertGreaterEqual(mapped_bytes() - before, 4 * MIB)
        gone = weakref.ref(memory)
        views = [memory.cast("B"), memory.array(), memory.array("int8", (4, MIB))[1:, ::2], memory.cast("d")]
        del memory
        while views:
            gc.collect()
            self.assertIsNotNone(gone())
            self.assertGreaterEqual(mapped_bytes() - before, 4 * MIB)
            views[0][0] = 1  # still there
            views.pop(0)
        gc.collect()
        self.assertIsNone(gone())
        self.assertLess(mapped_bytes() - before, 4 * MIB)

    def test_zeros_own_their_memory(self):
        before = mapped_bytes()
        data = hcomm.zeros((2, MIB), "bfloat16")
        self.assertEqual((data.shape, data.dtype, data.any()), ((2, MIB), numpy.uint16, False))
        part = data[1]
        del data
        gc.collect()
        part[:] = 7
        self.assertGreaterEqual(mapped_bytes() - before, 4 * MIB)
        del part
        gc.collect()
        self.assertLess(mapped_bytes() - before, 4 * MIB)

    def test_it_is_a_buffer(self):
        memory = hcomm.Memory(16)
        self.assertIsInstance(memory, hcomm.Memory)
        self.assertEqual((memory.nbytes, bytes(memory), memory.array().tolist()), (16, bytes(16), [0] * 4))
        memory.cast("i")[2] = 5
        self.assertEqual(memory.array("int32", (2, 2)).tolist(), [[0, 0], [5, 0]])
        comm, = hcomm.Communicator.all_in_process(1)
        out = hcomm.Memory(16)
        comm.all_reduce(memory, out, dtype="int32")
        self.assertEqual(out.array("int32").tolist(), [0, 0, 5, 0])
        comm.all_reduce(memory, memory, dtype="float8e4m3")
        for nothing in (hcomm.Memory(0), hcomm.zeros(0), hcomm.zeros((3, 0))):
            self.assertEqual(memoryview(nothing).nbytes, 0)

    def test_too_much_is_an_error(self):
        with self.assertRaises(hcomm.Error) as caught:
            hcomm.Memory(1 << 62)
        self.assertNotEqual(str(caught.exception), "")

    def test_a_call_keeps_nothing_and_a_group_until_it_ends(self):
        comm, = hcomm.Communicator.all_in_process(1)
        data = bytearray(8)
        comm.all_reduce(data, data)
        data += b"x"  # which a bytearray refuses while anybody looks at it
        with hcomm.group():
            comm.all_reduce(data, data)
            with self.assertRaises(BufferError):
                data += b"y"
            with self.assertRaises(hcomm.InvalidUsage):
                comm.close()
        data += b"y"
        comm.close()

    def test_a_communicator_ends_with_its_last_reference(self):
        comm, = hcomm.Communicator.all_in_process(1)
        with hcomm.group():
            comm.barrier()
            gone = weakref.ref(comm)
            del comm
            gc.collect()
            self.assertIsNotNone(gone())  # the group still needs it
        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    rig.main()
