"""Reads HDF5 files that flexpath tee wrote, by h5py and openpmd-api: each must have what its step had."""

import glob
import os
import re
import sys

import h5py
import numpy as np

ROWS, COLUMNS = 301, 200


def numbers(step, rows=ROWS):
    """What elements of global arrays are made of."""
    return (step * 7 + np.arange(rows * COLUMNS).reshape(rows, COLUMNS)) % 120


def equal(found, expected, what):
    """The same values, in the same type."""
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype, f"{what}: {found.dtype} and not {expected.dtype}"
    np.testing.assert_array_equal(found, expected, err_msg=what)


def check_compressed(found, compression):
    """How a dataset lies in the file: those that are compressed are smaller than what they hold."""
    if not compression or found.dtype.kind == "c":
        assert found.chunks is None and found.compression is None, f"{found.name} is contiguous"
        return
    assert (found.compression, found.shuffle) == (compression, True), found.name
    assert found.id.get_storage_size() < found.nbytes / 2, found.name


def check_large(file, ranks, compression):
    """Arrays of several chunks, and blocks."""
    equal(file["big"][()], (np.arange(3001 * 400) % 251).astype("f8").reshape(3001, 400), "big")
    assert file["big"].id.get_num_chunks() > 2 and [dim.label for dim in file["big"].dims] == ["y", "x"]
    for rank in range(ranks):
        wide = file[f"wide/{rank}_0"]
        equal(wide[()], np.full((rank + 2, 3000), rank, "f4"), "wide")
        check_compressed(wide, compression)
    assert file["time"].chunks is None and file["hits"].chunks is None, "scalars and records are as they are"


def check_types(file, step, compression=None):
    """Global arrays of every type."""
    n = numbers(step)
    real = n / 2
    expected = {
        "i8": (n - 60).astype("i1"), "i16": (n - 60).astype("i2"), "i32": (n - 60).astype("i4"),
        "i64": n.astype("i8") - (1 << 60), "u8": n.astype("u1"), "u16": n.astype("u2"), "u32": n.astype("u4"),
        "u64": n.astype("u8") + np.uint64(1 << 63), "f16": real.astype("f2"), "f32": real.astype("f4"),
        "f64": real, "c32": (n - 0.5j).astype("c8"), "c64": n - 0.5j, "bool": n % 2 == 1, "columns": real,
    }
    for name, values in expected.items():
        equal(file[name][()], values, f"step {step}, {name}")
        check_compressed(file[name], compression)
    told = dict(file["f64"].attrs)
    assert (told["units"], told["description"], told["text"]) == ("K", "how hot", "größe")
    assert told["yes"] and told["yes"].dtype == bool and told["integer"] == -3 and told["real"] == 0.5
    assert told["unsigned"] == 2**64 - 1 and list(told["bytes"]) == [1, 0, 2] and list(told["integers"]) == [1, -2]
    assert list(told["reals"]) == [0.5, 1.5] and len(told["none"]) == 0 and list(told["texts"]) == ["a", "é"]
    assert [dim.label for dim in file["f64"].dims] == ["y", "x"]


def check_hit(found, number, what):
    """A record."""
    assert (bool(found["flag"]), found["energy"], found["kind"]) == (
        number % 2 == 1, number / 2, 5 if number % 2 else -1), f"{what}: {found}"
    assert (found["place"]["x"], found["place"]["n"]) == (number, number % 256), what
    equal(found["matrix"], (number * 10 + np.arange(6)).astype("i4").reshape(2, 3), what)


def check_kinds(file, step, ranks):
    """Variables of every other kind."""
    own = [step * 10 + rank for rank in range(ranks)]
    assert file["time"][()] == step / 4 and file["time"].attrs["units"] == "s" and file["time"].shape == ()
    assert file["phase"][()] == 1 + 2j
    assert file["title"].asstr()[()] == f"step {step}: größe" and file["empty"].asstr()[()] == ""
    equal(file["own"][()], np.array(own, "u2"), "own")
    assert list(file["own"].attrs["ranks"]) == list(range(ranks))
    rows = [value for rank, value in enumerate(own) for _ in range(step + rank)]
    equal(file["joined"][()], np.repeat(np.array(rows, "i4").reshape(-1, 1), 2, axis=1), "joined")
    local = file["local"]
    assert local.attrs["units"] == "m" and len(local) == 2 * ranks
    for rank, value in enumerate(own):
        equal(local[f"{rank}_0"][()], np.full((2, value), value, "f4"), "local")
        equal(local[f"{rank}_1"][()], np.array([[-1]], "f4"), "local")
        assert [dim.label for dim in local[f"{rank}_0"].dims] == ["a", "b"]
        check_hit(file["own_hits"][f"{rank}_0"][0], value, "own_hits")
        check_hit(file["grid"][rank], value, "grid")
    gaps, counts = np.full((ranks, 5 + step), np.nan, "f4"), np.zeros((ranks, 5), "i4")
    for rank in range(ranks - 1):
        gaps[rank, 1:4] = counts[rank, 1:4] = own[rank]
    if ranks > 1:
        equal(file["gaps"][()], gaps, "gaps")
        equal(file["counts"][()], counts, "counts")
    assert ("even" in file) == (step % 2 == 0) and file.get("even", np.zeros((ranks, 0))).shape == (ranks, 0)
    hits = [value + number for rank, value in enumerate(own) for number in range(rank + 1)]
    assert len(file["hits"]) == len(hits)
    for found, number in zip(file["hits"][()], hits):
        check_hit(found, number, "hits")
    assert h5py.check_enum_dtype(file["hits"].dtype["kind"]) == {"cold": -1, "hot": 5}


def steps(folder):
    """The steps of a folder, each with its file."""
    for path in sorted(glob.glob(os.path.join(folder, "run*.h5"))):
        with h5py.File(path) as file:
            step = int(file.attrs["step"])
            assert int(re.search(r"(\d+)\.h5", path)[1]) == step and file.attrs["stream"] == "sim", path
            yield step, file


def check_all(folder, ranks, count, compression=None):
    found = []
    for step, file in steps(folder):
        check_types(file, step, compression)
        check_kinds(file, step, int(ranks))
        if compression:
            check_large(file, int(ranks), compression)
        found.append(step)
    assert found == list(range(int(count))), found
    print(len(found), "files are right")


def check_cast(folder, count):
    found = []
    for step, file in steps(folder):
        assert set(file) == {"f64", "f16", "i32", "columns"}, list(file)
        for name in ("f64", "f16", "columns"):
            equal(file[name][()], (numbers(step) / 2).astype("f4"), name)
        equal(file["i32"][()], (numbers(step) - 60).astype("i4"), "i32")
        found.append(step)
    assert found == [0, 2] and len(found) == int(count), found
    print(len(found), "files are right")


def check_whole(folder, _):
    found = []
    for step, file in steps(folder):
        equal(file["f64"][()], numbers(step) / 2, f"step {step}")
        found.append(step)
    assert found, "there are files"
    print(*found)


def check_crossing(folder, _):
    found = []
    for step, file in steps(folder):
        expected = (step * 7 + np.arange(70 * 1024).reshape(70, 1024)) % 120 / 2
        equal(file["crossing"][()], expected, f"step {step}")
        found.append(step)
    print(*found)


if __name__ == "__main__":
    {"all": check_all, "cast": check_cast, "whole": check_whole, "crossing": check_crossing}[sys.argv[1]](*sys.argv[2:])
