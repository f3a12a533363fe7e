"""Groups: calls that are recorded and issued together."""
import threading

from ._library import check, library


class _OfThread(threading.local):
    def __init__(self):
        self.depth = 0
        self.kept = []  # (release, views) of each recorded call


_mine = _OfThread()


def is_open():
    return _mine.depth > 0


def keep(release, views):
    _mine.kept.append((release, views))


def _let_go():
    kept, _mine.kept = _mine.kept, []
    for release, _ in kept:
        release()


class group:
    """Between its begin and its end the collectives of this thread are checked and recorded; the end of the outermost group
    issues all of them, or none if one was refused, and returns when they have completed. Needed where one thread drives several
    ranks (Communicator.all_in_process). Groups nest.

        with hcomm.group():
            for rank in ranks:
                rank.all_reduce(data[rank.rank], out=data[rank.rank])

    What the calls returned is filled when the group has ended; their buffers are kept until then. A block that is left by an
    exception issues nothing, nor does a group around it, whose end raises."""

    def __enter__(self):
        check(library().hcommGroupStart())
        _mine.depth += 1
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            library().hcommBarrier(None, None)  # a call that is refused, which refuses the group
        result = library().hcommGroupEnd()
        _mine.depth -= 1
        try:
            if kind is None:
                check(result)
        finally:
            if _mine.depth == 0:
                _let_go()
        return False
