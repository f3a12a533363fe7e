"""Arguments that are refused before anything is called, each with a text that says what is wrong; and what is taken."""
import array
import ctypes
import unittest

import rig

numpy = rig.need_numpy()

import hcomm  # noqa: E402  after the skip

COMM, = hcomm.Communicator.all_in_process(1)
FOUR = numpy.zeros(4, "float32")
LONG_DOUBLE = numpy.zeros(4, "longdouble")
READ_ONLY = numpy.zeros(4, "float32")
READ_ONLY.flags.writeable = False


class Refused(unittest.TestCase):
    def assert_refused(self, kind, words, call, *arguments, **more):
        with self.assertRaises(kind) as caught:
            call(*arguments, **more)
        self.assertNotIsInstance(caught.exception, hcomm.Error)  # the library was not called
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_no_buffer(self):
        for value, name in (([1.0, 2.0], "list"), (1.5, "float"), (None, "NoneType"), ("text", "str")):
            self.assert_refused(TypeError, ["send is a " + name, "buffer protocol"], COMM.all_reduce, value)
            self.assert_refused(TypeError, ["data is a " + name], COMM.broadcast, value)
        self.assert_refused(TypeError, ["out is a list"], COMM.all_reduce, FOUR, [0.0] * 4)
        self.assert_refused(TypeError, ["send: cannot include dtype 'M'", ".view('uint16')"], COMM.all_reduce,
                            numpy.zeros(4, "datetime64[s]"))

    def test_not_contiguous(self):
        for hole in (numpy.zeros((4, 4), "float32")[:, :2], numpy.zeros(8, "float32")[::2], numpy.zeros((2, 3), order="F"),
                     numpy.zeros(4)[::-1], memoryview(bytearray(8))[::2]):
            self.assert_refused(ValueError, ["send is not contiguous", "ascontiguousarray"], COMM.all_reduce, hole)
            self.assert_refused(ValueError, ["data is not contiguous"], COMM.broadcast, hole)
        self.assert_refused(ValueError, ["out is not contiguous"], COMM.all_reduce, FOUR, numpy.zeros(8, "float32")[::2])

    def test_read_only(self):
        self.assert_refused(ValueError, ["out is read-only"], COMM.all_reduce, FOUR, READ_ONLY)
        self.assert_refused(ValueError, ["data is read-only"], COMM.broadcast, READ_ONLY)
        self.assert_refused(ValueError, ["data is read-only"], COMM.broadcast, b"bytes")
        for call in (COMM.reduce, COMM.reduce_scatter, COMM.all_gather, COMM.gather, COMM.scatter, COMM.all_to_all):
            self.assert_refused(ValueError, ["out is read-only"], call, FOUR, READ_ONLY)

    def test_types(self):
        self.assert_refused(TypeError, ["none of hcomm's types", "'g'", "bfloat16"], COMM.all_reduce, LONG_DOUBLE)
        self.assert_refused(TypeError, ["none of hcomm's types"], COMM.all_reduce, numpy.zeros(2, "i4,f8"))
        self.assert_refused(TypeError, ["byte order of other machines"], COMM.all_reduce, FOUR.astype(">f4"))
        self.assert_refused(TypeError, ["out has elements of int32, send of float32"], COMM.all_reduce, FOUR,
                            numpy.zeros(4, "int32"))
        self.assert_refused(TypeError, ["out has elements of uint8, send of float32", "pass dtype"], COMM.all_reduce, FOUR,
                            bytearray(16))
        self.assert_refused(TypeError, ["send has elements of float32, but dtype is bfloat16"], COMM.all_reduce, FOUR,
                            dtype="bfloat16")
        self.assert_refused(ValueError, ["dtype is 'float24'", "float8e4m3"], COMM.all_reduce, FOUR, dtype="float24")
        self.assert_refused(ValueError, ["op is 'plus'", "legal are sum"], COMM.all_reduce, FOUR, op="plus")
        self.assert_refused(ValueError, ["send has 7 bytes", "no whole number of float32"], COMM.all_reduce, bytearray(7),
                            bytearray(7), dtype="float32")

    def test_counts_and_roots(self):
        three = numpy.zeros(3, "float32")
        for call in (COMM.all_reduce, COMM.reduce, COMM.reduce_scatter, COMM.all_gather, COMM.gather, COMM.scatter,
                     COMM.all_to_all):
            self.assert_refused(ValueError, ["out has 3 elements, not 4"], call, FOUR, three)
        for root in (-1, 1, 2**32):
            self.assert_refused(ValueError, [f"root is {root}; legal are 0 to 0"], COMM.broadcast, three, root)
        self.assert_refused(TypeError, ["float"], COMM.broadcast, three, 0.0)

    def test_parts_that_are_not_equal(self):
        with hcomm.group():
            pass  # an empty one is legal
        comms = hcomm.Communicator.all_in_process(3)
        for call in (comms[1].reduce_scatter, comms[1].all_to_all):
            self.assert_refused(ValueError, ["send has 4 elements, which are no 3 equal parts"], call, FOUR)
        self.assert_refused(ValueError, ["which are no 3 equal parts"], comms[1].scatter, FOUR, FOUR, 1)
        self.assert_refused(TypeError, ["out is None; rank 1 is not the root"], comms[1].scatter, FOUR, None, 0)
        self.assert_refused(ValueError, ["out has 4 elements, not 12"], comms[1].all_gather, FOUR, FOUR)

    def test_making(self):
        self.assert_refused(ValueError, ["size is 0"], hcomm.Communicator.all_in_process, 0)
        self.assert_refused(ValueError, ["id has 3 bytes, not 128"], hcomm.Communicator.from_id, b"abc", 1, 0)
        self.assert_refused(ValueError, ["rank is 2; legal are 0 to 1"], hcomm.Communicator.from_id, bytes(128), 2, 2)
        self.assert_refused(ValueError, ["size is 4294967297"], hcomm.Communicator.from_id, bytes(128), 2**32 + 1, 0)
        self.assert_refused(ValueError, ["nbytes is -1"], hcomm.Memory, -1)
        self.assert_refused(ValueError, ["no extent can be negative"], hcomm.zeros, (-2, -3))

    def test_a_closed_communicator(self):
        comm, = hcomm.Communicator.all_in_process(1)
        comm.close()
        comm.close()
        for call in (comm.barrier, comm.abort, comm.last_error, comm.async_error):
            self.assert_refused(ValueError, ["the communicator is closed"], call)
        self.assertIn("closed", repr(comm))
        self.assertEqual((comm.rank, comm.handle), (0, None))


