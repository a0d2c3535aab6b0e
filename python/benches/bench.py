#!/usr/bin/env python3
"""Measures what Python costs: beside the same in Rust (`floor.rs`), and beside the same in Python by ADIOS2's SST.

Sides take turns within one run. Writes python.json and python.md into the folder (docs/performance), and ends with 1
where a target is missed that was met before. It measures the package that is installed beside this interpreter.
`make bench-python` builds and installs it first.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/bench"))

from figures import busy_percent, machine, machine_line, quietness, size_name, table  # noqa: E402
from processes import NotMeasured, Progress, Rounds, adopt, finish, last_words, run, tidied  # noqa: E402
from targets import keep  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BUILT = ROOT / "target/python"
MIB = 1 << 20
SMALL, LARGE = 8, 128 * MIB
PATIENCE_S = 120
# A build of all of Flexpath may come first.
BUILD_PATIENCE_S = 1800
# What the allocator may keep beside what is used: tests/endurance.rs has the same.
ALLOCATOR_KIB = 1024
# Both sides fill memory of the same pages: numpy would ask for huge ones, and Rust does not.
SAME_PAGES = {"NUMPY_MADVISE_HUGEPAGE": "0"}


@dataclass
class Effort:
    """How much of everything is done."""

    rounds: int
    small_steps: int
    large_steps: int
    bulk_steps: dict[int, int]
    counting_s: float
    growing_steps: int


FULL = Effort(7, 500, 8, {MIB: 600, LARGE: 16}, 2.0, 10_000)
QUICK = Effort(1, 50, 2, {MIB: 40, LARGE: 3}, 0.3, 500)


def floor():
    """The program in Rust: built as the package is, unless FLOOR names one."""
    if "FLOOR" in os.environ:
        return os.environ["FLOOR"]
    env = {"CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(BUILT / "cargo"))}
    command = ["cargo", "bench", "--locked", "--manifest-path", ROOT / "python/Cargo.toml", "--bench", "floor"]
    said = run([*command, "--no-run", "--message-format", "json"], BUILD_PATIENCE_S, env)
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return next(line["executable"] for line in lines if line.get("executable"))


def adios2():
    """An interpreter that has the wheel adios2, and the environment in which SST does not delay small messages."""
    folder, without_delay = BUILT / "adios2", BUILT / "nodelay.so"
    interpreter = folder / "bin/python"
    if not (folder / "made").exists():
        run([sys.executable, "-m", "venv", folder], PATIENCE_S)
        run([interpreter, "-m", "pip", "install", "-q", "adios2>=2.12,<2.13", "numpy"], BUILD_PATIENCE_S)
        (folder / "made").touch()
    run(["cc", "-O2", "-shared", "-fPIC", ROOT / "benches/peers/nodelay.c", "-o", without_delay, "-ldl"], PATIENCE_S)
    return interpreter, {"LD_PRELOAD": str(without_delay)}


# A side of a stream: its command, given the file into which it writes what it found.
Side = Callable[[pathlib.Path], list]


def in_python(name, **words) -> Side:
    return lambda file: [sys.executable, "-B", HERE / "roles.py", name, f"file={file}",
                         *(f"{word}={value}" for word, value in words.items())]


def in_rust(*words) -> Side:
    if words[0] == "publish":
        return lambda _: [PROGRAMS["floor"], *words]
    return lambda file: [PROGRAMS["floor"], *words, file]


def in_sst(side, stream, **words) -> Side:
    return lambda file: [PROGRAMS["adios2"], "-B", HERE / "sst.py", side, f"stream={stream}", f"file={file}",
                         *(f"{word}={value}" for word, value in words.items())]


# Programs by name, once they are built.
PROGRAMS: dict[str, object] = {}


def begin(command, cores, env, inside, outside):
    """Starts a side on these cores."""
    return subprocess.Popen(
        [str(word) for word in command], env={**os.environ, **env}, text=True, errors="replace", stdin=inside,
        stdout=outside, stderr=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )


def cores_of(number, pinned):
    """The cores of each side: one for each where they are pinned, else all."""
    cores = sorted(os.sched_getaffinity(0))
    return [{cores[side % len(cores)]} if pinned else set(cores) for side in range(number)]


def pipes(number, crossed):
    """Standard input and output of each side. Where they are crossed each has the other's output as its input."""
    if not crossed:
        return [(subprocess.DEVNULL, subprocess.DEVNULL)] * number
    (from_first, first), (from_second, second) = os.pipe(), os.pipe()
    return [(from_second, first), (from_first, second)]


