#!/usr/bin/env python3
"""Runs a bench that prints for people, and keeps what it found: NAME.json with the machine, and others.md with a table of
each such bench that was run.

usage: record.py NAME COMMAND...     FLEXPATH_BENCH_FOLDER=docs/performance unless set
       record.py --show NAME...      the tables of what these found last

The command finds a file in FLEXPATH_BENCH_ROWS and appends a line of JSON for each row: figures by name. It ends as the
command does, or with 1 where a target is missed that was met before. Where no row came nothing is written, and the
status is 77: it was skipped. With FLEXPATH_BENCH_QUICK no target is looked at.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from figures import ROOT, machine, machine_line, table
from targets import keep

# The status of what was not measured.
SKIPPED = 77

# The benches, in the order of the report: name, title, the command that writes it.
BENCHES = [
    ("wan", "A long wire", "make bench-wire"),
    ("calls", "Puts in C and Fortran", "make bench-calls"),
    ("lammps", "What publishing costs LAMMPS", "make bench-lammps"),
    ("opening", "Opening under MPI", "make bench-mpi"),
    ("staging", "A stream through a stager", "make bench-stager"),
    ("figures", "Data sets into a stager", "make bench-figures"),
    ("emulated", "Data sets into a stager over RDMA that is emulated", "make bench-emulated"),
    ("aggregation", "Aggregators and staging nodes", "make bench-aggregation"),
    ("boxes", "An array in many boxes", "make bench-boxes"),
    ("watches", "Subscribers with conditions", "make bench-watches"),
    ("sinks", "Streams into files", "make bench-sinks"),
    ("forwarding", "A stream from one network to another", "make bench-forwarding"),
]


def report(folder):
    """The text, of what the files in the folder hold."""
    text = ["# Other figures", "", "Written by `make bench`; docs/performance.md says what is compared.", ""]
    return "\n".join(text + tables(folder, [name for name, *_ in BENCHES]))


def tables(folder, names):
    """A table of each of these benches that has a file in the folder."""
    text = []
    for name, title, command in BENCHES:
        file = folder / f"{name}.json"
        if name not in names or not file.exists():
            continue
        found = json.loads(file.read_text())
        head = list(dict.fromkeys(key for row in found["rows"] for key in row))
        cells = [[said(row.get(key)) for key in head] for row in found["rows"]]
        text += [f"## {title}", "", f"{machine_line(found['machine'])}, load {found['machine']['load']}; `{command}`.", "", table(head, cells)]
    return text


def said(value):
    """Whether a target was met, in words; all else as it is."""
    return {True: "met", False: "missed"}[value] if isinstance(value, bool) else value


def verdicts(rows):
    """What each row with a target is of, and whether it was met."""
    judged = [row for row in rows if isinstance(row.get("verdict"), bool)]
    return [(case(row), said(row["verdict"])) for row in judged]


def case(row):
    """What a row is of: its texts, but for those about the figures."""
    return ", ".join(text for key, text in row.items() if isinstance(text, str) and key not in ("unit", "target"))


def main():
    is_quick = bool(os.environ.get("FLEXPATH_BENCH_QUICK"))
    folder = pathlib.Path(os.environ.get("FLEXPATH_BENCH_FOLDER", ROOT / "docs/performance"))
    if is_quick and folder == ROOT / "docs/performance":
        sys.exit("FLEXPATH_BENCH_QUICK shows that a bench works: say by FLEXPATH_BENCH_FOLDER where its figures go")
    name, *command = sys.argv[1:]
    if name == "--show":
        print("\n".join(tables(folder, command)))
        return
    assert name in [known for known, *_ in BENCHES] and command, __doc__
    before = machine()
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as rows:
        status = subprocess.run(command, env={**os.environ, "FLEXPATH_BENCH_ROWS": rows.name}, check=False).returncode
        found = [json.loads(line) for line in rows.read().splitlines() if line.strip()]
    if not found:
        sys.exit(status or SKIPPED)
    (folder / f"{name}.json").write_text(json.dumps({"machine": before, "rows": found}, indent=1) + "\n")
    (folder / "others.md").write_text(report(folder))
    sys.exit(status or (0 if is_quick or keep(name, verdicts(found)) else 1))


if __name__ == "__main__":
    main()
