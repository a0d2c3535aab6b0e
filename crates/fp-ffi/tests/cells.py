"""Says what VTK finds in the first of some VTKHDF files: the cells of a mesh, or of each level."""

import glob
import sys

import vtk

TETRAHEDRON = vtk.VTK_TETRA


def parts(data):
    """All meshes of it."""
    if data.IsA("vtkPartitionedDataSet"):
        return [data.GetPartition(part) for part in range(data.GetNumberOfPartitions())]
    return [data]


paths = sorted(glob.glob(f"{sys.argv[1]}/run_*.vtkhdf"))
reader, wrong = vtk.vtkHDFReader(), []
reader.AddObserver("ErrorEvent", lambda *said: wrong.append(said))
reader.SetFileName(paths[0])
reader.Update()
assert not wrong, wrong
found = reader.GetOutputDataObject(0)
if found.IsA("vtkOverlappingAMR"):
    for level in range(found.GetNumberOfLevels()):
        boxes = [found.GetDataSetAsImageData(level, box) for box in range(found.GetNumberOfBlocks(level))]
        cells = sum(box.GetNumberOfCells() for box in boxes)
        print(f"level {level}: {cells} cells in {len(boxes)} boxes")
else:
    meshes = parts(found)
    cells = sum(mesh.GetNumberOfCells() for mesh in meshes)
    types = {mesh.GetCellType(cell) for mesh in meshes for cell in range(mesh.GetNumberOfCells())}
    assert types == {TETRAHEDRON}, types
    print(f"{cells} tetrahedra")
print(f"{len(paths)} files")
