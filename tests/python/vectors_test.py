"""The V variants: parts of unequal lengths, empty ones, with gaps, in place, and wrong counts. Started as several ranks by
`hcomm run`; each runs all of this."""
import unittest

import rig

numpy = rig.need_numpy()

import hcomm  # noqa: E402  after the skip

COMM = hcomm.Communicator.from_env()
RANK, SIZE = COMM.rank, COMM.size
RANKS = range(SIZE)
COUNTS = [3 * rank % 4 + (rank == 0) for rank in RANKS]  # 1 3 2 1; of 4 ranks the last
COUNTS[-1] = 0 if SIZE > 2 else COUNTS[-1]
GAPS = [sum(COUNTS[:rank]) + 2 * rank + 1 for rank in RANKS]  # one element before the first part, two between others
KINDS = ["int8", "float32", "float64", "complex64", "bool"]


def part(rank, kind, salt=0):
    return (numpy.arange(COUNTS[rank]) + rank + salt).astype(kind)


def parts(kind):
    return numpy.concatenate([part(rank, kind) for rank in RANKS])


def with_gaps(kind, fill=0):
    """All parts where GAPS says, and the fill between them."""
    whole = numpy.full(GAPS[-1] + COUNTS[-1] + 1, fill, kind)
    for rank in RANKS:
        whole[GAPS[rank]:GAPS[rank] + COUNTS[rank]] = part(rank, kind)
    return whole


def only_gaps(kind, fill):
    whole = with_gaps(kind)
    for rank in RANKS:
        whole[GAPS[rank]:GAPS[rank] + COUNTS[rank]] = 0
    return numpy.where(with_gaps("int8", 99) == 99, fill, whole).astype(kind)


