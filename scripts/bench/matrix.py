#!/usr/bin/env python3
"""Measures `flexpath bench` by size, shape of the cohorts and transport, beside the floors of the machine.

usage: matrix.py [--quick] [--rounds N] [--budget-s SECONDS] [--folder FOLDER]

Rounds take turns over all rows, so that every row sees the same machine; shown is the middle one. Writes bench.json,
bench.md, throughput.svg and latency.svg into the folder (docs/performance).
"""

import argparse
import json
import pathlib
import sys
import time

from figures import ROOT, SIZES, flexpath, floors, machine, machine_line, median_of, plot, short, size_name, table
from processes import NotMeasured, Progress, Rounds, adopt, tidied

# Three dimensions for 4 x 2, so that blocks cross; one for 1 x 1.
GRIDS = {1 << 10: "4x4x8", 64 << 10: "16x16x32", 1 << 20: "64x64x32", 16 << 20: "128x128x128",
         64 << 20: "256x256x128", 128 << 20: "256x256x256", 256 << 20: "512x256x256"}
MOVED_BYTES = 1 << 30
FIGURES = ["gb_per_s", "steps_per_s", "latency_us.p50", "latency_us.p99", "latency_us.p999", "calls_us.p50",
           "begin_us.p50", "calls_paced_us.p50", "attach_ms", "publishers.cpu_s_per_gb", "subscribers.cpu_s_per_gb",
           "publishers.peak_all_mib", "subscribers.peak_all_mib", "copied_per_delivered"]


def cases(quick):
    """Name, size, and the arguments of each."""
    for transport in ("shm", "tcp"):
        for len_bytes in SIZES:
            steps = max(12, min(2000, MOVED_BYTES // len_bytes)) // (4 if quick else 1)
            common = ["--transport", transport, "--steps", max(steps, 4), "--latency-steps", max(min(steps, 1000), 4)]
            yield f"{transport} 1 x 1", len_bytes, [*common, "--shape", len_bytes // 8]
            if len_bytes in GRIDS:
                cohorts = ["--publishers", 4, "--subscribers", 2]
                yield f"{transport} 4 x 2", len_bytes, [*common, *cohorts, "--shape", GRIDS[len_bytes]]
    yield "shm 1 x 1, busy poll", 8, ["--transport", "shm", "--steps", 2000, "--shape", 1, "--busy-poll", "--pin"]


def measure(quick, rounds):
    """All rows, in rounds; a row that fails says why."""
    wanted = list(cases(quick))
    found, failed, progress = {}, {}, Progress(rounds.wanted * len(wanted))
    for number in rounds:
        for name, len_bytes, arguments in wanted:
            progress.say(f"round {number + 1}: {name}, {size_name(len_bytes)}")
            try:
                with tidied():
                    found.setdefault((name, len_bytes), []).append(flexpath(arguments))
            except NotMeasured as reason:
                failed[(name, len_bytes)] = str(reason)
    rows = []
    for name, len_bytes, _ in wanted:
        reports = found.get((name, len_bytes), [])
        row = {"case": name, "bytes": len_bytes, "rounds": len(reports)}
        row.update({figure: median_of(reports, figure) if reports else None for figure in FIGURES})
        busy = [report["machine"]["busy_percent"] for report in reports]
        row["others_percent"] = max(busy) if busy else None
        if not reports:
            row["not_measured"] = failed[(name, len_bytes)]
        rows.append(row)
    return rows


def markdown(of, rows, base):
    """The whole text."""
    head = ["case", "a step", "GB/s", "steps/s", "one way p50 / p99 / p99.9, us", "in our calls, us (begin_step)",
            "paced, us", "attach, ms", "CPU s/GB, publishers / subscribers", "peak MiB, publishers / subscribers",
            "copied", "others, %"]
    lines = []
    for row in rows:
        if "not_measured" in row:
            lines.append([row["case"], size_name(row["bytes"]), "not measured: " + row["not_measured"]] + ["-"] * 9)
            continue
        both = lambda *names: " / ".join(short(row[name]) for name in names)
        lines.append([row["case"], size_name(row["bytes"]), row["gb_per_s"], row["steps_per_s"],
                      both("latency_us.p50", "latency_us.p99", "latency_us.p999"),
                      f"{short(row['calls_us.p50'])} ({short(row['begin_us.p50'])})", row["calls_paced_us.p50"],
                      row["attach_ms"], both("publishers.cpu_s_per_gb", "subscribers.cpu_s_per_gb"),
                      both("publishers.peak_all_mib", "subscribers.peak_all_mib"),
                      f"{row['copied_per_delivered']:.2f}", row["others_percent"]])
    names = [size_name(size) for size in SIZES if f"memcpy {size_name(size)}" in base]
    under = [[name, *(base.get(f"{kind} {name}") for kind in ("memcpy", "shm in and out", "raw socket"))] for name in names]
    return "\n".join([
        "# Streams by size", "",
        "Written by `make bench`; docs/performance.md says what the columns mean.", "",
        machine_line(of) + ".", "", table(head, lines),
        "Floors, GB/s: one copy of memory, copied into shared memory and out of it by two processes, a raw socket.", "",
        table(["a step", "memcpy", "shared memory in and out", "raw socket"], under),
        f"Half a round trip: futex {short(base.get('futex half trip'))} us, socket {short(base.get('socket half trip'))} us.", "",
        "![throughput](throughput.svg)", "", "![latency](latency.svg)", ""])


def plots(folder, rows, base):
    names = list(dict.fromkeys(row["case"] for row in rows))
    of = lambda figure: {name: [(row["bytes"], row[figure]) for row in rows if row["case"] == name] for name in names}
    throughput = of("gb_per_s")
    for kind in ("memcpy", "shm in and out", "raw socket"):
        throughput[f"floor: {kind}"] = [(size, base.get(f"{kind} {size_name(size)}")) for size in SIZES]
    plot(folder / "throughput.svg", "Throughput as the subscriber sees it", "bytes a step", "GB/s", throughput)
    latency = of("latency_us.p50")
    for kind in ("futex", "socket"):
        latency[f"floor: {kind}, half trip"] = [(8, base.get(f"{kind} half trip"))]
    plot(folder / "latency.svg", "One way, p50", "bytes a step", "microseconds", latency)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short round, to see that it works")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-s", type=int, default=240, help="no round is begun that would probably end later")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "docs/performance")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    began, of = time.monotonic(), machine()
    adopt()
    print("the floors of this machine", flush=True)
    base = floors(options.quick)
    rounds = Rounds(1 if options.quick else options.rounds, options.budget_s, time.monotonic() - began)
    rows = measure(options.quick, rounds)
    (options.folder / "bench.json").write_text(json.dumps({"machine": of, "quick": options.quick, "rounds": rounds.done, "rows": rows, "floors": base}, indent=1) + "\n")
    text = markdown(of, rows, base)
    (options.folder / "bench.md").write_text(text)
    plots(options.folder, rows, base)
    print(text)
    print(f"{len(rows)} rows in {time.monotonic() - began:.0f} s, written to {options.folder}")
    sys.exit(1 if any("not_measured" in row for row in rows) else 0)


if __name__ == "__main__":
    main()
