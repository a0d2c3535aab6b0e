#!/usr/bin/env python3
"""Measures Flexpath and its peers in turns, and says which targets are met. peers.sh builds what this needs.

Writes peers.json, peers.md and peers.svg into the folder (docs/performance).
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from figures import ROOT, busy_percent, flexpath, floors, machine, machine_line, plot, program, short, size_name, spine, table
from processes import NotMeasured, Progress, Rounds, TookTooLong, adopt, finish, pair, run, start, tidied
from targets import keep

BUILT = ROOT / "target/peers"
KIB, MIB = 1 << 10, 1 << 20
SIZES = [64 * KIB, MIB, 16 * MIB, 128 * MIB]
# What iceoryx2 has for its queue of 4, the step that is being filled and the one that is being read.
EQUAL_SLOTS = 6
PATIENCE_S = 90
MPI_WORDS = {"openmpi": ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader"], "mpich": []}
# More ranks than cores give the processor away while they wait, at once.
MPI_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}


def steps_of(len_bytes):
    return max(12, min(5000, (1 << 30) // len_bytes))


def built(name):
    program = BUILT / name
    if not program.exists():
        raise NotMeasured(f"{name} is not built here")
    return program


def ours(*words):
    figures = flexpath([str(word) for word in words], PATIENCE_S)["figures"]
    both = lambda name: figures["publishers"][name] + figures["subscribers"][name]
    return {"gb_per_s": figures["gb_per_s"], "p50_us": figures["latency_us"]["p50"], "p99_us": figures["latency_us"]["p99"],
            "join_ms": figures["attach_ms"], "publisher_mib": figures["publishers"]["peak_all_mib"],
            "cpu_s_per_gb": both("cpu_s_per_gb")}


def ours_sized(transport, put, live_steps=2, *words):
    """With as many live steps as SST's queue has."""
    return lambda size: ours("--transport", transport, "--put", put, "--shape", size // 8, "--steps", steps_of(size),
                             "--latency-steps", 20, "--queue-limit", live_steps, *words)


def ours_small(*words):
    return lambda _: ours("--shape", 1, "--steps", 500, "--latency-steps", 2000, *words)


def ours_grid(put):
    return lambda _: ours("--publishers", 4, "--subscribers", 2, "--shape", "256x256x128", "--transport", "shm", "--put", put,
                          "--steps", 24, "--latency-steps", 8, "--queue-limit", 2)


def ours_join(ranks):
    """The first subscriber of a cohort that has published for a while."""
    wanted = f"attach to {'1 rank' if ranks == 1 else f'{ranks} ranks'}, first data, first"
    def measure(_):
        rows = spine(["--quick", "--rounds", "1", "--only", "attach"], PATIENCE_S)
        return {"join_ms": next(row["ours"] for row in rows if row["case"] == wanted)}
    return measure


def sst(words, no_delay=False, ranks=(1, 1)):
    """One run of SST; with several ranks by an installed ADIOS2 with MPI."""
    if ranks != (1, 1) and not os.environ.get("ADIOS2_DIR"):
        raise NotMeasured("the adios2 wheel has no MPI: give ADIOS2_DIR")
    program = built("sst" if ranks == (1, 1) else "sst-mpi")
    launch = lambda number: [] if ranks == (1, 1) else [os.environ.get("MPIRUN", "mpirun.openmpi"), *MPI_WORDS["openmpi"], "-n", number]
    with tempfile.TemporaryDirectory() as folder:
        common = [f"stream={folder}/s", f"told={folder}/t", *words]
        env = {"LD_PRELOAD": str(built("nodelay.so"))} if no_delay else {}
        grids = {1: "1", 4: "2x2x1", 2: "1x1x2"}
        grid = lambda number: [f"grid={grids.get(number, number)}"]
        writer, reader = pair([*launch(ranks[0]), program, "writer", *common, *grid(ranks[0])],
                              [*launch(ranks[1]), program, "reader", *common, *grid(ranks[1])], PATIENCE_S, {**env, **MPI_ENV})
    return {"gb_per_s": reader["gb_per_s"], "p50_us": reader["p50_us"], "p99_us": reader["p99_us"], "join_ms": reader["join_ms"],
            "publisher_mib": writer["peak_mib"], "cpu_s_per_gb": writer["cpu_s_per_gb"] + reader["cpu_s_per_gb"],
            "version": reader["version"]}


