"""Communicators: how ranks meet, who is who, and how it ends."""
import ctypes

from ._buffers import whole
from ._errors import Result, error_of
from ._library import UNIQUE_ID_BYTES, UniqueId, check, library
from ._vectors import Vectors


NO_COLOR = -1  # HCOMM_SPLIT_NOCOLOR


class Communicator(Vectors):
    """One rank of a group of ranks. Made by from_env, from_id, all_in_process, split or dup; ended by close(), a `with` block,
    or when nothing refers to it.

    Buffers are numpy arrays or anything else with the buffer protocol, contiguous in C order; a result must be writable. Their
    format says which type the elements have; dtype says it where the format cannot, as for bfloat16 in an array of uint16, or
    float32 in a bytearray. Sizes follow from the buffers and are checked before anything is called (TypeError, ValueError).
    Without an `out` a numpy array is made for the result. out may be send itself, or where one is larger, the rank's own part
    of it; any other overlap is an InvalidArgument.

    A call returns when it has completed; this thread did the work, and other threads of Python ran meanwhile. A signal is
    handled after it has returned. Inside a hcomm.group() it returns at once. A communicator is used by one thread at a time,
    different ones by different threads at once; abort(), async_error() and last_error() may be called at any time.

    Failures are hcomm.Error. After any but InvalidArgument and InvalidUsage the communicator is of no use: close it. The child
    of a fork has no communicators: calls there are InvalidUsage."""

    def __init__(self, handle):
        """Owns an hcommComm_t from now on."""
        super().__init__(handle)
        rank, size = ctypes.c_int(), ctypes.c_int()
        self._ask(library().hcommCommUserRank, ctypes.byref(rank))
        self._ask(library().hcommCommCount, ctypes.byref(size))
        self._rank, self._size = rank.value, size.value

    @classmethod
    def from_env(cls):
        """Joins what a launcher started (`hcomm run`, mpirun, srun, torchrun, ...); collective. An Error where there is none: it
        never falls back to one rank. Each further call makes one more communicator of the same ranks."""
        handle = ctypes.c_void_p()
        check(library().hcommCommInitEnv(ctypes.byref(handle)))
        return cls(handle.value)

    @classmethod
    def from_id(cls, id, size, rank):
        """Joins as `rank` of `size`; collective. `id`: the bytes that one process got from hcomm.unique_id(). Returns when all
        have joined, or is an Error after HCOMM_CONNECT_TIMEOUT that names who is missing."""
        if len(id) != UNIQUE_ID_BYTES:
            raise ValueError(f"id has {len(id)} bytes, not {UNIQUE_ID_BYTES}, as those of hcomm.unique_id() have")
        size = whole("size", size, 1)
        rank = whole("rank", rank, 0, size - 1)
        handle = ctypes.c_void_p()
        check(library().hcommCommInitRank(ctypes.byref(handle), size, UniqueId.from_buffer_copy(bytes(id)), rank))
        return cls(handle.value)

    @classmethod
    def all_in_process(cls, size):
        """A list of all ranks of one process. Give each to a thread of its own, or drive all from one thread in groups."""
        size = whole("size", size, 1)
        handles = (ctypes.c_void_p * size)()
        check(library().hcommCommInitAll(handles, size))
        return [cls(handle) for handle in handles]

    def split(self, color, key=0):
        """A new communicator of the ranks that pass the same color, a number from 0, in the order of their keys and, where keys
        are equal, of their ranks here; None for a rank whose color is None. Collective over this communicator, which stays as it
        is; returns when all ranks of the color have joined. Not in a group, and not for one thread that drives several ranks."""
        color = NO_COLOR if color is None else whole("color", color, 0)
        handle = ctypes.c_void_p()
        self._ask(library().hcommCommSplit, color, whole("key", key, -2**31), ctypes.byref(handle))
        return None if handle.value is None else type(self)(handle.value)

    def dup(self):
        """A new communicator of the same ranks in the same order; otherwise as split. Calls in one do not wait for the other."""
        handle = ctypes.c_void_p()
        self._ask(library().hcommCommDup, ctypes.byref(handle))
        return type(self)(handle.value)

    @property
    def rank(self):
        """Who this is: 0 to size - 1."""
        return self._rank

    @property
    def size(self):
        """How many ranks there are."""
        return self._size

    @property
    def handle(self):
        """The hcommComm_t as a number, for other users of the C interface; still owned here. None once closed."""
        return self._handle

    def abort(self):
        """Makes every present and future call on the communicator, on every rank, fail with Aborted. Any thread, any time. It is
        still to be closed."""
        self._ask(library().hcommCommAbort)

    def async_error(self):
        """What the next call would raise, as an Error that is returned, or None. Any thread, any time."""
        code = ctypes.c_int()
        self._ask(library().hcommCommGetAsyncError, ctypes.byref(code))
        return None if code.value == Result.success else error_of(code.value, self.last_error())

    def last_error(self):
        """The text of what made the communicator fail; empty while it is well. Any thread, any time."""
        handle = self._enter()
        try:
            return library().hcommGetLastError(handle).decode(errors="replace")
        finally:
            self._leave()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()
        return False

    def __repr__(self):
        return f"<hcomm.Communicator, rank {self.rank} of {self.size}{', closed' if self.closed else ''}>"
