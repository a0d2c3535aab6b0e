"""Forms of keys that numpy knows: as kinds of parts, to be drawn for any shape, and as keys of an array (7, 5, 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

#: The shape that the keys of `KEYS` are for.
SHAPE = (7, 5, 6)

_MASK = np.arange(7 * 5 * 6).reshape(SHAPE) % 4 == 1
_FEW = np.zeros(SHAPE, bool)
_FEW[0, 0, 0] = _FEW[6, 4, 5] = True

#: Keys of an array of shape `SHAPE`, by name.
KEYS: dict[str, Any] = {
    "all": ...,
    "empty tuple": (),
    "whole slice": slice(None),
    "whole slices": (slice(None), slice(None), slice(None)),
    "int": 3,
    "negative int": -1,
    "numpy int": np.int16(2),
    "array of no dimensions": np.array(4),
    "two ints": (3, -2),
    "three ints": (6, 4, 0),
    "three ints, ellipsis": (6, 4, 0, ...),
    "ellipsis, int": (..., 2),
    "int, ellipsis, int": (1, ..., -1),
    "int, slice, int": (1, slice(1, 4), -1),
    "slice": slice(2, 5),
    "slice past the end": slice(4, 99),
    "slice from the end": slice(-3, -1),
    "strided slice": slice(None, None, 3),
    "ellipsis, strided slice": (..., slice(None, None, 4)),
    "three strided slices": (slice(1, None, 2), slice(None, None, 2), slice(2, 6, 3)),
    "reversed": slice(None, None, -1),
    "all reversed": (slice(None, None, -1),) * 3,
    "reversed with a stride": (slice(5, 0, -2), slice(None, None, -3)),
    "a stride wider than the array": slice(3, None, 50),
    "empty slice": slice(4, 4),
    "empty slice backwards": (slice(None), slice(1, 3, -1)),
    "int, empty slice": (2, slice(9, 12)),
    "new axis": None,
    "new axis last": (..., None),
    "new axes between": (0, None, slice(1, 3), None, 2),
    "new axis, ellipsis, new axis": (None, ..., None),
    "list": [0, 2, 5],
    "regular list": [0, 2, 4],
    "regular list backwards": [6, 4, 2],
    "list of one": [3],
    "list with repetitions": [3, 3, 0, 3],
    "list of negatives": [-1, -7, 2],
    "empty list": [],
    "list, slice": ([0, 6], slice(1, 3)),
    "slice, list": (slice(1, 3), [4, 0]),
    "ellipsis, list": (..., [5, 0, 5]),
    "slice, list, reversed": (slice(None), [0, 3], slice(None, None, -2)),
    "array": np.array([5, 1], np.uint8),
    "array of two dimensions": np.array([[0, 6], [1, 1]]),
    "array of three dimensions": (slice(None), np.arange(4).reshape(2, 1, 2)),
    "empty array": np.zeros((2, 0), np.int64),
    "tuple in a tuple": ((0, 6),),
    "range": range(1, 6, 2),
    "two lists": ([0, 6], [4, 1]),
    "three lists": ([0, 6, 3], [4, 1, 0], [5, 5, 2]),
    "two lists apart": ([0, 6], slice(None), [4, 1]),
    "list, new axis, list": ([0, 6], None, [4, 1]),
    "slice, two lists": (slice(1, 3), [4, 1], [0, 5]),
    "int, slice, list": (1, slice(None), [5, 0]),
    "list, slice, int": ([5, 0], slice(None), 1),
    "int, list, slice": (1, [3, 0], slice(2, 4)),
    "slice, list, ellipsis of nothing, int": (slice(1, 3), [4, 1], ..., 0),
    "row and column": (np.array([[0], [6]]), np.array([[1, 4, 2]])),
    "row and column apart": (np.array([[0], [6]]), slice(0, 2), np.array([[1, 4, 2]])),
    "open mesh": np.ix_([0, 2], [1, 3], [5, 0]),
    "open mesh without a pattern": np.ix_([0, 1, 4], [0, 1, 4]),
    "list and empty slice": ([0, 6], slice(3, 3)),
    "mask": _MASK,
    "mask of two elements": _FEW,
    "mask of all": np.ones(SHAPE, bool),
    "mask of nothing": np.zeros(SHAPE, bool),
    "mask of the first dimension": np.array([1, 0, 0, 1, 0, 0, 1], bool),
    "mask of the last dimension": (..., [True, False, False, False, False, True]),
    "mask of two dimensions": _MASK[..., 0],
    "mask of the last two, int": (3, _MASK[0]),
    "slice, mask of two dimensions": (slice(1, 4), _MASK[1]),
    "mask, list": (np.array([1, 0, 0, 0, 0, 0, 1], bool), [4, 0]),
    "mask, slice, mask": (np.arange(7) > 4, slice(1, 3), np.arange(6) < 2),
    "mask, new axis": (np.arange(7) % 2 == 0, None),
    "true": True,
    "false": False,
    "numpy true": np.True_,
    "true, slice, list": (True, slice(1, 3), [0, 4]),
    "slice, false": (slice(1, 3), False),
    "int, true": (2, True),
}

#: Forms as kinds of parts, for any shape: see `part_of`. The form without parts is the empty tuple.
FORMS: dict[str, tuple[str, ...]] = {"": ()} | {
    form.strip(): tuple(form.strip().split(", "))
    for form in """
        ... | int | int, int | int, int, int | int, int, int, int | numpy int | 0-d | int, ... | ..., int |
        int, ..., int | ..., int, int | slice | slice, slice | slice, slice, slice | slice, slice, slice, slice |
        ..., slice | slice, ..., slice | int, slice | slice, int | slice, int, slice | int, slice, int | back |
        back, back | back, int, back | ..., back | nothing | nothing, int | int, nothing | new | new, new | ..., new |
        int, new | new, int, new, slice | slice, new, back | list | list, slice | slice, list | ..., list |
        list, back | back, list | list, int | int, list | list, list | list, list, list | list, slice, list |
        list, new, list | list, ..., list | slice, list, list | slice, list, ..., int | int, slice, list |
        list, slice, int | list, nothing | regular | slice, regular | regular, regular | array | slice, array |
        array, row | array, slice, row | column, row | column, slice, row | slice, column, row | column, row, int |
        mesh | empty list | empty list, list | slice, empty list | mask | mask, slice | slice, mask | ..., mask |
        mask, int | mask, mask | mask, list | mask, slice, mask | mask2 | slice, mask2 | mask2, int |
        mask2, slice, list | full mask | true | false | true, slice | slice, true, list | false, list | true, false |
        int, true | list, 0-d | 0-d, slice, list | tuple | slice, tuple | float | text | list of floats |
        empty array of floats | ..., ... | wrong mask | far | far list | slice, far | list, far list | no stride |
        slice of floats | list, text
    """.split("|")
}

_INDICES = st.integers(-6, 5)


def part_of(draw: Any, kind: str, extents: tuple[int, ...], len_lists: int) -> Any:
    """A part of a key, for dimensions of these extents, in bounds wherever `kind` does not say otherwise."""
    extent = extents[0] if extents else 1
    inside = st.integers(-extent, extent - 1) if extent else _INDICES
    lists = st.lists(inside, min_size=len_lists, max_size=len_lists)
    bounds = st.one_of(st.none(), st.integers(-8, 8))
    match kind:
        case "..." | "new" | "true" | "false":
            return {"...": ..., "new": None, "true": draw(st.sampled_from([True, np.True_])), "false": False}[kind]
        case "int" | "numpy int" | "0-d":
            index = draw(inside)
            return {"int": index, "numpy int": np.int32(index), "0-d": np.array(index)}[kind]
        case "slice" | "back":
            steps = st.one_of(st.none(), st.integers(1, 7)) if kind == "slice" else st.integers(-7, -1)
            return slice(draw(bounds), draw(bounds), draw(steps))
        case "nothing":
            return slice(draw(st.integers(6, 9)), draw(bounds))
        case "list" | "tuple":
            return (list if kind == "list" else tuple)(draw(lists))
        case "empty list":
            return []
        case "regular":
            return list(range(extent))[:: draw(st.sampled_from([1, 2, 3, -1, -2]))] if extent else []
        case "array":
            return np.array(draw(lists) + draw(lists), np.int64).reshape(2, len_lists)
        case "row":
            return np.array(draw(lists), np.int16)
        case "column":
            return np.array(draw(st.lists(inside, max_size=3)), np.int8).reshape(-1, 1)
        case "mask" | "mask2" | "full mask":
            shape = {"mask": (extents or (1,))[:1], "mask2": (extents + (1, 1))[:2], "full mask": extents}[kind]
            bits = draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
            return np.array(bits, bool).reshape(shape)
        case _:
            return _wrong(draw, kind, extent)


def _wrong(draw: Any, kind: str, extent: int) -> Any:
    """A part of a key that numpy refuses, at the latest beside elements."""
    outside = st.one_of(st.integers(extent, extent + 3), st.integers(-extent - 3, -extent - 1), st.just(2**70))
    return {
        "float": 1.0,
        "text": "x",
        "list of floats": [0.0],
        "empty array of floats": np.array([]),
        "wrong mask": np.ones(extent + 1, bool),
        "far": draw(outside),
        "far list": [0, draw(outside)],
        "no stride": slice(None, None, 0),
        "slice of floats": slice(0.5, 2),
    }[kind]


@st.composite
def keys(draw: Any, shape: tuple[int, ...], kinds: tuple[str, ...]) -> Any:
    """A key with parts of these kinds, for an array of this shape. It may have more parts than there are dimensions."""
    if kinds == ("mesh",):
        return np.ix_(*(draw(st.lists(st.integers(-n, n - 1), max_size=3)) if n else [] for n in shape[:3]))
    takes = {"...": 0, "new": 0, "true": 0, "false": 0, "mask2": 2, "full mask": len(shape)}
    left = max(0, len(shape) - sum(takes.get(kind, 1) for kind in kinds))
    axis, len_lists, parts = 0, draw(st.integers(0, 4)), []
    for kind in kinds:
        parts.append(part_of(draw, kind, shape[axis:], len_lists))
        axis += left if kind == "..." else takes.get(kind, 1)
    return parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)