def sst_sized(put="copy", no_delay=False):
    return lambda size: sst([f"shape={size // 8}", f"steps={min(steps_of(size), 60)}", f"put={put}"], no_delay)


def sst_small(no_delay):
    return lambda _: sst(["shape=1", f"steps={1000 if no_delay else 50}", "latency=1", "queue=1"], no_delay)


def sst_grid(_):
    return sst(["shape=256x256x128", "steps=24"], ranks=(4, 2))


def sst_join(ranks, no_delay=False):
    return lambda _: sst([f"shape={1024 * ranks}", "late=1", f"period_us={1000 if ranks == 1 else 10000}"], no_delay, (ranks, 1))


def mpi(name, number, *words):
    return json.loads(run([f"mpirun.{name}", *MPI_WORDS[name], "-n", number, built(f"mpi-{name}"), *words], PATIENCE_S, MPI_ENV).strip().splitlines()[-1])


def mpi_sized(name):
    return lambda size: mpi(name, 2, "pair", f"bytes={size}", f"steps={2000 if size == 8 else steps_of(size)}")


def ucx(size):
    """UCX's own bench over shared memory: the tag interface, half of a round trip or one-way bandwidth."""
    env = {"UCX_TLS": "sm,self", "UCX_WARN_UNUSED_ENV_VARS": "n"}
    test, port = ("tag_lat" if size == 8 else "tag_bw"), str(20000 + os.getpid() % 20000)
    command = ["ucx_perftest", "-p", port, "-t", test, "-s", size, "-n", 20000 if size == 8 else steps_of(size), "-w", 20, "-f"]
    listening = start(command, env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(50):
            try:
                out = run([*command[:1], "127.0.0.1", *command[1:]], PATIENCE_S, env)
                break
            except TookTooLong:
                raise
            except NotMeasured:
                if listening.poll() is not None:
                    raise
                time.sleep(0.1)
        else:
            raise NotMeasured("ucx_perftest does not connect")
    finally:
        finish(listening)
    # iterations, percentile or typical latency, average, overall latency (us), bandwidth average, overall (MiB/s), messages
    last = [line.split() for line in out.splitlines() if line.split() and line.split()[0].replace(".", "").isdigit()][-1]
    if size == 8:
        return {"p50_us": float(last[1])}
    return {"gb_per_s": float(last[5]) * MIB / 1e9}


def rust_peer(program, *words):
    """A throughput, or half of a round trip for 8 bytes."""
    def measure(size):
        first, second = ("ping", "pong") if size == 8 else ("send", "receive")
        common = [f"bytes={size}", f"steps={2000 if size == 8 else steps_of(size)}", f"name=peers-{os.getpid()}-{time.monotonic_ns()}",
                  f"port={17000 + time.monotonic_ns() // 1000 % 20000}", *words]
        found = pair([built(f"release/{program}"), first, *common], [built(f"release/{program}"), second, *common], PATIENCE_S)
        return found[0] or found[1]
    return measure


def hdf5(size):
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="flexpath-peers-") as folder:
        steps = min(steps_of(size), 60)
        return json.loads(run([BUILT / "venv/bin/python", ROOT / "benches/peers/hdf5.py", f"folder={folder}", f"bytes={size}", f"steps={steps}"], PATIENCE_S))