class Taken(unittest.TestCase):
    def test_anything_with_the_buffer_protocol(self):
        numbers = (ctypes.c_double * 3)(1, 2, 3)
        out = array.array("d", [0, 0, 0])
        self.assertIs(COMM.all_reduce(numbers, out), out)
        self.assertEqual(out.tolist(), [1, 2, 3])
        COMM.all_reduce(READ_ONLY, FOUR)  # read-only is well for what is read
        taken = bytearray(4)
        COMM.all_reduce(b"abcd", taken)
        self.assertEqual(taken, b"abcd")
        self.assertEqual(COMM.all_reduce(memoryview(b"xabcd")[1:]).tobytes(), b"abcd")  # where it begins does not matter

    def test_types_are_those_of_the_formats(self):
        for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
                     "complex64", "complex128", "bool"):
            got = COMM.all_gather(numpy.ones(2, kind))
            self.assertEqual((got.dtype, got.tolist()), (numpy.dtype(kind), [[1, 1]]))
        for kind in (ctypes.c_long, ctypes.c_ulonglong, ctypes.c_size_t, ctypes.c_char, ctypes.c_bool, ctypes.c_short):
            got = COMM.all_gather((kind * 2)())
            self.assertEqual((got.shape, got.itemsize), ((1, 2), ctypes.sizeof(kind)))

    def test_a_dtype_in_every_form(self):
        raw = numpy.float32([1, 2]).tobytes()
        for dtype in (hcomm.DataType.float32, "float32", numpy.float32, numpy.dtype("float32")):
            self.assertEqual(COMM.all_reduce(raw, dtype=dtype).tolist(), [1, 2])
        self.assertEqual(COMM.all_reduce(numpy.array([True]), dtype=numpy.bool_).tolist(), [True])
        self.assertEqual(COMM.all_reduce(numpy.uint16([0x3F80]), dtype="bfloat16").dtype, numpy.uint16)
        self.assertEqual(COMM.all_reduce(numpy.int16([0x3F80]), numpy.int16([0]), dtype="bfloat16").tolist(), [0x3F80])


if __name__ == "__main__":
    rig.main()
