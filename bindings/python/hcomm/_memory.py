"""Memory that peers on the host can map."""
import ctypes
import math
import operator
import sys
import weakref

from ._buffers import whole
from ._library import check, library
from ._types import DataType, named


class Memory:
    """`nbytes` bytes of memory that peers on the host can map, the fastest kind for collectives; zeroed. Any other memory is
    legal everywhere, too. Needs no communicator.

    It has the buffer protocol: pass it to collectives with a dtype, or look at it through array() or cast(). The memory is freed
    when the object and every view of it are gone, never before; so there is nothing to free by hand."""

    __slots__ = ()

    def __new__(cls, nbytes):
        nbytes = whole("nbytes", nbytes, 0, sys.maxsize)
        address = ctypes.c_void_p()
        check(library().hcommMemAlloc(ctypes.byref(address), nbytes))
        # An array of ctypes is the one kind of object whose views keep it alive, and which can lie at a given address.
        memory = type("Memory", (Memory, ctypes.c_ubyte * nbytes), {}).from_address(address.value or 0)
        weakref.finalize(memory, library().hcommMemFree, address).atexit = False  # a process that ends frees all
        return memory

    def __init__(self, nbytes):
        pass  # that of ctypes would write into the memory

    @property
    def nbytes(self):
        return ctypes.sizeof(self)

    def __repr__(self):
        return f"<hcomm.Memory of {self.nbytes} bytes>"

    def cast(self, form):
        """A memoryview with elements of a format of the struct module, such as 'f'."""
        return memoryview(self).cast("B").cast(form)

    def array(self, dtype="float32", shape=None):
        """A numpy array over the memory, of one dimension unless a shape is given. Elements that numpy does not know come as
        integers of their size."""
        import numpy
        flat = numpy.frombuffer(self, named(DataType, dtype, "dtype").storage)
        return flat if shape is None else flat.reshape(shape)


def zeros(shape, dtype="float32"):
    """A numpy array of zeros in memory that peers on the host can map. It owns its Memory."""
    dtype = named(DataType, dtype, "dtype")
    shape = tuple(map(operator.index, shape)) if hasattr(shape, "__iter__") else (operator.index(shape),)
    if any(extent < 0 for extent in shape):
        raise ValueError(f"shape is {shape}; no extent can be negative")
    return Memory(math.prod(shape) * dtype.nbytes).array(dtype, shape)