def together(*sides, env=None, crossed=False):
    """Runs sides of a stream beside each other; what the last one found, and then the others.

    Crossed sides hear each other by standard input and output, and have a core each.
    """
    with tidied(), tempfile.TemporaryDirectory(prefix="flexpath-bench-") as folder:
        place = pathlib.Path(folder)
        (place / "rendezvous").mkdir()
        env = {"FLEXPATH_RENDEZVOUS": str(place / "rendezvous"), **(env or {})}
        files = [place / f"{number}.json" for number in range(len(sides))]
        ends, streams = [], pipes(len(sides), crossed)
        try:
            for side, file, cores, stream in zip(sides, files, cores_of(len(sides), crossed), streams, strict=True):
                ends.append(begin(side(file), cores, env, *stream))
            for stream in streams if crossed else ():
                os.close(stream[0]), os.close(stream[1])
            wait_for(ends)
        finally:
            for end in ends:
                finish(end)
        return [json.loads(file.read_text()) for file in reversed(files) if file.exists()]


def wait_for(ends):
    """Until all have ended well. The last one measures: the others may wait for it for ever where it fails."""
    until = time.monotonic() + PATIENCE_S
    for end in reversed(ends):
        try:
            _, said = end.communicate(timeout=max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise NotMeasured(f"a side took longer than {PATIENCE_S} s") from None
        if end.returncode != 0:
            raise NotMeasured(last_words(end, said), said)


def waiting(side, what, length, steps):
    """Microseconds to take an array of a step that waits, in another process: the middle of many."""
    publisher = in_rust("publish", "bench", length)
    subscriber = in_rust("subscribe", "bench", what, steps)
    if side == "Python":
        subscriber = in_python("subscribe", what=what, bytes=length, steps=steps)
    taken, *_ = together(publisher, subscriber, crossed=True, env=SAME_PAGES)
    return statistics.median(taken) / 1e3


def alone(side, length, steps):
    """The same with both sides in one process."""
    words = {"what": "get", "bytes": length, "steps": steps}
    taken, = together(in_python("alone", **words) if side == "Python" else in_rust("alone", *words.values()))
    return statistics.median(taken) / 1e3


def counting(effort):
    """The speed of a thread that counts beside a wait, as a share of its speed alone."""
    found, = together(in_python("counting", seconds=effort.counting_s))
    return found["beside"] / found["alone"]


def growing(effort):
    """What each side has more after all steps than after a tenth of them: the larger of both."""
    both = together(in_python("growing_publisher", steps=effort.growing_steps),
                    in_python("growing_subscriber", steps=effort.growing_steps))
    return {what: max(side[what] for side in both) for what in both[0]}


# Live steps: with each system three arrays are on the way. A loan is filled as a step of the stream's. With `put`, and
# with SST, the publisher fills an array of its own beside two steps that wait.
LIVE = {"loan": 3, "copy": 2}


def bulk(effort, length, put, how):
    """Gigabytes a second through a stream of ours, Python to Python."""
    words = {"bytes": length, "steps": effort.bulk_steps[length], "warm": 8}
    subscriber = in_python("bulk_subscriber", how=how, live=LIVE[put], **words)
    found, *_ = together(in_python("bulk_publisher", put=put, **words), subscriber)
    return found["gb_per_s"]


def bulk_sst(effort, length, without_delay):
    """The same through SST."""
    if "adios2" not in PROGRAMS:
        PROGRAMS["adios2"], PROGRAMS["without delay"] = adios2()
    words = {"bytes": length, "steps": effort.bulk_steps[length], "warm": 8}
    with tempfile.TemporaryDirectory(prefix="flexpath-bench-") as folder:
        sides = [in_sst(side, f"{folder}/s", **words) for side in ("writer", "reader")]
        found, *_ = together(*sides, env=PROGRAMS["without delay"] if without_delay else {})
    PROGRAMS["version"] = found["version"]
    return found["gb_per_s"]


@dataclass
class Row:
    """A line of the report: ours, what it is compared with, and the figure that has a target."""

    what: str
    ours: float
    baseline: float | str
    figure: float
    target: str = "-"
    verdict: str = "-"


def row(what, ours, baseline, figure, at_most=None, at_least=None):
    if at_most is None and at_least is None:
        return Row(what, ours, baseline, figure)
    met = figure <= at_most if at_least is None else figure >= at_least
    target = f"at most {at_most}" if at_least is None else f"at least {at_least}"
    return Row(what, ours, baseline, figure, target, "met" if met else "missed")


def middle(found, side):
    return statistics.median(found[side])


def each_round(found, side, other, made_of):
    """The middle of a figure that is made of both sides of a round, which saw the same machine."""
    return statistics.median(map(made_of, found[side], found[other]))


def above_rust(what, at_most=None):
    """A row: how much longer Python takes, in microseconds."""
    return lambda found: [row(f"{what}, above Rust, us", middle(found, "Python"), middle(found, "Rust"),
                              each_round(found, "Python", "Rust", lambda ours, rust: ours - rust), at_most)]


def to_rust(what, at_most):
    """A row: how many times as long Python takes."""
    return lambda found: [row(f"{what}, to Rust", middle(found, "Python"), middle(found, "Rust"),
                              each_round(found, "Python", "Rust", lambda ours, rust: ours / rust), at_most)]


def as_it_is(what, at_most=None, at_least=None):
    """A row: the figure itself, beside Rust's where there is one."""
    return lambda found: [row(what, middle(found, "Python"), middle(found, "Rust") if "Rust" in found else "-",
                              middle(found, "Python"), at_most, at_least)]


def growth_rows(steps):
    """A row for each thing that may not grow."""
    limits = {
        "resident_kib": ("memory, KiB", ALLOCATOR_KIB),
        "descriptors": ("descriptors", 0),
        "segments": ("segments", 0),
    }

    def rows(found):
        grown, = found["Python"]
        return [row(f"{steps:,} steps more: {name}", grown[what], "-", grown[what], limit)
                for what, (name, limit) in limits.items()]
    return rows


def bulk_rows(length):
    """Rows: each way of ours beside the better of SST's two."""
    size = size_name(length)

    def rows(found):
        theirs = max(("SST", "SST, TCP_NODELAY forced"), key=lambda side: middle(found, side))
        return [row(f"steps of {size}, {ours}, to SST, GB/s", middle(found, ours), middle(found, theirs),
                    each_round(found, ours, theirs, lambda own, sst: own / sst), at_least=bound)
                for ours, bound in (("loan, read into", 5), ("put, read into", None), ("loan, view", None))]
    return rows


@dataclass
class Case:
    """Sides that take turns, and the rows that are made of what they found."""

    name: str
    sides: dict[str, Callable[[], object]]
    rows: Callable[[dict[str, list]], list[Row]]
    rounds: int
    found: dict[str, list] = field(default_factory=dict)
    failed: NotMeasured | None = None
    busy: float = 0.0

    def measure(self, number):
        """A round: each side once, in another order each time."""
        names = list(self.sides)
        for name in names if number % 2 else reversed(names):
            self.busy = max(self.busy, busy_percent() or 0.0)
            self.found.setdefault(name, []).append(self.sides[name]())


def against_rust(measure, *words):
    return {side: lambda side=side: measure(side, *words) for side in ("Rust", "Python")}


def bulk_sides(effort, length):
    return {
        "loan, read into": lambda: bulk(effort, length, "loan", "into"),
        "put, read into": lambda: bulk(effort, length, "copy", "into"),
        "loan, view": lambda: bulk(effort, length, "loan", "view"),
        "SST": lambda: bulk_sst(effort, length, False),
        "SST, TCP_NODELAY forced": lambda: bulk_sst(effort, length, True),
    }


def cases(effort):
    """The table of what is measured."""
    small, large, rounds = effort.small_steps, effort.large_steps, effort.rounds
    few = min(3, rounds)
    return [
        Case("get", against_rust(waiting, "get", SMALL, small), above_rust("get of a waiting 8 B", 4.0), rounds),
        Case("get in one process", against_rust(alone, SMALL, small),
             above_rust("get of a waiting 8 B in one process"), rounds),
        Case("into", against_rust(waiting, "into", LARGE, large),
             to_rust("read into of a waiting 128 MiB", 1.05), rounds),
        Case("view", against_rust(waiting, "view", LARGE, large),
             as_it_is("view of a waiting 128 MiB, us", 30.0), rounds),
        Case("counting", {"Python": lambda: counting(effort)},
             as_it_is("another thread's speed during a wait", at_least=0.9), few),
        Case("growth", {"Python": lambda: growing(effort)}, growth_rows(effort.growing_steps), 1),
        *[Case(f"bulk {size_name(length)}", bulk_sides(effort, length), bulk_rows(length), few)
          for length in effort.bulk_steps],
    ]


def measured(case, progress, budget_s):
    """Measures all rounds of a case; its rows, or none."""
    try:
        for number in Rounds(case.rounds, budget_s):
            progress.say(f"{case.name}, round {number + 1} of {case.rounds}")
            case.measure(number)
        return case.rows(case.found)
    except (NotMeasured, OSError, ValueError, KeyError) as reason:
        case.failed = reason if isinstance(reason, NotMeasured) else NotMeasured(repr(reason))
        print(f"not measured: {case.name}: {case.failed}", flush=True)
        return []


def markdown(of, done, rows):
    cells = [[one.what, one.ours, one.baseline, one.figure, one.target, one.verdict] for one in rows]
    failed = [f"* {case.name}: not measured: {case.failed}" for case in done if case.failed]
    busiest = max((case.busy for case in done), default=0.0)
    return "\n".join([
        "# Python", "", "Written by `make bench-python`; docs/performance.md says what is compared.", "",
        f"{machine_line(of)}. Sides take turns; shown is the middle of the rounds. Right before a turn others used at "
        f"most {busiest:.0f} % of the machine. Python {sys.version.split()[0]}, ADIOS2 {PROGRAMS.get('version', '-')}.",
        "", table(["what", "ours", "baseline", "figure", "target", ""], cells), *failed])


def write(folder, of, done, rows, is_quick):
    folder.mkdir(parents=True, exist_ok=True)
    text = markdown(of, done, rows)
    whole = {
        "machine": of, "quick": is_quick, "adios2": PROGRAMS.get("version"), "rows": [vars(one) for one in rows],
        "found": {case.name: {"busy_percent": case.busy, "sides": case.found} for case in done},
        "not_measured": [{"case": case.name, "why": str(case.failed), "printed": case.failed.printed}
                         for case in done if case.failed],
    }
    (folder / "python.json").write_text(json.dumps(whole, indent=1) + "\n")
    (folder / "python.md").write_text(text.rstrip() + "\n")
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="each once with few repetitions, to see that it works")
    parser.add_argument("--budget-s", type=int, default=150, help="no round of a case is begun that would end later")
    parser.add_argument("--only", action="append", default=[], help="cases with this word in their name")
    parser.add_argument("--folder", type=pathlib.Path, help="docs/performance; of a part, target/python/bench")
    options = parser.parse_args()
    adopt()
    folder = options.folder or (BUILT / "bench" if options.quick or options.only else ROOT / "docs/performance")
    PROGRAMS["floor"] = floor()
    of, began = machine(), time.monotonic()
    print(f"the machine is {quietness(of['busy_percent'] or 0.0)}, load {of['load']}", flush=True)
    known = cases(QUICK if options.quick else FULL)
    chosen = [case for case in known if any(word in case.name for word in options.only or [""])]
    progress, rows = Progress(sum(case.rounds for case in chosen)), []
    for case in chosen:
        rows += measured(case, progress, options.budget_s)
    write(folder, of, chosen, rows, options.quick)
    print(f"{time.monotonic() - began:.0f} s, written to {folder}")
    if not options.quick and not keep("python", [(one.what, one.verdict) for one in rows]):
        sys.exit(1)


if __name__ == "__main__":
    main()
