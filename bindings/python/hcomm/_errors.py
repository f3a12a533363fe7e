"""What the library answers, and how a failure becomes an exception."""
import enum


class Result(enum.IntEnum):
    """hcommResult_t."""

    success = 0
    system_error = 2
    internal_error = 3
    invalid_argument = 4
    invalid_usage = 5
    remote_error = 6
    in_progress = 7
    timeout = 8
    mismatch = 9
    aborted = 10
    out_of_memory = 11


class Error(RuntimeError):
    """A call of the library failed. `code` is a Result; str() is the library's own text: what, where, who, and what to do.

    InvalidArgument and InvalidUsage change nothing: go on. After any other error the communicator is of no use: close it.
    Outputs of the failed call are then undefined, inputs unchanged."""

    def __init__(self, code, text):
        super().__init__(code, text)  # both, so that it can be pickled
        self.code = code
        self.text = text

    def __str__(self):
        return self.text


class OperatingSystemError(Error):
    """The operating system refused something."""


class InternalError(Error):
    """A bug in hcomm."""


class InvalidArgument(Error, ValueError):
    """One argument is wrong; nothing was changed."""


class InvalidUsage(Error):
    """The call is wrong here and now; nothing was changed."""


class RemoteError(Error):
    """A peer died or failed; final for the communicator."""


class Timeout(Error):
    """A peer did not come or did not move in time; final."""


class Mismatch(Error):
    """The ranks' calls do not fit each other; final."""


class Aborted(Error):
    """abort() was called; final."""


class OutOfMemory(Error, MemoryError):
    """There is no more memory."""


KINDS = {
    Result.system_error: OperatingSystemError,
    Result.internal_error: InternalError,
    Result.invalid_argument: InvalidArgument,
    Result.invalid_usage: InvalidUsage,
    Result.remote_error: RemoteError,
    Result.timeout: Timeout,
    Result.mismatch: Mismatch,
    Result.aborted: Aborted,
    Result.out_of_memory: OutOfMemory,
}


def error_of(code, text):
    """The exception for a code that is not success; one that this package does not know is an Error with the bare number."""
    known = Result(code) if code in Result.__members__.values() else code
    return KINDS.get(known, Error)(known, text)
