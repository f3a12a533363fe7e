"""The collectives. Each checks its buffers, counts their elements, and calls the library.

What all of them have in common is said once, in Communicator."""
from ._buffers import NOTHING, allocate, check_count, like, source, target, whole
from ._handle import Handle
from ._library import library
from ._types import Op, named


def _result(send, out, dtype, count, shape):
    """The operand that the result goes to, and the object that the caller gets."""
    if out is None:
        out = allocate(send.dtype, shape)
        return target("out", out, send.dtype), out
    operand = like(send, "out", out, dtype)
    check_count("out", operand, count)
    return operand, out


def _one_of(shape, count, parts):
    """The shape of one of `parts` equal parts: the first axis is parted, or all elements as one row."""
    return (shape[0] // parts, *shape[1:]) if shape and shape[0] % parts == 0 else (count // parts,)


class Collectives(Handle):
    """All ranks make the same calls in the same order, with sizes, types, operations and roots that fit."""

    def all_reduce(self, send, out=None, op="sum", *, dtype=None):
        """out[i] = op over all ranks' send[i], on every rank. In place: out=send. Returns out, of send's shape."""
        source_of = source("send", send, dtype)
        result, out = _result(source_of, out, dtype, source_of.count, source_of.shape)
        self._collective(library().hcommAllReduce, source_of.address, result.address, source_of.count, source_of.dtype,
                         self._op(op), views=(source_of.view, result.view))
        return out

    def broadcast(self, data, root=0, *, dtype=None):
        """data = the root's, on every rank. Returns data."""
        root = self._root(root)
        both = target("data", data, dtype)
        self._collective(library().hcommBroadcast, both.address, both.address, both.count, both.dtype, root, views=(both.view,))
        return data

    def reduce(self, send, out=None, root=0, op="sum", *, dtype=None):
        """out[i] = op over all ranks' send[i], on the root, which it is returned to, in send's shape. Elsewhere out is not
        looked at, and None is returned. In place, on the root: out=send."""
        root = self._root(root)
        source_of = source("send", send, dtype)
        result, out = (_result(source_of, out, dtype, source_of.count, source_of.shape) if self.rank == root
                       else (NOTHING, None))
        self._collective(library().hcommReduce, source_of.address, result.address, source_of.count, source_of.dtype,
                         self._op(op), root, views=(source_of.view, result.view))
        return out

    def reduce_scatter(self, send, out=None, op="sum", *, dtype=None):
        """out = this rank's part of: op over all ranks' send. send has `size` equal parts, one behind the other; out is one.
        Returns out; without one, a part of send along its first axis, if that has a multiple of `size`, else one row."""
        source_of = source("send", send, dtype)
        count = self._part_of("send", source_of)
        result, out = _result(source_of, out, dtype, count, _one_of(source_of.shape, source_of.count, self.size))
        self._collective(library().hcommReduceScatter, source_of.address, result.address, count, source_of.dtype,
                         self._op(op), views=(source_of.view, result.view))
        return out

    def all_gather(self, send, out=None, *, dtype=None):
        """out = all ranks' send, one behind the other in the order of ranks, on every rank. send may be this rank's own part of
        out. Returns out; without one, of shape (size, *send's)."""
        source_of = source("send", send, dtype)
        result, out = _result(source_of, out, dtype, self.size * source_of.count, (self.size, *source_of.shape))
        self._collective(library().hcommAllGather, source_of.address, result.address, source_of.count, source_of.dtype,
                         views=(source_of.view, result.view))
        return out

    def gather(self, send, out=None, root=0, *, dtype=None):
        """As all_gather, on the root alone. Elsewhere out is not looked at, and None is returned."""
        root = self._root(root)
        source_of = source("send", send, dtype)
        result, out = (_result(source_of, out, dtype, self.size * source_of.count, (self.size, *source_of.shape))
                       if self.rank == root else (NOTHING, None))
        self._collective(library().hcommGather, source_of.address, result.address, source_of.count, source_of.dtype, root,
                         views=(source_of.view, result.view))
        return out

    def scatter(self, send=None, out=None, root=0, *, dtype=None):
        """out = this rank's part of the root's send, which has `size` equal parts, one behind the other. Elsewhere send is not
        looked at, and out is needed: it says how much comes. On the root out may be its own part of send; without one, it gets a
        part of send as in reduce_scatter. Returns out."""
        root = self._root(root)
        if self.rank != root:
            source_of, result = NOTHING, self._needed_out(out, dtype)
        else:
            source_of = source("send", send, dtype)
            result, out = _result(source_of, out, dtype, self._part_of("send", source_of),
                                  _one_of(source_of.shape, source_of.count, self.size))
        self._collective(library().hcommScatter, source_of.address, result.address, result.count, result.dtype, root,
                         views=(source_of.view, result.view))
        return out

    def all_to_all(self, send, out=None, *, dtype=None):
        """Part r of out = part `rank` of rank r's send; both have `size` equal parts, one behind the other. In place: out=send.
        Returns out, of send's shape."""
        source_of = source("send", send, dtype)
        count = self._part_of("send", source_of)
        result, out = _result(source_of, out, dtype, source_of.count, source_of.shape)
        self._collective(library().hcommAllToAll, source_of.address, result.address, count, source_of.dtype,
                         views=(source_of.view, result.view))
        return out

    def barrier(self):
        """Returns on no rank before every rank has called it."""
        self._collective(library().hcommBarrier)

    def _part_of(self, name, operand):
        if operand.count % self.size:
            raise ValueError(f"{name} has {operand.count} elements, which are no {self.size} equal parts, one for each rank")
        return operand.count // self.size

    def _root(self, root):
        return whole("root", root, 0, self.size - 1)

    def _needed_out(self, out, dtype):
        if out is None:
            raise TypeError(f"out is None; rank {self.rank} is not the root, and only out says how much it gets")
        return target("out", out, dtype)

    @staticmethod
    def _op(op):
        return named(Op, op, "op")
