"""Steps as Dask arrays, and the steps of a stream shared out among Dask workers.

Two ways, for two kinds of work:

* **One step is too much for one process**: :func:`from_step`. The chunks of its arrays are regions, and each is fetched
  by the worker that computes with it, straight from the ranks that own it. Nothing goes through the client.
* **Steps come faster than one process can look at them**: :func:`map_steps`. The workers are a work-sharing set: each
  step goes to one of them, and to another one if that one dies.

How a worker comes to a step that the client took
-------------------------------------------------

A step belongs to the process that took it. Threads of that process use it as it is. Another process attaches itself
when it runs its first task of the step: it subscribes from that step's number on, takes this one step, and drops newer
ones. So it makes no publisher wait. It lets go of the step when nobody used it for `keep` seconds, or when it holds
more than two steps of the stream.

Newcomers find steps of the past in the publisher's *reserve* only. So publish with ``reserve_steps=n``, where n steps
take longer to publish than the first task of one takes to begin. A step that has left the reserve is ``StepGone``, with
the number of the oldest that is there. A process that holds it already may go on. What workers hold counts towards the
publisher's ``limit_bytes``, as the reserve does.

Workers find the stream as the client does: give them the same ``FLEXPATH_RENDEZVOUS``, and token or certificate. What
else they need to open it goes into `options`. The reserve has what was published. What was derived for the client is
derived anew by the worker: ``options={"derive": {"speed": ("vx, vy, vz | magnitude", "subscriber")}}``.
"""

import collections
import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy

import flexpath
from flexpath._attach import Origin, Source, StepGone

try:
    import dask.array
except ImportError as error:
    raise ImportError('flexpath.dask needs dask: pip install "dask[array]", and distributed for map_steps') from error

__all__ = ["StepGone", "from_step", "map_steps"]


