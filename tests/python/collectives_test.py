"""Every collective with many types, with and without memory for the result, in place, at every root. Started as several ranks by
`hcomm run`; each runs all of this. Inputs are so small that every order of evaluation gives the same."""
import unittest

import rig

numpy = rig.need_numpy()

import hcomm  # noqa: E402  after the skip

COMM = hcomm.Communicator.from_env()
RANK, SIZE = COMM.rank, COMM.size
RANKS = range(SIZE)
COUNT = 5
# name in numpy, dtype to say, how numbers become elements
PLAIN = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64",
         "complex128"]


def numbers(rank, count=COUNT):
    """What a rank contributes: 0, 1 or 2, so that products fit as well."""
    return [(rank + i) % 3 for i in range(count)]


def array(values, kind):
    """An array of these whole numbers, and the dtype to say, which is None where the array tells."""
    if kind == "bfloat16":
        return numpy.array([rig.bfloat16(value) for value in numpy.ravel(values)], "uint16").reshape(numpy.shape(values)), kind
    if kind == "float8e5m2":  # the upper half of a float16
        return (numpy.array(values, "float16").view("uint16") >> 8).astype("uint8"), kind
    return numpy.array(values, kind), None


KINDS = PLAIN + ["bfloat16", "float8e5m2"]


