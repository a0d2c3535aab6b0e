#!/usr/bin/env python3
"""Measures scale: as many processes as this machine carries, and the real machines of up to 131,072 x 8,192 ranks on the
simulator's virtual time.

Writes scale.json (simulated), processes.json (real), scale.md and plots into the folder (docs/performance).
"""

import argparse
import json
import pathlib
import sys
import time

from figures import ROOT, flexpath, machine, machine_line, table, until_quiet
from processes import NotMeasured, adopt, run, tidied

EXAMPLE = ROOT / "target/release/examples/scale"
# Publishers, subscribers. Each run is a process of its own, so that its memory is its own.
SIZES = [(64, 1), (64, 8), (256, 8), (1_024, 8), (1_024, 64), (4_096, 64), (16_384, 512), (131_072, 8), (131_072, 8_192)]
NETWORKS = ["loopback", "wan"]
# The simulator's longest run must take less.
LIMIT_S = 600
# Every subscriber takes of every publisher: 4 KiB of each, and 256 B of that for each of them.
SHAPE, STEPS, DEADLINE_S = "8192x16", 1000, 420


def real(quick):
    """256 publishers and 16 subscribers, each a process, over shared memory and over tcp; all content is checked."""
    rows = []
    for transport in ("shm", "tcp"):
        cohorts = ["--publishers", 64 if quick else 256, "--subscribers", 4 if quick else 16]
        steps = ["--steps", 50 if quick else STEPS, "--latency-steps", 20 if quick else 100]
        print(f"{cohorts[1]} publishers and {cohorts[3]} subscribers over {transport}, {steps[1]} steps", flush=True)
        began = time.monotonic()
        row = {"transport": transport, "publishers": cohorts[1], "subscribers": cohorts[3], "steps": steps[1]}
        try:
            with tidied():
                row["report"] = flexpath([*cohorts, *steps, "--shape", SHAPE, "--transport", transport], DEADLINE_S)
        except NotMeasured as reason:
            row["not_measured"] = str(reason)
        row["seconds"] = time.monotonic() - began
        print(f"  {row.get('not_measured', 'done')}, {row['seconds']:.0f} s", flush=True)
        rows.append(row)
    return rows


def real_table(rows):
    head = ["ranks", "over", "steps", "steps/s", "one way p50 / p99, ms", "a publisher in our calls, paced p50 / p99, us", "attach, ms",
            "peak of a publisher / subscriber, MiB", "all, MiB", "CPU, ms a step", "whole run, s"]
    lines = []
    for row in rows:
        start = [f"{row['publishers']} x {row['subscribers']}", row["transport"], str(row["steps"])]
        if "not_measured" in row:
            lines.append([*start, "not measured: " + row["not_measured"], *["-"] * 6, row["seconds"]])
            continue
        figures = row["report"]["figures"]
        sides = (figures["publishers"], figures["subscribers"])
        both = lambda name, quantiles, scale: " / ".join(f"{figures[name][quantile] / scale:.3g}" for quantile in quantiles)
        lines.append([*start, figures["steps_per_s"], both("latency_us", ("p50", "p99"), 1e3), both("calls_paced_us", ("p50", "p99"), 1),
                      figures["attach_ms"], " / ".join(f"{side['peak_mib']:.1f}" for side in sides),
                      sum(side["peak_all_mib"] for side in sides),
                      sum(side["cpu_s_per_gb"] for side in sides) * figures["step_bytes"] / 1e6, row["seconds"]])
    return table(head, lines)


def simulated(quick, scratch):
    """One run of each size, and of other networks; what each wrote."""
    wanted = [(*size, "cluster") for size in (SIZES[:4] if quick else SIZES)] + [(1_024, 8, network) for network in NETWORKS]
    found = []
    for publishers, subscribers, network in wanted:
        print(f"{publishers} x {subscribers} simulated over {network}", flush=True)
        file = scratch / f"{publishers}-{subscribers}-{network}.json"
        file.unlink(missing_ok=True)
        repeats = 5 if publishers < 16_384 else 3
        began = time.monotonic()
        try:
            run([EXAMPLE, "--publishers", publishers, "--subscribers", subscribers, "--network", network, "--repeats", repeats,
                 "--json", file], 3 * LIMIT_S)
        except NotMeasured as reason:
            # It ends so where a bound was not kept; what it wrote says which.
            if not file.exists():
                raise
            print(f"  {reason}", flush=True)
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
        found += json.loads(file.read_text())
    return found