def from_step(
    step: Any,
    variables: str | Sequence[str] | None = None,
    chunks: Any = "auto",
    *,
    keep: float = 2.0,
    timeout: float = 10.0,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """A Dask array for each array of a step, by name; for one name that array alone.

    Without `variables` these are all global and joined arrays. `chunks` are as Dask has them, or a dict of them by
    name. Only what is computed with crosses: a slice of an array before ``compute`` is a slice of what is fetched.

    `keep` says for how many seconds a worker holds the step after its last use, `timeout` how long it tries to come to
    it. `options` are those of ``flexpath.subscribe`` that workers need, such as ``rendezvous``.

    >>> import flexpath.dask
    >>> with flexpath.publish("doc-dask") as out, flexpath.subscribe("doc-dask") as subscriber:
    ...     with out.step() as step:
    ...         step["t"] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    ...     with subscriber.next_step() as step:
    ...         flexpath.dask.from_step(step, "t", chunks=2).sum(axis=0).compute().tolist()
    [5.0, 7.0, 9.0]
    """
    names = [variables] if isinstance(variables, str) else list(variables or _arrays(step))
    for name in names:
        if what := _refusal(step[name]):
            where = f"step {step.number} of {step.stream!r}"
            raise flexpath.Misuse(f"variable {name!r} of {where} cannot be a Dask array: {what}")
    extra = tuple(sorted((options or {}).items()))
    origin = Origin(step.stream, step.epoch, step.number, tuple(sorted(names)), extra, keep, timeout)
    arrays = {name: _array(step, origin, name, chunks) for name in names}
    return arrays[variables] if isinstance(variables, str) else arrays


def _arrays(step: Any) -> list[str]:
    return [name for name in step.keys() if step[name].ndim > 0 and _refusal(step[name]) is None]


def _refusal(array: Any) -> str | None:
    if array.kind not in ("scalar", "global", "joined"):
        return f"it is a {array.kind} variable, which each rank has for itself: read it from the step"
    if numpy.dtype(array.dtype).kind not in "biufc":
        return f"its elements are {array.dtype}: read it from the step"
    return None


def _array(step: Any, origin: Origin, name: str, chunks: Any) -> Any:
    source = Source(step, origin, name)
    chunks = chunks.get(name, "auto") if isinstance(chunks, Mapping) else chunks
    token = dask.base.tokenize(origin.key, name, chunks)
    return dask.array.from_array(
        source,
        chunks=chunks,
        name=f"flexpath-{name}-{token}",
        lock=False,
        asarray=False,
        # Each task has what it needs to come to its region: no worker has to ask another one.
        inline_array=True,
        meta=numpy.empty((0,) * source.ndim, source.dtype),
    )


#: How long a worker waits for a step before it answers that none came.
_TURN_S = 1.0

#: How long it looks for the stream before it answers that it is not there.
_OPEN_S = 5.0


def map_steps(
    client: Any,
    stream: str,
    function: Callable[[Any], Any],
    *,
    share: str | None = None,
    patience: float = 60.0,
    **options: Any,
) -> Iterator[tuple[int, Any]]:
    """Has the workers of a ``distributed.Client`` share the steps of a stream: pairs of a step's number and what
    `function` made of that step, as they come.

    Each worker opens a member of the work-sharing set `share`, which is a new one unless it is named. It calls
    ``function(step)`` for each step that it gets. A step is done when its result has come to the client. A worker that
    dies before gives its step to another. The function may then have been called twice, but each result comes once.
    Workers that come later join in. Where all die at once, nobody is there to be given what they had: it is lost, and
    the ``skipped`` of the next step counts it. A worker uses one of its threads for this.

    `options` are further ones of ``flexpath.subscribe``, such as ``variables``. What the function raises is raised
    here, its step is given back, and the members leave the set. They also leave when the iterator is closed.
    Without a single worker, or without the stream, it waits `patience` seconds at most.
    """
    share = share or f"map_steps-{uuid.uuid4().hex}"
    of_set = {"share": flexpath.Share(share, redeliver=True), "explicit_done": True}
    of_member = {"open_timeout": _OPEN_S, **options, **of_set}
    return _Round(client, stream, function, of_member, patience).results()


_StepKey = tuple[Hashable, int]


class _Round:
    """The client's side of map_steps."""

    def __init__(
        self, client: Any, stream: str, function: Callable[[Any], Any], options: dict[str, Any], patience: float
    ) -> None:
        self.client, self.stream, self.function = client, stream, function
        self.options, self.patience = options, patience
        self.name = uuid.uuid4().hex
        #: What each worker is at.
        self.turns: dict[str, Any] = {}
        #: The step whose result came from a worker, and of which the worker was told so with its next turn.
        self.told: dict[str, _StepKey | None] = {}
        #: Of those, the ones that may come again: their worker was lost before it knew.
        self.again: set[_StepKey] = set()
        self.has_ended = False
        #: The workers that did not find the stream when they looked last, and when another was heard of.
        self.absent: set[str] = set()
        self.heard = time.monotonic()

    def results(self) -> Iterator[tuple[int, Any]]:
        import distributed

        try:
            while True:
                self.look_after_workers()
                if not self.turns and self.has_ended:
                    return
                if not self.turns:
                    self.client.wait_for_workers(1, timeout=self.patience)
                    continue
                self.give_up_in_time()
                with contextlib.suppress(TimeoutError):
                    distributed.wait(list(self.turns.values()), timeout=_TURN_S, return_when="FIRST_COMPLETED")
                for worker in [worker for worker, turn in self.turns.items() if turn.done()]:
                    yield from self.take(worker)
        finally:
            self.leave()

    def give_up_in_time(self) -> None:
        if not self.turns.keys() <= self.absent:
            self.heard = time.monotonic()
        elif time.monotonic() - self.heard > self.patience:
            raise flexpath.TimedOut(
                f"stream {self.stream!r}: none of {len(self.turns)} Dask workers finds it for {self.patience:g} s: "
                "is the publisher running, and have the workers the same FLEXPATH_RENDEZVOUS?"
            )

    def look_after_workers(self) -> None:
        here = set(self.client.nthreads())
        for worker in self.turns.keys() - here:
            self.lose(worker)
        if not self.has_ended:
            for worker in here - self.turns.keys():
                self.begin_turn(worker, None)

    def lose(self, worker: str) -> None:
        self.turns.pop(worker).cancel()
        self.absent.discard(worker)
        if key := self.told.pop(worker, None):
            self.again.add(key)

    def begin_turn(self, worker: str, done: _StepKey | None) -> None:
        self.told[worker] = done
        self.turns[worker] = self.client.submit(
            _turn,
            self.name,
            (self.stream, self.options),
            self.function,
            done,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )

    def take(self, worker: str) -> Iterator[tuple[int, Any]]:
        turn = self.turns[worker]
        if turn.status in ("cancelled", "lost"):
            self.lose(worker)
            return
        try:
            what, key, result = turn.result(timeout=self.patience)
        except Exception as error:
            if _is_lost_worker(error):
                self.lose(worker)
                return
            raise
        if what == "absent":
            self.absent.add(worker)
        else:
            self.absent.discard(worker)
        self.has_ended |= what == "ended"
        # Who does not find a stream that is over for others comes too late.
        if what == "ended" or (what == "absent" and self.has_ended):
            del self.turns[worker]
            return
        # The worker goes on while the caller looks at the result.
        self.begin_turn(worker, key)
        if what == "result" and key not in self.again:
            yield key[1], result
        self.again.discard(key)

    def leave(self) -> None:
        for turn in self.turns.values():
            turn.cancel()
        if not self.told or self.client.status != "running":
            return
        workers = [worker for worker in self.client.nthreads() if worker in self.told]
        if workers:
            self.client.run(_leave, self.name, workers=workers, on_error="ignore")


def _is_lost_worker(error: Exception) -> bool:
    import distributed

    return isinstance(error, (distributed.scheduler.KilledWorker, distributed.CancelledError))


class _Member:
    """A worker's member of the work-sharing set. It holds a step until its result has come to the client."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.subscriber: Any = None
        self.held: Any = None
        self.is_leaving = False

    def turn(
        self, opening: tuple[str, dict[str, Any]], function: Callable[[Any], Any], done: _StepKey | None
    ) -> tuple[str, _StepKey | None, Any]:
        with self.lock:
            try:
                if self.is_leaving:
                    return "nothing", None, None
                if self.subscriber is None:
                    stream, options = opening
                    try:
                        self.subscriber = flexpath.subscribe(stream, **options)
                    except flexpath.TimedOut:
                        return "absent", None, None
                self.let_go(done)
                return self.next_result(function)
            finally:
                if self.is_leaving:
                    self.close()

    def let_go(self, done: _StepKey | None) -> None:
        step, self.held = self.held, None
        if step is not None:
            if done == _key(step):
                step.done()
            else:
                step.give_back()

    def next_result(self, function: Callable[[Any], Any]) -> tuple[str, _StepKey | None, Any]:
        try:
            step = self.subscriber.next_step(timeout=_TURN_S)
        except flexpath.EndOfStream:
            self.close()
            return "ended", None, None
        except flexpath.TimedOut:
            return "nothing", None, None
        try:
            result = function(step)
        except BaseException as error:
            error.add_note(f"step {step.number} of {step.stream!r} in process {os.getpid()}: it was given back")
            step.give_back()
            raise
        self.held = step
        return "result", _key(step), result

    def leave(self) -> None:
        """Called beside a turn: then that one closes."""
        self.is_leaving = True
        if self.lock.acquire(blocking=False):
            try:
                self.close()
            finally:
                self.lock.release()

    def close(self) -> None:
        self.let_go(None)
        subscriber, self.subscriber = self.subscriber, None
        if subscriber is not None:
            subscriber.close()


def _key(step: Any) -> _StepKey:
    return (step.epoch, step.number)


_members: dict[str, _Member] = {}
#: Those that have left, the latest of them. A turn may be on its way to the worker when the client tells it to leave.
_left: collections.deque[str] = collections.deque(maxlen=256)
_members_lock = threading.Lock()


def _turn(
    name: str, opening: tuple[str, dict[str, Any]], function: Callable[[Any], Any], done: _StepKey | None
) -> tuple[str, _StepKey | None, Any]:
    """A worker's next step and what the function makes of it, once the client has the result before."""
    with _members_lock:
        if name in _left:
            return "nothing", None, None
        member = _members.setdefault(name, _Member())
    return member.turn(opening, function, done)


def _leave(name: str) -> None:
    with _members_lock:
        _left.append(name)
        member = _members.pop(name, None)
    if member is not None:
        member.leave()
