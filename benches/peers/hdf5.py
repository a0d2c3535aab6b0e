#!/usr/bin/env python3
"""Steps through files on tmpfs, by HDF5: one process writes a file a step, another reads and removes it.

usage: hdf5.py folder=FOLDER bytes=N steps=N. Prints one JSON object.
"""

import json
import multiprocessing
import os
import sys
import time

import h5py
import numpy

WARM_STEPS, LIVE_STEPS, PATIENCE_S = 4, 4, 60


def path(folder, step):
    return os.path.join(folder, f"step-{step}.h5")


def await_that(is_so, what):
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not come about within {PATIENCE_S} s")
        time.sleep(20e-6)


def write(folder, elements, steps):
    own = numpy.empty(elements, dtype="i8")
    for step in range(WARM_STEPS + steps):
        own[:] = step
        own[-1] = -step
        await_that(lambda: step < LIVE_STEPS or not os.path.exists(path(folder, step - LIVE_STEPS)), "room for a file")
        with h5py.File(path(folder, step) + ".part", "w", libver="latest") as file:
            file.create_dataset("x", data=own)
        os.rename(path(folder, step) + ".part", path(folder, step))


def main():
    words = dict(word.split("=", 1) for word in sys.argv[1:])
    folder, elements, steps = words["folder"], int(words["bytes"]) // 8, int(words["steps"])
    own = numpy.full(elements, -1, dtype="i8")
    writer = multiprocessing.Process(target=write, args=(folder, elements, steps), daemon=True)
    writer.start()
    started = 0.0
    for step in range(WARM_STEPS + steps):
        await_that(lambda: os.path.exists(path(folder, step)), f"step {step}")
        with h5py.File(path(folder, step), "r") as file:
            file["x"].read_direct(own)
        os.remove(path(folder, step))
        if (own[:-1] != step).any() or own[-1] != -step:
            raise SystemExit(f"WRONG DATA in step {step}")
        if step + 1 == WARM_STEPS:
            started = time.monotonic()
    seconds = time.monotonic() - started
    writer.join(PATIENCE_S)
    version = f"h5py {h5py.version.version}, HDF5 {h5py.version.hdf5_version}"
    print(json.dumps({"gb_per_s": elements * 8 * steps / seconds / 1e9, "version": version}))


main()
