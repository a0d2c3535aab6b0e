"""Reads files of Parquet by DuckDB and by pyarrow, and compares them with what was published.

records FOLDER|PATTERN RANKS STEPS: records of every field
scalars FOLDER|PATTERN RANKS STEPS: a value of each rank
grid FOLDER: a global array of records that was published in column-major order
arrays FOLDER RANKS STEPS EVERY TYPE: joined arrays; TYPE is that of `energy`
whole FOLDER: each file can be read to its end
paired FOLDER: each step has a file of both tables, and nothing is unfinished
"""

import glob
import json
import os
import sys

import duckdb
import pyarrow.parquet as pq

FILES = "*.parquet"


def rows_of(step, rank):
    return 0 if (step, rank) == (1, 1) else 3 + step % 50 + rank


def numbers(ranks, steps):
    """Step, rank and number of each row, in the order of a file."""
    for step in steps:
        for rank in range(ranks):
            for row in range(rows_of(step, rank)):
                yield step, rank, step * 1000 + rank * 100 + row


def record(step, rank, n):
    small, real = n % 100, n / 4
    fraction = 1 + small % 64 / 64
    return {
        "step": step,
        "rank": rank,
        "i8": -small,
        "i16": -small * 300,
        "i32": -n * 1000,
        "i64": -(2**63) + n,
        "u8": small + 150,
        "u16": 60000 + small,
        "u32": 2**32 - 1 - n,
        "u64": 2**64 - 1 - n,
        "f16": fraction,
        "bf16": fraction,
        "f32": real,
        "f64": n / 3,
        "c32": {"re": real, "im": -real},
        "c64": {"re": float(n), "im": -float(n)},
        "bool": n % 2 == 1,
        "text": f"number {n} é",
        "raw": bytes([small, 0, 255]),
        "phase": "solid" if n % 2 == 1 else "liquid",
        "position": [float(n), 0.5, -1.0],
        "tensor": [float(n + row * 10 + column) for row in range(2) for column in range(3)],
        "count": n % 4,
        "near": [n + at for at in range(n % 4)],
        "labels": [f"{n}/{at}" for at in range(n % 3)],
        "waves": [{"re": real, "im": real}] * (n % 3),
        "cell": {"x": real, "name": f"cell {n}"},
        "faces": [{"id": (n + at) % 65536, "corners": [float(at), 0.25]} for at in range(n % 3)],
        "mass": float(n) if n % 2 == 0 else None,
        "spares": [1, -1] if n % 2 == 0 else None,
        "weight": 2.5 if n % 2 == 0 else 1.5,
    }


def array(step, rank, n):
    places = {f"place_{at}": n + at / 4 for at in range(3)}
    spectrum = [n * 20 + at for at in range(20)]
    return {"step": step, "rank": rank, "energy": n / 8, "id": n, **places, "spectrum": spectrum}


def read(pattern):
    """All rows by DuckDB and by pyarrow: both have to be the same."""
    paths = sorted(glob.glob(os.path.join(pattern, FILES) if os.path.isdir(pattern) else pattern))
    of_arrow = [row for path in paths for row in pq.read_table(path).to_pylist()]
    relation = duckdb.sql(f"select * from read_parquet({paths!r})")
    of_duckdb = [dict(zip(relation.columns, row)) for row in relation.fetchall()]
    assert of_duckdb == of_arrow, "DuckDB and pyarrow read the same"
    return paths, of_arrow


def compare(found, wanted):
    wanted = list(wanted)
    for at, (one, other) in enumerate(zip(found, wanted)):
        assert one == other, f"row {at}: {one} is not {other}"
    assert len(found) == len(wanted), f"{len(found)} rows, not {len(wanted)}"
    print(len(found), "rows")


def records(pattern, ranks, steps):
    paths, found = read(pattern)
    compare(found, (record(*row) for row in numbers(int(ranks), range(int(steps)))))
    schema = pq.read_schema(paths[0])
    texts = lambda pairs: {key.decode(): value.decode() for key, value in (pairs or {}).items()}
    said = {field.name: texts(field.metadata) for field in schema}
    assert said["position"]["unit"] == "m" and json.loads(said["tensor"]["shape"]) == [2, 3], said
    assert said["text"]["description"] == "what it is called", said
    assert json.loads(said["phase"]["enumeration"]) == {"solid": 1, "liquid": 7}, said
    assert schema.metadata[b"description"] == b"a field of every kind", schema.metadata
    column = pq.ParquetFile(paths[0]).metadata.row_group(0).column(2)
    assert column.compression == "SNAPPY", column


def scalars(pattern, ranks, steps):
    _, found = read(pattern)
    wanted = [(step, rank) for step in range(int(steps)) for rank in range(int(ranks))]
    compare(found, [{"step": step, "rank": rank, "load": rank + 0.5} for step, rank in wanted])


def grid(pattern):
    _, found = read(pattern)
    row = lambda n: {"flexpath_step": 0, "rank": 0, "step": n, "text": f"number {n}"}
    compare(found, [row(n) for n in range(6)])


def arrays(pattern, ranks, steps, every, real):
    paths, found = read(pattern)
    compare(found, (array(*row) for row in numbers(int(ranks), range(0, int(steps), int(every)))))
    schema = pq.read_schema(paths[0])
    assert schema.field("energy").type == {"double": "double", "float": "float"}[real], schema
    assert schema.field("energy").metadata[b"unit"] == b"eV", schema
    assert schema.field("energy").metadata[b"scale"] == b"1.5", schema
    assert schema.field("place_2").metadata[b"description"] == b"where it is", schema
    last = (int(steps) - 1) // int(every) * int(every)
    pairs = duckdb.sql(f"select key, value from parquet_kv_metadata({paths[-1]!r})").fetchall()
    pairs = {bytes(key).decode(): bytes(value).decode() for key, value in pairs}
    wanted = {"time": f"{last / 2}", "time.unit": "s", "title": "a run", "flexpath.step": f"{last}"}
    wanted["flexpath.stream"] = "sim"
    assert wanted.items() <= pairs.items(), pairs
    frame = pq.read_table(paths[0]).to_pandas()
    assert frame["place_0"].dtype == "float32" and frame["id"].dtype == "uint64", frame.dtypes


def whole(folder, first=0):
    """Files of steps from that number on."""
    for path in glob.glob(os.path.join(folder, FILES)):
        step = int(path[: -len(".parquet")].rsplit("_", 1)[1])
        if step < int(first):
            continue
        table = pq.read_table(path)
        what = record if "things" in path else array
        wanted = [what(*row) for row in numbers(1, [step])]
        # Numbers of 32 bits go round in a run of many steps.
        names = ["step", "rank", "text", "near"] if what is record else ["step", "rank", "energy", "id"]
        wanted = [{name: row[name] for name in names} for row in wanted]
        assert table.select(names).to_pylist() == wanted, path


def paired(folder):
    whole(folder)
    names = [name for name in os.listdir(folder) if "parquet" in name]
    assert names and not [name for name in names if "unfinished" in name], names
    steps = [{name.rsplit("_", 1)[1] for name in names if table in name} for table in ["things", "energy"]]
    assert steps[0] == steps[1], steps


globals()[sys.argv[1]](*sys.argv[2:])
