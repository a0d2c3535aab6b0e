"""Publishing: a stream of steps."""

import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _native, _options
from ._dtypes import name_of, of_name
from ._errors import FlexpathError, Misuse
from ._handles import Handle
from ._records import RecordType, aligned, lies_as_it_is, to_values
from ._steering import Parameter, Request, Takes, parameters as _parameters
from ._step import Step


class Publisher(Handle):
    """A publisher rank of a stream; `flexpath.publish` opens one.

    It is a context manager: `with` closes the stream, after what was published is delivered.
    """

    _native: _native.Publisher
    _closes_late = True

    def __init__(self, stream: str, options: dict[str, Any], size: int) -> None:
        super().__init__(_native.Publisher(stream, options))
        self._size = size
        self._known: dict[str, tuple[Any, _native.Definition]] = {}
        self._arranged_bytes = 0

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
        self._user = threading.get_ident()
        return StepWriter(self, self._native.begin_step())

    def has_subscribers(self) -> bool:
        """Whether anybody would get what is put."""
        return self._native.has_subscribers()

    def wait_for_subscriptions(self, count: int, timeout: float = 60.0) -> int:
        """Wait until there are that many subscriptions. Gives how many there are."""
        self._user = threading.get_ident()
        return self._native.wait_for_subscriptions(count, timeout)

    def sync(self, timeout: float = 60.0) -> None:
        """Wait until every lossless subscription has released all steps so far; the error names who holds what."""
        self._user = threading.get_ident()
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
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        if isinstance(error, KeyboardInterrupt):
            # Who wants to go does not wait once more, for subscribers that may be what it waited for.
            self._drop()
            return
        try:
            self.close()
        except FlexpathError as second:
            error.add_note(f"closing stream {self.stream!r} failed too: {second}")

    def __repr__(self) -> str:
        return f"<flexpath.Publisher of {self.stream!r}>"


class StepWriter:
    """A step being published: `step["temperature"] = array` puts, and the end of `with` ends the step."""

    def __init__(self, publisher: Publisher, native: _native.StepWriter) -> None:
        self._publisher, self._native = publisher, native
        self._is_over = False

    @property
    def number(self) -> int:
        """The step's number."""
        return self._native.number

    def wanted(self, name: str) -> bool:
        """Whether anybody wants what is put of a variable: what is not wanted need not be computed."""
        return self._native.wanted(name)

    @property
    def requests(self) -> tuple[Request, ...]:
        """What is asked of the simulation at this step. What is not declined by its end counts as taken."""
        told = enumerate(self._native.requests())
        return tuple(Request(parameter, value, by, index) for index, (parameter, value, by) in told)

    def is_asked(self, parameter: str) -> bool:
        """Whether somebody asks for that at this step, whatever the value: for parameters without one."""
        return self._native.is_asked(parameter)

    def decline(self, request: Request, reason: str) -> None:
        """Do not take a request of this step. Who asked is told why. All ranks are to decline the same."""
        if request not in self.requests:
            raise Misuse(f"step {self.number}: {request} is no request of this step")
        self._native.decline(request.index, reason)

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
        self._publisher._check_is_own()
        words = _words(name, unit, description, dims, attrs)
        if isinstance(value, str):
            if joined or local or start or shape:
                raise Misuse(f"variable {name!r}: a text is one value for all ranks: it has no start, and is no array")
            definition = self._definition(name, "scalar", "string", (), words)
            self._native.put(definition, (), (), value.encode())
            return
        if records is not None and not isinstance(value, np.ndarray):
            self._put_values(name, value, records, start, shape, joined, local, words)
            return
        array = _array(name, value)
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
        if not count and not start and not shape:
            return ("scalar", (), (), ())
        if start is None and shape is None and self._publisher._size > 1:
            raise Misuse(
                f"variable {name!r}: this cohort has {self._publisher._size} ranks: say where this block lies by "
                "start= and shape=, or that it is joined=True or local=True"
            )
        start = origin if start is None else tuple(int(at) for at in start)
        whole = tuple(at + n for at, n in zip(start, count, strict=False)) if shape is None else tuple(map(int, shape))
        if any(at < 0 for at in (*start, *whole)):
            raise Misuse(f"variable {name!r}: start {start} and shape {whole} count from the array's corner: from 0")
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
        dims = words["dimensions"]
        if dims and len(dims) != len(shape):
            raise Misuse(f"variable {name!r}: dims names {len(dims)} dimensions, and the array has {len(shape)}")
        if len(set(dims)) < len(dims):
            raise Misuse(f"variable {name!r}: dims={dims}: two dimensions have one name: give each its own")
        # To Python 1, 1.0 and True are equal, and an attribute's list may be another than it was.
        key = (kind, dtype, shape, words, repr(words["attributes"]))
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
        for at, of in enumerate(all_values):
            if not isinstance(of, Mapping):
                raise Misuse(f"variable {name!r}: record {at} is no dict with the fields' values")
        count: tuple[int, ...] = () if isinstance(values, Mapping) else (len(all_values),)
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
        self._publisher._check_is_own()
        of, block = np.dtype(dtype).newbyteorder("="), tuple(int(n) for n in count)
        kind, whole, first, block = self._place(name, block, start, shape, joined, local)
        words = _words(name, unit, description, dims, attrs)
        definition = self._definition(name, kind, name_of(of, name), whole, words)
        memory = self._native.loan(definition, first, block)
        array = np.frombuffer(memory, of).reshape(block)
        yield array
        array.flags.writeable = False
        self._native.put_loan(memory)

    def copy_from(self, source: Step, name: str, value: ArrayLike | None = None) -> None:
        """Put a variable of another stream's step, with its unit, dimensions and attributes.

        `value`: what is put instead of what the step has. It has the same type and, for a global array, the same shape.
        """
        self._publisher._check_is_own()
        definition = source._native.definition(name)
        if value is None and definition.kind in ("local", "local_scalar"):
            for rank, index, _, count in source[name].blocks():
                self._put_copy(source, definition, source[name].block(rank, index).reshape(count))
        else:
            self._put_copy(source, definition, source[name][...] if value is None else value)

    def _put_copy(self, source: Step, definition: _native.Definition, found: ArrayLike) -> None:
        name = definition.name
        if isinstance(found, str):
            self._native.put(definition, (), (), found.encode())
            return
        order: Literal["F", "C"] = "F" if definition.column_major else "C"
        if definition.dtype != "record":
            array = np.asarray(found, of_name(definition.dtype, name), order)
        else:
            schema, array = source._native.record_schema(name), np.asarray(found)
            if not lies_as_it_is(schema):
                self._native.put_records(definition, (0,) * array.ndim, array.shape, to_values(array))
                return
            array = np.asarray(aligned(array, schema), order=order)
        if definition.kind == "local_scalar" and array.size == 1:
            array = array.reshape(())
        data = array.view(np.uint16) if definition.dtype == "bf16" else array
        self._native.put(definition, (0,) * array.ndim, array.shape, data if array.ndim else array.tobytes())

    def end(self) -> None:
        """End the step: subscribers may have it."""
        self._is_over = True
        self._native.end()

    def abandon(self) -> None:
        """Give the step up: nobody has it."""
        self._is_over = True
        self._native.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._is_over:
            return
        if error is None:
            self.end()
        else:
            self.abandon()

    def __repr__(self) -> str:
        return f"<flexpath.StepWriter of step {self.number} of {self._publisher.stream!r}>"


