"""How another process comes to a step that this one holds: used by ``flexpath.xarray`` and ``flexpath.dask``.

A step belongs to the subscriber that took it, and so to one process. Others attach themselves: each opens a subscriber
that begins with the number of the step, which the publisher must still have in its reserve. Such a subscriber takes
that one step and no other. It has a bound of one step and drops newer ones, so it never makes the publisher wait.
"""

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy

import flexpath

#: How many steps of a stream a process holds for others at most, where nobody uses them at the moment.
KEPT_STEPS = 2


class StepGone(flexpath.FlexpathError, LookupError):
    """The publisher does not have the step any more, so no other process can read it."""


@dataclass(frozen=True)
class Origin:
    """Which step it is, and how to come to it. Small: it travels with every task."""

    stream: str
    epoch: str | None
    number: int
    #: What is subscribed to.
    variables: tuple[str, ...]
    #: Further options of ``flexpath.subscribe``, as sorted pairs.
    options: tuple[tuple[str, Any], ...] = ()
    #: How long a process that attached itself holds the step after its last use, in seconds.
    keep: float = 2.0
    #: How long it tries to attach itself, in seconds.
    timeout: float = 10.0

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.stream, self.epoch, self.number, self.variables, repr(self.options))


class Source:
    """One variable of one step, as an array that can be sent to another process. Reads what is indexed, and no more."""

    def __init__(self, step: Any, origin: Origin, name: str) -> None:
        array = step[name]
        self.origin, self.name = origin, name
        self.shape, self.dtype, self.ndim = tuple(array.shape), numpy.dtype(array.dtype), array.ndim
        self._step = step
        _remember(step, origin)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_step": None}

    def __getitem__(self, key: Any) -> Any:
        if self._step is not None:
            return numpy.asarray(self._step[self.name][key])
        with attached(self.origin) as step:
            if self.name not in step:
                raise flexpath.Misuse(
                    f"variable {self.name!r} is not in the reserve of stream {self.origin.stream!r}, as what is "
                    f"derived for a subscriber is not: give options={{'derive': "
                    f"{{{self.name!r}: (text, 'subscriber')}}}}"
                )
            # A copy of its own: the step may be let go of before the task's result is.
            return numpy.array(step[self.name][key])

    def __dask_tokenize__(self) -> Any:
        return (type(self).__name__, self.origin.key, self.name)

    def __repr__(self) -> str:
        return f"<{self.name} {self.dtype} {self.shape} of step {self.origin.number} of {self.origin.stream!r}>"


#: Steps of this process that sources were made of. Tasks that run in threads of this process use them as they are.
_own: "weakref.WeakValueDictionary[tuple[Any, ...], Any]" = weakref.WeakValueDictionary()


def _remember(step: Any, origin: Origin) -> None:
    _own[os.getpid(), *origin.key] = step


@contextlib.contextmanager
def attached(origin: Origin) -> Iterator[Any]:
    """The step, in whatever process this is called."""
    step = _own.get((os.getpid(), *origin.key))
    if step is not None:
        yield step
        return
    lease = _leases.take(origin)
    try:
        yield lease.step_or_open(origin)
    finally:
        _leases.give_back(lease)


@dataclass
class _Lease:
    """A step for which this process attached itself."""

    key: tuple[Any, ...]
    keep: float
    users: int = 0
    used_at: float = 0.0
    step: Any = None
    subscriber: Any = None
    opening: threading.Lock = field(default_factory=threading.Lock)

    def step_or_open(self, origin: Origin) -> Any:
        with self.opening:
            if self.step is None:
                self.subscriber, self.step = _open(origin)
            return self.step

    def close(self) -> None:
        step, subscriber = self.step, self.subscriber
        self.step = self.subscriber = None
        if step is not None:
            step.release()
        if subscriber is not None:
            subscriber.close()


