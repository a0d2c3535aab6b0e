"""Waiting in an event loop: the library's futures are woken through the loop itself, by a descriptor."""

import asyncio
import weakref
from typing import Any

from . import _native


class _Hub:
    """Everybody who waits in one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.alarm = _native.Alarm()
        self.waiting: set[asyncio.Future[None]] = set()
        loop.add_reader(self.alarm.fileno(), self._rung)

    def _rung(self) -> None:
        self.alarm.clear()
        # Who was not meant looks once more, and waits again.
        for future in self.waiting:
            if not future.done():
                future.set_result(None)
        self.waiting.clear()


_hubs: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Hub]" = weakref.WeakKeyDictionary()


def _hub(loop: asyncio.AbstractEventLoop) -> _Hub:
    found = _hubs.get(loop)
    if found is None:
        found = _hubs[loop] = _Hub(loop)
    return found


async def outcome(pending: _native.Pending) -> Any:
    """What comes of a call under way. Cancelled, the call is given up."""
    loop = asyncio.get_running_loop()
    hub = _hub(loop)
    try:
        while (found := pending.poll(hub.alarm)) is None:
            future = loop.create_future()
            hub.waiting.add(future)
            try:
                await future
            finally:
                hub.waiting.discard(future)
        return found
    except asyncio.CancelledError:
        pending.cancel()
        raise


async def readable(descriptor: int, timeout: float | None) -> bool:
    """Whether a descriptor is readable within the time."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not future.done():
            future.set_result(None)

    loop.add_reader(descriptor, wake)
    try:
        await asyncio.wait_for(future, timeout)
        return True
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
