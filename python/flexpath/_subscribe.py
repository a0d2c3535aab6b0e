"""Subscribing: steps as they come."""

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

from . import _aio, _native, _options
from ._errors import EndOfStream, FlexpathError, Lost, Misuse, TimedOut
from ._handles import Handle
from ._native import Step as NativeStep
from ._options import Policy, Share
from ._records import RecordType
from ._steering import Parameter, listed as _listed
from ._step import Step

_log = logging.getLogger("flexpath")

#: After so many seconds without a step a loop without a bound says that it waits.
_SAYS_SO = 60.0

#: So often a wait for a step lets other threads use the subscriber, and looks whether one of them has closed it.
_LOOK = 0.25

#: So long other threads have the subscriber for themselves then: whoever comes first has it, and that would be us.
_PAUSE = 0.001


class Subscriber(Handle):
    """A subscriber rank of a stream; `flexpath.subscribe` opens one.

    A loop over it, with `for` or `async for`, gives the steps as they come, until the stream ends. It releases the step
    before as it goes on. `next_step` gives one step, which its taker releases. It is a context manager, which leaves
    the stream.
    """

    _native: _native.Subscriber

    def __init__(self, stream: str, options: dict[str, Any], step_timeout: float | None, redelivers: bool) -> None:
        super().__init__(_native.Subscriber(stream, options))
        self._step_timeout, self._redelivers = step_timeout, redelivers
        #: Element type and order of what the last step that was looked at had: likely what the next one has.
        self._hints: Mapping[str, tuple[str, bool]] = {}
        self._given: weakref.ref[Step] | None = None
        self._region_gets = 0
        #: How the stream ended, as an exception is made of it: one that is kept keeps the frames that it passed.
        self._ended: Callable[[], EndOfStream | Lost] | None = None
        self._is_left = False
        self._is_looping = False
        #: Variables that the publisher does not put: if a step has none, there is a reason.
        self._derived = frozenset(name for name, *_ in options.get("derive", ()))

    @property
    def stream(self) -> str:
        """The stream's name."""
        return self._native.stream

    @property
    def epoch(self) -> str | None:
        """The publisher's epoch."""
        return self._native.epoch

    @property
    def first_step(self) -> int | None:
        """The first step that the subscription holds for, in the epoch that it is attached to."""
        return self._native.first_step

    def next_step(self, timeout: float | None = None) -> Step:
        """The next step. Whoever takes it releases it: by `with`, by `release`, or by dropping it.

        Raises `EndOfStream` where the publisher closed the stream, `Lost` where it is gone, and `TimedOut` where no
        step came within `timeout` seconds, which are those of `subscribe` unless it is said.
        """
        found = self._next(self._step_timeout if timeout is None else timeout)
        if found is None:
            waited = self._step_timeout if timeout is None else timeout
            what = "no step came within"
            raise TimedOut(f"stream {self.stream!r}: {what} {waited} s: the publisher is there, and has none")
        return found

    def poll(self) -> Step | None:
        """The next step if one is here, else None."""
        return self._next(0.0)

    def _next(self, timeout: float | None) -> Step | None:
        if self._ended is not None:
            raise self._ended()
        if self._is_left:
            raise Misuse(f"stream {self.stream!r}: the subscriber was closed: subscribe again")
        self._user = threading.get_ident()
        began = time.monotonic()
        says_so, deadline = began + _SAYS_SO, None if timeout is None else began + timeout
        while True:
            left = _LOOK if deadline is None else min(_LOOK, max(0.0, deadline - time.monotonic()))
            try:
                found = self._native.next_step(left)
            except Misuse:
                self._check_left()
                raise
            if found is not None:
                return self._came(found)
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return None
            self._check_left()
            if threading.active_count() > 1:
                time.sleep(_PAUSE)
            if deadline is None and now >= says_so:
                says_so = now + _SAYS_SO
                what = "stream %r: no step for %.0f s; the publisher lives, and is waited for"
                _log.warning(what, self.stream, now - began)

    def _came(self, found: NativeStep | dict[str, Any]) -> Step:
        if isinstance(found, dict):
            text = f"stream {self.stream!r}: {found['text']}"
            clean = partial(EndOfStream, text, last=found["last"], skipped=found["skipped"])
            self._ended = clean if found["is_clean"] else partial(Lost, text)
            raise self._ended()
        return Step(self, found)

    def _check_left(self) -> None:
        if self._is_left:
            raise EndOfStream(f"stream {self.stream!r}: it was left while a step was waited for")

    def _release_given(self) -> None:
        given = self._given() if self._given is not None else None
        if given is not None and not given.is_released:
            given.release()
        self._given = None

    def __iter__(self) -> Self:
        self._is_looping = False
        return self

    def __next__(self) -> Step:
        if self._loops_no_more():
            raise StopIteration
        try:
            step = self.next_step()
        except EndOfStream:
            raise StopIteration from None
        self._given = weakref.ref(step)
        return step

    def _loops_no_more(self) -> bool:
        """Releases the step before. Whether somebody closed the subscriber since: that ends a loop, and is no error."""
        self._release_given()
        was_looping, self._is_looping = self._is_looping, True
        return was_looping and self._is_left

    def __aiter__(self) -> Self:
        self._is_looping = False
        return self

    async def __anext__(self) -> Step:
        if self._loops_no_more():
            raise StopAsyncIteration
        try:
            step = await self.next_step_async()
        except EndOfStream:
            raise StopAsyncIteration from None
        self._given = weakref.ref(step)
        return step

    async def next_step_async(self, timeout: float | None = None) -> Step:
        """As `next_step`, for a task. Cancelled, it loses no step."""
        timeout = self._step_timeout if timeout is None else timeout
        deadline = None if timeout is None else time.monotonic() + timeout
        while (step := self.poll()) is None:
            left = _LOOK if deadline is None else min(_LOOK, max(0.0, deadline - time.monotonic()))
            if await _aio.readable(self._native.step_signal(), left):
                continue
            if deadline is not None and time.monotonic() >= deadline:
                raise TimedOut(f"stream {self.stream!r}: no step came within {timeout} s")
            self._check_left()
        return step

    def request(self, parameter: str, value: Any = True, *, timeout: float = 10.0, now: bool = False) -> int:
        """Ask the simulation for a value of a parameter. Gives the step at which all its ranks saw it.

        `now`: at the next step that no rank has begun; for that they wait for one another. Only rank 0 of a cohort
        asks, and only under a policy that may drop steps: it reads none while it waits. `flexpath.request` needs no
        subscriber.
        `NotTaken`: the simulation does not take it. `TimedOut`: there was no answer, and it may still take it.
        """
        self._user = threading.get_ident()
        return self._native.request(parameter, value, timeout, now)

    def parameters(self, *, timeout: float = 10.0) -> dict[str, Parameter]:
        """What the simulation lets be asked for, by name. Its `pause` takes seconds. Only rank 0 of a cohort asks."""
        self._user = threading.get_ident()
        return _listed(self._native.parameters(timeout))

    def set_condition(self, condition: str, *, timeout: float = 10.0) -> int:
        """Want other steps than until now, for the whole cohort: in place of `when`, with which it was opened.

        Gives the first step that is judged by it. Those before are judged by the condition that was.
        `ValueError`: the text cannot be read. `NotTaken`: the publisher cannot judge by it. The one before holds on.
        """
        self._user = threading.get_ident()
        return self._native.set_condition(condition, timeout)

    def select(self, variables: str | Sequence[str]) -> None:
        """Subscribe to other variables, for the whole cohort. An event says from which step on they come."""
        self._native.select_variables(_options.names(variables))

    def place(self, variable: str, side: str) -> None:
        """Have a derived variable made by the "publisher", the "subscriber", or where fewer bytes travel ("auto")."""
        self._native.place(variable, side)

    def placements(self) -> dict[str, str]:
        """On which side each derived variable is made."""
        return self._native.placements()

    def events(self) -> list[dict[str, Any]]:
        """What happened since the last call: each has `event`, its name, and `text`, the same in words."""
        return self._native.events()

    def statistics(self) -> dict[str, int]:
        """What was counted. `region_gets`: reads for which a region crossed, as single points would have cost more."""
        return {**self._native.statistics(), "region_gets": self._region_gets}

    def transports(self) -> dict[int, str]:
        """What the data link to each publisher rank runs over, and why nothing better."""
        return dict(self._native.transports())

    def close(self) -> None:
        """Leave the stream. Views stay valid; steps can be read no more. A wait for a step in another thread ends."""
        self._is_left = True
        self._release_given()
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self._give_back_given()
            if isinstance(error, KeyboardInterrupt):
                # Who wants to go does not wait for the other ranks of the cohort.
                self._drop()
            else:
                self.close()
        except FlexpathError as second:
            error.add_note(f"leaving stream {self.stream!r} failed too: {second}")

    def _give_back_given(self) -> None:
        """After an error: the step that a loop is at goes back to its set of workers, if that redelivers."""
        given = self._given() if self._given is not None else None
        if given is not None and self._redelivers and not given.is_released:
            given.give_back()

    def _end(self, uncaught: BaseException | None) -> None:
        if uncaught is not None:
            self._give_back_given()
        super()._end(uncaught)

    def __repr__(self) -> str:
        return f"<flexpath.Subscriber of {self.stream!r}>"


