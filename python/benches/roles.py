"""What `bench.py` runs in processes of their own: the sides of streams in Python. Each writes what it found as JSON.

usage: roles.py NAME word=value...
"""

import contextlib
import gc
import json
import os
import pathlib
import sys
import threading
import time

import numpy

import flexpath

#: No wait is longer.
PATIENCE_S = 60.0
#: From the end of a step until it is taken. Its announcement arrived long before.
SETTLE_NS = 500_000
#: Steps before any is counted.
WARM_STEPS = 20
#: The stream's name: each bench has a rendezvous of its own.
STREAM = "bench"


def settle():
    """Keeps the core busy until a step that was just published has arrived."""
    until = time.perf_counter_ns() + SETTLE_NS
    while time.perf_counter_ns() < until:
        pass


def timed(step, what, place):
    """Takes the array of a step: nanoseconds, and the array."""
    found = None
    began = time.perf_counter_ns()
    if what == "get":
        found = step["x"][...]
    elif what == "into":
        found = step["x"].read(out=place)
    else:
        found = step["x"].view()
    return time.perf_counter_ns() - began, found


def take(subscriber, what, length, steps, ask):
    """Nanoseconds that taking each of the steps took: `ask` publishes one."""
    place = numpy.zeros(length // 8) if what == "into" else None
    taken = []
    for number in range(WARM_STEPS + steps):
        ask()
        settle()
        with subscriber.next_step(PATIENCE_S) as step:
            ns, found = timed(step, what, place)
            assert found[0] == found[-1] == number, f"step {number} has {found[0]} and {found[-1]}"
            found = None
        taken.append(ns)
    return taken[WARM_STEPS:]


def subscribe(what, bytes, steps, **_):
    """Takes steps of a publisher that publishes one for each byte on its standard input."""

    os.set_blocking(0, False)

    def ask():
        os.write(1, b"\1")
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            # The core is not given away meanwhile, so that its caches stay this program's.
            with contextlib.suppress(BlockingIOError):
                assert os.read(0, 1) == b"\1", "the publisher is gone"
                return
        raise TimeoutError("the publisher publishes nothing")

    with flexpath.subscribe(STREAM) as subscriber:
        return take(subscriber, what, int(bytes), int(steps), ask)


def alone(what, bytes, steps, **_):
    """Publisher and subscriber in this process."""
    array, number = numpy.empty(int(bytes) // 8), 0
    with flexpath.publish(STREAM) as out, flexpath.subscribe(STREAM) as subscriber:

        def ask():
            nonlocal number
            array.fill(number)
            with out.step() as step:
                step["x"] = array
            number += 1

        return take(subscriber, what, array.nbytes, int(steps), ask)


def count_for(seconds):
    """How far this thread counts in that time."""
    counted, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(1000):
            counted += 1
    return counted


def counting(seconds, **_):
    """How far a thread counts alone, and while another waits for a step that does not come."""
    seconds, counted = float(seconds), []
    with flexpath.publish(STREAM), flexpath.subscribe(STREAM) as subscriber:
        for waits in (False, True):
            thread = threading.Thread(target=lambda: counted.append(count_for(seconds)))
            thread.start()
            if waits:
                with contextlib.suppress(flexpath.TimedOut):
                    subscriber.next_step(seconds)
            thread.join()
    alone, beside = counted
    return {"alone": alone, "beside": beside}


def belongings():
    """What this process has: resident memory in KiB, descriptors, segments."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return {
        "resident_kib": pages * os.sysconf("SC_PAGE_SIZE") // 1024,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "segments": sum("memfd:" in line for line in maps),
    }


def growth(steps, each):
    """What this process has after a tenth of the steps, and how much more after all: `each` does one."""
    for number in range(steps // 10):
        each(number)
    before = belongings()
    for number in range(steps // 10, steps // 10 + steps):
        each(number)
    return {what: now - before[what] for what, now in belongings().items()}


def growing_publisher(steps, **_):
    """Publishes in each of the ways that there are."""
    array = numpy.zeros((64, 128))
    with flexpath.publish(STREAM, min_subscribers=1) as out:

        def each(number):
            with out.step() as step:
                array.fill(number)
                step.put("copied", array, unit="K", attrs={"scale": 2.5})
                step["every other"] = array[:, ::2]
                step["time"] = float(number)
                step["title"] = f"step {number}"
                with step.loan("lent", array.shape) as lent:
                    lent[...] = number

        return growth(int(steps), each)


def growing_subscriber(steps, **_):
    """Takes in each of the ways that there are."""
    place = numpy.empty((64, 128))
    with flexpath.subscribe(STREAM) as subscriber:

        def each(number):
            with subscriber.next_step(PATIENCE_S) as step:
                step["copied"].read(out=place)
                view = step["lent"].view()
                found = (view[0, 0], place[5, 5], step["every other"][3, ::7][1], float(step["time"]), len(step))
                assert found == (number, number, number, number, 5) and str(step["title"]) == f"step {number}"
                assert step["copied"].attrs == {"scale": 2.5}

        return growth(int(steps), each)


def check(array, number):
    """Whether an array is that of a step: so many elements are looked at as `flexpath bench` does, 65."""
    seen = array[:: max(1, len(array) // 64)]
    assert (seen == number).all() and array[-1] == number, f"step {number} has {seen} and {array[-1]}"


def bulk_publisher(put, bytes, steps, warm, **_):
    """Publishes steps as fast as they go, each written afresh."""
    array = numpy.empty(int(bytes) // 8)
    with flexpath.publish(STREAM, min_subscribers=1) as out:
        for number in range(int(warm) + int(steps)):
            with out.step() as step:
                if put == "loan":
                    with step.loan("x", array.shape) as lent:
                        lent.fill(number)
                else:
                    array.fill(number)
                    step["x"] = array
    return {}


def bulk_subscriber(how, bytes, steps, warm, live, **_):
    """Takes steps as fast as they go: gigabytes a second from the last warm step's data to the last one's."""
    place, had = numpy.zeros(int(bytes) // 8), 0.0
    # All live steps are in hand. Else it sleeps whenever its publisher hears late that it let go of one.
    with flexpath.subscribe(STREAM, limit_steps=int(live), credit_steps=int(live)) as subscriber:
        for number in range(int(warm) + int(steps)):
            with subscriber.next_step(PATIENCE_S) as step:
                found = step["x"].view() if how == "view" else step["x"].read(out=place)
                had = time.perf_counter()
                check(found, number)
                found = None
            if number + 1 == int(warm):
                began = had
    return {"gb_per_s": int(bytes) * int(steps) / (had - began) / 1e9}


ROLES = {role.__name__: role for role in (
    subscribe, alone, counting, growing_publisher, growing_subscriber, bulk_publisher, bulk_subscriber,
)}

if __name__ == "__main__":
    name, *words = sys.argv[1:]
    given = dict(word.split("=", 1) for word in words)
    pathlib.Path(given["file"]).write_text(json.dumps(ROLES[name](**given)))
