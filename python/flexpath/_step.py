"""A step being read: its variables, as arrays that are elsewhere until they are indexed."""

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _aio, _index, _native
from ._dtypes import OF_NAME, name_of, of_name
from ._errors import Incompatible, Misuse
from ._judgement import Judgement, judgement
from ._records import RecordType, from_values, lies_as_it_is

if TYPE_CHECKING:
    from ._subscribe import Subscriber


class Step(Mapping[str, "Array"]):
    """A step: a mapping from names to arrays. It is held until it is released, and the views made of it are gone.

    A loop over a subscriber releases the step before as it goes on. A step that `next_step` gave is released by
    `with`, by `release`, or as it is dropped.
    """

    def __init__(self, subscriber: "Subscriber", native: _native.Step) -> None:
        self._subscriber, self._native = subscriber, native
        self._definitions: dict[str, _native.Definition] | None = None

    @property
    def stream(self) -> str:
        """The stream's name."""
        return self._native.stream

    @property
    def number(self) -> int:
        """The step's number in its epoch."""
        return self._native.number

    @property
    def epoch(self) -> str | None:
        """The epoch of the publisher that published it."""
        return self._native.epoch

    @property
    def skipped(self) -> int:
        """Steps that this subscription did not get between the one before and this."""
        return self._native.skipped

    @property
    def is_redelivered(self) -> bool:
        """Whether another worker of the set had it before."""
        return self._native.is_redelivered

    @property
    def nbytes(self) -> int:
        """Bytes of the step over all publisher ranks."""
        return self._native.len_bytes

    @property
    def queued_steps(self) -> int:
        """Steps that waited at the publisher behind this one."""
        return self._native.queued_steps

    @property
    def judgement(self) -> Judgement | None:
        """Why the step is one that the condition asks for.

        It is None without a condition. One that looks at variables alone has no numbers.
        """
        told = self._native.judgement
        return None if told is None else judgement(*told)

    @property
    def is_released(self) -> bool:
        """Whether it can be read no more."""
        return self._native.is_released

    def _known(self) -> dict[str, _native.Definition]:
        return self._learned(self._native.variables()) if self._definitions is None else self._definitions

    def _learned(self, all_of_them: list[_native.Definition]) -> dict[str, _native.Definition]:
        self._definitions = {of.name: of for of in all_of_them if of.origin != "failed"}
        self._subscriber._hints = {name: _hint(of) for name, of in self._definitions.items()}
        return self._definitions

    def _definition(self, name: str) -> _native.Definition:
        known = self._known().get(name)
        if known is None:
            if name in self._subscriber._derived:
                try:
                    self._native.get(name)
                except Incompatible as why:
                    raise KeyError(str(why)) from None
            raise KeyError(
                f"stream {self.stream!r}, step {self.number}: there is no variable {name!r}; there are: "
                f"{', '.join(map(repr, self._known())) or 'none'}"
            )
        return known

    def __getitem__(self, name: str) -> "Array":
        # What the step before had is likely here. If it is not, reading it says so.
        if self._definitions is None and name in self._subscriber._hints:
            return Array(self, name)
        self._definition(name)
        return Array(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __contains__(self, name: object) -> bool:
        return name in self._known()

    def __bool__(self) -> bool:
        return True  # also without variables: `if step := subscriber.poll()` asks whether there is one

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    async def load(self) -> Self:
        """For a task: learn which variables there are, where that may take a question to the publisher."""
        if self._definitions is None:
            self._learned(await _aio.outcome(self._native.variables_async()))
        return self

    def fetch(self, *names: str, timeout: float = 60.0) -> dict[str, NDArray[Any]]:
        """Several whole arrays of numbers, with one question to each owner."""
        found: dict[str, NDArray[Any]] = {}
        gets = []
        for name in names:
            of = self._definition(name)
            if of.shape is None:
                raise Misuse(f"variable {name!r}: a local array has no shape: take it by its blocks or ranks")
            array = np.empty(of.shape, of_name(of.dtype, name), "F" if of.column_major else "C")
            found[name] = array
            gets.append((name, None, of.column_major, of.dtype, array.view(np.uint16) if of.dtype == "bf16" else array))
        self._native.fetch_into(gets, timeout)
        return found

    def done(self) -> None:
        """The step is done: no worker of the set gets it again. It is released."""
        self._native.done()

    def give_back(self) -> None:
        """The step goes back to its set of workers: one of them gets it again."""
        self._native.give_back()

    def release(self) -> None:
        """Release the step: the publisher may use its memory again, once views of it are gone."""
        self._native.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._native.is_released:
            return
        if error is not None and self._subscriber._redelivers:
            self._native.give_back()
        else:
            self._native.release()

    def __repr__(self) -> str:
        return f"<flexpath.Step {self.number} of {self.stream!r}>"


#: The hint of a variable that no step has shown yet.
_UNKNOWN = ("", False)


def _hint(of: _native.Definition) -> tuple[str, bool]:
    """The element type, "" where there is no array as a whole, and whether columns lie together."""
    return ("" if of.kind == "local" else of.dtype, of.column_major)


def _array(memory: _native.Memory, of: np.dtype[Any], shape: Sequence[int], column_major: bool) -> NDArray[Any]:
    """The elements in memory, as an array of that shape."""
    array: NDArray[Any] = np.frombuffer(memory, of)
    return array if len(shape) == 1 else array.reshape(shape, order="F" if column_major else "C")


class Array:
    """A variable of a step, as numpy sees it. What is indexed crosses, and nothing else.

    >>> import flexpath
    >>> with flexpath.publish("doc-array") as out, flexpath.subscribe("doc-array") as subscriber:
    ...     with out.step() as step:
    ...         step["t"] = [[1.0, 2.0], [3.0, 4.0]]
    ...     with subscriber.next_step() as step:
    ...         step["t"][:, 1].tolist()
    [2.0, 4.0]
    """

    __slots__ = ("_name", "_step")
    #: As what the elements are read, if not as what they are; and whether also as what does not hold every value.
    _convert: str | None = None
    _lossy: bool = False

    def __init__(self, step: Step, name: str) -> None:
        self._step, self._name = step, name

    @property
    def _of(self) -> _native.Definition:
        return self._step._definition(self._name)

    @property
    def name(self) -> str:
        """The variable's name."""
        return self._name

    @property
    def kind(self) -> str:
        """What it is: "global", "joined" (rows of all ranks), "local" (an array of each put), or a scalar of these."""
        return self._of.kind

    @property
    def shape(self) -> tuple[int, ...]:
        """The global extent. A local array has none: see `blocks`."""
        shape = self._of.shape
        if shape is None:
            raise Misuse(f"variable {self._name!r}: a local array has no shape: see blocks(), rank() and block()")
        return tuple(shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements, as they are read."""
        if self._convert is not None:
            return OF_NAME[self._convert]
        of = self._of
        if of.dtype == "record":
            return RecordType.of_schema(self._step._native.record_schema(self._name)).dtype
        return np.dtype(object) if of.dtype == "string" else of_name(of.dtype, self._name)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._of.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions, if the publisher gave some."""
        names = tuple(self._of.dimensions)
        return names if any(names) else ()

    @property
    def unit(self) -> str | None:
        """The unit."""
        return self._of.unit

    @property
    def description(self) -> str | None:
        """What it is, for people."""
        return self._of.description

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes."""
        return self._of.attributes

    def astype(self, dtype: DTypeLike, *, lossy: bool = False) -> "Array":
        """The same, read as another number type. `lossy`: also as one that does not hold every value."""
        return _Converted(self, name_of(np.dtype(dtype), self._name), lossy)

    def blocks(self) -> list[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
        """Rank, index, start and extent of each block that a rank put."""
        return [(rank, at, tuple(start), tuple(n)) for rank, at, start, n in self._step._native.blocks(self._name)]

    def rank(self, rank: int) -> NDArray[Any]:
        """What a rank put: all its blocks, one after another."""
        found: NDArray[Any] = self._whole(f"[rank {rank}]")
        return found

    def block(self, rank: int, index: int = 0) -> NDArray[Any]:
        """One block as it was put."""
        found: NDArray[Any] = self._whole(f"[block {rank}.{index}]")
        return found

    def __getitem__(self, key: Any) -> Any:
        if key is Ellipsis:
            return self._whole(None)
        if type(key) is tuple and not key:
            found = self._whole(None)
            return found[()] if type(found) is np.ndarray else found
        return self._indexed(key)

    def _whole(self, selection: Any) -> Any:
        """Everything, or what a text of the library selects."""
        step, name = self._step, self._name
        _, column_major = step._subscriber._hints.get(name, _UNKNOWN)
        if self._convert is None:
            dtype, shape, memory = step._native.get(name, selection, column_major)
        else:
            dtype, shape, memory = step._native.get(name, selection, column_major, self._convert, self._lossy)
        of = OF_NAME.get(dtype)
        if of is None:
            return self._other(selection)
        # Not by `_array`: with a few bytes one call more is felt.
        array = np.frombuffer(memory, of)
        return array if len(shape) == 1 else array.reshape(shape, order="F" if column_major else "C")

    def _other(self, selection: Any) -> Any:
        """Texts and records."""
        step, name = self._step, self._name
        if self._of.dtype == "string":
            return step._native.text(name)
        schema = step._native.record_schema(name)
        if lies_as_it_is(schema):
            _, shape, memory = step._native.records(name, selection)
            dtype = RecordType.of_schema(schema).dtype
            return np.frombuffer(memory, np.uint8)[: int(np.prod(shape)) * dtype.itemsize].view(dtype).reshape(shape)
        shape, values = step._native.record_values(name, selection)
        return from_values(schema, tuple(shape), values)

    def _plan(self, key: Any) -> _index.Plan:
        of = self._of
        if of.shape is None:
            raise Misuse(
                f"variable {self._name!r}: every put is an array of its own: "
                "take all by [...], or one by block() or rank()"
            )
        itemsize = 16 if of.dtype in ("record", "string") else OF_NAME[of.dtype].itemsize
        return _index.plan(key, tuple(of.shape), itemsize, name=self._name)

    def _indexed(self, key: Any) -> Any:
        of = self._of
        if of.dtype not in OF_NAME:
            return self._whole(None)[key]
        plan = self._plan(key)
        if plan.is_empty:
            return plan.finish(np.empty(plan.received_shape, self.dtype))
        column_major = of.column_major
        dtype, shape, memory = self._step._native.get(
            self._name, plan.selection, column_major, self._convert, self._lossy
        )
        if plan.crosses_region:
            self._step._subscriber._region_gets += 1
        return plan.finish(_array(memory, OF_NAME[dtype], shape, column_major))

    def view(self, key: Any = Ellipsis) -> NDArray[Any]:
        """The elements where they lie, read-only, without a copy where that can be.

        They can where they are a contiguous part of one block that this process maps or shares. Otherwise they are
        fetched. The step counts as held as long as the array, or one made of it, is alive.
        """
        step, name = self._step, self._name
        dtype, column_major = step._subscriber._hints.get(name, _UNKNOWN)
        of = OF_NAME.get(dtype)
        if key is not Ellipsis or of is None:
            return self._viewed(key)[0]
        try:
            # Nothing is looked up if it has the type that it had in the step before.
            shape, memory = step._native.view(name, None, column_major, dtype)
        except Misuse:
            return self._viewed(key)[0]
        return _array(memory, of, shape, column_major)

    def _viewed(self, key: Any) -> tuple[NDArray[Any], bool]:
        """A view, and whether it is one."""
        of = self._of
        if of.dtype == "record":
            return np.asarray(self._whole(None))[key], False
        dtype, plan = of_name(of.dtype, self._name), self._plan(key)
        if plan.is_empty:
            return np.asarray(plan.finish(np.empty(plan.received_shape, dtype))), True
        shape, memory = self._step._native.view(self._name, plan.selection, of.column_major, of.dtype)
        return np.asarray(plan.finish(_array(memory, dtype, shape, of.column_major))), memory.is_zero_copy

    def read(self, key: Any = Ellipsis, *, out: NDArray[Any] | None = None, fill: Any = None) -> Any:
        """The selected elements: into `out`, or with `fill` where no rank put any.

        `out` has the shape of the result, lies densely, and may be of another number type.
        """
        if out is not None and fill is not None:
            raise Misuse(f"variable {self._name!r}: give out= or fill=, and not both")
        if fill is not None:
            return self._filled(key, fill)
        if out is None:
            return self[key]
        of, plan = self._of, self._plan(key)
        if tuple(out.shape) != tuple(plan.result_shape):
            raise Misuse(f"variable {self._name!r}: out has shape {out.shape}, and {tuple(plan.result_shape)} is read")
        if plan.is_empty:
            return out
        if of.dtype not in OF_NAME:
            out[...] = self[key]
            return out
        dtype = name_of(out.dtype, self._name)
        column_major = out.flags.f_contiguous and not out.flags.c_contiguous
        is_direct = plan.is_as_it_comes and out.dtype.isnative and out.ndim
        # Points come in the order of rows, however many dimensions they are given.
        if not is_direct or (column_major and plan.local_key is None):
            out[...] = _Converted(self, dtype, self._lossy)[key]
            return out
        memory = out.view(np.uint16) if dtype == "bf16" else out
        self._step._native.get_into(self._name, plan.selection, column_major, dtype, self._lossy, memory)
        return out

    def _filled(self, key: Any, fill: Any) -> Any:
        of, plan = self._of, self._plan(key)
        if plan.is_empty:
            return plan.finish(np.empty(plan.received_shape, self.dtype))
        dtype = of_name(of.dtype, self._name)
        one = np.asarray(fill, dtype).tobytes()
        shape, memory = self._step._native.get_or_fill(self._name, plan.selection, of.dtype, one)
        return plan.finish(np.frombuffer(memory, dtype).reshape(shape))

    async def fetch(self, key: Any = Ellipsis) -> Any:
        """As indexing, for a task: `await step["t"].fetch(numpy.s_[:, 0])`. Cancelled, it loses nothing."""
        await self._step.load()
        of = self._of
        if of.dtype not in OF_NAME:
            return self[key]
        plan = self._plan(key)
        if plan.is_empty:
            return plan.finish(np.empty(plan.received_shape, self.dtype))
        dtype = self._convert or of.dtype
        pending = self._step._native.get_async(
            self._name, plan.selection, of.column_major, dtype, self._convert is not None
        )
        memory = await _aio.outcome(pending)
        array = np.frombuffer(memory, OF_NAME[dtype])
        return plan.finish(array.reshape(plan.received_shape, order="F" if of.column_major else "C"))

    def item(self) -> Any:
        """The value of a scalar: a number of Python, a text, or a dict of a record."""
        value = self._whole(None)
        if isinstance(value, str):
            return value
        if value.dtype.names is not None:
            return dict(zip(value.dtype.names, value[()], strict=True))
        return value.item()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            array, is_zero_copy = self._viewed(Ellipsis)
            if not is_zero_copy or (dtype is not None and np.dtype(dtype) != array.dtype):
                raise ValueError(f"variable {self._name!r}: a copy cannot be avoided here: leave copy=False away")
            return array
        found = np.asarray(self._whole(None))
        return found if dtype is None else found.astype(dtype, copy=False)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        return bool(np.asarray(self._whole(None)))

    def __str__(self) -> str:
        return str(self._whole(None))

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError(f"variable {self._name!r}: a scalar cannot be iterated over")
        return iter(self._whole(None))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"variable {self._name!r}: a scalar has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        of = self._of
        shape = "local" if of.shape is None else str(tuple(of.shape))
        return f"<flexpath.Array {self._name!r} {shape} {of.dtype}{f' in {of.unit}' if of.unit else ''}>"


class _Converted(Array):
    """A variable that is read as another number type."""

    __slots__ = ("_convert", "_lossy")

    def __init__(self, of: Array, convert: str, lossy: bool) -> None:
        super().__init__(of._step, of._name)
        self._convert, self._lossy = convert, lossy
