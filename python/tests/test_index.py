"""What is taken of an array is what numpy takes: keys of every form, against numpy on the whole array."""

from __future__ import annotations

import importlib.util
import itertools
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_forms import FORMS, KEYS, SHAPE, keys
from numpy.typing import NDArray

try:
    from flexpath import _index
except ImportError:  # The native part is not built: this module needs none of it.
    _spec = importlib.util.spec_from_file_location(
        "flexpath_index", Path(__file__).parents[1] / "flexpath" / "_index.py"
    )
    assert _spec and _spec.loader
    _index = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_index)

plan = _index.plan

SHAPES = st.lists(st.integers(0, 6), max_size=4).map(tuple)
DTYPES = ("f8", "i2", "c16", "u1", "U5")  # of u1, some elements are alike
PARTS = sorted(set(itertools.chain.from_iterable(FORMS.values())) - {"mesh"})


def array_of(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """An array whose elements differ, as far as the type can tell them apart."""
    return np.arange(prod(shape)).reshape(shape).astype(dtype)


def what_crosses(array: NDArray[Any], selection: Any) -> NDArray[Any]:
    """What a publisher sends for a selection, element by element."""
    if selection is None:
        return array.copy()
    if isinstance(selection, list):
        assert all(0 <= at < extent for point in selection for at, extent in zip(point, array.shape, strict=True))
        return np.array([array[point] for point in selection], array.dtype)
    for (start, count, stride), extent in zip(selection, array.shape, strict=True):
        assert start >= 0 and stride >= 1 and (count > 1 or stride == 1)
        assert count == 0 or start + (count - 1) * stride < extent
    places = [[start + stride * i for i in range(count)] for start, count, stride in selection]
    return np.array([array[place] for place in itertools.product(*places)], array.dtype).reshape(
        [count for _, count, _ in selection]
    )


def count_of_named(shape: tuple[int, ...], key: Any) -> int:
    """How many elements a key names, each counted once."""
    return len(np.unique(np.arange(prod(shape)).reshape(shape)[key]))


def outcome(take: Any) -> Any:
    """What a call gives, or the kind and text of its error."""
    try:
        return take()
    except (IndexError, TypeError, ValueError) as error:
        return type(error), str(error)


def through_a_plan(array: NDArray[Any], key: Any, name: str | None = None) -> Any:
    """What comes of a key by way of a plan, where the plan's own figures are checked."""
    planned = plan(key, array.shape, array.itemsize, name=name)
    crossed = what_crosses(array, planned.selection)
    assert crossed.shape == planned.received_shape
    assert crossed.size == planned.selected
    assert planned.is_empty == (crossed.size == 0)
    result = planned.finish(crossed)
    assert planned.result_shape == result.shape
    assert result.size == 0 or not planned.is_empty
    if planned.is_as_it_comes:
        np.testing.assert_array_equal(crossed.reshape(result.shape), result)
    is_list = isinstance(planned.selection, list)
    assert planned.crosses_region == (not is_list and planned.selected > count_of_named(array.shape, key))
    return result


def assert_same(ours: Any, numpys: Any) -> None:
    """That two outcomes are alike in kind, shape, type and values."""
    assert type(ours) is type(numpys), (ours, numpys)
    if isinstance(numpys, tuple):
        assert ours == numpys
    else:
        assert (ours.shape, ours.dtype) == (numpys.shape, numpys.dtype)
        np.testing.assert_array_equal(ours, numpys)


def check(array: NDArray[Any], key: Any) -> None:
    """That a key gives what numpy gives for it, also where that is an error."""
    assert_same(outcome(lambda: through_a_plan(array, key)), outcome(lambda: array[key]))


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_named_keys_give_what_numpy_gives(name: str, dtype: str) -> None:
    array = array_of(SHAPE, dtype)
    assert_same(through_a_plan(array, KEYS[name]), array[KEYS[name]])


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40, deadline=None)
@given(data=st.data(), shape=SHAPES, dtype=st.sampled_from(DTYPES))
def test_each_form_of_key_gives_what_numpy_gives(form: str, data: Any, shape: tuple[int, ...], dtype: str) -> None:
    check(array_of(shape, dtype), data.draw(keys(shape, FORMS[form])))


