"""Steps as xarray datasets. ``pip install "flexpath[xarray]"``, or xarray by itself, is all that it needs.

>>> import flexpath, xarray
>>> with flexpath.publish("doc-xarray") as out, flexpath.subscribe("doc-xarray") as subscriber:
...     with out.step() as step:
...         step.put("temperature", [300.0, 310.0, 320.0], unit="K", dims=("x",))
...         step["x"] = [0.0, 0.5, 1.0]
...     with subscriber.next_step() as step:
...         ds = xarray.open_dataset(step, engine="flexpath")
...         ds["temperature"].sel(x=slice(0.4, 1.0)).mean().item(), ds["temperature"].attrs["units"]
(315.0, 'K')

Nothing but index coordinates crosses as a dataset is opened. What is selected of a variable crosses when its values
are wanted, and only that. A dataset lives as long as its step is held: load what outlives it (``ds.load()``).

What a variable becomes:

* A global or joined array becomes a variable. Its dimensions have the names that the publisher gave them. Others are
  called ``<variable>_dim_0`` and so on. A name that has another size in an earlier variable is ``<name>_<variable>``.
* A scalar becomes a variable without dimensions, and so does a text.
* An array of one dimension that is called as a dimension becomes its coordinate.
* The unit is the attribute ``units``, the description is ``long_name``; attributes stay attributes.
* Arrays of each rank (local ones) have no shape as a whole, and records have no type that xarray knows. These are left
  out, and named in ``ds.attrs["flexpath_left_out"]``. Read them from the step.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy

import flexpath
from flexpath._attach import Origin, Source

try:
    import xarray
    from xarray.backends import BackendArray, BackendEntrypoint
    from xarray.core import indexing
except ImportError as error:
    raise ImportError("flexpath.xarray needs xarray: pip install xarray") from error

__all__ = ["FlexpathBackend", "datasets"]

#: Attributes of the dataset begin with it.
PREFIX = "flexpath_"


class _StepArray(BackendArray):
    """A variable of a step. An index becomes a selection, so nothing else crosses."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.shape = source.shape
        self.dtype = source.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        # Slices and integers in each dimension, or a list of integers in each by itself: that is what a region, a
        # stride and the outer product of indices are. xarray does the rest with what has crossed.
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        lists = {axis: index % self.shape[axis] for axis, index in enumerate(key) if isinstance(index, numpy.ndarray)}
        if not lists:
            return self.source[key]
        # numpy pairs several lists up, and moves axes where a list meets an integer. Here each counts by itself: so one
        # list at most is a list where the data is. Of the others what lies between their ends crosses.
        whole = max(lists, key=lambda axis: _spread(lists[axis]))
        first: list[Any] = list(key)
        for axis, index in enumerate(key):
            if axis in lists:
                first[axis] = lists[axis] if axis == whole else _around(lists[axis])
            elif not isinstance(index, slice):
                first[axis] = slice(int(index), int(index) + 1)
        part = self.source[tuple(first)]
        for axis, index in lists.items():
            if axis != whole and index.size:
                part = numpy.take(part, index - index.min(), axis=axis)
        single = [axis for axis, index in enumerate(key) if axis not in lists and not isinstance(index, slice)]
        return part.squeeze(axis=tuple(single))


def _around(index: numpy.ndarray) -> slice:
    return slice(int(index.min()), int(index.max()) + 1) if index.size else slice(0, 0)


def _spread(index: numpy.ndarray) -> float:
    """How many times what is in the list lies between its ends."""
    return float(index.max() - index.min() + 1) / index.size if index.size else numpy.inf


class FlexpathBackend(BackendEntrypoint):
    """The engine ``flexpath`` of ``xarray.open_dataset``."""

    description = "Opens a step of a running simulation, a flexpath.Step"
    open_dataset_parameters: ClassVar = ("filename_or_obj", "drop_variables")

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        return isinstance(filename_or_obj, flexpath.Step)

    def open_dataset(
        self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None
    ) -> xarray.Dataset:
        if not isinstance(filename_or_obj, flexpath.Step):
            raise TypeError(
                f"the engine flexpath opens a flexpath.Step, and this is a {type(filename_or_obj).__name__}: "
                "take one with flexpath.subscribe(stream).next_step()"
            )
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        return _dataset(filename_or_obj, dropped)


