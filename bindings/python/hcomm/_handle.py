"""What every call on a communicator does: it holds on to the handle, calls, and keeps what a group still needs."""
import threading
import weakref

from . import _group
from ._errors import InvalidUsage, Result
from ._library import check, library

IN_USE = ("the communicator is in use by another thread or an open group; end the group, or abort() the communicator so that its "
          "calls return, then close it")


class Handle:
    """Owns an hcommComm_t. A call marks it as used, so that no other thread destroys it meanwhile."""

    def __init__(self, handle):
        self._handle = handle
        self._lock = threading.Lock()  # of _handle and _users
        self._users = 0  # calls, and groups that have recorded some
        self._finalizer = weakref.finalize(self, library().hcommCommDestroy, handle)
        self._finalizer.atexit = False  # a process that ends leaves its communicators by itself

    def _enter(self):
        with self._lock:
            if self._handle is None:
                raise ValueError("the communicator is closed")
            self._users += 1
            return self._handle

    def _leave(self):
        with self._lock:
            self._users -= 1

    def _ask(self, function, *arguments):
        """Calls function(handle, *arguments), whose failure is raised."""
        handle = self._enter()
        try:
            check(function(handle, *arguments))
        finally:
            self._leave()

    def _collective(self, function, *arguments, views=()):
        """Calls function(*arguments, handle, NULL). Inside a group the views, and the communicator, are kept until it ends."""
        handle = self._enter()
        try:
            check(function(*arguments, handle, None))
            if _group.is_open():
                _group.keep(self._hold(), views)
        finally:
            self._leave()

    def _hold(self):
        """One more user, until the function that is returned is called."""
        self._enter()
        return self._leave

    @property
    def closed(self):
        return self._handle is None

    def close(self):
        """Ends the communicator; it is of no use afterwards. Local and bounded: a peer that still works is not waited for.
        A second time does nothing. InvalidUsage: another thread, or an open group, is using it."""
        with self._lock:
            if self._users:
                raise InvalidUsage(Result.invalid_usage, IN_USE)
            handle, self._handle = self._handle, None
        if handle is not None and self._finalizer.detach():
            check(library().hcommCommDestroy(handle))
