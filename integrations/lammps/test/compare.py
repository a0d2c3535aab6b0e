# SPDX-License-Identifier: GPL-2.0-only
"""Compares what a subscriber wrote (record.c) with LAMMPS's own dump of the same steps, atom by atom, bit by bit.

usage: compare.py RECORD DUMP [STEPS]    STEPS: how many the record must have at least; all of the dump's unless given
"""
import sys


def records(path):
    """Step -> (box, rows of numbers), of record.c."""
    steps = {}
    with open(path) as file:
        for line in file:
            words = line.split()
            step, count, box = int(words[1]), int(words[3]), [float(word) for word in words[5:11]]
            rows = [tuple(float(word) for word in next(file).split()) for _ in range(count)]
            assert step not in steps, f"step {step} came twice"
            steps[step] = (box, rows)
    return steps


def dumps(path):
    """The same of `dump custom`. A step that LAMMPS wrote twice (as the last of one run and the first of the next) counts once."""
    steps = {}
    with open(path) as file:
        for line in file:
            assert line.startswith("ITEM: TIMESTEP"), line
            step = int(next(file))
            next(file)
            count = int(next(file))
            next(file)
            box = [float(word) for _ in range(3) for word in next(file).split()[:2]]
            next(file)
            steps[step] = (box, [tuple(float(word) for word in next(file).split()) for _ in range(count)])
    return steps


def differences(step, taken, expected):
    (box, rows), (box_expected, rows_expected) = taken, expected
    # The dump's box has 17 digits as well, so that it is compared as exactly as the atoms.
    if box != box_expected:
        yield f"step {step}: box {box}, LAMMPS says {box_expected}"
    if len(rows) != len(rows_expected):
        yield f"step {step}: {len(rows)} atoms, LAMMPS says {len(rows_expected)}"
    for row, row_expected in zip(rows, rows_expected):
        if row != row_expected:
            yield f"step {step}: atom {row}, LAMMPS says {row_expected}"


def main():
    taken, expected = records(sys.argv[1]), dumps(sys.argv[2])
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else len(expected)
    found = [f"{len(taken)} steps, not {wanted}"] if len(taken) < wanted else []
    found += [f"step {step} is not in the dump" for step in taken if step not in expected]
    for step in taken:
        if step in expected:
            found += differences(step, taken[step], expected[step])
    for line in found[:5]:
        print("compare:", line)
    atoms = sum(len(rows) for _, rows in taken.values())
    print(f"compare: {len(taken)} steps, {atoms} atoms, tolerance 0: {len(found)} differences")
    return 1 if found or atoms == 0 else 0


sys.exit(main())