def in_time(time_us):
    return "-" if time_us is None else f"{time_us:.0f} us" if time_us < 10_000 else f"{time_us / 1e3:.1f} ms"


def in_bytes(number):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= 10 * unit:
            return f"{number / unit:.0f} {name}"
    return f"{number} B"


def stages(run_of):
    return {stage["name"]: stage for stage in run_of["stages"]}


# What a rank that asks makes travel: its question, the answer, and the table that its peer fetches to answer. What is too
# long for one message goes in fragments, and nothing else here is.
ASKED = ("Resolve", "Resolved", "TableRequest", "TableReply", "Fragment")


def had_all_asked(stage, ranks):
    """Bytes of a stage if all subscriber ranks had asked, each as much as those that did; None if none did."""
    kinds = stage["messages_bytes_longest_by_kind"]
    asking = kinds.get("Resolve", [0])[0]
    if not asking:
        return None
    of_asking = sum(kinds[kind][1] for kind in ASKED if kind in kinds)
    return round(stage["bytes"] + of_asking * (max(ranks, asking) / asking - 1))


def simulated_tables(runs):
    times, sizes, known = [], [], []
    for of in runs:
        by = stages(of)
        name = f"{of['publishers']:,} x {of['subscribers']:,}" + ("" if of["network"] == "cluster" else f", {of['network']}")
        of_stage = lambda stage: in_time(by[stage]["time_us"])
        times.append([name, of_stage("unchanged"), in_time(by["unchanged"]["links_alone_us"]), of_stage("one rank"), of_stage("new layout"),
                      of_stage("every count"), of_stage("newcomer"),
                      in_time(by["newcomer"]["moments_us"]["data links, computed"]), of_stage("detach"), of_stage("death"),
                      f"{of['wall_seconds']:.0f} ({of['cpu_seconds']:.0f})", in_bytes(of["peak_bytes"])])
        owners = lambda stage: in_time(by[stage]["moments_us"].get("owners known"))
        known.append([name, of_stage("attach"), owners("first layout"), owners("one rank"), owners("new layout"), owners("every count")])
        memory, moved = of["memory_bytes"], lambda stage: in_bytes(by[stage]["bytes"])
        sizes.append([name, f"{by['unchanged']['most_bytes_on_a_link']} B", *(moved(stage) for stage in (
            "unchanged", "one rank", "new layout")), in_bytes(had_all_asked(by["new layout"], of["subscribers"]) or 0),
            *(moved(stage) for stage in ("every count", "attach")), *(in_bytes(memory[word]) for word in (
                "publisher", "subscriber", "lead", "lead_layouts", "answering_rank_layouts")),
            str(of["control_links_peak"])])
    return [table(["M x N", "unchanged", "of it links", "one rank", "new layout", "every count", "newcomer",
                   "data links (computed)", "detach", "death", "to run, s (processor)", "memory of the run"], times),
            table(["M x N", "attach", "owners known, first layout", "one rank", "new layout", "every count"], known),
            table(["M x N", "most on a link, unchanged", "in all, unchanged", "one rank", "new layout",
                   "new layout, had all asked (computed)", "every count", "attach",
                   "publisher rank", "subscriber rank", "lead", "its layouts", "layouts of a rank that answers",
                   "links"], sizes)]


