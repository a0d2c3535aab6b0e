"""`flexpath features`, beside an independent program over scipy.ndimage.label: the same events and numbers, to the bit."""

import json
import math
import os
import sys
import threading
from collections import Counter

import flexpath
import numpy
from programs import Program
from scipy import ndimage

#: What a script of blobs has, after its first step.
SCRIPTED = {"birth": 20, "death": 15, "merge": 10, "split": 10}
EXTENT, STEPS, CELL, SIGMA, THRESHOLD = 128, 200, 32, 3.0, 0.5


def cells():
    """The middles of cells, in each of which something happens by itself."""
    middles = numpy.arange(CELL // 2, EXTENT, CELL)
    return [numpy.array(at, dtype=float) for at in numpy.stack(numpy.meshgrid(middles, middles, middles), -1).reshape(-1, 3)]


def blobs(step):
    """Where blobs are in a step: ten pairs that meet and part again, and twenty that come, of which fifteen go."""
    places = cells()
    for number in range(10):
        apart = 9.0 * abs(math.cos(math.pi * (step + 3.0 * number) / 250.0 + 0.1 * (number % 3)))
        axis = numpy.eye(3)[number % 3]
        yield places[number] + axis * apart
        yield places[number] - axis * apart
    for number in range(20):
        born, gone = 3 + 4 * number, 100 + 6 * number if number < 15 else STEPS
        if born <= step < gone:
            drift = numpy.array([0.02, -0.03, 0.025]) * (step - born)
            yield places[20 + number] + drift


def field(step):
    """The greatest of all blobs, each as far as it reaches."""
    made = numpy.zeros((EXTENT,) * 3)
    for middle in blobs(step):
        low = numpy.maximum(numpy.floor(middle).astype(int) - 10, 0)
        high = numpy.minimum(low + 21, EXTENT)
        window = tuple(slice(a, b) for a, b in zip(low, high, strict=True))
        squares = sum(
            (numpy.arange(a, b) - at).reshape([-1 if dim == axis else 1 for dim in range(3)]) ** 2
            for axis, (a, b, at) in enumerate(zip(low, high, middle, strict=True))
        )
        made[window] = numpy.maximum(made[window], numpy.exp(-squares / (2.0 * SIGMA**2)))
    return made


class Reference:
    """Labels by scipy, and ids by the rule of docs/features.md, over one array alone."""

    def __init__(self):
        self.labels, self.ids, self.next = None, [], 1

    def take(self, values):
        labels, count = ndimage.label(values > THRESHOLD)
        # By first elements, in row-major order.
        _, first = numpy.unique(labels[labels > 0], return_index=True)
        order = numpy.argsort(first) + 1
        place = numpy.zeros(count + 1, dtype=int)
        place[order] = numpy.arange(1, count + 1)
        labels = place[labels]
        ids, events = self.follow(labels, count)
        self.labels, self.ids = labels, ids
        windows = ndimage.find_objects(labels)
        return [self.feature(values, labels, at, of, windows[at - 1]) for at, of in enumerate(ids, 1)], events

    def follow(self, labels, count):
        shared = Counter()
        if self.labels is not None:
            both = (self.labels > 0) & (labels > 0)
            pairs, counts = numpy.unique(numpy.stack([self.labels[both], labels[both]]), axis=1, return_counts=True)
            shared = {(a - 1, b - 1): n for a, b, n in zip(*pairs.tolist(), counts.tolist(), strict=True)}
        ids, kept, events = {}, set(), []
        largest = sorted(shared, key=lambda pair: (-shared[pair], self.ids[pair[0]], pair[1]))
        for before, now in largest:
            if now not in ids and before not in kept:
                ids[now] = self.ids[before]
                kept.add(before)
        for now in range(count):
            if now not in ids:
                ids[now], self.next = self.next, self.next + 1
                of = [pair for pair in largest if pair[1] == now]
                events.append(("split", self.ids[of[0][0]], ids[now]) if of else ("birth", ids[now], None))
        for before, gone in enumerate(self.ids):
            if before not in kept:
                of = sorted((-n, ids[b]) for (a, b), n in shared.items() if a == before)
                events.append(("merge", of[0][1], gone) if of else ("death", gone, None))
        return [ids[now] for now in range(count)], events

    def feature(self, values, labels, label, of, window):
        places = numpy.argwhere(labels[window] == label) + [part.start for part in window]
        inside = values[tuple(places.T)]
        volume = len(places)
        return {
            "id": of,
            "volume": volume,
            "centroid": [float(sum(column)) / float(volume) for column in places.T.tolist()],
            "low": places.min(axis=0).tolist(),
            "high": (places.max(axis=0) + 1).tolist(),
            "min": float(inside.min()),
            "min_place": places[int(inside.argmin())].tolist(),
            "max": float(inside.max()),
            "max_place": places[int(inside.argmax())].tolist(),
            "peak": float(inside.max()),
            "peak_place": places[int(inside.argmax())].tolist(),
            "mean": math.fsum(inside.tolist()) / float(volume),
            **second_moments(places, inside),
        }


def second_moments(places, inside):
    """Covariances of coordinates and the variance of elements: as integers, rounded once, so to the bit; and as numpy has them."""
    count, columns = len(places), places.T.tolist()
    covariance = [[rounded(count, one, other) / float(count * count) for other in columns] for one in columns]
    # Beyond a half a number is a whole multiple of 2^-53.
    units = [int(element) for element in (inside * 2.0**53).tolist()]
    variance = rounded(count, units, units) / float(count) / float(count) * 2.0**-106
    assert numpy.allclose(covariance, numpy.cov(places.T, bias=True), rtol=1e-12, atol=1e-9)
    assert numpy.isclose(variance, inside.var(), rtol=1e-9, atol=1e-15)
    return {"covariance": covariance, "variance": variance}


def rounded(count, one, other):
    """The numerator of a covariance of integers, which is exact until it is rounded."""
    return float(count * sum(a * b for a, b in zip(one, other, strict=True)) - sum(one) * sum(other))


def told(line):
    """The same of a line that the command printed."""
    of = json.loads(line)
    extrema = ("min", "min_place", "max", "max_place", "peak", "peak_place")
    wanted = ("id", "volume", "centroid", "low", "high", *extrema, "mean", "covariance", "variance")
    events = [(event["event"], event["id"], event.get("other")) for event in of["events"]]
    return of["step"], [{name: feature[name] for name in wanted} for feature in of["features"]], events


def in_order(events):
    return sorted(events, key=lambda event: (["death", "merge", "split", "birth"].index(event[0]), event[1], event[2] or 0))


def publish(stream, fields, cohorts):
    """Publishes the fields to so many analyses."""
    with flexpath.publish(stream, min_subscribers=cohorts, close_timeout=120.0, open_timeout=120.0) as out:
        for values in fields:
            with out.step() as step:
                step.put("x", values)


def test_every_cut_finds_what_scipy_does(stream, rendezvous):
    ranks = (1, 2, 4, 8)
    # Each field is made once, and looked at by the reference as it goes by.
    reference, wanted = Reference(), []

    def fields():
        for number in range(STEPS):
            values = field(number)
            features, events = reference.take(values)
            wanted.append((number, features, in_order(events)))
            yield values

    publisher = threading.Thread(target=publish, args=(stream, fields(), len(ranks)))
    publisher.start()
    asked = [sys.executable, "-m", "flexpath", "features", stream, "--of", f"x > {THRESHOLD}", "--json"]
    os.environ["FLEXPATH_RENDEZVOUS"] = str(rendezvous)
    programs = [Program(*asked[1:], "--as", f"{stream}-{of}", "--ranks", str(of)) for of in ranks]
    said, readers = {}, []
    for of, program in zip(ranks, programs, strict=True):
        # Each fills its pipe: all are read at once.
        readers.append(threading.Thread(target=lambda of=of, program=program: said.update({of: program.output(280.0)})))
        readers[-1].start()
    for thread in [*readers, publisher]:
        thread.join()
    counts = Counter(kind for number, _, events in wanted for kind, *_ in events if number > 0)
    assert dict(counts) == SCRIPTED
    for of in ranks:
        lines = [line for line in said[of].splitlines() if line.startswith("{")]
        assert [told(line) for line in lines] == wanted, f"{of} ranks"
