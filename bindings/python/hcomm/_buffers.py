"""From what callers pass to addresses and counts. Whatever is wrong is said before anything is called."""
import ctypes
import operator

from ._types import BYTES, INTEGERS, DataType, has_foreign_order, named, type_of_format


class _PyBuffer(ctypes.Structure):
    """Py_buffer of the C API of Python, which tells where read-only memory lies, too."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None
_SIMPLE = 0  # PyBUF_SIMPLE


def _address(view):
    """Where a contiguous memoryview's bytes begin. The address is good as long as the view lives."""
    buffer = _PyBuffer()
    _get_buffer(view, ctypes.byref(buffer), _SIMPLE)
    address = buffer.buf
    _release_buffer(ctypes.byref(buffer))
    return address


class Operand:
    """One buffer of a call. Its view keeps the memory alive and where it is: a bytearray cannot be resized meanwhile."""

    __slots__ = ("address", "count", "dtype", "shape", "view")

    def __init__(self, view, dtype):
        self.view = view
        self.dtype = dtype
        self.count = view.nbytes // dtype.nbytes
        self.shape = view.shape if view.itemsize == dtype.nbytes else (self.count,)
        self.address = _address(view) if view.nbytes else None


class _Nothing:
    """The buffer of a rank that has none in this call."""

    address = None
    count = 0
    view = None


NOTHING = _Nothing()


def _view(name, value):
    try:
        return memoryview(value)
    except TypeError:
        raise TypeError(f"{name} is a {type(value).__name__}; pass a numpy array or anything else with the buffer protocol: "
                        "a bytearray, array.array, memoryview or ctypes array") from None
    except (ValueError, BufferError) as error:
        raise TypeError(f"{name}: {error}; pass elements as one of hcomm's types, such as {name}.view('uint16') together with "
                        "dtype='bfloat16'") from None


def _type_in(name, view, wanted):
    own = type_of_format(view.format, view.itemsize)
    if own is not None and has_foreign_order(view.format, view.itemsize):
        raise TypeError(f"{name} has elements in the byte order of other machines ('{view.format}'); convert them first")
    if wanted is None:
        if own is None:
            raise TypeError(f"{name} has elements of format '{view.format}', {view.itemsize} bytes each, which is none of "
                            f"hcomm's types: {', '.join(DataType.__members__)}")
        return own
    if own is wanted or (own in INTEGERS and own.nbytes == wanted.nbytes):  # integers may hold anything of their size
        return wanted
    if own in BYTES:
        if view.nbytes % wanted.nbytes:
            raise ValueError(f"{name} has {view.nbytes} bytes, which are no whole number of {wanted.name} elements of "
                             f"{wanted.nbytes} bytes")
        return wanted
    raise TypeError(f"{name} has elements of {own.name if own is not None else repr(view.format)}, but dtype is {wanted.name}")


def _operand(name, value, dtype):
    view = _view(name, value)
    dtype = _type_in(name, view, dtype)
    if not view.c_contiguous:
        raise ValueError(f"{name} is not contiguous in C order: its elements do not lie one behind the other; pass a contiguous "
                         "copy (numpy.ascontiguousarray)")
    return Operand(view, dtype)


def source(name, value, dtype=None):
    """A buffer to read from. dtype: None for that of the buffer, else a DataType or its name."""
    return _operand(name, value, None if dtype is None else named(DataType, dtype, "dtype"))


def target(name, value, dtype=None):
    """A buffer to write into."""
    operand = source(name, value, dtype)
    if operand.view.readonly:
        raise ValueError(f"{name} is read-only, and the result goes there; pass memory that can be written")
    return operand


def like(send, name, value, dtype):
    """A buffer to write elements of send's type into."""
    operand = target(name, value, dtype)
    if operand.dtype is not send.dtype:
        raise TypeError(f"{name} has elements of {operand.dtype.name}, send of {send.dtype.name}; if both hold the same, pass "
                        "dtype, too")
    return operand


def check_count(name, operand, count):
    if operand.count != count:
        raise ValueError(f"{name} has {operand.count} elements, not {count}")


def allocate(dtype, shape):
    """A numpy array for a result that the caller passed no memory for."""
    try:
        import numpy
    except ImportError:
        raise TypeError("out is None, and numpy, which would make an array for the result, is not installed; "
                        "pass a buffer as out") from None
    return numpy.empty(shape, dtype.storage)


def whole(name, value, least, most=2**31 - 1):
    """An integer that C can take, which ctypes would cut silently."""
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}; legal are {least} to {most}")
    return number
