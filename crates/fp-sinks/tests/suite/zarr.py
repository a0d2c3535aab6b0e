"""Reads Zarr stores that flexpath tee wrote, and fails if they do not have what zarr.rs published."""

import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
# This file has the name of the package.
sys.path.pop(0)
import zarr


def numbers(step, first, *shape):
    """The numbers from a place on, as an array."""
    places = first + np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return (places * 7 + step * 13) % 100


def equal(found, expected, what):
    np.testing.assert_array_equal(found, expected, err_msg=what)


def check_kinds(store, steps):
    """The variables that are no global arrays, in steps from 0 on."""
    equal(store["step"][:], np.arange(steps), "step")
    counts = 30_000 + np.arange(steps) * 1000
    equal(store["joined_count"][:], counts, "joined_count")
    joined = store["joined"]
    assert joined.shape == (steps, counts[-1], 4) and joined.dtype == np.float64, joined
    assert joined.metadata.dimension_names[1] == "joined_rows", joined.metadata
    for step in range(steps):
        rows = joined[step]
        equal(rows[: counts[step]], numbers(step, 0, counts[step], 4), f"joined, step {step}")
        assert np.isnan(rows[counts[step] :]).all()
        for rank in range(2):
            local = store[f"local/{rank}_0"][step]
            assert local.dtype == np.int16
            equal(local, numbers(step, 0, rank + 2, 3), f"local of rank {rank}, step {step}")
        equal(store["load"][step], np.array([step * 10, step * 10 + 1], "f4"), f"load, step {step}")
        assert store["title"][step] == f"Schritt {step} ü", store["title"][step]
    equal(store["time"][:], np.arange(steps) * 0.5, "time")
    for _, array in store.arrays():
        assert array.shape[0] == steps, array


def typed(expected, dtype):
    if dtype == "bool":
        return expected % 2 == 1
    return (expected - 1j * expected if dtype.startswith("complex") else expected).astype(dtype)


NAMES = {"i": "int", "u": "uint", "f": "float"}


def check_arrays(store, steps):
    """The global arrays."""
    for bits in [8, 16, 32, 64]:
        for kind in "iu":
            check_array(store, f"of_{kind}{bits}", f"{NAMES[kind]}{bits}", steps)
    for bits in [16, 32, 64]:
        check_array(store, f"of_f{bits}", f"float{bits}", steps)
    for name, dtype in [("of_c32", "complex64"), ("of_c64", "complex128"), ("of_bool", "bool")]:
        check_array(store, name, dtype, steps)
    check_array(store, "field", "float64", steps, (300, 400))
    for name, fill in [("gaps_f32", np.nan), ("gaps_i32", 0)]:
        for step in range(steps):
            expected = numbers(step, 0, 100, 80).astype(store[name].dtype)
            expected[30:50] = expected[80:] = fill
            equal(store[name][step], expected, f"{name}, step {step}")
    assert np.isnan(store["late"][0]).all()
    for step in range(1, steps):
        equal(store["late"][step], numbers(step, 0, 4, 6), f"late, step {step}")
    equal(store["seldom"][:], [42, 0, 42], "seldom")
    equal(store["alarm"][:], [0, 71, 72], "alarm, from the second step on")
    equal(store["later_count"][:], [0, 4, 4], "rows of what is there from the second step on")


def check_array(store, name, dtype, steps, shape=(24, 10), numbered=None):
    array = store[name]
    assert array.dtype == dtype and array.shape == (steps, *shape), array
    for row, step in enumerate(numbered or range(steps)):
        equal(array[row], typed(numbers(step, 0, *shape), dtype), f"{name}, step {step}")


def xarray_of(path):
    import xarray

    return xarray.open_zarr(path, chunks=None)


def check_all(path):
    store = zarr.open_group(path, mode="r", use_consolidated=True)
    check_kinds(store, 3)
    check_arrays(store, 3)
    data = xarray_of(path)
    assert "step" in data.coords and data["step"].dtype == np.uint64, data
    field = data["field"]
    assert field.dims == ("step", "y", "x"), field
    assert field.attrs == {"units": "K", "long_name": "temperature", "level": 3}, field.attrs
    equal(field.sel(step=2), numbers(2, 0, 300, 400), "field by xarray")
    assert data["time"].attrs["units"] == "Ms" and data["title"].dims == ("step",)
    assert data["joined"].attrs["ancillary_variables"] == "joined_count"
    equal(data["joined"].sel(step=1)[: int(data["joined_count"].sel(step=1))], numbers(1, 0, 31_000, 4), "joined")
    import xarray

    local = xarray.open_zarr(path, group="local", chunks=None)
    equal(local["1_0"][2], numbers(2, 0, 3, 3), "local by xarray")
    assert local["1_0"].attrs["units"] == "m"


def check_part(path):
    store = zarr.open_group(path, mode="r", use_consolidated=True)
    assert sorted(name for name, _ in store.arrays()) == ["field", "of_i32", "step"], list(store.arrays())
    equal(store["step"][:], [0, 2, 4], "step")
    check_array(store, "field", "float32", 3, (300, 400), [0, 2, 4])
    check_array(store, "of_i32", "int32", 3, numbered=[0, 2, 4])
    assert "Zstd" in str(store["field"].metadata.codecs), store["field"].metadata
    equal(xarray_of(path)["field"].sel(step=4), numbers(4, 0, 300, 400), "field by xarray")


def main(what, path, *rest):
    if what == "all":
        check_all(path)
    elif what == "part":
        check_part(path)
    elif what == "kinds":
        check_kinds(zarr.open_group(path, mode="r", use_consolidated=True), int(rest[0]))
    else:
        sys.exit(f"{what!r} is nothing that can be checked")


main(*sys.argv[1:])