class Vectors(unittest.TestCase):
    def assert_same(self, got, expected):
        self.assertEqual((got.dtype, got.tolist()), (expected.dtype, expected.tolist()))

    def test_all_gather_v(self):
        for kind in KINDS:
            mine = part(RANK, kind)
            self.assert_same(COMM.all_gather_v(mine, COUNTS), parts(kind))
            out = numpy.empty_like(parts(kind))
            self.assertIs(COMM.all_gather_v(mine, numpy.array(COUNTS), out), out)
            self.assert_same(out, parts(kind))
            out = only_gaps(kind, 1)
            COMM.all_gather_v(mine, COUNTS, out, GAPS)
            self.assert_same(out, with_gaps(kind, 1))
            out = only_gaps(kind, 1)
            own = out[GAPS[RANK]:GAPS[RANK] + COUNTS[RANK]]
            own[:] = mine
            COMM.all_gather_v(own, COUNTS, out, GAPS)
            self.assert_same(out, with_gaps(kind, 1))

    def test_reduce_scatter_v(self):
        send = parts("int32") * (RANK + 1)
        start = sum(COUNTS[:RANK])
        total = part(RANK, "int32") * sum(rank + 1 for rank in RANKS)
        self.assert_same(COMM.reduce_scatter_v(send, COUNTS), total)
        out = numpy.zeros(COUNTS[RANK], "int32")
        self.assertIs(COMM.reduce_scatter_v(send, COUNTS, out), out)
        self.assert_same(out, total)
        self.assert_same(COMM.reduce_scatter_v(send, COUNTS, op="max"), part(RANK, "int32") * SIZE)
        COMM.reduce_scatter_v(send, COUNTS, send[start:start + COUNTS[RANK]])
        self.assert_same(send[start:start + COUNTS[RANK]], total)

    def test_gather_v(self):
        for kind in KINDS:
            for root in RANKS:
                mine = part(RANK, kind)
                got = COMM.gather_v(mine, COUNTS if RANK == root else None, root=root)
                out = only_gaps(kind, 1)
                with_places = COMM.gather_v(mine, COUNTS, out, root, GAPS)
                if RANK == root:
                    self.assert_same(got, parts(kind))
                    self.assertIs(with_places, out)
                    self.assert_same(out, with_gaps(kind, 1))
                else:
                    self.assertIsNone(got)
                    self.assertIsNone(with_places)
                    self.assert_same(out, only_gaps(kind, 1))

    def test_scatter_v(self):
        for kind in KINDS:
            for root in RANKS:
                out = numpy.zeros(COUNTS[RANK], kind)
                self.assertIs(COMM.scatter_v(parts(kind) if RANK == root else None, COUNTS, out, root), out)
                self.assert_same(out, part(RANK, kind))
                out[:] = 0
                if RANK == root:
                    self.assert_same(COMM.scatter_v(with_gaps(kind), COUNTS, None, root, GAPS), part(RANK, kind))
                else:
                    COMM.scatter_v(out=out, root=root)
                    self.assert_same(out, part(RANK, kind))

    def test_all_to_all_v(self):
        # Rank r sends r + peer elements to each peer, so that both sides know.
        counts = [RANK + peer for peer in RANKS]
        send = numpy.concatenate([numpy.full(RANK + peer, 10 * RANK + peer) for peer in RANKS]).astype("int16")
        expected = numpy.concatenate([numpy.full(RANK + peer, 10 * peer + RANK) for peer in RANKS]).astype("int16")
        self.assert_same(COMM.all_to_all_v(send, counts, counts), expected)
        places = [sum(counts[:peer]) + peer for peer in RANKS]
        out = numpy.full(sum(counts) + SIZE, 77, "int16")
        self.assertIs(COMM.all_to_all_v(send, counts, counts, out, recv_offsets=places), out)
        for peer in RANKS:
            self.assertEqual(out[places[peer]:places[peer] + counts[peer] + 1].tolist(), [10 * peer + RANK] * counts[peer] + [77])
        self.assertIs(COMM.all_to_all_v(send, counts, counts, send), send)
        self.assert_same(send, expected)

    def test_in_a_group_lists_are_copied(self):
        counts = list(COUNTS)
        with hcomm.group():
            got = COMM.all_gather_v(part(RANK, "int32"), counts)
            counts[:] = [0] * SIZE
        self.assert_same(got, parts("int32"))

    def test_wrong_lists_are_refused_before_anything_is_called(self):
        two = numpy.zeros(2, "int32")
        counts = [2] * SIZE
        for kind, words, call in (
                (ValueError, "counts has 0 entries", lambda: COMM.all_gather_v(two, [])),
                (TypeError, "counts is None", lambda: COMM.all_gather_v(two, None)),
                (ValueError, "counts[0] is -1", lambda: COMM.all_gather_v(two, [-1] * SIZE)),
                (TypeError, "float", lambda: COMM.all_gather_v(two, [1.5] * SIZE)),
                (ValueError, "send has 2 elements, not 3", lambda: COMM.all_gather_v(two, [3] * SIZE)),
                (ValueError, f"out has 1 elements, not {2 * SIZE}", lambda: COMM.all_gather_v(two, counts, two[:1])),
                (TypeError, "out is None; where parts have places", lambda: COMM.all_gather_v(two, counts, None, [0] * SIZE)),
                (ValueError, "but its parts end at 9", lambda: COMM.all_gather_v(two, counts, two, [7] * SIZE)),
                (ValueError, f"send has 2 elements, not {3 * SIZE}", lambda: COMM.reduce_scatter_v(two, [3] * SIZE)),
                (ValueError, "root is -1", lambda: COMM.gather_v(two, counts, root=-1)),
                (TypeError, "counts is None", lambda: COMM.gather_v(two, root=RANK)),
                (ValueError, "out has 2 elements, not 1", lambda: COMM.scatter_v(two[:SIZE], [1] * SIZE, two, RANK)
                 if SIZE == 2 else COMM.scatter_v(numpy.zeros(SIZE, "int32"), [1] * SIZE, two, RANK)),
                (ValueError, "recv_counts has 1 entries" if SIZE > 1 else "recv_counts has 2 entries",
                 lambda: COMM.all_to_all_v(numpy.zeros(2 * SIZE), counts, [0] if SIZE > 1 else [0, 0]))):
            with self.assertRaises(kind) as caught:
                call()
            self.assertNotIsInstance(caught.exception, hcomm.Error)
            self.assertIn(words, str(caught.exception))


class Mismatch(unittest.TestCase):
    def test_a_count_that_is_not_expected(self):
        if SIZE == 1:
            self.skipTest("one rank expects what it sends")
        with hcomm.Communicator.from_env() as comm:
            send = numpy.zeros(2 if RANK == SIZE - 1 else 1, "int32")
            with self.assertRaises(hcomm.Mismatch) as caught:
                comm.gather_v(send, [1] * SIZE)
                comm.barrier()  # where a sender does not wait for the root
            self.assertIn("gather", str(caught.exception))
            COMM.barrier()  # until all have seen it


if __name__ == "__main__":
    rig.main(COMM)