def verdicts(runs):
    """The targets, each beside what was measured for it."""
    by = {(of["publishers"], of["subscribers"]): of for of in runs if of["network"] == "cluster"}
    lines = []

    def line(what, size, value, bound, says):
        lines.append([what, "-" if value is None else says(value), says(bound),
                      f"not measured: no run of {size}" if value is None else "met" if value <= bound else "missed"])
    for what, size, stage, bound in (("unchanged, 1,024 x 8", (1_024, 8), "unchanged", 1e3),
                                     ("unchanged, 131,072 x 8,192", (131_072, 8_192), "unchanged", 3e3),
                                     ("new layout, 1,024 x 8", (1_024, 8), "new layout", 5e3),
                                     ("every count changed, 131,072 x 8,192", (131_072, 8_192), "every count", 5e4)):
        line(what, size, stages(by[size])[stage]["time_us"] if size in by else None, bound, in_time)
    worst = lambda word: max(of["memory_bytes"][word] for of in runs)
    for word, name in (("publisher", "a publisher rank"), ("subscriber", "a subscriber rank"), ("lead", "the lead")):
        line(f"without layouts, {name}", None, worst(word), 64 << 10, in_bytes)
    line("control links of a rank because of cohort size", None, max(of["control_links_peak"] for of in runs), 64, str)
    largest = by.get((131_072, 8_192))
    line("131,072 x 8,192, to run, s", (131_072, 8_192), largest and largest["wall_seconds"], LIMIT_S, lambda value: f"{value:.0f}")
    line("131,072 x 8,192, memory of the run", (131_072, 8_192), largest and largest["peak_bytes"], 16 << 30, in_bytes)
    return table(["what", "measured", "at most", ""], lines), [of for of in runs if of["broken"] or of["missed"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few ranks, to see that it works")
    parser.add_argument("--only", choices=["real", "simulated"])
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "docs/performance")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    scratch = ROOT / "target/bench-scale"
    scratch.mkdir(parents=True, exist_ok=True)
    adopt()
    began, files = time.monotonic(), {name: options.folder / f"{name}.json" for name in ("processes", "scale")}
    if options.only != "simulated":
        rows = {"machine": machine(), "quick": options.quick, "rows": real(options.quick)}
        files["processes"].write_text(json.dumps(rows, indent=1) + "\n")
    if options.only != "real":
        until_quiet()
        of = machine()
        runs = simulated(options.quick, scratch)
        files["scale"].write_text(json.dumps([{"machine": of}, *runs]) + "\n")
    status = write(options.folder, files)
    print(f"{time.monotonic() - began:.0f} s, written to {options.folder}")
    sys.exit(status)


def write(folder, files):
    """The text and the plots, of what the files hold; 0 if nothing failed, no bound was broken and no target missed."""
    text, status = ["# Scale", "", "Written by `make bench-scale`; docs/performance.md says what the columns mean.", ""], 0
    if files["processes"].exists():
        real_runs = json.loads(files["processes"].read_text())
        text += ["## For real", "", f"{machine_line(real_runs['machine'])}. Every rank is a process; every subscriber takes a part of "
                 f"every publisher's block ({SHAPE} elements of 8 bytes in all). Every element of nine steps is checked, and 65 of every "
                 "other step.", "", real_table(real_runs["rows"])]
        status = int(any("not_measured" in row for row in real_runs["rows"]))
    if files["scale"].exists():
        head, *runs = json.loads(files["scale"].read_text())
        tables = simulated_tables(runs)
        targets, wrong = verdicts(runs)
        text += ["## Simulated", "", f"Every figure of this part is simulated. {machine_line(head['machine'])}.{head.get('note', '')}", "", *tables,
                 "## Targets", "", targets]
        for name in ("registration", "metadata", "throughput"):
            text += [f"![{name}](scale-{name}.svg)", ""]
        plain = folder / "scale-runs.json"
        plain.write_text(json.dumps([of for of in runs if of["network"] == "cluster"]))
        run([EXAMPLE, "--plots", folder, plain], 60)
        plain.unlink()
        status = status or int(bool(wrong))
    (folder / "scale.md").write_text("\n".join(text))
    print("\n".join(text))
    return status


if __name__ == "__main__":
    main()
