"""Reads what conditions.rs had written: exactly these steps, and of each what was published."""

import glob
import re
import sys

import h5py
import numpy as np

# A file here has the name of the package.
sys.path.pop(0)


def check_heat(heat, step):
    """A row of each rank."""
    assert heat.shape == (2, 50_000), heat.shape
    assert (heat[0] == -1).all() and (heat[1] == step % 5).all(), f"step {step}: {heat}"


def check_zarr(path, steps):
    import zarr

    store = zarr.open_group(path, mode="r", use_consolidated=True)
    np.testing.assert_array_equal(store["step"][:], steps)
    np.testing.assert_array_equal(store["number"][:], steps)
    for row, step in enumerate(steps):
        check_heat(store["heat"][row], step)


def check_hdf5(pattern, steps):
    before, behind = pattern.split("%T")
    found = [int(re.search(r"(\d+)\.h5$", path)[1]) for path in glob.glob(f"{before}*{behind}")]
    assert sorted(found) == steps, f"{sorted(found)} and not {steps}"
    for step in steps:
        with h5py.File(f"{before}{step}{behind}") as file:
            assert file.attrs["step"] == step and len(file), list(file)
            if "heat" in file:
                check_heat(file["heat"][()], step)
            if "number" in file:
                assert file["number"][()] == step, file["number"][()]


{"zarr": check_zarr, "hdf5": check_hdf5}[sys.argv[1]](sys.argv[2], [int(step) for step in sys.argv[3:]])
