"""Numpy's indexing of an array that is elsewhere: which elements must cross, and what is made of them here.

A key of a subscription to an array means what it means to numpy. `plan` turns it into a selection that a publisher
understands (everything, a strided region, or points) and into what is left to do with the elements that came.

The second part is numpy's own indexing, with a key in the coordinates of what came. Slices become whole slices or
flips, integers become 0, index arrays count from the start of the region, and masks become the index arrays that numpy
makes of them. So the rules about the order of dimensions are numpy's and stand nowhere here. Errors are numpy's too:
a key that looks wrong is put to an array of that shape whose elements have no bytes.
"""

from __future__ import annotations

import operator
from math import prod
from types import EllipsisType, NoneType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: First position, number of elements, distance between elements: what crosses of one dimension.
Axis: TypeAlias = tuple[int, int, int]

#: Nothing but what the native part takes: everything, an `Axis` for each dimension, or points.
Selection: TypeAlias = tuple[Axis, ...] | list[tuple[int, ...]] | None

#: More points than these are never asked for one by one.
LIMIT_POINTS = 65_536

#: What each coordinate of a point costs in a request.
COORDINATE_BYTES = 8

#: Numpy bounds the dimensions of a result. Shorter keys without arrays cannot reach that bound.
SHORT_KEY_PARTS = 16

_BASIC = frozenset((slice, int, EllipsisType, NoneType))
_WHOLE = slice(None)
_FLIPPED = slice(None, None, -1)
_NOTHING = slice(0, 0)


