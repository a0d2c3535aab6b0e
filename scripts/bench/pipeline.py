#!/usr/bin/env python3
"""Figures 4 and 5 of the Flexpath paper, measured here: the demo's pipeline coupled through streams and through HDF5 files.

Weak scaling: the atoms of a rank of LAMMPS stay the same. All runs of one size must find the same, to the last bit.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

from figures import ROOT, machine, machine_line, plot, table
from processes import NotMeasured, Rounds, adopt, run, tidied

COUPLINGS = ["streams", "files"]
PARTS = {"simulation": "LAMMPS", "helper": "Helper", "bonds": "Bonds", "csym": "CSym", "cna": "CNA"}
# What the paper's text states (section V.A and V.B); its other points are in plots alone.
PAPER = ("The paper's text states two figures, on 1,024 cores of LAMMPS. The first is \"just over 1.3 seconds on I/O when using "
         "Flexpath vs. 117 seconds\" with synchronous files on Lustre. The second is \"nearly 1.2 GB\" that CSym and CNA would be "
         "sent each epoch if they could not choose. An epoch is 610 MB of LAMMPS's data.\n")


def measure(options, coupling, ranks, scratch):
    """One run of the pipeline, as it reports it."""
    program = os.environ.get("FLEXPATH_DEMO", ROOT / "target/release/demo")
    command = [program, "measure", "--coupling", coupling, "--ranks", ranks, "--problem", options.problem,
               "--source", options.source, "--size", options.size, "--output", scratch, "--deadline-s", options.deadline_s]
    return json.loads(run(command, options.deadline_s + 20))


def measure_all(options, scratch):
    """All runs, by (ranks, coupling): couplings take turns, and who comes first changes from round to round."""
    found = {(ranks, coupling): [] for ranks in options.ranks for coupling in COUPLINGS}
    for number in Rounds(options.rounds, options.budget_s):
        for ranks in options.ranks:
            for coupling in COUPLINGS if number % 2 == 0 else reversed(COUPLINGS):
                with tidied():
                    report = measure(options, coupling, ranks, scratch)
                found[ranks, coupling].append(report)
                print(f"round {number + 1}: {ranks} ranks through {coupling}: {report['total_s']:.2f} s, "
                      f"LAMMPS's I/O {report['parts']['simulation']['io_s']:.3f} s", flush=True)
    return found


def differences(found):
    """Where two runs of one size disagree on what was found, in words."""
    out = []
    for ranks in sorted({ranks for ranks, _ in found}):
        reports = [(coupling, report["found"]) for (of, coupling), all_of in found.items() if of == ranks for report in all_of]
        first = reports[0][1]
        for coupling, other in reports:
            wrong = [f"{word}: {first[word]} and {other[word]}" for word in first if first[word] != other[word]]
            out += [f"{ranks} ranks, {coupling}: {text}" for text in wrong]
    return out


def middle(reports, *path):
    """The median of one figure over several runs."""
    values = []
    for report in reports:
        for word in path:
            report = report[word]
        values.append(report)
    return statistics.median(values)


def spread(reports, *path):
    """The median, and the lowest and the highest beside it."""
    values = [middle([report], *path) for report in reports]
    if len(values) == 1:
        return f"{values[0]:.3g}"
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def megabytes(number):
    return f"{number / 1e6:.3g}"


def io_table(found, sizes):
    head = ["LAMMPS ranks", "part (ranks)"] + [f"{what}, {coupling}" for what in ("I/O s", "waiting s") for coupling in COUPLINGS]
    rows = []
    for ranks in sizes:
        for part, name in PARTS.items():
            both = [found[ranks, coupling] for coupling in COUPLINGS]
            waits = [statistics.median(report["parts"][part]["room_wait_s"] + report["parts"][part]["step_wait_s"]
                                       for report in reports) for reports in both]
            rows.append([str(ranks), f"{name} ({both[0][0]['parts'][part]['ranks']})",
                         *(spread(reports, "parts", part, "io_s") for reports in both), *waits])
    return table(head, rows)


def total_table(found, sizes):
    head = ["LAMMPS ranks", "atoms", "published steps"]
    head += [f"{what}, {coupling}" for what in ("all parts, s", "LAMMPS alone, s") for coupling in COUPLINGS]
    rows = []
    for ranks in sizes:
        both = [found[ranks, coupling] for coupling in COUPLINGS]
        rows.append([str(ranks), str(both[0][0]["found"]["atoms"]), str(both[0][0]["found"]["steps"]),
                     *(spread(reports, "total_s") for reports in both), *(spread(reports, "simulation_s") for reports in both)])
    return table(head, rows)


def moved(report):
    """Bytes that all parts took, and that were written or kept for them."""
    streams = report["streams"].values()
    return sum(sum(of["taken"].values()) for of in streams), sum(of["kept"] for of in streams)


def bytes_table(found, sizes):
    head = ["LAMMPS ranks", "taken by all parts, MB, streams", "the same, files", "kept by publishers, MB, streams", "written, files"]
    rows = []
    for ranks in sizes:
        (taken, kept), (read, written) = (moved(found[ranks, coupling][0]) for coupling in COUPLINGS)
        rows.append([str(ranks), megabytes(taken), megabytes(read), megabytes(kept), megabytes(written)])
    return table(head, rows)


def selection_table(found, sizes):
    head = ["LAMMPS ranks", "LAMMPS's data, MB a step", "part", "stream", "put, MB a step", "taken, MB a step", "not moved, MB a step",
            "not moved, MB in all"]
    rows = []
    for ranks in sizes:
        streams = found[ranks, "streams"][0]["streams"]
        of_simulation = streams["atoms"]["put"] / streams["atoms"]["steps"]
        for stream, of in streams.items():
            for part, rest in of["not_moved"].items():
                if part in PARTS and of["steps"]:
                    each = [megabytes(number / of["steps"]) for number in (of["put"], of["taken"][part], rest)]
                    rows.append([str(ranks), megabytes(of_simulation), PARTS[part], stream, *each, megabytes(rest)])
    return table(head, rows)


def not_moved(report):
    """What CSym and CNA did not take of Bonds and Helper: bytes in all, and for each step of the simulation."""
    streams = report["streams"]
    rest = sum(streams[stream]["not_moved"].get(part, 0) for stream in ("bonds", "shares") for part in ("csym", "cna"))
    return rest, rest / streams["atoms"]["steps"]


def write(options, found, began):
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    sizes, of_machine, rounds = options.ranks, machine(), len(next(iter(found.values())))
    of_machine |= {word: began[word] for word in ("load", "date", "busy_percent")}
    rows = [{"ranks": ranks, "coupling": coupling, "runs": reports} for (ranks, coupling), reports in found.items()]
    whole = {"machine": of_machine, "problem": options.problem, "size": options.size, "rounds": rounds, "rows": rows}
    (folder / "pipeline.json").write_text(json.dumps(whole, indent=1) + "\n")
    source = found[sizes[0], "streams"][0]["source"]
    rest, each = not_moved(found[sizes[-1], "streams"][0])
    text = [f"# The pipeline through streams and through files\n\n{machine_line(of_machine)}\n\n"
            f"{source}, `{options.problem}`, runs of each in turns: {rounds}. What stands here is the median, with the lowest and the highest. "
            "[performance.md](../performance.md) says what is compared.\n",
            "All runs of one size found the same to the last bit: verdict, counts, central symmetry and class of every atom.\n",
            "## I/O of each part\n\nThe slowest rank's seconds over the whole run, waits left out; waits beside.\n", io_table(found, sizes),
            "## Run time\n", total_table(found, sizes), "## Bytes\n", bytes_table(found, sizes),
            f"## What selective subscription did not move\n\nAt {sizes[-1]} ranks CSym and CNA left {megabytes(rest)} MB of the streams "
            f"of Bonds and Helper where they were. That is {megabytes(each)} MB for each step of LAMMPS.\n",
            selection_table(found, sizes), "## The paper\n", PAPER]
    (folder / "pipeline.md").write_text("\n".join(text))
    draw(folder, found, sizes)


def draw(folder, found, sizes):
    ranks_name = lambda ranks: str(ranks)
    look = lambda number, _: (number // 2, number % 2 == 1)
    series = {f"{name}, {coupling}": [(ranks, middle(found[ranks, coupling], "parts", part, "io_s")) for ranks in sizes]
              for part, name in PARTS.items() for coupling in COUPLINGS}
    plot(folder / "pipeline-io.svg", "I/O of each part over the whole run (weak scaling)", "ranks of LAMMPS", "I/O time, s", series,
         ranks_name, look)
    series = {f"{name}, {coupling}": [(ranks, middle(found[ranks, coupling], word)) for ranks in sizes]
              for word, name in (("total_s", "all parts"), ("simulation_s", "LAMMPS alone")) for coupling in COUPLINGS}
    plot(folder / "pipeline-total.svg", "Run time (weak scaling)", "ranks of LAMMPS", "run time, s", series, ranks_name, look)


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true", help="one round of 1 and 2 ranks, to see that it works")
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    words.add_argument("--budget-s", type=int, default=400, help="no round is begun that would probably end later")
    words.add_argument("--problem", choices=["notch", "crack"], default="notch")
    words.add_argument("--source", choices=["lammps", "built-in"], default="lammps")
    words.add_argument("--size", choices=["scaled", "tiny"], default="scaled")
    words.add_argument("--deadline-s", type=int, default=240, help="for one run")
    words.add_argument("--folder", default=ROOT / "docs/performance")
    options = words.parse_args()
    if options.quick:
        options.rounds, options.ranks = 1, [1, 2]
    began, from_s = machine(), time.monotonic()
    adopt()
    # On the disk that the repository is on: not in memory.
    scratch = ROOT / "target/bench-pipeline"
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        found = measure_all(options, scratch)
    except NotMeasured as error:
        sys.exit(f"bench-pipeline: {error} (logs: {scratch}/logs)")
    wrong = differences(found)
    if wrong:
        sys.exit("bench-pipeline: the couplings do not find the same\n  " + "\n  ".join(wrong))
    write(options, found, began)
    print(f"bench-pipeline: both couplings found the same; {time.monotonic() - from_s:.0f} s; {options.folder}/pipeline.md")


if __name__ == "__main__":
    main()
