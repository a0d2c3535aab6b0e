"""Over shared memory nothing is copied: views of another process's arrays, how long they live, what they hold up."""

import gc
import os
import re
import threading
from pathlib import Path

import flexpath
import numpy as np
import pytest
from children import eventually

ELEMENTS = (128 << 20) // 8

#: A publisher that lends memory for 128 MiB a step, and a few steps more when it is told to.
BIG = """
import itertools, sys
import flexpath, numpy
elements = int(sys.argv[2])
with flexpath.publish(sys.argv[1], min_subscribers=1) as publisher:
    number = 0
    for line in itertools.chain(["1"], sys.stdin):
        for _ in range(int(line)):
            with publisher.step() as step, step.loan("x", (4, elements // 4), "f8") as lent:
                lent[...] = number
                lent[-1, -1] = 1.5
            number += 1
        print("published")
"""

#: A publisher of many small steps, of every way to put.
SMALL = """
import sys
import flexpath, numpy
array = numpy.arange(1000.0)
with flexpath.publish(sys.argv[1], min_subscribers=1) as publisher:
    for number in range(int(sys.argv[2])):
        with publisher.step() as step:
            array[0] = number
            step["x"] = array
            step.put("gaps", array[::2], attrs={"number": number % 3})
            step.put("itself", array.copy(), copy=False)
            with step.loan("lent", (1000,)) as lent:
                lent[...] = array
            step["number"], step["text"] = number, f"step {number}"
    sys.stdin.readline()
"""


def is_zero_copy(array):
    """Whether the memory of an array is mapped, and no copy."""
    while not hasattr(array, "is_zero_copy"):
        array = array.obj if isinstance(array, memoryview) else array.base
    return array.is_zero_copy


def segments(pid):
    """The segments of shared memory that a process maps."""
    return set(re.findall(r" (\d+) +/memfd:", Path(f"/proc/{pid}/maps").read_text()))


def footprint(pid):
    """Resident MiB, open descriptors and mapped segments."""
    resident = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(resident[1]) / 1024, len(os.listdir(f"/proc/{pid}/fd")), len(segments(pid))