def subscribe(
    stream: str,
    *,
    variables: str | Sequence[str] | None = None,
    derive: Mapping[str, str | tuple[str, str]] | None = None,
    transformed: Mapping[str, tuple[str, str]] | None = None,
    modules: Mapping[str, bytes] | None = None,
    when: str | None = None,
    policy: str | Policy | None = None,
    share: str | Share | None = None,
    cohort: Any = None,
    types: Mapping[str, RecordType] | None = None,
    start_at: str | int | None = None,
    await_restart: float | None = None,
    step_timeout: float | None = None,
    name: str | None = None,
    limit_steps: int | None = None,
    credit_steps: int | None = None,
    explicit_done: bool | None = None,
    open_timeout: float | None = None,
    fetch_timeout: float | None = None,
    rendezvous: str | os.PathLike[str] | None = None,
    transports: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
    tls: tuple[str, str, str] | None = None,
    contact: str | None = None,
    **more: Any,
) -> Subscriber:
    """Attach to a stream while it runs, as one rank or alone.

    `variables`: what is kept for this subscriber; everything unless it is said. `derive`: variables that are computed
    where the data is, as in `{"speed": "vx, vy, vz | magnitude"}`. `transformed`: records that go through a transform
    of the publisher's, each as a variable and the transform's name. `modules`: WebAssembly that derivations name, as in
    `"T | module(name)"`; the publisher's owner says whether it is run. `when`: which steps, as in `"has(particles)"` or
    `"rises(max(T) > 9)"`; `Step.judgement` has the numbers. `policy`: what happens when this program is slow
    (docs/policies.md). `share`: the set of workers that divide the steps between them. `start_at`: "next", "oldest", or
    the number of a step after which to start. `await_restart`: so many seconds are waited for a publisher that is lost.
    `step_timeout`: the longest that a loop waits for a step; as long as the publisher lives unless it is said.
    `open_timeout`: the longest wait for the publisher (60).
    """
    options: dict[str, Any] = dict(more)
    _options.cohort(cohort, options)
    given = {
        "variables": None if variables is None else _options.names(variables),
        "derive": None if derive is None else _options.derivations(derive),
        "transformed": None if transformed is None else [(name, *of) for name, of in transformed.items()],
        "modules": None if modules is None else [(name, bytes(of)) for name, of in modules.items()],
        "when": when,
        "policy": None if policy is None else _options.policy(policy),
        "share": None if share is None else _options.share(share),
        "types": None if types is None else _options.types(types),
        "start_at": start_at,
        "await_restart": await_restart,
        "name": name,
        "limit_steps": limit_steps,
        "credit_steps": credit_steps,
        "explicit_done": explicit_done,
        "open_timeout": open_timeout,
        "fetch_timeout": fetch_timeout,
        "rendezvous": rendezvous,
        "transports": transports,
        "token_file": token_file,
        "tls": tls,
        "contact": contact,
    }
    _options.common(options, given)
    redelivers = share is not None and _options.share(share)[2]
    if explicit_done and not redelivers:
        raise Misuse("explicit_done is for members of a set of workers that redelivers: give share=")
    return Subscriber(stream, options, step_timeout, redelivers)