SMALL, GRID, JOIN = 8, 64 * MIB, 0
ROWS = [
    ("Flexpath shm, loan", SIZES, ours_sized("shm", "loan")),
    ("Flexpath shm, put_copy", SIZES, ours_sized("shm", "copy")),
    ("Flexpath shm, loan, one live step", [128 * MIB], ours_sized("shm", "loan", 1)),
    ("Flexpath shm, loan, four live steps", [128 * MIB], ours_sized("shm", "loan", 4)),
    ("Flexpath shm, loan, equal slots", [64 * KIB, MIB], ours_sized("shm", "loan", EQUAL_SLOTS)),
    ("Flexpath shm, loan, equal slots, busy poll", [64 * KIB, MIB], ours_sized("shm", "loan", EQUAL_SLOTS, "--busy-poll", "--pin")),
    ("Flexpath tcp, loan", SIZES, ours_sized("tcp", "loan")),
    ("Flexpath shm, event wake", [SMALL], ours_small("--transport", "shm")),
    ("Flexpath shm, busy poll", [SMALL], ours_small("--transport", "shm", "--busy-poll", "--pin")),
    ("Flexpath tcp, event wake", [SMALL], ours_small("--transport", "tcp")),
    ("SST", SIZES, sst_sized()),
    ("SST", [SMALL], sst_small(False)),
    ("SST, TCP_NODELAY forced", SIZES, sst_sized(no_delay=True)),
    ("SST, TCP_NODELAY forced", [SMALL], sst_small(True)),
    ("SST, span Put", [128 * MIB], sst_sized("span")),
    ("Open MPI", [*SIZES, SMALL], mpi_sized("openmpi")),
    ("MPICH", [*SIZES, SMALL], mpi_sized("mpich")),
    ("UCX, shared memory", [*SIZES, SMALL], ucx),
    ("iceoryx2, poll", [*SIZES, SMALL], rust_peer("iceoryx2", "wake=poll")),
    ("iceoryx2, event wake", [*SIZES, SMALL], rust_peer("iceoryx2", "wake=event")),
    ("Zenoh tcp", [*SIZES, SMALL], rust_peer("zenoh", "over=tcp")),
    ("Zenoh shm", [*SIZES, SMALL], rust_peer("zenoh", "over=shm")),
    ("HDF5 on tmpfs", SIZES, hdf5),
    ("4 x 2: Flexpath shm, loan", [GRID], ours_grid("loan")),
    ("4 x 2: Flexpath shm, put_copy", [GRID], ours_grid("copy")),
    ("4 x 2: SST", [GRID], sst_grid),
    ("4 x 2: MPI_Alltoallw, Open MPI", [GRID], lambda _: mpi("openmpi", 6, "alltoallw", "steps=24")),
    ("4 x 2: MPI_Alltoallw, MPICH", [GRID], lambda _: mpi("mpich", 6, "alltoallw", "steps=12")),
    *[(f"late join to {ranks}: Flexpath", [JOIN], ours_join(ranks)) for ranks in (1, 16, 64)],
    *[(f"late join to {ranks}: SST", [JOIN], sst_join(ranks)) for ranks in (1, 16, 64)],
    *[(f"late join to {ranks}: SST, TCP_NODELAY forced", [JOIN], sst_join(ranks, True)) for ranks in (1, 16, 64)],
]


class Results:
    """What was found in all rounds."""

    def __init__(self):
        self.found, self.failed, self.printed, self.versions, self.lost = {}, {}, {}, {}, {}
        self.hopeless = set()

    def take(self, name, size, measure):
        """Measures once more, unless that took too long before."""
        if (name, size) in self.hopeless:
            return
        busy, began = busy_percent(), time.monotonic()
        self.lost[(name, size)] = self.lost.get((name, size), 0) + 1
        try:
            with tidied():
                figures = measure(size)
        except NotMeasured as reason:
            self.failed[(name, size)], self.printed[(name, size)] = str(reason), reason.printed
            if time.monotonic() - began > PATIENCE_S / 2:
                self.hopeless.add((name, size))
            return
        except (json.JSONDecodeError, IndexError, KeyError, ValueError) as error:
            self.failed[(name, size)] = f"what it printed is not understood ({error!r})"
            return
        if "version" in figures:
            self.versions[figures.pop("version")] = None
        self.lost[(name, size)] -= 1
        self.found.setdefault((name, size), []).append({**figures, "busy_percent": busy})

    def value(self, name, size, figure):
        values = [found[figure] for found in self.found.get((name, size), []) if figure in found]
        return statistics.median(values) if values else None

    def why(self, name, size):
        return "not measured: " + self.failed.get((name, size), "left out of this run")

    def cell(self, name, size, figure):
        value = self.value(name, size, figure)
        if value is None:
            return self.why(name, size) if (name, size) in self.failed else "-"
        lost = self.lost.get((name, size), 0)
        return f"{short(value)} ({lost} of {lost + len(self.found[(name, size)])} rounds failed)" if lost else value

    def with_spread(self, name, size, figure):
        """A cell with the least and the most of the rounds behind it."""
        values = [found[figure] for found in self.found.get((name, size), [])]
        cell = self.cell(name, size, figure)
        return f"{short(cell)} ({short(min(values))} to {short(max(values))})" if len(values) > 1 else cell

    def busiest(self):
        """The most of the machine that something else used right before a row."""
        return max((found["busy_percent"] or 0 for rows in self.found.values() for found in rows), default=0)


