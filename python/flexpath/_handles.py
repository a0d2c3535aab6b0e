"""What the handles of both sides have in common: how they end, with the interpreter, by Ctrl-C, and after a fork."""

import atexit
import os
import sys
import threading
import weakref
from typing import Any

from ._errors import FlexpathError, Misuse

_FORKED = "this handle belongs to the parent process: a forked child must open its own, or be started by spawn"
_INTERRUPTED = "Ctrl-C closed this handle: open another one"


class Gone:
    """In the place of a native handle that this process has no more: whoever uses it hears why."""

    def __init__(self, stream: str, why: str) -> None:
        self.stream, self._why = stream, why

    def close(self) -> None:
        """Nothing is left to close."""

    def __getattr__(self, name: str) -> Any:
        raise self.error()

    def error(self) -> Misuse:
        """What is said to whoever uses it."""
        return Misuse(f"stream {self.stream!r}: {self._why}")


class Handle:
    """A publisher or a subscriber."""

    _native: Any
    #: Publishers close after the subscribers of the same process, for which they would wait.
    _closes_late = False

    def __init__(self, native: Any) -> None:
        self._native = native
        #: The thread that waited last, such as for a step.
        self._user = threading.get_ident()
        _open.add(self)

    def close(self) -> None:
        """Close it."""
        _open.discard(self)
        self._native.close()

    def _drop(self, why: str = _INTERRUPTED) -> None:
        """Go without waiting for anybody for more than a moment."""
        _open.discard(self)
        self._native = Gone(self._native.stream, why)

    def _check_is_own(self) -> None:
        """A forked child has not the memory that the library writes to: touching it would end the child."""
        if isinstance(self._native, Gone):
            raise self._native.error()

    def _end(self, uncaught: BaseException | None) -> None:
        """The interpreter ends, because of an exception or not."""
        if isinstance(uncaught, KeyboardInterrupt):
            self._drop()
        else:
            self.close()


_open: "weakref.WeakSet[Handle]" = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """What was published is delivered, and who was subscribed leaves, though nobody said so."""
    uncaught = getattr(sys, "last_value", None)
    others = {thread.ident for thread in threading.enumerate()} - {threading.main_thread().ident}
    for handle in sorted(_open, key=lambda handle: handle._closes_late):
        # A daemon thread that uses it ends with the process: it may be in the midst of something.
        if handle._user in others:
            continue
        try:
            handle._end(uncaught)
        except FlexpathError as error:
            os.write(2, f"flexpath: {error}\n".encode())


def _disown_all() -> None:
    """Handles of the parent are not a forked child's: a thread that is not here may hold a lock of theirs."""
    for handle in list(_open):
        handle._drop(_FORKED)


os.register_at_fork(after_in_child=_disown_all)