@settings(max_examples=600, deadline=None)
@given(data=st.data(), shape=SHAPES, dtype=st.sampled_from(DTYPES), kinds=st.lists(st.sampled_from(PARTS), max_size=5))
def test_parts_in_any_order_give_what_numpy_gives(
    data: Any, shape: tuple[int, ...], dtype: str, kinds: list[str]
) -> None:
    check(array_of(shape, dtype), data.draw(keys(shape, tuple(kinds))))


def test_there_are_64_forms() -> None:
    assert len(KEYS) >= 64 and len(FORMS) >= 64


@pytest.mark.parametrize(
    ("key", "shape", "text"),
    [
        (7, (4,), "t: index 7 is out of bounds for axis 0 with size 4"),
        (([0], [9]), (4, 4), "t: index 9 is out of bounds for axis 1 with size 4"),
        ((1, 2, 3), (4, 4), "t: too many indices for array"),
        (((0,) * 70), (4, 4), "t: too many indices for array"),
        (0, (), "t: too many indices for array"),
        (1.5, (4,), "t: only integers, slices"),
        ("x", (4,), "t: only integers, slices"),
        ((..., ...), (4,), "t: an index can only have a single ellipsis"),
        (np.ones(3, bool), (4,), "t: boolean index did not match indexed array along axis 0"),
        (([0, 1], [0, 1, 2]), (4, 4), "t: shape mismatch"),
        (([0, 1], [0, 1, 2], slice(0, 0)), (4, 4, 4), "t: shape mismatch"),
        ((None,) * 70, (4,), "t: number of dimensions must be within"),
        (([0],) + (None,) * 70, (4,), "t: number of dimensions must be within"),
    ],
)
def test_errors_are_those_of_numpy_after_the_name(key: Any, shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(IndexError) as ours:
        plan(key, shape, 8, name="t")
    with pytest.raises(IndexError) as numpys:
        np.zeros(shape)[key]
    assert str(ours.value) == f"t: {numpys.value}"
    assert str(ours.value).startswith(text) or np.lib.NumpyVersion(np.__version__) < "2.0.0"


def test_errors_of_slices_are_those_of_numpy() -> None:
    with pytest.raises(ValueError, match="^t: slice step cannot be zero"):
        plan(slice(None, None, 0), (4,), 8, name="t")
    with pytest.raises(TypeError, match="^t: slice indices must be integers"):
        plan(slice("a"), (4,), 8, name="t")


def test_what_is_whole_is_asked_for_as_everything() -> None:
    for key in (..., (), slice(None), (slice(None, None, -1), None, slice(0, 9)), True, (..., [0, 1, 2])):
        assert plan(key, (4, 3), 8)[:3] == (None, 12, False)
    assert plan((), (), 8)[:2] == (None, 1)


def test_a_regular_list_is_a_stride() -> None:
    assert plan([0, 2, 4], (7, 5), 8)[:3] == (((0, 3, 2), (0, 5, 1)), 15, False)
    assert plan([9, 6, 3], (12,), 8)[:3] == (((3, 3, 3),), 3, False)
    assert plan(np.ix_([1, 4], [0, 5]), (6, 6), 8)[:3] == (((1, 2, 3), (0, 2, 5)), 4, False)
    assert plan(np.arange(100) % 10 == 3, (100,), 8)[:3] == (((3, 10, 10),), 10, False)


def test_the_cheaper_of_points_and_region_crosses() -> None:
    # A point of two dimensions costs 8 + 16 bytes: three elements of a region.
    def diagonal(count: int) -> Any:
        return np.arange(count), np.arange(count)

    assert plan(diagonal(3), (9, 9), 8)[:3] == (((0, 3, 1), (0, 3, 1)), 9, True)
    assert plan(diagonal(4), (9, 9), 8)[:3] == ([(0, 0), (1, 1), (2, 2), (3, 3)], 4, False)
    # Larger elements make the places of points matter less.
    assert plan(diagonal(3), (9, 9), 64)[:3] == ([(0, 0), (1, 1), (2, 2)], 3, False)
    # A list without a pattern beside a slice.
    assert plan([0, 1, 900], (1000, 2), 8).selection == [(0, 0), (0, 1), (1, 0), (1, 1), (900, 0), (900, 1)]


def test_above_the_limit_of_points_the_region_crosses() -> None:
    few, many = np.arange(65_536) ** 2, np.arange(65_537) ** 2
    assert isinstance(plan(few, (1 << 33,), 8).selection, list)
    assert plan(many, (1 << 33,), 8)[1:3] == ((1 << 32) + 1, True)
    mask = np.zeros((600, 600), bool)
    mask[::2, ::2] = mask[1, 1] = True
    assert plan(mask, mask.shape, 1 << 20)[:3] == (((0, 599, 1), (0, 599, 1)), 599 * 599, True)


def test_a_region_that_holds_just_what_is_named_is_no_waste() -> None:
    assert not plan([0, 1, 2, 1, 0], (9,), 8).crosses_region
    assert plan([0, 1, 3, 1, 0], (9,), 8).crosses_region
    assert not plan(([[0], [1]], [[0, 1]]), (9, 9), 8).crosses_region


def test_plans_for_huge_arrays_cost_no_memory() -> None:
    shape = (1 << 20, 1 << 20, 1 << 20)
    middle = plan((slice(None), [0, 3, 7]), shape, 8)
    assert middle[:3] == (((0, 1 << 20, 1), (0, 8, 1), (0, 1 << 20, 1)), 1 << 43, True)
    assert middle.result_shape == (1 << 20, 3, 1 << 20)
    far = (1 << 20) - 1
    ends = ([0, -1, 5], [far, 0, 5], slice(None, None, 1 << 19))
    points = [(0, far, 0), (0, far, 1 << 19), (far, 0, 0), (far, 0, 1 << 19), (5, 5, 0), (5, 5, 1 << 19)]
    assert plan(ends, shape, 8).selection == points
    same = (np.arange(60_000) ** 2 % 9_973,) * 5
    many = plan(same, (10_000,) * 4 + (9_999,), 1 << 10)
    assert isinstance(many.selection, list) and many.selected == 60_000


def test_where_nothing_is_taken_nothing_crosses() -> None:
    nothing: list[Any] = [slice(3, 3), [], False, ([], 2), np.zeros((7, 5), bool), ([0, 3], slice(2, 2))]
    for key in nothing:
        planned = plan(key, (7, 5), 8)
        assert planned.is_empty and planned.selected == 0 and not planned.crosses_region
        assert planned.result_shape == np.zeros((7, 5))[key].shape
        assert planned.finish(np.empty(planned.received_shape)).shape == planned.result_shape


def test_what_comes_in_another_order_is_not_the_result() -> None:
    in_order: list[Any] = [..., (), 2, slice(1, 5, 2), (None, slice(3), 1, None), ([0, 1, 6], [3, 0, 1])]
    for key in in_order:
        assert plan(key, (7, 4), 8).is_as_it_comes, key
    # The last has the shape of what comes, as the others have, and another order.
    for key in (slice(None, None, -1), (3, slice(None, None, -2)), [2, 0, 1]):
        assert not plan(key, (7, 4), 8).is_as_it_comes, key


def test_a_tuple_with_names_is_a_tuple() -> None:
    class Place(NamedTuple):
        row: int
        columns: slice

    check(array_of((4, 3), "f8"), Place(2, slice(1, 3)))


def test_numpys_kinds_of_scalars_are_kept() -> None:
    array = array_of((4, 3), "f4")
    assert type(through_a_plan(array, (1, 2))) is np.float32
    assert type(through_a_plan(array, (1, 2, ...))) is np.ndarray
    assert type(through_a_plan(array[0, 0, ...], ())) is np.float32
    assert type(through_a_plan(array[0, 0, ...], ...)) is np.ndarray
