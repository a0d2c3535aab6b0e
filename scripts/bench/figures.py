"""What the benches share: running things, medians, Markdown tables, and plots as SVG without any library."""

import json
import math
import os
import pathlib
import statistics
import tempfile
import time

from processes import NotMeasured, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLOURS = ["#1b6ca8", "#c8553d", "#2a9d5c", "#8e5ea2", "#b8860b", "#5f6b6d", "#d6336c", "#0b7285", "#a05a2c", "#364fc7"]
# A machine is quiet if others use at most so much of all cores.
QUIET_PERCENT = 10
SIZES = [8, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 128 << 20, 256 << 20]


def size_name(len_bytes):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if len_bytes >= unit:
            return f"{len_bytes // unit} {name}"
    return f"{len_bytes} B"


def short(value):
    """Three digits, or what could not be measured as it is."""
    if value is None:
        return "-"
    if isinstance(value, (str, int)):
        return str(value)
    if value != value:
        return "-"
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def program():
    """The command: that of the release profile, unless FLEXPATH names another."""
    return os.environ.get("FLEXPATH", ROOT / "target/release/flexpath")


def flexpath(arguments, timeout_s=120):
    """One run of `flexpath bench`, as it reports it."""
    command = [program(), "bench", "--json", "--timeout", timeout_s]
    return json.loads(run([*command, *arguments], timeout_s + 20))


def spine(words, timeout_s=900):
    """Rows of the spine's bench, as it writes them."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rows.json"
        run(["cargo", "bench", "-p", "flexpath", "--bench", "spine", "--", *words, "--json", file], timeout_s)
        return json.loads(file.read_text())["rows"]


def floors(quick):
    """What the machine itself gives, by name; nothing where that could not be measured."""
    try:
        found = spine(["--quick", "--only", "floors", *(["--rounds", 1] if quick else [])])
    except NotMeasured as reason:
        print(f"floors not measured: {reason}", flush=True)
        return {}
    return {row["case"].removeprefix("floor "): row["ours"] for row in found}


def median_of(found, path):
    """The middle of one figure over several reports; a path is `latency_us.p50`."""
    values = []
    for report in found:
        value = report["figures"]
        for word in path.split("."):
            value = value[word]
        if value is not None:
            values.append(value)
    return statistics.median(values) if values else None


def machine():
    """The machine in a line, with what else was running."""
    def word(path, default=""):
        try:
            return pathlib.Path(path).read_text()
        except OSError:
            return default
    model = next((line.split(":", 1)[1].strip() for line in word("/proc/cpuinfo").splitlines()
                  if line.startswith("model name")), "unknown processor")
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": word("/proc/sys/kernel/osrelease").strip(),
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "load": word("/proc/loadavg").split()[0] if word("/proc/loadavg") else "unknown",
        "busy_percent": busy_percent(1.0),
    }


def busy_percent(seconds=0.2):
    """The share of all cores that is in use in the next so many seconds, in percent; none where the system does not tell."""
    def ticks():
        with open("/proc/stat") as file:
            user, nice, system, idle, waiting, *others = map(int, file.readline().split()[1:])
        return user + nice + system + sum(others[:3]), idle + waiting
    try:
        before = ticks()
        time.sleep(seconds)
        busy, idle = (now - then for now, then in zip(ticks(), before))
    except (OSError, ValueError):
        return None
    return 100 * busy / max(1, busy + idle)


def until_quiet(patience_s=120):
    """Waits until nothing of what ran before is at work any more, or says that it still is."""
    until = time.monotonic() + patience_s
    while (busy := busy_percent(2.0)) is not None and busy > QUIET_PERCENT:
        if time.monotonic() > until:
            print(f"{busy:.0f} % of the machine are still in use: measured all the same", flush=True)
            return
        print(f"{busy:.0f} % of the machine are in use: waiting", flush=True)


def quietness(busy):
    """Whether that is quiet, with the number that says so."""
    return f"{'quiet' if busy <= QUIET_PERCENT else 'not quiet'} ({busy:.0f} % in use)"


def machine_line(of):
    busy = of.get("busy_percent")
    used = "" if busy is None else f", {quietness(busy)} in the second before"
    return f"{of['processor']}, {of['cores']} cores, Linux {of['kernel']}; {of['date']}{used}"


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(short(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def ticks(low, high):
    """Powers of ten from below the lowest to above the highest."""
    return [10.0 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def plot(path, title, x_label, y_label, series, x_name=size_name, look=None):
    """Lines over two logarithmic axes; `series` has a list of (x, y) for each name, the unmeasured left out. `look` gives
    the number of a series's colour and whether it is dashed, by number and name."""
    look = look or (lambda number, name: (number, name.startswith("floor")))
    width, height, left, right, top, bottom = 860, 480, 70, 250, 44, 56
    series = {name: [(x, y) for x, y in points if isinstance(y, (int, float)) and y > 0] for name, points in series.items()}
    series = {name: points for name, points in series.items() if points}
    if not series:
        return
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points]
    y_ticks = ticks(min(ys), max(ys))
    y_ticks = y_ticks if len(y_ticks) > 1 else [y_ticks[0], y_ticks[0] * 10]
    span = math.log(xs[-1] / xs[0]) or 1.0
    at_x = lambda x: left + (width - left - right) * math.log(x / xs[0]) / span
    at_y = lambda y: height - bottom - (height - top - bottom) * math.log(y / y_ticks[0]) / math.log(y_ticks[-1] / y_ticks[0])
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="24" font-size="15">{escape(title)}</text>']
    for y in y_ticks:
        out.append(f'<path d="M{left} {at_y(y):.1f}H{width - right}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 8}" y="{at_y(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in xs:
        out.append(f'<path d="M{at_x(x):.1f} {top}V{height - bottom}" stroke="#eee"/>')
        out.append(f'<text x="{at_x(x):.1f}" y="{height - bottom + 18}" text-anchor="middle" font-size="10">{escape(x_name(x))}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">{escape(x_label)}</text>')
    out.append(f'<text transform="translate(18 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>')
    for number, (name, points) in enumerate(series.items()):
        chosen, dashed = look(number, name)
        colour, dash = COLOURS[chosen % len(COLOURS)], ' stroke-dasharray="6 3"' if dashed else ""
        line = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in sorted(points))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        y = top + 8 + 18 * number
        out.append(f'<path d="M{width - right + 14} {y}h22" stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{width - right + 42}" y="{y + 4}">{escape(name)}</text>')
    pathlib.Path(path).write_text("\n".join(out) + "\n</svg>\n")