# What is measured beside the floor by the bench that runs both in turns: its case, and what that is in words.
BESIDE_FLOORS = {
    "shm put_copy, get 128 MiB": "put_copy of 128 MiB to the same by hand: written, copied in, copied out (benches/spine.rs, pinned)",
    "tcp loan, get 128 MiB": "tcp, 128 MiB, to a raw socket that sends and receives the same (benches/spine.rs, pinned)",
}


def floor_ratios():
    """The ratios to the floors by case, or why there is none."""
    ratios = {}
    for case in BESIDE_FLOORS:
        try:
            found = spine(["--quick", "--only", case.split()[1 if case.startswith("shm") else 0].rstrip(",")])
            ratios[case] = next(row["ratio"] for row in found if row["case"] == case)
        except (NotMeasured, StopIteration) as reason:
            ratios[case] = f"not measured: {reason}"
    return ratios


def floor_rows(ratios):
    """The ratios to the floors as rows of the targets."""
    rows = []
    for case, what in BESIDE_FLOORS.items():
        ratio = ratios.get(case, "not measured: left out of this run")
        failed = isinstance(ratio, str)
        rows.append([what, "-", "-", "-" if failed else ratio, "at least 0.9", ratio if failed else "met" if ratio >= 0.9 else "missed"])
    return rows


