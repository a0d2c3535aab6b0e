"""Indexing a live stream gives what numpy gives, and just the elements of the plan cross."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import flexpath
import numpy as np
import pytest
from flexpath import _index
from hypothesis import given, settings
from hypothesis import strategies as st
from index_forms import FORMS, KEYS, SHAPE, keys
from numpy.typing import NDArray

CUBE = np.arange(np.prod(SHAPE), dtype="f8").reshape(SHAPE)

#: What the step holds. "cut" is put in four blocks, so that most selections take from several of them.
ARRAYS: dict[str, NDArray[Any]] = {
    "cube": CUBE,
    "cut": CUBE + 0.5,
    "small": CUBE.astype("i2"),
    "complex": CUBE * (1 - 2j),
    "column-major": np.asfortranarray(CUBE * 2),
    "line": np.arange(50, dtype="f4"),
    "large": np.arange(70 * 50 * 60, dtype="f8").reshape(70, 50, 60),
    "four": np.arange(3 * 4 * 2 * 5, dtype="u8").reshape(3, 4, 2, 5),
}


class Live:
    """A step of a stream that is open, the subscriber that took it, and the kind of link between them."""

    def __init__(self, subscriber: flexpath.Subscriber, step: flexpath.Step, transport: str) -> None:
        self.subscriber, self.step, self.transport = subscriber, step, transport
        # Small blocks are pushed over tcp. A first get that asks before they are here has them twice, and counts them
        # twice. So every variable is taken once before anything is counted.
        for name in ARRAYS:
            step[name][...]
        assert subscriber.transports()[0].startswith(f"transport={transport}")

    def take(self, name: str, key: Any) -> Any:
        """What a key gives. Asserts what was delivered for it."""
        array = ARRAYS[name]
        planned = _index.plan(key, array.shape, array.itemsize)
        before = self.subscriber.statistics()
        found = self.step[name][key]
        after = self.subscriber.statistics()
        assert after["payload_bytes"] - before["payload_bytes"] == planned.selected * array.itemsize
        assert after["region_gets"] - before["region_gets"] == planned.crosses_region
        return found


@pytest.fixture(scope="module", params=["inproc", "shm", "tcp"])
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A step with `ARRAYS`, published and taken in this process, by each kind of link."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FLEXPATH_TRANSPORTS", request.param)
        environment.setenv("FLEXPATH_RENDEZVOUS", str(tmp_path_factory.mktemp("rendezvous")))
        with flexpath.publish("index-live") as publisher, flexpath.subscribe("index-live") as subscriber:
            with publisher.step() as writer:
                for name in ARRAYS.keys() - {"cut"}:
                    writer[name] = ARRAYS[name]
                for corner in ((0, 0), (0, 2), (4, 0), (4, 2)):
                    part = ARRAYS["cut"][corner[0] : corner[0] + 4, corner[1] : corner[1] * 2 + 2]
                    writer.put("cut", np.ascontiguousarray(part), start=(*corner, 0), shape=SHAPE)
            with subscriber.next_step(timeout=30.0) as step:
                yield Live(subscriber, step, request.param)


def assert_numpys(found: Any, array: NDArray[Any], key: Any) -> None:
    """That something is what numpy gives for a key."""
    expected = array[key]
    assert type(found) is type(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("array", ["cube", "cut", "small", "complex", "column-major"])
@pytest.mark.parametrize("name", KEYS)
def test_named_keys_give_what_numpy_gives(live: Live, array: str, name: str) -> None:
    assert_numpys(live.take(array, KEYS[name]), ARRAYS[array], KEYS[name])


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=10, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(ARRAYS.keys() - {"large"})))
def test_each_form_of_key_gives_what_numpy_gives(live: Live, form: str, data: Any, name: str) -> None:
    array = ARRAYS[name]
    key = data.draw(keys(array.shape, FORMS[form]))
    try:
        array[key]
    except (IndexError, TypeError, ValueError) as numpys:
        before = live.subscriber.statistics()["payload_bytes"]
        with pytest.raises(type(numpys)) as ours:
            live.step[name][key]
        assert str(ours.value) == f"{name}: {numpys}"
        assert live.subscriber.statistics()["payload_bytes"] == before
    else:
        assert_numpys(live.take(name, key), array, key)


def test_where_nothing_is_taken_nothing_crosses(live: Live) -> None:
    before = live.subscriber.statistics()["payload_bytes"]
    assert live.step["cube"][3:3].shape == (0, 5, 6)
    assert live.step["cube"][[], 2].shape == (0, 6)
    assert live.subscriber.statistics()["payload_bytes"] == before


LARGE: dict[str, Any] = {
    "slices": np.s_[10:20, ::-5, 3],
    "strides": np.s_[::7, 1::9, ::4],
    "regular list": np.s_[[0, 20, 40], :, 7:9],
    "list": np.s_[[0, 3, 31], 5],
    "points": ([0, 69, 33], [49, 1, 20], [5, 59, 31]),
    "mask": ARRAYS["large"] % 9973 == 17,
    "dense mask": ARRAYS["large"] % 3 == 0,
}


@pytest.mark.parametrize("key", LARGE.values(), ids=LARGE)
def test_of_a_large_array_no_more_than_the_plan_crosses(live: Live, key: Any) -> None:
    array, planned = ARRAYS["large"], _index.plan(key, ARRAYS["large"].shape, 8)
    before = live.subscriber.statistics()
    assert_numpys(live.take("large", key), array, key)
    after = live.subscriber.statistics()
    over_a_connection = sum(after[name] - before[name] for name in ("received_bytes", "staged_bytes"))
    assert over_a_connection == (planned.selected * 8 if live.transport == "tcp" else 0)


READ: dict[str, Any] = {
    "reversed": np.s_[::-1],
    "reversed with a stride": np.s_[:, ::-2],
    "list": [2, 0, 1],
    "strided": np.s_[1:5:2],
    "ellipsis, int": np.s_[..., 3],
    "points": np.s_[[[0, 6], [3, 1]], [[4, 0], [2, 2]], [[5, 1], [0, 3]]],
}


@pytest.mark.parametrize("key", READ.values(), ids=READ)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ["cube", "cut", "column-major"])
def test_reading_into_an_array_gives_what_numpy_gives(
    live: Live, name: str, order: Literal["C", "F"], key: Any
) -> None:
    expected = ARRAYS[name][key]
    out = np.zeros(expected.shape, order=order)
    live.step[name].read(key, out=out)
    np.testing.assert_array_equal(out, expected)
