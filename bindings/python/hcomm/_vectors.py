"""The V variants of collectives: the ranks' parts have lengths, and places, of their own.

What all of them have in common is said once, in Vectors."""
import ctypes
import sys

from ._buffers import NOTHING, allocate, check_count, like, source, target, whole
from ._collectives import Collectives
from ._library import library


class _Parts:
    """Where the parts of one buffer lie: a count for each rank, and an offset, or None for one part after the other."""

    def __init__(self, size, what, counts, offsets):
        self.counts = self._list(size, what + "counts", counts)
        self.offsets = None if offsets is None else self._list(size, what + "offsets", offsets)
        ends = [offset + count for offset, count in zip(self.offsets, self.counts) if count] if offsets is not None else []
        self.extent = sum(self.counts) if offsets is None else max(ends, default=0)

    @staticmethod
    def _list(size, name, values):
        if values is None:
            raise TypeError(f"{name} is None; it has a number of elements for each rank")
        values = list(values)
        if len(values) != size:
            raise ValueError(f"{name} has {len(values)} entries, not {size}, one for each rank")
        return (ctypes.c_size_t * size)(*(whole(f"{name}[{rank}]", value, 0, sys.maxsize) for rank, value in enumerate(values)))

    def check(self, name, operand):
        """The buffer must be as long as the parts are together; with offsets it may be longer."""
        if self.offsets is None:
            check_count(name, operand, self.extent)
        elif operand.count < self.extent:
            raise ValueError(f"{name} has {operand.count} elements, but its parts end at {self.extent}")

    def result(self, send, out, dtype):
        """The operand that parts come into, and the object that the caller gets."""
        if out is None:
            if self.offsets is not None:
                raise TypeError("out is None; where parts have places of their own, pass memory for all of them")
            out = allocate(send.dtype, (self.extent,))
            return target("out", out, send.dtype), out
        operand = like(send, "out", out, dtype)
        self.check("out", operand)
        return operand, out


_NO_PARTS = type("NoParts", (), {"counts": None, "offsets": None})


class Vectors(Collectives):
    """counts has the number of elements of each rank's part, in a sequence of integers; offsets, where each part begins, in
    elements of the buffer, which may then have gaps. Without offsets the parts lie one after the other in the order of ranks.
    Parts may be empty; those that are received must not overlap. A rank whose count is not what another one expects is a
    Mismatch."""

    def all_gather_v(self, send, counts, out=None, offsets=None, *, dtype=None):
        """Part r of out = rank r's send, which has counts[r] elements; on every rank. All ranks pass the same counts; offsets, of
        the parts in out, may differ. send may be this rank's own part of out. Returns out; without one, a row."""
        source_of = source("send", send, dtype)
        parts = _Parts(self.size, "", counts, offsets)
        check_count("send", source_of, parts.counts[self.rank])
        result, out = parts.result(source_of, out, dtype)
        self._collective(library().hcommAllGatherV, source_of.address, source_of.count, result.address, parts.counts,
                         parts.offsets, source_of.dtype, views=(source_of.view, result.view))
        return out

    def reduce_scatter_v(self, send, counts, out=None, op="sum", *, dtype=None):
        """out = this rank's part of: op over all ranks' send, whose parts lie one after the other. All ranks pass the same
        counts. out may be this rank's own part of send. Returns out; without one, a row."""
        source_of = source("send", send, dtype)
        parts = _Parts(self.size, "", counts, None)
        parts.check("send", source_of)
        result, out = self._one_part(source_of, parts.counts[self.rank], out, dtype)
        self._collective(library().hcommReduceScatterV, source_of.address, result.address, parts.counts, source_of.dtype,
                         self._op(op), views=(source_of.view, result.view))
        return out

    def gather_v(self, send, counts=None, out=None, root=0, offsets=None, *, dtype=None):
        """As all_gather_v, on the root alone. Elsewhere counts, offsets and out are not looked at, and None is returned."""
        root = self._root(root)
        source_of = source("send", send, dtype)
        parts, result, out = _NO_PARTS, NOTHING, out if self.rank == root else None
        if self.rank == root:
            parts = _Parts(self.size, "", counts, offsets)
            check_count("send", source_of, parts.counts[root])
            result, out = parts.result(source_of, out, dtype)
        self._collective(library().hcommGatherV, source_of.address, source_of.count, result.address, parts.counts, parts.offsets,
                         source_of.dtype, root, views=(source_of.view, result.view))
        return out

    def scatter_v(self, send=None, counts=None, out=None, root=0, offsets=None, *, dtype=None):
        """out = this rank's part of the root's send. Elsewhere send, counts and offsets are not looked at, and out is needed: it
        says how much comes. On the root out may be its own part of send. Returns out; without one, on the root, a row."""
        root = self._root(root)
        if self.rank != root:
            source_of, parts, result = NOTHING, _NO_PARTS, self._needed_out(out, dtype)
        else:
            source_of = source("send", send, dtype)
            parts = _Parts(self.size, "", counts, offsets)
            parts.check("send", source_of)
            result, out = self._one_part(source_of, parts.counts[root], out, dtype)
        self._collective(library().hcommScatterV, source_of.address, parts.counts, parts.offsets, result.address, result.count,
                         result.dtype, root, views=(source_of.view, result.view))
        return out

    def all_to_all_v(self, send, send_counts, recv_counts, out=None, send_offsets=None, recv_offsets=None, *, dtype=None):
        """Part r of out, of recv_counts[r] elements, = part `rank` of rank r's send, of its send_counts[rank]. In place:
        out=send, with equal counts and offsets. Returns out; without one, a row."""
        source_of = source("send", send, dtype)
        sent = _Parts(self.size, "send_", send_counts, send_offsets)
        sent.check("send", source_of)
        received = _Parts(self.size, "recv_", recv_counts, recv_offsets)
        result, out = received.result(source_of, out, dtype)
        self._collective(library().hcommAllToAllV, source_of.address, sent.counts, sent.offsets, result.address, received.counts,
                         received.offsets, source_of.dtype, views=(source_of.view, result.view))
        return out

    @staticmethod
    def _one_part(send, count, out, dtype):
        if out is None:
            out = allocate(send.dtype, (count,))
            return target("out", out, send.dtype), out
        operand = like(send, "out", out, dtype)
        check_count("out", operand, count)
        return operand, out
