"""Steps as xarray datasets: what they are called, and that nothing crosses but what is selected."""

import numpy
import pytest
import xarray
from numpy.testing import assert_array_equal

import flexpath
import flexpath.xarray

TIMEOUT = 30.0


def content(number):
    random = numpy.random.default_rng(number)
    return {
        "temperature": random.random((60, 80)),
        "velocity": random.random((60, 80, 3)),
        "x": numpy.linspace(0.0, 1.0, 60),
        "weights": random.random(7),
        "square": random.random((60, 60)),
        "spectrum": random.random(5) + 1j * random.random(5),
        "mask": random.random(9) > 0.5,
    }


def put(out, number):
    arrays = content(number)
    with out.step() as s:
        s.put("temperature", arrays["temperature"], unit="K", dims=("x", "y"), attrs={"long_name": "warmth"})
        s.put("velocity", arrays["velocity"], unit="m/s")
        s.put("x", arrays["x"], unit="m")
        # Another size than x has.
        s.put("weights", arrays["weights"], dims=("x",))
        s.put("square", arrays["square"], dims=("x", "z"))
        s.put("spectrum", arrays["spectrum"])
        s.put("mask", arrays["mask"])
        s.put("particles", numpy.arange(12.0).reshape(4, 3), joined=True)
        s.put("mine", numpy.arange(3), local=True)
        s["time"] = 0.5 * number
        s["title"] = "a plate"
        s["points"] = numpy.zeros(2, dtype=[("a", "i4"), ("b", "f8")])


@pytest.fixture
def attached():
    """A publisher, and a subscriber to which everything goes through a connection, so that bytes can be counted."""
    with flexpath.publish("heat") as out, flexpath.subscribe("heat", transports="tcp") as subscriber:
        yield out, subscriber


@pytest.fixture
def taken(attached):
    out, subscriber = attached
    put(out, 3)
    with subscriber.next_step(timeout=TIMEOUT) as step:
        yield step, subscriber


def crossed(subscriber):
    return subscriber.statistics()["payload_bytes"]


def test_a_step_has_names_units_and_attributes(taken):
    step, _ = taken
    ds = xarray.open_dataset(step, engine="flexpath")
    assert ds["temperature"].dims == ("x", "y")
    assert ds["temperature"].attrs == {"units": "K", "long_name": "warmth"}
    assert ds["velocity"].dims == ("velocity_dim_0", "velocity_dim_1", "velocity_dim_2")
    assert ds["weights"].dims == ("x_weights",) and ds["square"].dims == ("x", "z")
    assert set(ds.coords) == {"x"} and ds["x"].dims == ("x",) and ds["x"].attrs == {"units": "m"}
    assert (ds["time"].dims, float(ds["time"])) == ((), 1.5)
    assert (ds["title"].dims, ds["title"].item()) == ((), "a plate")
    assert sorted(ds.attrs["flexpath_left_out"]) == ["mine", "points"]
    assert (ds.attrs["flexpath_stream"], ds.attrs["flexpath_step"]) == ("heat", step.number)
    for name, array in content(3).items():
        assert ds[name].dtype == array.dtype
        assert_array_equal(ds[name].values, array)
    assert_array_equal(ds["particles"].values, numpy.arange(12.0).reshape(4, 3))


def test_the_engine_is_found_by_itself(taken):
    step, _ = taken
    assert flexpath.xarray.FlexpathBackend().guess_can_open(step)
    assert not flexpath.xarray.FlexpathBackend().guess_can_open("heat.nc")
    assert "flexpath" in xarray.backends.list_engines()
    assert xarray.open_dataset(step)["temperature"].shape == (60, 80)
    with pytest.raises(TypeError, match="next_step"):
        xarray.open_dataset("heat", engine="flexpath")


def test_only_what_is_selected_crosses(taken):
    step, subscriber = taken
    ds = xarray.open_dataset(step, engine="flexpath")
    before = crossed(subscriber)
    part = ds["temperature"].isel(x=slice(10, 50, 2), y=slice(0, 8))
    assert crossed(subscriber) == before
    assert_array_equal(part.values, content(3)["temperature"][10:50:2, :8])
    assert crossed(subscriber) - before == 20 * 8 * 8
    one = ds["velocity"][7, :, 1]
    assert_array_equal(one.values, content(3)["velocity"][7, :, 1])
    assert crossed(subscriber) - before == (20 * 8 + 80) * 8


KEYS = [
    (0, slice(None), [0, 2]),
    ([1, 30, 5], [0, 7], 1),
    ([5, 1], slice(None, None, -2), [2, 0, 1]),
    (slice(1, 30), -1, slice(None)),
    ([-1, 0], [0], 0),
    (slice(None, None, -1), slice(70, 2, -7), 2),
    ([], slice(None), [0]),
    (0, 0, 0),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_of_each_dimension_count_by_themselves(taken, key):
    step, _ = taken
    ds = xarray.open_dataset(step, engine="flexpath")
    expected = xarray.DataArray(content(3)["velocity"])[key]
    found = ds["velocity"][key]
    assert found.shape == expected.shape
    assert_array_equal(found.values, expected.values)


def test_points_are_taken_too(taken):
    step, _ = taken
    rows, columns = xarray.DataArray([0, 59, 7], dims="p"), xarray.DataArray([1, 0, 79], dims="p")
    found = xarray.open_dataset(step, engine="flexpath")["velocity"][rows, columns]
    assert found.shape == (3, 3)
    assert_array_equal(found.values, content(3)["velocity"][rows.values, columns.values])


def test_coordinates_select(taken):
    step, _ = taken
    ds = xarray.open_dataset(step, engine="flexpath")
    near = ds["temperature"].sel(x=0.3, method="nearest")
    index = numpy.abs(content(3)["x"] - 0.3).argmin()
    assert_array_equal(near.values, content(3)["temperature"][index])


def test_variables_can_be_left_out(taken):
    step, _ = taken
    ds = xarray.open_dataset(step, engine="flexpath", drop_variables=["mine", "points", "square"])
    assert "square" not in ds and "flexpath_left_out" not in ds.attrs


def test_a_stream_is_an_iterator_of_datasets(attached):
    out, subscriber = attached
    for number in range(3):
        put(out, number)
    found = []
    for ds in flexpath.xarray.datasets(subscriber):
        found.append(ds[["temperature", "time"]].load())
        if len(found) == 3:
            break
    together = xarray.concat(found, "step")
    assert together["temperature"].dims == ("step", "x", "y")
    assert_array_equal(together["step"].values, [0, 1, 2])
    assert_array_equal(together["time"].values, [0.0, 0.5, 1.0])
    assert_array_equal(together["temperature"][2].values, content(2)["temperature"])


def test_a_released_step_says_so(taken):
    step, _ = taken
    ds = xarray.open_dataset(step, engine="flexpath")
    step.release()
    with pytest.raises(flexpath.FlexpathError, match="released"):
        ds["temperature"].values  # noqa: B018


def test_chunks_are_dask_arrays(taken):
    step, _ = taken
    ds = xarray.open_dataset(step, engine="flexpath", chunks={"x": 20})
    assert ds["temperature"].chunks[0] == (20, 20, 20)
    assert float(ds["temperature"].mean().compute()) == pytest.approx(content(3)["temperature"].mean())