def targets(results, ratios, base):
    """What was promised: ours, theirs, their ratio, and whether it is enough."""
    def row(what, own, theirs, bound, at_least=True):
        (own_name, own_size, figure), (name, size, other) = own, theirs
        left, right = results.value(own_name, own_size, figure), results.value(name, size, other)
        sign = "-" if bound is None else f"at {'least' if at_least else 'most'} {bound}"
        if left is None or right is None:
            missing = results.why(*own[:2]) if left is None else results.why(*theirs[:2])
            return [what, left, right, "-", sign, missing]
        ratio = left / right
        if bound is None:
            return [what, left, right, ratio, sign, "-"]
        met = ratio >= bound if at_least else ratio <= bound
        return [what, left, right, ratio, sign, "met" if met else "missed"]

    big = 128 * MIB
    rate = lambda name, size=big: (name, size, "gb_per_s")
    small = lambda name: (name, SMALL, "p50_us")
    by_hand = base.get("shm in and out 128 MiB")
    own = results.value("Flexpath shm, put_copy", big, "gb_per_s")
    rows = [
        *floor_rows(ratios),
        ["put_copy to the floor of the same bench, 128 MiB, GB/s", own, by_hand, own / by_hand if own and by_hand else "-", "-", "-"],
        row("put_copy to SST's Put, 128 MiB, GB/s", rate("Flexpath shm, put_copy"), rate("SST"), 6),
        row("loan to SST's span Put, 128 MiB, GB/s", rate("Flexpath shm, loan"), rate("SST, span Put"), 8),
        row("loan to SST's Put, 128 MiB, GB/s (where there is no span)", rate("Flexpath shm, loan"), rate("SST"), 8),
        row("tcp to SST, 128 MiB, GB/s", rate("Flexpath tcp, loan"), rate("SST"), 2),
        row("4 x 2 to SST, GB/s", rate("4 x 2: Flexpath shm, loan", GRID), rate("4 x 2: SST", GRID), 8),
        row("4 x 2 to MPI_Alltoallw of Open MPI, GB/s", rate("4 x 2: Flexpath shm, loan", GRID), rate("4 x 2: MPI_Alltoallw, Open MPI", GRID), 1.3),
        row("4 x 2 to MPI_Alltoallw of MPICH, whose ranks spin, GB/s", rate("4 x 2: Flexpath shm, loan", GRID), rate("4 x 2: MPI_Alltoallw, MPICH", GRID), 1),
    ]
    for own, bound in (("tcp, event wake", 0.8), ("shm, event wake", 0.5), ("shm, busy poll", 0.05)):
        rows.append(row(f"8 bytes one way, {own}, to SST with TCP_NODELAY, us", small(f"Flexpath {own}"), small("SST, TCP_NODELAY forced"), bound, False))
    rows.append(row("8 bytes one way, event wake, to iceoryx2, us", small("Flexpath shm, event wake"), small("iceoryx2, event wake"), 1.25, False))
    rows.append(row("8 bytes one way, busy poll, to iceoryx2, us", small("Flexpath shm, busy poll"), small("iceoryx2, poll"), 5, False))
    for own, peer, bound in (("equal slots", "event wake", 0.5), ("equal slots, busy poll", "poll", 0.7)):
        for size in (64 * KIB, MIB):
            rows.append(row(f"{size_name(size)}, loan, {own}, to iceoryx2, {peer}, GB/s", rate(f"Flexpath shm, loan, {own}", size), rate(f"iceoryx2, {peer}", size), bound if size == 64 * KIB else None))
    for own, bound in (("loan", None), ("loan, four live steps", 1)):
        rows.append(row(f"{own}, to Zenoh's shared memory, 128 MiB, GB/s", rate(f"Flexpath shm, {own}"), rate("Zenoh shm"), bound))
    for ranks in (1, 16, 64):
        for peer, bound in (("SST", 0.1), ("SST, TCP_NODELAY forced", 0.5)):
            rows.append(row(f"late join to {ranks}, to {peer}, ms", (f"late join to {ranks}: Flexpath", JOIN, "join_ms"), (f"late join to {ranks}: {peer}", JOIN, "join_ms"), bound, False))
    for own in ("loan", "loan, one live step", "put_copy"):
        rows.append(row(f"publisher's memory, 128 MiB, {own}, to SST's, MiB", (f"Flexpath shm, {own}", big, "publisher_mib"), ("SST", big, "publisher_mib"), 0.5, False))
    rows.append(row("loan, one live step, to SST's Put, 128 MiB, GB/s", rate("Flexpath shm, loan, one live step"), rate("SST"), 8))
    rows.append(row("CPU seconds for each GB, both sides, to SST's", ("Flexpath shm, put_copy", big, "cpu_s_per_gb"), ("SST", big, "cpu_s_per_gb"), 0.5, False))
    return rows


def versions(results):
    """What was measured, as it says itself."""
    known = list(results.versions)
    try:
        known.append("UCX " + re.search(r"ersion:? +([0-9.]+)", run(["ucx_info", "-v"], 20)).group(1))
    except (NotMeasured, AttributeError):
        pass
    return ["Flexpath " + run([program(), "--version"], 20).split()[-1], *sorted(known)]


def floor_lines(base):
    """The floors of the machine as rows under the peers'."""
    sized = lambda kind: [base.get(f"{kind} {size_name(size)}") for size in SIZES]
    lines = [["floor: one copy of memory", *sized("memcpy"), "-"],
             ["floor: shared memory, in and out", *sized("shm in and out"), base.get("futex half trip")],
             ["floor: raw socket", *sized("raw socket"), base.get("socket half trip")]]
    return lines if base else []