def datasets(subscriber: Any, **options: Any) -> Iterator[xarray.Dataset]:
    """Each step of a subscriber as a dataset, with its number as the coordinate ``step``.

    As with the subscriber itself, a step is released as the loop goes on: load what is to outlive it. `options` go to
    ``xarray.open_dataset``. A stream that has a variable or a dimension called ``step`` keeps that one.
    ``xarray.concat([ds["t"].max() for ds in datasets(subscriber)], "step")`` is a series in time.
    """
    for step in subscriber:
        ds = xarray.open_dataset(step, engine=FlexpathBackend, **options)
        yield ds if "step" in ds.variables or "step" in ds.sizes else ds.assign_coords(step=step.number)


def _dataset(step: Any, dropped: set[str]) -> xarray.Dataset:
    arrays = {name: step[name] for name in step.keys() if name not in dropped}
    taken = {name: array for name, array in arrays.items() if _is_taken(array)}
    origin = Origin(step.stream, step.epoch, step.number, tuple(taken))
    dims = _dimensions(taken)
    variables = {name: _variable(step, origin, name, array, dims[name]) for name, array in taken.items()}
    attrs: dict[str, Any] = {
        PREFIX + "stream": step.stream,
        PREFIX + "step": step.number,
        PREFIX + "epoch": step.epoch or "",
        PREFIX + "skipped": step.skipped,
    }
    if left_out := [name for name in arrays if name not in taken]:
        attrs[PREFIX + "left_out"] = left_out
    return xarray.Dataset(variables, attrs=attrs)


def _is_text(array: Any) -> bool:
    return array.kind == "scalar" and numpy.dtype(array.dtype).kind in "OUT"


def _is_taken(array: Any) -> bool:
    return _is_text(array) or (array.kind in ("scalar", "global", "joined") and array.dtype.kind in "biufc")


def _variable(step: Any, origin: Origin, name: str, array: Any, dims: tuple[str, ...]) -> xarray.Variable:
    attrs = dict(array.attrs)
    if array.unit:
        attrs.setdefault("units", array.unit)
    if array.description:
        attrs.setdefault("long_name", array.description)
    if _is_text(array):
        return xarray.Variable((), str(array), attrs)
    data = indexing.LazilyIndexedArray(_StepArray(Source(step, origin, name)))
    return xarray.Variable(dims, data, attrs)


def _dimensions(arrays: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The names of dimensions of each variable, so that a name has one size in all of the dataset."""
    sizes: dict[str, int] = {}
    dims: dict[str, tuple[str, ...]] = {}
    named = [name for name, array in arrays.items() if any(array.dims)]
    for name in named:
        dims[name] = _of_one(name, arrays[name], arrays[name].dims, sizes)
    for name, array in arrays.items():
        if name in dims:
            continue
        # A list of positions along x that is called x, where somebody else has a dimension x of that size.
        is_coordinate = array.ndim == 1 and sizes.get(name) == array.shape[0]
        dims[name] = (name,) if is_coordinate else _of_one(name, array, ("",) * array.ndim, sizes)
    return dims


def _of_one(name: str, array: Any, wanted: Iterable[str], sizes: dict[str, int]) -> tuple[str, ...]:
    dims: list[str] = []
    for axis, (dim, size) in enumerate(zip(wanted, array.shape, strict=True)):
        choices = [dim, f"{dim}_{name}"] if dim else []
        choices += [f"{name}_dim_{axis}", f"{name}_dimension_{axis}_of_{size}"]
        # xarray knows a variable that is called as one of its own dimensions as a coordinate of one dimension.
        free = [dim for dim in choices if sizes.get(dim, size) == size and dim not in dims]
        dims.append(next(dim for dim in free if dim != name or array.ndim == 1))
        sizes[dims[-1]] = size
    return tuple(dims)
