"""Finds libhcomm.so.0, says what its functions take, and turns their failures into exceptions.

It is looked for when the first function is called: at the path given to load(), else beside this package, else in the build
tree that the package is a part of, else where the system's loader looks.

ctypes gives the interpreter's lock back while a function runs, so that ranks may be threads."""
import ctypes
import os
import pathlib
import threading
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_void_p

from ._errors import Result, error_of
from ._version import __version__

NAME = "libhcomm.so.0"
UNIQUE_ID_BYTES = 128


class UniqueId(ctypes.Structure):
    """hcommUniqueId."""

    _fields_ = [("internal", ctypes.c_char * UNIQUE_ID_BYTES)]


COMM = STREAM = c_void_p
SIZES = POINTER(c_size_t)
# The functions of hcomm.h and what they take; tests/python compares this with the header.
PROTOTYPES = {
    "hcommGetVersion": [POINTER(c_int)],
    "hcommGetErrorString": [c_int],
    "hcommGetLastError": [COMM],
    "hcommGetUniqueId": [POINTER(UniqueId)],
    "hcommCommInitRank": [POINTER(COMM), c_int, UniqueId, c_int],
    "hcommCommInitAll": [POINTER(COMM), c_int],
    "hcommCommInitEnv": [POINTER(COMM)],
    "hcommCommSplit": [COMM, c_int, c_int, POINTER(COMM)],
    "hcommCommDup": [COMM, POINTER(COMM)],
    "hcommCommDestroy": [COMM],
    "hcommCommAbort": [COMM],
    "hcommCommCount": [COMM, POINTER(c_int)],
    "hcommCommUserRank": [COMM, POINTER(c_int)],
    "hcommCommGetAsyncError": [COMM, POINTER(c_int)],
    "hcommAllReduce": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "hcommBroadcast": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "hcommReduce": [c_void_p, c_void_p, c_size_t, c_int, c_int, c_int, COMM, STREAM],
    "hcommReduceScatter": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "hcommAllGather": [c_void_p, c_void_p, c_size_t, c_int, COMM, STREAM],
    "hcommGather": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "hcommScatter": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "hcommAllToAll": [c_void_p, c_void_p, c_size_t, c_int, COMM, STREAM],
    "hcommAllGatherV": [c_void_p, c_size_t, c_void_p, SIZES, SIZES, c_int, COMM, STREAM],
    "hcommReduceScatterV": [c_void_p, c_void_p, SIZES, c_int, c_int, COMM, STREAM],
    "hcommGatherV": [c_void_p, c_size_t, c_void_p, SIZES, SIZES, c_int, c_int, COMM, STREAM],
    "hcommScatterV": [c_void_p, SIZES, SIZES, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "hcommAllToAllV": [c_void_p, SIZES, SIZES, c_void_p, SIZES, SIZES, c_int, COMM, STREAM],
    "hcommBarrier": [COMM, STREAM],
    "hcommGroupStart": [],
    "hcommGroupEnd": [],
    "hcommMemAlloc": [POINTER(c_void_p), c_size_t],
    "hcommMemFree": [c_void_p],
}
TEXTS = {"hcommGetErrorString", "hcommGetLastError"}  # answer a text, all others a Result

_lock = threading.Lock()
_loaded = None
_loaded_path = None


def _candidates():
    here = pathlib.Path(__file__).resolve().parent
    yield here / NAME
    if here.parent.parent.name == "bindings":  # of the source tree, or its copy in a build tree
        yield here.parents[2] / "src" / NAME
        yield here.parents[2] / "build" / "src" / NAME


def _open(path):
    library = ctypes.CDLL(os.fspath(path))
    for name, arguments in PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise OSError(f"{path} has no {name}: it is no {NAME} of version {__version__}, as this package needs") from None
        function.argtypes = arguments
        function.restype = c_char_p if name in TEXTS else c_int
    number = c_int()
    library.hcommGetVersion(ctypes.byref(number))
    found = number.value // 10000, number.value // 100 % 100
    if found != tuple(map(int, __version__.split(".")))[:2]:
        raise OSError(f"{path} is version {found[0]}.{found[1]}, this package is {__version__}; install both from one source")
    return library


def _find():
    for path in _candidates():
        if path.exists():
            return _open(path), str(path)
    try:
        return _open(NAME), NAME
    except OSError as error:
        places = ", ".join(str(path) for path in _candidates())
        raise OSError(f"{NAME} is not found ({error}). Looked for {places}, and where the system's loader looks. Install it, or "
                      "say where it is with hcomm.load(path)") from None


def load(path=None):
    """Loads the library, from `path` if one is given, and returns where it was found. Needed only for a library in an unusual
    place, and then before anything else of this package. Any thread. OSError: it is not there, is of another version, or
    another one is loaded already: a process has one."""
    global _loaded, _loaded_path
    with _lock:
        if _loaded is None:
            _loaded, _loaded_path = _find() if path is None else (_open(path), os.fspath(path))
        elif path is not None and os.fspath(path) != _loaded_path:
            raise OSError(f"{_loaded_path} is loaded already, so {os.fspath(path)} cannot be; call load() before anything else")
        return _loaded_path


def library():
    if _loaded is None:
        load()
    return _loaded


def check(result):
    """Raises the Error of a call of this thread that failed."""
    if result != Result.success:
        text = library().hcommGetLastError(None) or library().hcommGetErrorString(result)
        raise error_of(result, text.decode(errors="replace"))


def version():
    """The library's version: (major, minor, patch)."""
    number = c_int()
    check(library().hcommGetVersion(ctypes.byref(number)))
    return number.value // 10000, number.value // 100 % 100, number.value % 100


def unique_id():
    """128 bytes that name a meeting, which ranks join by Communicator.from_id: get them to every rank by any means, and keep
    them secret, since whoever holds them can join. The process that made them serves the meeting and must live until all have
    joined. One id makes one communicator."""
    made = UniqueId()
    check(library().hcommGetUniqueId(ctypes.byref(made)))
    return ctypes.string_at(ctypes.byref(made), UNIQUE_ID_BYTES)
