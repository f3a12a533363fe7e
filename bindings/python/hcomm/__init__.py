"""Collective communication between ranks that run on CPUs.

    import hcomm
    import numpy

    with hcomm.Communicator.from_env() as comm:          # hcomm run -n 4 -- python3 program.py
        total = comm.all_reduce(numpy.full(1024, comm.rank, "float32"))

Over the C interface of libhcomm.so.0, with ctypes; load() says where that is looked for. numpy is used if it is there."""
from ._communicator import Communicator
from ._errors import (Aborted, Error, InternalError, InvalidArgument, InvalidUsage, Mismatch, OperatingSystemError, OutOfMemory,
                      RemoteError, Result, Timeout)
from ._group import group
from ._library import load, unique_id, version
from ._memory import Memory, zeros
from ._types import DataType, Op
from ._version import __version__

__all__ = ["Aborted", "Communicator", "DataType", "Error", "InternalError", "InvalidArgument", "InvalidUsage", "Memory",
           "Mismatch", "Op", "OperatingSystemError", "OutOfMemory", "RemoteError", "Result", "Timeout", "__version__", "group",
           "load", "unique_id", "version", "zeros"]
