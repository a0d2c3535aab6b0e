"""Publishes the temperature of a rod that cools: ten steps. Waits for its first subscriber."""

import numpy

import flexpath

cells = numpy.arange(400.0)

with flexpath.publish("heat", min_subscribers=1) as out:
    for number in range(10):
        with out.step() as s:
            s.put("temperature", 300.0 + cells / (1 + number), unit="K", dims=("x",))
            s["time"] = 0.1 * number
