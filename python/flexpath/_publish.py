"""Publishing: a stream of steps."""

import atexit
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _native, _options
from ._dtypes import name_of
from ._errors import FlexpathError, Misuse
from ._records import RecordType, aligned


class Publisher:
    """A publisher rank of a stream; `flexpath.publish` opens one.

    It is a context manager: `with` closes the stream, after what was published is delivered.
    """

    def __init__(self, stream: str, options: dict[str, Any], size: int) -> None:
        self._native = _native.Publisher(stream, options)
        self._size = size
        self._known: dict[str, tuple[Any, _native.Definition]] = {}
        self._arranged_bytes = 0
        _open.add(self)

    @property
    def stream(self) -> str:
        """The stream's name."""
        return self._native.stream

    @property
    def epoch(self) -> str:
        """The epoch of this opening."""
        return self._native.epoch

    @property
    def contact(self) -> str:
        """Where this rank is reached."""
        return self._native.contact

    def step(self) -> "StepWriter":
        """Begin the next step. It is a context manager: the step ends with it, or is given up if that raises.

        This waits while a subscription holds as much as it may, as long as its policy allows.
        """
        return StepWriter(self, self._native.begin_step())

    def has_subscribers(self) -> bool:
        """Whether anybody would get what is put."""
        return self._native.has_subscribers()

    def wait_for_subscriptions(self, count: int, timeout: float = 60.0) -> int:
        """Wait until there are that many subscriptions. Gives how many there are."""
        return self._native.wait_for_subscriptions(count, timeout)

    def sync(self, timeout: float = 60.0) -> None:
        """Wait until every lossless subscription has released all steps so far; the error names who holds what."""
        self._native.sync(timeout)

    def events(self) -> list[dict[str, Any]]:
        """What happened since the last call: each has `event`, its name, and `text`, the same in words."""
        return self._native.events()

    def statistics(self) -> dict[str, int]:
        """What was counted. `arranged_bytes`: copied because an array did not lie densely."""
        return {**self._native.statistics(), "arranged_bytes": self._arranged_bytes}

    def transports(self) -> list[str]:
        """What each data link runs over, and why nothing better."""
        return self._native.transports()

    def close(self) -> None:
        """Close the stream. What was published is still delivered, at most for `close_timeout`."""
        _open.discard(self)
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.close()
        except FlexpathError as second:
            error.add_note(f"closing stream {self.stream!r} failed too: {second}")

    def __repr__(self) -> str:
        return f"<flexpath.Publisher of {self.stream!r}>"


_open: "weakref.WeakSet[Publisher]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """What was published is delivered, though nobody closed the stream."""
    for publisher in list(_open):
        try:
            publisher.close()
        except FlexpathError as error:
            os.write(2, f"flexpath: {error}\n".encode())


def _forget_all() -> None:
    """Handles of the parent are not a forked child's to close."""
    _open.clear()


os.register_at_fork(after_in_child=_forget_all)


