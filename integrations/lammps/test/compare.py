# SPDX-License-Identifier: GPL-2.0-only
"""Compares what a subscriber wrote (record.c) with LAMMPS's own dump of the same steps: atom by atom, and bit by bit, as both
files have all 17 digits. There is no tolerance.

usage: compare.py RECORD DUMP [--at-least STEPS] [--log LOG]
Without --at-least every step of the dump must be there. --log: the published temperature is that of LAMMPS's log.
"""
import argparse
import sys


def numbers(words):
    return [float(word) for word in words]


def records(path):
    """Step -> (box, tilt, temperature, rows), of record.c."""
    steps = {}
    with open(path) as file:
        for line in file:
            words = line.split()
            step, count = int(words[1]), int(words[3])
            temperature = float(words[15]) if len(words) > 15 else None
            rows = [numbers(next(file).split()) for _ in range(count)]
            assert step not in steps, f"step {step} came twice"
            steps[step] = (numbers(words[5:11]), numbers(words[11:14]), temperature, rows)
    return steps


def dumps(path):
    """Step -> (bounds, tilt, rows), of `dump custom`. A step that LAMMPS wrote twice counts once."""
    steps = {}
    with open(path) as file:
        for line in file:
            assert line.startswith("ITEM: TIMESTEP"), line
            step = int(next(file))
            next(file)
            count = int(next(file))
            next(file)
            sides = [numbers(next(file).split()) for _ in range(3)]
            next(file)
            rows = [numbers(next(file).split()) for _ in range(count)]
            steps[step] = ([side[:2] for side in sides], [side[2] if len(side) > 2 else 0.0 for side in sides], rows)
    return steps


def temperatures(path):
    """Step -> temperature, of a log whose columns begin with Step and Temp."""
    found, is_table = {}, False
    with open(path) as file:
        for words in map(str.split, file):
            if words[:2] == ["Step", "Temp"]:
                is_table = True
            elif is_table and words and words[0].isdigit():
                found[int(words[0])] = float(words[1])
            else:
                is_table = False
    return found


def bounds(box, tilt):
    """The box around a tilted box, which is what a dump has: for boxes tilted in xy alone, as the tests' are."""
    low, high = box[0], box[1]
    return [[min(low, low + tilt[0]), max(high, high + tilt[0])], box[2:4], box[4:6]]


def differences(step, taken, expected):
    box, tilt, _, rows = taken
    sides, tilt_expected, rows_expected = expected
    if bounds(box, tilt) != sides or tilt != tilt_expected:
        yield f"step {step}: box {bounds(box, tilt)} {tilt}, LAMMPS says {sides} {tilt_expected}"
    if len(rows) != len(rows_expected):
        yield f"step {step}: {len(rows)} atoms, LAMMPS says {len(rows_expected)}"
    for row, row_expected in zip(rows, rows_expected):
        if row != row_expected:
            yield f"step {step}: atom {row}, LAMMPS says {row_expected}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("record")
    parser.add_argument("dump")
    parser.add_argument("--at-least", type=int)
    parser.add_argument("--log")
    chosen = parser.parse_args()
    taken, expected = records(chosen.record), dumps(chosen.dump)
    log = temperatures(chosen.log) if chosen.log else {}
    wanted = len(expected) if chosen.at_least is None else chosen.at_least
    found = [f"{len(taken)} steps, not {wanted}"] if len(taken) < wanted else []
    for step, (_, _, temperature, _) in taken.items():
        if step not in expected:
            found.append(f"step {step} is not in the dump")
            continue
        found += differences(step, taken[step], expected[step])
        if chosen.log and temperature != log.get(step):
            found.append(f"step {step}: temperature {temperature}, LAMMPS says {log.get(step)}")
    for line in found[:5]:
        print("compare:", line)
    atoms = sum(len(step[3]) for step in taken.values())
    print(f"compare: {len(taken)} steps, {atoms} atoms, tolerance 0: {len(found)} differences")
    return 1 if found or atoms == 0 else 0


sys.exit(main())