def markdown(of, results, rows, names, rounds, base):
    columns = [*SIZES, SMALL]
    sized = [name for name in names if not name.startswith(("4 x 2", "late join"))]
    lines = []
    for name in sized:
        wanted = {size for row, sizes, _ in ROWS if row == name for size in sizes}
        bulk = [results.cell(name, size, "gb_per_s") if size in wanted else "-" for size in SIZES]
        bulk[0] = results.with_spread(name, SIZES[0], "gb_per_s") if SIZES[0] in wanted else "-"
        tails = " / ".join(short(results.cell(name, SMALL, figure)) for figure in ("p50_us", "p99_us")) if SMALL in wanted else "-"
        if results.value(name, SMALL, "p50_us") is None:
            tails = results.cell(name, SMALL, "p50_us")
        lines.append([name, *bulk, tails])
    others = [[name, results.cell(name, GRID, "gb_per_s"), "GB/s"] for name in names if name.startswith("4 x 2")]
    others += [[name, results.cell(name, JOIN, "join_ms"), "ms"] for name in names if name.startswith("late join")]
    return "\n".join([
        "# Beside the peers", "", "Written by `make bench-peers`; docs/performance.md says how and what was compared.", "",
        f"{machine_line(of)}. {rounds} rounds in turns; shown is the middle one, of 64 KiB with the least and the most. Right before a row others used at most {results.busiest():.0f} % of the machine.", "",
        "Versions: " + ", ".join(versions(results)) + ".", "", "## Targets", "",
        table(["what", "ours", "theirs", "ratio", "target", ""], rows), "## One to one", "",
        "GB/s as the receiver sees it, all bytes written afresh (but UCX's) and copied out; 8 bytes: microseconds one way, p50 / p99.", "",
        table(["", *(size_name(size) for size in SIZES), "8 B"], lines + floor_lines(base)), "## Cohorts", "",
        "4 x 2: 256x256x128 elements of 8 bytes in crossing blocks. Late join: from opening to first data, for the first subscriber of a stream that has been published for a while. One rank publishes a step every ms, several publish one every 10 ms.", "",
        table(["", "", ""], others), "![peers](peers.svg)", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, to see that it works")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-s", type=int, default=1200, help="no round is begun that would probably end later")
    parser.add_argument("--only", action="append", default=[], help="rows with this word in their name")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "docs/performance")
    options = parser.parse_args()
    adopt()
    chosen = [row for row in ROWS if not options.only or any(word in row[0] for word in options.only)]
    results, of, began = Results(), machine(), time.monotonic()
    base, ratios = {}, {}
    if not options.only:
        print("the floors of this machine", flush=True)
        base, ratios = floors(options.quick), floor_ratios()
    rounds = Rounds(1 if options.quick else options.rounds, options.budget_s, time.monotonic() - began)
    progress = Progress(rounds.wanted * sum(len(sizes) for _, sizes, _ in chosen))
    for number in rounds:
        for name, sizes, measure in chosen:
            for size in sizes:
                progress.say(f"round {number + 1}: {name}, {size_name(size) if size else 'join'}")
                results.take(name, size, measure)
    names = list(dict.fromkeys(name for name, _, _ in ROWS))
    rows = targets(results, ratios, base)
    text = markdown(of, results, rows, names, rounds.done, base)
    options.folder.mkdir(parents=True, exist_ok=True)
    keyed = lambda of: [{"case": name, "bytes": size, "found": found} for (name, size), found in of.items()]
    whole = {"machine": of, "rounds": rounds.done, "floors": base, "versions": versions(results), "rows": keyed(results.found), "not_measured": [{**row, "printed": results.printed.get((row["case"], row["bytes"]), "")} for row in keyed(results.failed)],
             "targets": [dict(zip(("what", "ours", "theirs", "ratio", "target", "verdict"), row)) for row in rows]}
    (options.folder / "peers.json").write_text(json.dumps(whole, indent=1) + "\n")
    (options.folder / "peers.md").write_text(text)
    series = {name: [(size, results.value(name, size, "gb_per_s")) for size in SIZES] for name in names if not name.startswith(("4 x 2", "late"))}
    series |= {name: list(zip(SIZES, sizes)) for name, *sizes, _ in floor_lines(base)}
    plot(options.folder / "peers.svg", "One to one, every byte written afresh and copied out", "bytes a step", "GB/s", series)
    print(text)
    print(f"{time.monotonic() - began:.0f} s, written to {options.folder}")
    if not options.quick and not keep("peers", [(row[0], row[5]) for row in rows]):
        sys.exit(1)


if __name__ == "__main__":
    main()