class StepWriter:
    """A step being published: `step["temperature"] = array` puts, and the end of `with` ends the step."""

    def __init__(self, publisher: Publisher, native: _native.StepWriter) -> None:
        self._publisher, self._native = publisher, native

    @property
    def number(self) -> int:
        """The step's number."""
        return self._native.number

    def wanted(self, name: str) -> bool:
        """Whether anybody wants what is put of a variable: what is not wanted need not be computed."""
        return self._native.wanted(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.put(name, value)

    def put(
        self,
        name: str,
        value: Any,
        *,
        start: Sequence[int] | None = None,
        shape: Sequence[int] | None = None,
        joined: bool = False,
        local: bool = False,
        copy: bool = True,
        records: RecordType | None = None,
        unit: str | None = None,
        description: str | None = None,
        dims: Sequence[str] = (),
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        """Put a variable, or this rank's block of it.

        An array is a global array of `shape`, in which it begins at `start`; without these it is the whole array.
        `joined`: rows of all ranks, one after another. `local`: an array of its own. A number or a text is one value
        for all ranks. A structured array, or dicts with `records`, are records.

        The array is copied. With `copy=False` it is not, and is held until everybody has released the step: nobody may
        write to it until then. An array that does not lie densely is copied in any case, once.
        """
        words = {"unit": unit, "description": description, "dimensions": tuple(dims), "attributes": dict(attrs or {})}
        if isinstance(value, str):
            definition = self._definition(name, "scalar", "string", (), words)
            self._native.put(definition, (), (), value.encode())
            return
        if records is not None and not isinstance(value, np.ndarray):
            self._put_values(name, value, records, start, shape, joined, local, words)
            return
        array = np.asarray(value)
        if array.dtype.names is not None:
            schema = (records or RecordType.of_dtype(name, array.dtype)).schema
            array, dtype = self._counted(array, aligned(array, schema)), "record"
            words["records"] = schema
        else:
            dtype = name_of(array.dtype, name)
            if not array.dtype.isnative:
                array = self._counted(array, array.astype(array.dtype.newbyteorder("=")))
        self._put_array(name, array, dtype, self._place(name, array.shape, start, shape, joined, local), copy, words)

    def _counted(self, before: NDArray[Any], after: NDArray[Any]) -> NDArray[Any]:
        if after is not before:
            self._publisher._arranged_bytes += after.nbytes
        return after

    def _place(
        self,
        name: str,
        count: tuple[int, ...],
        start: Sequence[int] | None,
        shape: Sequence[int] | None,
        joined: bool,
        local: bool,
    ) -> tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Kind, global shape, start and count of a block."""
        origin = (0,) * len(count)
        if joined and local:
            raise Misuse(f"variable {name!r}: it is joined or local, and not both")
        if joined or local:
            if start is not None or shape is not None:
                raise Misuse(f"variable {name!r}: start and shape belong to a global array, and not to this kind")
            if local:
                return ("local" if count else "local_scalar", count, origin, count)
            if not count:
                raise Misuse(f"variable {name!r}: a joined array has rows: give an array of one dimension or more")
            return ("joined", (0, *count[1:]), origin, count)
        if not count:
            return ("scalar", (), (), ())
        if start is None and shape is None and self._publisher._size > 1:
            raise Misuse(
                f"variable {name!r}: this cohort has {self._publisher._size} ranks: say where this block lies by "
                "start= and shape=, or that it is joined=True or local=True"
            )
        start = origin if start is None else tuple(int(at) for at in start)
        whole = tuple(at + n for at, n in zip(start, count, strict=False)) if shape is None else tuple(map(int, shape))
        if not len(start) == len(whole) == len(count):
            raise Misuse(
                f"variable {name!r}: start {start}, shape {whole} and an array of shape {count} have different "
                "numbers of dimensions"
            )
        return ("global", whole, start, count)

    def _definition(
        self, name: str, kind: str, dtype: str, shape: tuple[int, ...], words: dict[str, Any]
    ) -> _native.Definition:
        """The definition of a variable: the one of the step before, where nothing has changed."""
        key = (kind, dtype, shape, words)
        known = self._publisher._known.get(name)
        if known is not None and known[0] == key:
            return known[1]
        definition = _native.Definition(name, kind, dtype, shape, **words)
        self._publisher._known[name] = (key, definition)
        return definition

    def _put_array(
        self,
        name: str,
        array: NDArray[Any],
        dtype: str,
        place: tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]],
        copy: bool,
        words: dict[str, Any],
    ) -> None:
        kind, shape, start, count = place
        flags = array.flags
        if flags.f_contiguous and not flags.c_contiguous:
            words["column_major"] = True
        definition = self._definition(name, kind, dtype, shape, words)
        if dtype == "bf16":
            array = array.view(np.uint16)  # of a type that the buffer protocol has no word for
        if not (flags.c_contiguous or flags.f_contiguous):
            loan = self._native.loan(definition, start, count)
            if self._native.wanted(name):
                np.frombuffer(loan, array.dtype).reshape(count)[...] = array
                self._publisher._arranged_bytes += array.nbytes
            self._native.put_loan(loan)
        elif not array.ndim:
            self._native.put(definition, start, count, array.tobytes())
        elif copy:
            self._native.put(definition, start, count, array)
        else:
            self._native.put_external(definition, start, count, array)

    def _put_values(
        self,
        name: str,
        values: Any,
        records: RecordType,
        start: Sequence[int] | None,
        shape: Sequence[int] | None,
        joined: bool,
        local: bool,
        words: dict[str, Any],
    ) -> None:
        """Put records that are dicts; one dict is one record for all ranks."""
        all_values = [values] if isinstance(values, Mapping) else list(values)
        count = () if isinstance(values, Mapping) else (len(all_values),)
        kind, whole, start, count = self._place(name, count, start, shape, joined, local)
        definition = self._definition(name, kind, "record", whole, {**words, "records": records.schema})
        self._native.put_records(definition, start, count, [dict(of) for of in all_values])

    @contextmanager
    def loan(
        self,
        name: str,
        count: Sequence[int],
        dtype: DTypeLike = float,
        *,
        start: Sequence[int] | None = None,
        shape: Sequence[int] | None = None,
        joined: bool = False,
        local: bool = False,
        unit: str | None = None,
        description: str | None = None,
        dims: Sequence[str] = (),
        attrs: Mapping[str, Any] | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Lend memory that subscribers of this machine map: fill it, and it is put as `with` ends, without a copy.

        The array must not be written to afterwards: it becomes read-only. Its memory is not used again while it, or an
        array made of it, is alive.
        """
        of, block = np.dtype(dtype), tuple(int(n) for n in count)
        kind, whole, first, block = self._place(name, block, start, shape, joined, local)
        words = {"unit": unit, "description": description, "dimensions": tuple(dims), "attributes": dict(attrs or {})}
        definition = self._definition(name, kind, name_of(of, name), whole, words)
        memory = self._native.loan(definition, first, block)
        array = np.frombuffer(memory, of).reshape(block)
        yield array
        array.flags.writeable = False
        self._native.put_loan(memory)

    def copy_from(self, source: Any, name: str, value: ArrayLike | bytes) -> None:
        """Put a variable as another stream's step defines it: `source` is the step, `value` what was read of it."""
        definition = source._native.definition(name)
        data = value if isinstance(value, bytes) else np.ascontiguousarray(value)
        count = () if isinstance(data, bytes) else data.shape
        self._native.put(definition, (0,) * len(count), count, data)

    def end(self) -> None:
        """End the step: subscribers may have it."""
        self._native.end()

    def abandon(self) -> None:
        """Give the step up: nobody has it."""
        self._native.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.end()
        else:
            self.abandon()

    def __repr__(self) -> str:
        return f"<flexpath.StepWriter of step {self.number} of {self._publisher.stream!r}>"


def publish(
    stream: str,
    *,
    cohort: Any = None,
    min_subscribers: int = 0,
    limit_bytes: int | None = None,
    reserve_steps: int | None = None,
    precious_first: bool | None = None,
    first_step: int | None = None,
    limit_wait: float | None = None,
    open_timeout: float | None = None,
    close_timeout: float | None = None,
    rendezvous: str | os.PathLike[str] | None = None,
    transports: str | None = None,
    listen: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
    tls: tuple[str, str, str] | None = None,
    **more: Any,
) -> Publisher:
    """Open a stream, as one rank or alone.

    `cohort`: a communicator of mpi4py, "environment", or (rank, size); all ranks of a cohort open the stream together.
    `min_subscribers`: wait for so many subscriptions. `limit_bytes`: of live steps on this rank (1 GiB).
    `reserve_steps`: the last steps, which are kept for newcomers. `limit_wait`: the longest that a subscriber may hold
    the program up. Times are in seconds. docs/python.md has all options.

    >>> import flexpath
    >>> with flexpath.publish("doc-publish") as out:
    ...     with out.step() as step:
    ...         step["temperature"] = [300.0, 301.0]
    """
    options: dict[str, Any] = dict(more)
    _, size = _options.cohort(cohort, options)
    given = {
        "min_subscribers": min_subscribers,
        "limit_bytes": limit_bytes,
        "reserve_steps": reserve_steps,
        "precious_first": precious_first,
        "first_step": first_step,
        "limit_wait": limit_wait,
        "open_timeout": open_timeout,
        "close_timeout": close_timeout,
        "rendezvous": rendezvous,
        "transports": transports,
        "listen": listen,
        "token_file": token_file,
        "tls": tls,
    }
    _options.common(options, given)
    return Publisher(stream, options, size)