class Collectives(unittest.TestCase):
    def assert_same(self, got, values, kind):
        expected, _ = array(values, kind)
        self.assertEqual(got.dtype, expected.dtype)
        self.assertEqual(got.shape, expected.shape)
        self.assertEqual(got.tobytes(), expected.tobytes(), f"{got} is not {expected}, {kind}")

    def three_ways(self, call, send, like, own_place, check):
        """call(send, out): without out, with out, and with out where it is in place. own_place(whole) is the smaller buffer in
        the larger one, which is a row of rows like `like`, else send."""
        kept = send.copy()
        check(call(send, None))
        out = numpy.full_like(like, 77)
        self.assertIs(call(send, out), out)
        check(out)
        self.assertEqual(send.tobytes(), kept.tobytes())
        if send.ndim == like.ndim:
            out = own_place(kept)
            call(kept, out)
        else:
            out = numpy.zeros_like(like)
            own_place(out)[...] = kept
            call(own_place(out), out)
        check(out)

    def test_all_reduce(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                send, dtype = array(numbers(RANK), kind)
                total = [sum(numbers(rank)[i] for rank in RANKS) for i in range(COUNT)]
                self.three_ways(lambda a, out: COMM.all_reduce(a, out, dtype=dtype), send, send, lambda whole: whole,
                                lambda out: self.assert_same(out, total, kind))

    def test_all_reduce_of_bool(self):
        mine = numpy.array([RANK == i for i in range(SIZE)] + [True, False])
        for op, expected in (("lor", [True] * SIZE), ("land", [SIZE == 1] * SIZE), (hcomm.Op.sum, [True] * SIZE),
                             ("lxor", [True] * SIZE)):
            got = COMM.all_reduce(mine, op=op)
            last = [SIZE % 2 == 1 if op == "lxor" else True, False]
            self.assertEqual((got.dtype, got.tolist()), (bool, expected + last), op)

    def test_operations(self):
        mine = numpy.array(numbers(RANK), "int32") + 1
        every = numpy.array([numbers(rank) for rank in RANKS]) + 1
        for op, fold in (("sum", numpy.add), ("prod", numpy.multiply), ("max", numpy.maximum), ("min", numpy.minimum),
                         ("band", numpy.bitwise_and), ("bor", numpy.bitwise_or), ("bxor", numpy.bitwise_xor)):
            self.assertEqual(COMM.all_reduce(mine, op=op).tolist(), fold.reduce(every).tolist(), op)
        self.assertEqual(COMM.all_reduce(mine, op="avg").tolist(), (every.sum(0) // SIZE).tolist())
        complex_sum = COMM.all_reduce(numpy.array([RANK + 1j], "complex64"))
        self.assertEqual(complex_sum.tolist(), [sum(RANKS) + SIZE * 1j])

    def test_shapes_are_kept(self):
        send = numpy.full((2, 3), RANK, "float32")
        self.assertEqual(COMM.all_reduce(send).shape, (2, 3))
        self.assertEqual(COMM.all_gather(send).shape, (SIZE, 2, 3))
        self.assertEqual(COMM.all_reduce(numpy.float64(2)).shape, ())
        self.assertEqual(COMM.reduce_scatter(numpy.zeros((2 * SIZE, 3))).shape, (2, 3))
        if SIZE > 1:
            self.assertEqual(COMM.reduce_scatter(numpy.zeros((1, SIZE))).shape, (1,))

    def test_broadcast(self):
        for kind in KINDS + ["bool"]:
            for root in RANKS:
                data, dtype = array([root % 2] * COUNT if RANK == root else [0] * COUNT, kind)
                self.assertIs(COMM.broadcast(data, root, dtype=dtype), data)
                self.assert_same(data, [root % 2] * COUNT, kind)

    def test_reduce(self):
        for kind in KINDS:
            for root in RANKS:
                send, dtype = array(numbers(RANK), kind)
                total = [sum(numbers(rank)[i] for rank in RANKS) for i in range(COUNT)]
                if RANK == root:
                    self.three_ways(lambda a, out: COMM.reduce(a, out, root, dtype=dtype), send, send, lambda whole: whole,
                                    lambda out: self.assert_same(out, total, kind))
                else:
                    for _ in range(3):
                        self.assertIsNone(COMM.reduce(send, None, root, dtype=dtype))
                    self.assert_same(send, numbers(RANK), kind)

    def test_reduce_scatter(self):
        for kind in KINDS:
            send, dtype = array(numbers(RANK, SIZE * COUNT), kind)
            mine = [sum(numbers(rank, SIZE * COUNT)[RANK * COUNT + i] for rank in RANKS) for i in range(COUNT)]
            self.three_ways(lambda a, out: COMM.reduce_scatter(a, out, dtype=dtype), send, send[:COUNT], self.own_part,
                            lambda out: self.assert_same(out, mine, kind))

    def test_all_gather(self):
        for kind in KINDS + ["bool"]:
            send, dtype = array(numbers(RANK) if kind != "bool" else [RANK % 2] * COUNT, kind)
            every = [numbers(rank) if kind != "bool" else [rank % 2] * COUNT for rank in RANKS]
            like, _ = array(every, kind)
            self.three_ways(lambda a, out: COMM.all_gather(a, out, dtype=dtype), send, like, lambda whole: whole[RANK],
                            lambda out: self.assert_same(out, every, kind))

    def test_gather(self):
        for kind in KINDS:
            for root in RANKS:
                send, dtype = array(numbers(RANK), kind)
                like, _ = array([numbers(rank) for rank in RANKS], kind)
                if RANK == root:
                    self.three_ways(lambda a, out: COMM.gather(a, out, root, dtype=dtype), send, like, lambda whole: whole[RANK],
                                    lambda out: self.assert_same(out, [numbers(rank) for rank in RANKS], kind))
                else:
                    for _ in range(3):
                        self.assertIsNone(COMM.gather(send, None, root, dtype=dtype))

    def test_scatter(self):
        for kind in KINDS:
            for root in RANKS:
                mine = numbers(root, SIZE * COUNT)[RANK * COUNT:(RANK + 1) * COUNT]
                out, dtype = array([1] * COUNT, kind)
                if RANK == root:
                    send, _ = array(numbers(root, SIZE * COUNT), kind)
                    self.three_ways(lambda a, out: COMM.scatter(a, out, root, dtype=dtype), send, out, self.own_part,
                                    lambda out: self.assert_same(out, mine, kind))
                else:
                    for _ in range(3):
                        self.assertIs(COMM.scatter(None, out, root, dtype=dtype), out)
                        self.assert_same(out, mine, kind)

    def test_all_to_all(self):
        for kind in KINDS:
            send, dtype = array(numbers(RANK, SIZE * COUNT), kind)
            mine = [value for rank in RANKS for value in numbers(rank, SIZE * COUNT)[RANK * COUNT:(RANK + 1) * COUNT]]
            self.three_ways(lambda a, out: COMM.all_to_all(a, out, dtype=dtype), send, send, lambda whole: whole,
                            lambda out: self.assert_same(out, mine, kind))

    def test_no_elements(self):
        none = numpy.zeros(0, "float32")
        for got in (COMM.all_reduce(none), COMM.broadcast(none.copy()), COMM.all_gather(none), COMM.all_to_all(none),
                    COMM.reduce_scatter(none), COMM.all_reduce(b"", bytearray())):
            self.assertEqual(memoryview(got).nbytes, 0)

    def test_a_megabyte_of_mapped_memory(self):
        data = hcomm.zeros(1 << 18)
        data[:] = RANK
        COMM.all_reduce(data, out=data)
        self.assertEqual(set(data.tolist()), {sum(RANKS)})

    def test_barrier_and_a_second_communicator(self):
        with hcomm.Communicator.from_env() as other:
            self.assertEqual((other.rank, other.size), (RANK, SIZE))
            other.barrier()
            self.assertEqual(other.all_reduce(numpy.int64([1])).tolist(), [SIZE])
        self.assertTrue(other.closed)
        COMM.barrier()

    def test_group(self):
        with hcomm.group():
            first = COMM.all_reduce(numpy.full(3, RANK, "int16"))  # nobody but the group keeps what is sent
            with hcomm.group():
                second = COMM.all_gather(numpy.full(2, RANK, "uint8"))
        self.assertEqual(first.tolist(), [sum(RANKS)] * 3)
        self.assertEqual(second.tolist(), [[rank] * 2 for rank in RANKS])

    def test_split(self):
        odd = COMM.split(RANK % 2, -RANK)  # backwards
        mine = [rank for rank in reversed(RANKS) if rank % 2 == RANK % 2]
        self.assertEqual((odd.size, odd.rank), (len(mine), mine.index(RANK)))
        self.assertEqual(odd.all_gather(numpy.int32([RANK])).ravel().tolist(), mine)
        odd.close()
        alone = COMM.split(3 if RANK == SIZE - 1 else None)
        if RANK == SIZE - 1:
            self.assertEqual((alone.size, alone.rank), (1, 0))
        else:
            self.assertIsNone(alone)
        with self.assertRaises(ValueError) as caught:
            COMM.split(-1)
        self.assertIn("color is -1", str(caught.exception))

    def test_dup(self):
        with COMM.dup() as other:
            self.assertEqual((other.rank, other.size), (RANK, SIZE))
            self.assertNotEqual(other.handle, COMM.handle)
            self.assertEqual(other.all_reduce(numpy.int64([1])).tolist(), [SIZE])

    def test_an_id_for_all(self):
        made = numpy.frombuffer(hcomm.unique_id() if RANK == 0 else bytes(128), "uint8").copy()
        COMM.broadcast(made)
        with hcomm.Communicator.from_id(made.tobytes(), SIZE, RANK) as comm:
            self.assertEqual(comm.all_reduce(numpy.int32([comm.rank])).tolist(), [sum(RANKS)])

    @staticmethod
    def own_part(whole):
        return whole[RANK * COUNT:(RANK + 1) * COUNT]


if __name__ == "__main__":
    rig.main(COMM)