def _words(
    name: str, unit: str | None, description: str | None, dims: Sequence[str], attrs: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What is said of a variable besides its type, in values of Python, which can be compared."""
    attributes = {}
    for key, value in (attrs or {}).items():
        if not isinstance(key, str):
            raise Misuse(f"variable {name!r}: attribute {key!r}: the name of an attribute is a text")
        attributes[key] = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return {"unit": unit, "description": description, "dimensions": tuple(dims), "attributes": attributes}


def _array(name: str, value: Any) -> NDArray[Any]:
    """What is put, as an array."""
    # If nobody has imported the module, there are none of its arrays.
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(value, masked.MaskedArray) and masked.is_masked(value):
        raise Misuse(f"variable {name!r}: a mask cannot be put: give `array.filled(value)`, and the mask beside it")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise Misuse(f"variable {name!r}: this is no array: {error}") from None


def publish(
    stream: str,
    *,
    cohort: Any = None,
    min_subscribers: int = 0,
    limit_bytes: int | None = None,
    reserve_steps: int | None = None,
    reserve_when: str | None = None,
    precious_first: bool | None = None,
    first_step: int | None = None,
    parameters: Mapping[str, Takes | Parameter] | None = None,
    pause: float | None = None,
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
    `parameters`: what subscribers may ask for (`StepWriter.requests`), such as `{"conductivity": (0.0, 10.0), "level":
    (0, 9), "melts": bool, "title": str, "stop": None}`; a `Parameter` says what it is besides. `pause`: for how long
    they may pause the program; not said, not at all. `reserve_steps`: the last steps, which are kept for newcomers;
    `reserve_when`: what these are like, such as "max(T) > 9". `limit_wait`: the longest that a subscriber may hold the
    program up. Times are in seconds. docs/python.md has all options.

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
        "reserve_when": reserve_when,
        "precious_first": precious_first,
        "first_step": first_step,
        "parameters": None if parameters is None else _parameters(parameters),
        "pause": pause,
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
