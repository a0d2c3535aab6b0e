"""One side of a stream by ADIOS2's SST, in Python: the same loop as the bulk sides of `roles.py`.

usage: sst.py writer|reader stream=PATH bytes=N steps=N warm=N file=PATH

It runs in an environment of its own, which has the wheel adios2. The settings are those that docs/performance.md
names: BP5, the WAN data plane, two steps in the queue, a writer that waits, deferred puts and gets.
"""

import json
import pathlib
import sys
import time

import adios2
import numpy

SETTINGS = {
    "QueueLimit": "2",
    "QueueFullPolicy": "Block",
    "DataTransport": "WAN",
    "MarshalMethod": "BP5",
    "RendezvousReaderCount": "1",
    "OpenTimeoutSecs": "60",
}


def check(array, number):
    """As that of `roles.py`."""
    seen = array[:: max(1, len(array) // 64)]
    assert (seen == number).all() and array[-1] == number, f"step {number} has {seen} and {array[-1]}"


def write(io, stream, length, steps):
    """Publishes steps as fast as they go, each written afresh."""
    array = numpy.zeros(length)
    variable = io.define_variable("x", array, [length], [0], [length], True)
    engine = io.open(stream, adios2.bindings.Mode.Write)
    for number in range(steps):
        array.fill(number)
        engine.begin_step()
        engine.put(variable, array, adios2.bindings.Mode.Deferred)
        engine.end_step()
    engine.close()
    return {}


def read(io, stream, length, steps, warm):
    """Takes steps as fast as they go: gigabytes a second from the last warm step's data to the last one's."""
    place, had = numpy.zeros(length), 0.0
    engine = io.open(stream, adios2.bindings.Mode.Read)
    for number in range(warm + steps):
        status = engine.begin_step(adios2.bindings.StepMode.Read, 60.0)
        assert status == adios2.bindings.StepStatus.OK, f"no step: {status}"
        engine.get(io.inquire_variable("x"), place, adios2.bindings.Mode.Deferred)
        engine.perform_gets()
        had = time.perf_counter()
        engine.end_step()
        check(place, number)
        if number + 1 == warm:
            began = had
    engine.close()
    return {"gb_per_s": length * 8 * steps / (had - began) / 1e9, "version": adios2.__version__}


def main():
    side, *words = sys.argv[1:]
    given = dict(word.split("=", 1) for word in words)
    length, steps, warm = int(given["bytes"]) // 8, int(given["steps"]), int(given["warm"])
    io = adios2.Adios().declare_io("bench")
    io.set_engine("SST")
    io.set_parameters(SETTINGS)
    if side == "writer":
        found = write(io, given["stream"], length, warm + steps)
    else:
        found = read(io, given["stream"], length, steps, warm)
    pathlib.Path(given["file"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