def test_a_view_of_another_process(start_program, stream):
    publisher = start_program(BIG, stream, str(ELEMENTS))
    subscriber = flexpath.subscribe(stream, transports="shm", limit_steps=4)
    step = subscriber.next_step(60.0)
    array = step["x"]
    before = subscriber.statistics()
    view = array.view()
    after = subscriber.statistics()
    assert view.shape == (4, ELEMENTS // 4) and view.nbytes == 128 << 20
    assert is_zero_copy(view) and after["views"] - before["views"] == 1
    for counted in ("get_copied_bytes", "received_bytes", "staged_bytes", "gathered_bytes"):
        assert after[counted] == before[counted], counted
    assert (view[0, 0], view[-1, -1]) == (0.0, 1.5)
    assert subscriber.transports()[0].startswith("transport=shm")

    again, row = array.view(), array.view(np.s_[2])
    assert again.ctypes.data == view.ctypes.data
    assert is_zero_copy(row) and row.ctypes.data == view[2].ctypes.data
    assert array.view(np.s_[1:3, None]).shape == (2, 1, ELEMENTS // 4)
    assert not is_zero_copy(array.view(np.s_[:, :2])), "what does not lie in one piece is fetched"

    assert not view.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1.0
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    with pytest.raises(ValueError, match="WRITEABLE"):
        row.flags.writeable = True

    shared = np.from_dlpack(view)
    assert shared.ctypes.data == view.ctypes.data and not shared.flags.writeable

    step.release()
    del step, array, again, row, view
    publisher.say("3")
    for _ in range(3):
        with subscriber.next_step(60.0) as step:
            assert step["x"].view(np.s_[0])[7] == step.number
    assert shared[0, 0] == 0.0 and shared[2, 5] == 0.0 and shared[-1, -1] == 1.5
    subscriber.close()
    assert shared[3, 4] == 0.0, "a view is there after its subscriber"
    del shared
    gc.collect()


def test_memory_is_used_again_and_not_mapped_anew(start_program, stream):
    publisher = start_program(BIG, stream, str(1 << 20))
    with flexpath.subscribe(stream, transports="shm") as subscriber:
        found = set()
        for _ in range(20):
            with subscriber.next_step(60.0) as step:
                found.add(step["x"].view().ctypes.data)
            assert publisher.line() == "published"
            publisher.say("1")
        assert len(found) < 10 and len(segments(os.getpid()) & segments(publisher.pid)) < 10


def test_a_get_into_memory_that_is_given_is_one_copy(start_program, stream):
    start_program(BIG, stream, str(1 << 20))
    with flexpath.subscribe(stream, transports="shm") as subscriber:
        with subscriber.next_step(60.0) as step:
            before = subscriber.statistics()
            out = np.empty((4, 1 << 18))
            step["x"].read(out=out)
            after = subscriber.statistics()
            assert out[-1, -1] == 1.5
            assert after["get_copied_bytes"] - before["get_copied_bytes"] == out.nbytes
            mine = step["x"][...]
            assert mine.flags.writeable and not is_zero_copy(mine)
        mine[0] = 3.0


@pytest.mark.parametrize("transport", ["inproc", "shm"])
def test_a_view_holds_its_step_and_the_publisher_says_who_does(stream, transport):
    with flexpath.publish(stream, close_timeout=10.0) as publisher:
        options = {"limit_steps": 1, "transports": transport, "policy": flexpath.EveryStep(60.0), "name": "viewer"}
        with flexpath.subscribe(stream, **options) as subscriber:
            with publisher.step() as step:
                step["x"] = np.arange(100_000.0)
            with subscriber.next_step(30.0) as step:
                view = step["x"].view()[10:]
            begun = threading.Event()

            def begin():
                with publisher.step() as step:
                    begun.set()
                    step["x"] = np.zeros(100_000)

            thread = threading.Thread(target=begin)
            with pytest.raises(flexpath.TimedOut, match="for steps to be released: subscription 2: steps 0"):
                publisher.sync(0.05)
            thread.start()

            def waits():
                ranks = [rank for of in flexpath.status(stream)["cohorts"] if of["publishes"] for rank in of["ranks"]]
                return [wait for rank in ranks for wait in rank["waits"]]

            (wait,) = eventually(waits, "the status says what is waited for")
            assert (wait["on"]["Release"]["label"], wait["on"]["Release"]["live_steps"]) == ("viewer", 1)
            assert not begun.is_set()
            assert view[0] == 10.0
            del view
            assert begun.wait(30.0)
            thread.join(30.0)
            with subscriber.next_step(30.0) as step:
                assert step["x"][5] == 0.0


def test_ten_thousand_steps_leave_nothing_behind(start_program, stream, capsys):
    publisher = start_program(SMALL, stream, "10000")
    measured = {}
    with flexpath.subscribe(stream, transports="shm") as subscriber:
        for step in subscriber:
            if step.number in (2000, 9999):
                gc.collect()
                measured[step.number] = footprint(os.getpid()), footprint(publisher.pid)
            assert step["x"].view()[0] == step.number == int(step["number"])
            if step.number % 10 == 0:
                assert step["lent"][::4].size == 250 and step["itself"].view()[1] == 1.0
                assert step["gaps"].attrs == {"number": step.number % 3} and str(step["text"]) == f"step {step.number}"
            if step.number == 9999:
                publisher.say("end")
    for who, early, late in zip(("subscriber", "publisher"), measured[2000], measured[9999], strict=True):
        with capsys.disabled():
            print(f"\n{who}: {late[0] - early[0]:+.1f} MiB, descriptors and segments {early[1:]}, {late[1:]}", end="")
        assert late[0] - early[0] < 6.0
        assert late[1] <= early[1] and late[2] <= early[2]
    assert publisher.finish().returncode == 0