class _Leases:
    """The steps for which this process attached itself. Those that nobody uses are let go of after a while."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._by_key: dict[tuple[Any, ...], _Lease] = {}
        self._janitor: threading.Thread | None = None

    def take(self, origin: Origin) -> _Lease:
        with self._changed:
            lease = self._by_key.setdefault(origin.key, _Lease(origin.key, origin.keep))
            lease.users += 1
            return lease

    def give_back(self, lease: _Lease) -> None:
        with self._changed:
            lease.users -= 1
            lease.used_at = time.monotonic()
            surplus = self._surplus(lease.key[0])
            if self._janitor is None:
                self._janitor = threading.Thread(target=self._tidy, name="flexpath-steps", daemon=True)
                self._janitor.start()
            self._changed.notify()
        _close(surplus)

    def close_all(self) -> None:
        with self._changed:
            idle = [lease for lease in self._by_key.values() if lease.users == 0]
            self._forget(idle)
        _close(idle)

    def _surplus(self, stream: str) -> list[_Lease]:
        of_stream = [lease for lease in self._by_key.values() if lease.key[0] == stream]
        idle = sorted((lease for lease in of_stream if lease.users == 0), key=lambda lease: lease.used_at)
        # One that could not be opened is worth nothing: the next task tries again.
        surplus = [lease for lease in idle if lease.step is None]
        held = [lease for lease in idle if lease.step is not None]
        surplus += held[: max(len(held) - KEPT_STEPS, 0)]
        self._forget(surplus)
        return surplus

    def _forget(self, leases: list[_Lease]) -> None:
        for lease in leases:
            del self._by_key[lease.key]

    def _tidy(self) -> None:
        """Closes what nobody used for long enough, and ends when nothing is left."""
        while True:
            with self._changed:
                if not self._by_key:
                    self._janitor = None
                    return
                now = time.monotonic()
                idle = [lease for lease in self._by_key.values() if lease.users == 0]
                old = [lease for lease in idle if lease.used_at + lease.keep <= now]
                self._forget(old)
                if not old:
                    waits = [lease.used_at + lease.keep - now for lease in idle]
                    self._changed.wait(min(waits, default=60.0))
            _close(old)


def _close(leases: list[_Lease]) -> None:
    for lease in leases:
        # Who closes what was lost meanwhile has nothing to complain of.
        with contextlib.suppress(flexpath.FlexpathError):
            lease.close()


_leases = _Leases()
atexit.register(_leases.close_all)


def _open(origin: Origin) -> tuple[Any, Any]:
    before, options = origin.number - 1, dict(origin.options)
    derived = options.get("derive") or {}
    try:
        subscriber = flexpath.subscribe(
            origin.stream,
            variables=[name for name in origin.variables if name not in derived],
            policy="drop_newest",
            limit_steps=1,
            credit_steps=1,
            start_at="oldest" if before < 0 else before,
            open_timeout=origin.timeout,
            **options,
        )
    except flexpath.FlexpathError as error:
        error.add_note(
            f"process {os.getpid()} attaches itself for step {origin.number} of {origin.stream!r}: it needs the same "
            "FLEXPATH_RENDEZVOUS, and token or certificate, as the process that took the step"
        )
        raise
    try:
        return subscriber, _take(subscriber, origin)
    except BaseException:
        subscriber.close()
        raise


def _take(subscriber: Any, origin: Origin) -> Any:
    try:
        step = subscriber.next_step(timeout=origin.timeout)
    except flexpath.EndOfStream as error:
        raise _gone(origin, f"the stream has ended for newcomers ({error})") from error
    except flexpath.TimedOut as error:
        raise _gone(origin, f"no step came within {origin.timeout:g} s") from error
    if origin.epoch is not None and step.epoch != origin.epoch:
        step.release()
        raise _gone(origin, "the publisher was started anew")
    if step.number != origin.number:
        oldest = step.number
        step.release()
        raise _gone(origin, f"the oldest that the publisher still has is step {oldest}")
    return step


def _gone(origin: Origin, what: str) -> StepGone:
    return StepGone(
        f"step {origin.number} of stream {origin.stream!r} cannot be read by process {os.getpid()}: {what}. "
        "Other processes find steps in the publisher's reserve: publish with reserve_steps=n, where n steps last "
        "longer than what is computed of one"
    )
