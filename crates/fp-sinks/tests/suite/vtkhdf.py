"""Reads VTKHDF files that flexpath tee wrote, by VTK: each must be the mesh that its step was."""

import glob
import os
import sys

import h5py
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy


def array(data, name):
    found = data.GetArray(name)
    assert found, f"there is no {name}"
    return vtk_to_numpy(found)


def same(found, expected):
    np.testing.assert_array_equal(found, expected)


def image(data, step):
    assert data.GetDimensions() == (50_000, 3, 4), data.GetDimensions()
    numbers = np.arange(4 * 3 * 50_000)
    same(array(data.GetPointData(), "a"), (numbers / 4).astype("f4"))
    same(array(data.GetPointData(), "b"), numbers - 5)
    assert array(data.GetFieldData(), "time")[0] == step / 2 and array(data.GetFieldData(), "step")[0] == step


def flat(data, _):
    assert data.GetNumberOfPoints() == 12
    values = array(data.GetPointData(), "a")
    for point in range(12):
        x, y, z = data.GetPoint(point)
        assert (x - 10) / 0.5 * 3 + (y - 20) / 2 == values[point] and z == 0, (point, x, y, z, values)


def openpmd(data, _):
    assert data.GetDimensions() == (2_001, 4, 5) and data.GetOrigin() == (10, 20, 30), data.GetDimensions()
    numbers = np.arange(4 * 3 * 2_000)
    same(array(data.GetCellData(), "rho"), numbers)
    same(array(data.GetCellData(), "E"), np.stack([numbers, numbers + 0.1, numbers + 0.2], axis=1))


def tetrahedra(data, step):
    points, cells, vectors, values = [], [], [], []
    for rank in range(2):
        count, first = 2 + rank, len(points)
        for point in range(count + 3):
            points.append([rank * 100 + point * 10 + axis + step for axis in range(3)])
        cells += [[first, first + 1, first + cell + 2, first + cell + 3] for cell in range(count)]
        values += [rank * 1000 + cell for cell in range(count)]
    if data.IsA("vtkPartitionedDataSet"):
        assert data.GetNumberOfPartitions() == 2
        append = vtk.vtkAppendFilter()
        for part in range(2):
            append.AddInputData(data.GetPartition(part))
        append.Update()
        data = append.GetOutput()
    assert data.GetNumberOfCells() == 5 and data.GetNumberOfPoints() == 11
    same(vtk_to_numpy(data.GetPoints().GetData()), points)
    found = [[data.GetCell(cell).GetPointId(corner) for corner in range(4)] for cell in range(5)]
    assert all(data.GetCellType(cell) == vtk.VTK_TETRA for cell in range(5)) and found == cells, found
    same(array(data.GetPointData(), "v"), np.array(points) + 0.5)
    same(array(data.GetCellData(), "p"), values)


def levels(data, _):
    assert data.IsA("vtkOverlappingAMR") and data.GetNumberOfLevels() == 2
    boxes = {0: [(0, 4, 0, 6), (4, 8, 0, 6)], 1: [(4, 8, 2, 6), (10, 14, 2, 6)]}
    for level, width, size in ((0, 6, 1.0), (1, 12, 0.5)):
        assert data.GetNumberOfBlocks(level) == 2
        for block, (low, high, left, right) in enumerate(boxes[level]):
            grid = data.GetDataSetAsImageData(level, block)
            bounds = (7 + left * size, 7 + right * size, 5 + low * size, 5 + high * size)
            assert grid.GetBounds()[:4] == bounds, (grid.GetBounds(), bounds)
            expected = np.arange(low, high)[:, None] * width + np.arange(left, right)
            same(array(grid.GetCellData(), "rho"), expected.ravel())


def main(what, folder):
    paths = sorted(glob.glob(os.path.join(folder, "run_*.vtkhdf")))
    for step, path in enumerate(paths):
        with h5py.File(path) as file:
            assert list(file["VTKHDF"].attrs["Version"]) == [2, 2], path
        assert vtk.vtkHDFReader().CanReadFile(path), path
        reader = vtk.vtkHDFReader()
        wrong = []
        reader.AddObserver("ErrorEvent", lambda *said: wrong.append(said))
        reader.SetFileName(path)
        reader.Update()
        assert not wrong, wrong
        {"image": image, "flat": flat, "openpmd": openpmd, "tetrahedra": tetrahedra, "levels": levels}[what](
            reader.GetOutputDataObject(0), step)
    print(len(paths), "files are right")


if __name__ == "__main__":
    main(*sys.argv[1:])
