"""Reads a series of openPMD that flexpath tee wrote, by openpmd-api: each iteration must have what its step had."""

import sys

import h5py
import numpy as np
import openpmd_api as io


def check(series, step, iteration):
    assert (iteration.time, iteration.dt, iteration.time_unit_SI) == (step / 2, 0.5, 1e-15), step
    assert set(iteration.meshes) == {"E", "rho"} and set(iteration.particles) == {"e"}
    numbers = np.arange(24.0).reshape(4, 2, 3)
    field = iteration.meshes["E"]
    assert field.geometry == io.Geometry.cartesian and field.axis_labels == ["z", "y", "x"]
    assert field.grid_spacing == [3, 2, 1] and field.grid_global_offset == [30, 20, 10]
    assert field.grid_unit_SI == 1e-6 and field.unit_dimension == [1, 1, -3, -1, 0, 0, 0]
    assert field.time_offset == 0.25 and set(field) == {"x", "y"}
    electrons = iteration.particles["e"]
    scalar = io.Mesh_Record_Component.SCALAR
    rho, weighting = iteration.meshes["rho"], electrons["weighting"]
    assert rho.data_order == "C" and rho[scalar].position == [0.5] * 3
    assert weighting.get_attribute("macroWeighted") == 1 and weighting.get_attribute("weightingPower") == 1
    wanted = [
        (field["x"], numbers + step * 100),
        (field["y"], numbers + step * 100 + 0.5),
        (rho[scalar], numbers),
        (electrons["position"]["x"], [0.0, 1, 2, 10, 11, 12, 13]),
        (electrons["positionOffset"]["x"], [4.0] * 7),
        (weighting[scalar], [0.5] * 3 + [1.5] * 4),
    ]
    loaded = [(component.load_chunk(), expected) for component, expected in wanted]
    assert all(component.unit_SI == 2.5 for component, _ in wanted)
    series.flush()
    for found, expected in loaded:
        np.testing.assert_array_equal(found, expected)


def main(pattern):
    series = io.Series(pattern, io.Access.read_only)
    assert series.iteration_encoding == io.Iteration_Encoding.file_based and series.author == "nobody"
    assert series.openPMD == "1.1.0" and series.openPMD_extension == 0 and series.base_path == "/data/%T/"
    steps = [step for step, iteration in series.iterations.items() if check(series, step, iteration) is None]
    assert steps == [0, 1, 2], steps
    with h5py.File(pattern.replace("%06T", "000001")) as file:
        assert file.attrs["iterationFormat"] == "run_%06T" and "position" not in file["data/1/meshes/E"].attrs
    print(len(steps), "iterations are right")


if __name__ == "__main__":
    main(sys.argv[1])