class Plan(NamedTuple):
    """What crosses for a key, and how the result is made of it."""

    #: What to ask for. None: everything.
    selection: Selection
    #: How many elements cross.
    selected: int
    #: Whether elements cross that the key does not name, as asking for single ones would have cost more.
    crosses_region: bool
    #: The shape of what comes: the count of each dimension, or (n,) for points.
    received_shape: tuple[int, ...]
    #: The key in the coordinates of what comes. None: what comes is the result, but for its shape.
    local_key: Any
    #: The shape of the result, where it was found already.
    known_shape: tuple[int, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing need cross: the result is an empty array of `result_shape`."""
        return self.selected == 0

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of the result, () for a scalar."""
        if self.known_shape is not None:
            return self.known_shape
        shape: tuple[int, ...] = _without_bytes(self.received_shape)[self.local_key].shape
        return shape

    @property
    def is_as_it_comes(self) -> bool:
        """Whether what comes is the result but for its shape: its elements are all there, and in order."""
        if self.local_key is None or self.local_key is Ellipsis:
            return True
        return not any(part is _FLIPPED or _is_array(part) for part in self.local_key)

    def finish(self, array: NDArray[Any]) -> Any:
        """The result, of the array that came: what numpy gives for the key, a numpy scalar where that is one."""
        if self.local_key is None:
            return array.reshape(self.result_shape)
        return array[self.local_key]


def plan(key: Any, shape: tuple[int, ...], itemsize: int, *, name: str | None = None) -> Plan:
    """What must cross of an array of `shape`, with `itemsize` bytes an element, for `array[key]`.

    Errors are those of numpy, of its types and with its texts, after the name of the variable if that is given.

    >>> plan((slice(None, None, -2), 1), (5, 4), 8).selection
    ((0, 3, 2), (1, 1, 1))
    >>> plan(([0, 70, 31, 55], [3, 9, 1, 5]), (100, 100), 8).selection
    [(0, 3), (70, 9), (31, 1), (55, 5)]
    """
    if key is Ellipsis or (type(key) is tuple and not key):
        return Plan(None, prod(shape), False, shape, key)
    parts = key if isinstance(key, tuple) else (key,)
    is_basic = _BASIC.issuperset(map(type, parts))
    try:
        if not is_basic:
            parts = tuple(map(_converted, parts))
        axes, local = _lay_out(parts, shape)
        if not is_basic and any(isinstance(part, (np.ndarray, bool)) for part in local):
            return _plan_arrays(axes, local, itemsize, key, shape)
    except (IndexError, TypeError, ValueError) as error:
        result_shape = _ask_numpy(key, shape, name)
        if prod(result_shape):
            raise AssertionError(f"numpy takes the key {key!r} of shape {shape}, but no plan was found") from error
        # Numpy lets indices that are out of bounds pass where others beside them are empty.
        return _nothing(result_shape)
    if len(parts) > SHORT_KEY_PARTS:
        _ask_numpy(key, shape, name)
    return _plan_region(axes, local, shape)


def _without_bytes(shape: tuple[int, ...]) -> NDArray[np.void]:
    """An array of any shape that takes no memory."""
    return np.empty(shape, "V0")


def _ask_numpy(key: Any, shape: tuple[int, ...], name: str | None) -> tuple[int, ...]:
    """The shape that numpy gives for a key that is wrong or takes nothing; or numpy's error, after the name."""
    try:
        result_shape: tuple[int, ...] = _without_bytes(shape)[key].shape
    except (IndexError, TypeError, ValueError) as error:
        if name is None:
            raise
        raise type(error)(f"{name}: {error}") from None
    return result_shape


def _converted(part: Any) -> Any:
    """A part of a key as one of None, Ellipsis, slice, int, bool, a mask, or an array of indices."""
    if type(part) in _BASIC:
        return part
    if isinstance(part, bool | np.bool_):
        return bool(part)
    try:
        return operator.index(part)
    except TypeError:
        array = np.asarray(part)
    if array.dtype == np.bool_:
        return array if array.ndim else bool(array)
    if array.size == 0:
        # [] has the type of floats, and numpy takes it. An empty array of floats it refuses when it is asked.
        return array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise IndexError("indices must be integers")
    return array.astype(np.intp)


def _dimensions_of(part: Any) -> int:
    """How many dimensions of the array a part of a key is about."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1


def _lay_out(parts: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[list[Axis], list[Any]]:
    """The smallest strided region around what a key takes, and the key within it, with a part for each dimension.

    Raises some error for a wrong key, without a text worth showing.
    """
    axes: list[Axis] = []
    local: list[Any] = []
    has_ellipsis = False
    for place, part in enumerate(parts):
        kind = type(part)
        if kind is slice:
            taken = range(shape[len(axes)])[part]
            axes.append(_axis(taken))
            local.append(_WHOLE if taken.step > 0 else _FLIPPED)
        elif kind is int:
            axes.append((range(shape[len(axes)])[part], 1, 1))
            local.append(0)
        elif part is Ellipsis:
            left = len(shape) - len(axes) - sum(map(_dimensions_of, parts[place + 1 :]))
            if has_ellipsis or left < 0:
                raise IndexError("a second ellipsis, or too many indices")
            has_ellipsis = True
            _take_whole(left, axes, local, shape)
            local.append(part)  # also beside no dimension: it makes an array of a scalar
        elif _dimensions_of(part) == 0:
            local.append(part)
        else:
            for index in _indices(part, shape[len(axes) :]):
                axis, offsets = _around(index, shape[len(axes)])
                axes.append(axis)
                local.append(offsets)
    _take_whole(len(shape) - len(axes), axes, local, shape)
    return axes, local


def _take_whole(count: int, axes: list[Axis], local: list[Any], shape: tuple[int, ...]) -> None:
    """Takes all of that many further dimensions."""
    for _ in range(count):
        axes.append((0, shape[len(axes)], 1))
        local.append(_WHOLE)


def _axis(taken: range) -> Axis:
    """The positions of a slice, as they cross: in rising order."""
    count = len(taken)
    if count < 2:
        return (taken[0], 1, 1) if count else (0, 0, 1)
    return (taken.start, count, taken.step) if taken.step > 0 else (taken[-1], count, -taken.step)


def _indices(part: NDArray[Any], extents: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
    """The index arrays of a part of a key: a mask has one for each of its dimensions."""
    if part.dtype != np.bool_:
        return (part,)
    if part.shape != extents[: part.ndim]:
        raise IndexError("a mask of another shape")
    return part.nonzero()


def _around(index: NDArray[Any], extent: int) -> tuple[Axis, NDArray[Any]]:
    """What holds all positions of an index array, with the widest stride there is, and the positions within it."""
    if index.size == 0:
        return (0, 0, 1), index
    if index.min() < -extent or index.max() >= extent:
        raise IndexError("out of bounds")
    index = np.where(index < 0, index + extent, index)
    start = index.min()
    offsets = index - start
    stride = np.gcd.reduce(offsets.ravel()) or 1
    offsets //= stride
    return (int(start), int(offsets.max()) + 1, int(stride)), offsets


def _plan_region(axes: list[Axis], local: list[Any], shape: tuple[int, ...], crosses_region: bool = False) -> Plan:
    """The plan by which a region crosses."""
    counts = tuple([count for _, count, _ in axes])
    return Plan(None if counts == shape else tuple(axes), prod(counts), crosses_region, counts, tuple(local))


def _nothing(result_shape: tuple[int, ...]) -> Plan:
    """The plan for a result without elements: no points, as no region of a 0-d array is empty."""
    return Plan([], 0, False, (0,), None, result_shape)


def _plan_arrays(axes: list[Axis], local: list[Any], itemsize: int, key: Any, shape: tuple[int, ...]) -> Plan:
    """The plan for a key with index arrays: points or the region around them, whichever is cheaper."""
    region = prod(count for _, count, _ in axes)
    if region == 0 or any(part is False for part in local):
        return _nothing(_without_bytes(shape)[key].shape)
    result_shape = _shape_of(axes, local)
    taken = prod(result_shape)
    if taken <= LIMIT_POINTS and taken * (itemsize + COORDINATE_BYTES * len(shape)) < region * itemsize:
        return Plan(_points(axes, local), taken, False, (taken,), None, result_shape)
    planned = _plan_region(axes, local, shape, crosses_region=not _is_all_named(axes, local))
    return planned._replace(known_shape=result_shape)


def _shape_of(axes: list[Axis], local: list[Any]) -> tuple[int, ...]:
    """The shape that `local` makes of the region. Nothing that it takes is empty.

    Slices take nothing in the question put to numpy, as it would go through all elements. Sliced dimensions keep
    their order, so each 0 in the answer stands for the next of them.
    """
    counts = tuple(count for _, count, _ in axes)
    sliced = (count for count, part in zip(counts, _parts_of_axes(local), strict=True) if isinstance(part, slice))
    asked = tuple(_NOTHING if isinstance(part, slice) else part for part in local)
    return tuple(extent or next(sliced) for extent in _without_bytes(counts)[asked].shape)


def _parts_of_axes(local: list[Any]) -> list[Any]:
    """The parts that are about a dimension of the region, one for each."""
    return [part for part in local if _dimensions_of(part)]


def _is_all_named(axes: list[Axis], local: list[Any]) -> bool:
    """Whether index arrays name every element of the region around them."""
    indexed = [(part, axis[1]) for part, axis in zip(_parts_of_axes(local), axes, strict=True) if _is_array(part)]
    arrays, counts = tuple(part for part, _ in indexed), tuple(count for _, count in indexed)
    if prod(np.broadcast_shapes(*(part.shape for part in arrays))) < prod(counts):
        return False
    named = np.zeros(counts, np.bool_)
    named[arrays] = True
    return bool(named.all())


def _is_array(part: Any) -> bool:
    """Whether a part of a key is an array of indices."""
    return isinstance(part, np.ndarray)


def _points(axes: list[Axis], local: list[Any]) -> list[tuple[int, ...]]:
    """The coordinates of the elements that `local` takes of the region, in the order of the result."""
    coordinates = []
    places = [place for place, part in enumerate(local) if _dimensions_of(part)]
    for axis, place in enumerate(places):
        # For the coordinates of one dimension the other index arrays count by their shapes alone.
        asked = [np.zeros_like(part) if _is_array(part) else part for part in local]
        extents = [1 if _is_array(local[at]) else count for at, (_, count, _) in zip(places, axes, strict=True)]
        part, (start, count, stride) = local[place], axes[axis]
        positions = np.arange(count) if not _is_array(part) else part.ravel()
        if _is_array(part):
            asked[place] = np.arange(part.size).reshape(part.shape)
        extents[axis] = positions.size
        along_axis = (start + stride * positions).reshape([-1 if at == axis else 1 for at in range(len(axes))])
        coordinates.append(np.broadcast_to(along_axis, extents)[tuple(asked)].ravel().tolist())
    return list(zip(*coordinates, strict=True))
