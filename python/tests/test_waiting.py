"""Waits: Ctrl-C ends them, other threads run meanwhile, and tasks of an event loop wait without holding it up."""

import signal
import threading
import time

import flexpath
import pytest
from children import eventually

#: The library ends a wait within 0.1 s of wall time. The rest is for a machine that has other things to do.
LIMIT_SECONDS = 1.0

#: A program that waits in the main thread, says so before, and says when it heard of Ctrl-C.
WAITS = """
import sys, time
import flexpath, numpy
stream = sys.argv[1]
{before}
print("waits")
try:
    {wait}
except KeyboardInterrupt:
    print(time.monotonic())
    raise
print("it went on")
"""

OPEN = 'subscriber = flexpath.subscribe(stream, transports="tcp", fetch_timeout=100)'
PUBLISH = "publisher = flexpath.publish(stream, min_subscribers=1, limit_wait=1000.0, close_timeout=100.0)"
STEP = """
with publisher.step() as step:
    step["x"] = numpy.arange(10.0)
"""

BLOCKED = """
import threading
thread = threading.Thread(target=publisher.step, daemon=True)
thread.start()
thread.join(1.0)
assert thread.is_alive()
"""

#: A publisher that has published a step with an array of 64 MiB, and stays.
BIG = """
import sys
import flexpath, numpy
with flexpath.publish(sys.argv[1], transports="tcp", min_subscribers=1) as publisher:
    with publisher.step() as step:
        step["x"] = numpy.arange(8 << 20, dtype="f8")
    print("published")
    sys.stdin.readline()
"""

#: A subscriber that holds a step.
HOLDS = """
import sys
import flexpath
with flexpath.subscribe(sys.argv[1], limit_steps=1, policy=flexpath.EveryStep(1000.0)) as subscriber:
    step = subscriber.next_step(timeout=60.0)
    print("holds")
    sys.stdin.readline()
"""


def end_by_ctrl_c(child, capsys, what):
    """Send Ctrl-C to a program that waits: it ends at once, as Python programs do by Ctrl-C."""
    assert child.line() == "waits"
    child.waits()
    sent = time.monotonic()
    child.signal(signal.SIGINT)
    heard = float(child.line(30.0)) - sent
    ended = child.finish(30.0)
    took = time.monotonic() - sent
    with capsys.disabled():
        print(f"\n{what}: heard after {1000 * heard:.0f} ms, ended after {1000 * took:.0f} ms", end="")
    assert ended.returncode == -signal.SIGINT, ended
    assert ended.stdout == ""
    assert ended.stderr.endswith("\nKeyboardInterrupt\n"), ended.stderr
    assert heard < LIMIT_SECONDS and took < 2 * LIMIT_SECONDS, (heard, took)


def waits(*texts):
    return pytest.mark.parametrize("wait", texts)


@waits(
    "flexpath.subscribe(stream, open_timeout=100)",
    "flexpath.publish(stream, min_subscribers=1, open_timeout=100)",
    "flexpath.publish(stream).wait_for_subscriptions(1, 100)",
    "flexpath.publish(stream, cohort=(0, 2), open_timeout=100)",
    "flexpath.subscribe(stream, cohort=(1, 2), open_timeout=100)",
)
def test_ctrl_c_ends_an_opening(start_program, stream, capsys, wait):
    end_by_ctrl_c(start_program(WAITS.format(before="", wait=wait), stream), capsys, wait)


@waits(
    "subscriber.next_step(100.0)",
    "for step in subscriber: pass",
    "exec('with subscriber: subscriber.next_step()')",
    "import asyncio; asyncio.run(subscriber.next_step_async(100.0))",
)
def test_ctrl_c_ends_the_wait_for_a_step(start_program, stream, capsys, wait):
    with flexpath.publish(stream):
        end_by_ctrl_c(start_program(WAITS.format(before=OPEN, wait=wait), stream), capsys, wait)


@waits("publisher.step()", "publisher.sync(100)", "publisher.close()", "exec('with publisher: publisher.step()')")
def test_ctrl_c_ends_what_a_slow_subscriber_holds_up(start_program, stream, capsys, wait):
    holder = start_program(HOLDS, stream)
    child = start_program(WAITS.format(before=PUBLISH + STEP, wait=wait), stream)
    assert holder.line() == "holds"
    end_by_ctrl_c(child, capsys, wait)


@waits(
    "step['x'][...]",
    "step['x'].read(out=numpy.empty(8 << 20))",
    "step['x'].view()",
    "step.fetch('x', timeout=100)",
    "step['x'].astype('c16')[::3]",
)
def test_ctrl_c_ends_a_get_from_a_publisher_that_stands_still(start_program, stream, capsys, wait):
    publisher = start_program(BIG, stream)
    before = OPEN + "\nstep = subscriber.next_step(60.0)\nlen(step)\nprint('has')\nsys.stdin.readline()"
    child = start_program(WAITS.format(before=before, wait=wait), stream)
    assert publisher.line() == "published"
    assert child.line() == "has"
    publisher.stop()
    child.say("go on")
    end_by_ctrl_c(child, capsys, wait)


@waits("flexpath.status(stream, timeout=20)", "flexpath.find(flexpath.RecordType('a', {'b': float}), timeout=20)")
def test_ctrl_c_ends_a_question_to_a_publisher_that_stands_still(start_program, stream, capsys, wait):
    publisher = start_program("import flexpath, sys\np = flexpath.publish(sys.argv[1])\nprint('open')\ninput()", stream)
    assert publisher.line() == "open"
    publisher.stop()
    end_by_ctrl_c(start_program(WAITS.format(before="", wait=wait), stream), capsys, wait)


def test_ctrl_c_ends_a_wait_where_another_thread_imported_the_package(start_program, stream, capsys):
    wait = "flexpath.subscribe(stream, open_timeout=100)"
    imported = """
import threading
other = threading.Thread(target=lambda: __import__("flexpath"))
other.start()
other.join()
"""
    end_by_ctrl_c(start_program(imported + WAITS.format(before="", wait=wait), stream), capsys, "imported elsewhere")


def test_a_handler_that_does_not_raise_lets_the_wait_go_on(start_program, stream):
    source = """
import signal, sys
import flexpath
signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
with flexpath.subscribe(sys.argv[1]) as subscriber:
    print("waits")
    print(subscriber.next_step(60.0).number)
"""
    with flexpath.publish(stream) as publisher:
        child = start_program(source, stream)
        assert child.line() == "waits"
        child.waits()
        child.signal(signal.SIGUSR1)
        assert child.line() == "handled"
        with publisher.step():
            pass
        assert child.line() == "0"
        assert child.finish().returncode == 0


class Counter:
    """A thread that counts, as fast as it can."""

    def __init__(self):
        self.count, self._is_over = 0, False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._is_over:
            self.count += 1

    def rate_during(self, call):
        """How much it counts in a second, while that call is made."""
        count, began = self.count, time.monotonic()
        call()
        return (self.count - count) / (time.monotonic() - began)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._is_over = True
        self._thread.join(60.0)


def assert_others_run(capsys, what, wait):
    """While a call waits, another thread counts as if it were alone."""
    idle = threading.Event()
    ratios = []
    with Counter() as counter:
        while len(ratios) < 4 and max(ratios, default=0.0) < 0.9:
            before = counter.rate_during(lambda: idle.wait(1.0))
            during = counter.rate_during(wait)
            after = counter.rate_during(lambda: idle.wait(1.0))
            ratios.append(2.0 * during / (before + after))
    with capsys.disabled():
        print(f"\nanother thread counts while {what}: {max(ratios):.2f} of what it counts alone", end="")
    # 0.9 and more on a machine with nothing else to do.
    assert max(ratios) >= 0.7, ratios


def test_other_threads_run_while_a_step_is_awaited(stream, capsys):
    with flexpath.publish(stream), flexpath.subscribe(stream) as subscriber:

        def wait():
            with pytest.raises(flexpath.TimedOut, match="no step came within 2.0 s"):
                subscriber.next_step(2.0)

        assert_others_run(capsys, "a step is awaited", wait)


def test_other_threads_run_while_a_step_cannot_begin(stream, capsys):
    with flexpath.publish(stream) as publisher:

        def wait():
            slow = flexpath.subscribe(stream, limit_steps=1, policy=flexpath.EveryStep(2.0))
            publisher.step().end()
            began = time.monotonic()
            publisher.step().end()
            assert 1.5 < time.monotonic() - began
            slow.close()

        assert_others_run(capsys, "a step cannot begin", wait)


def test_ctrl_c_ends_the_wait_for_another_threads_call(start_program, stream, capsys):
    """The handle is in the midst of a call of another thread, which waits for room."""
    holder = start_program(HOLDS, stream)
    before = PUBLISH + STEP + BLOCKED
    child = start_program(WAITS.format(before=before, wait="publisher.statistics()"), stream)
    assert holder.line() == "holds"
    end_by_ctrl_c(child, capsys, "publisher.statistics()")


def test_a_handler_that_uses_the_handle_whose_call_it_interrupts_is_told(start_program, stream):
    holder = start_program(HOLDS, stream)
    before = PUBLISH + STEP + "import signal; signal.signal(signal.SIGUSR1, lambda *_: publisher.statistics())"
    wait = "publisher.step()\nexcept flexpath.Misuse as error:\n    print(error); publisher._drop(); sys.exit()"
    child = start_program(WAITS.format(before=before, wait=wait), stream)
    assert holder.line() == "holds" and child.line() == "waits"
    child.waits()
    child.signal(signal.SIGUSR1)
    assert child.line(30.0).startswith("a handler of a signal uses the handle whose call it interrupts: raise there")
    assert child.finish(30.0).returncode == 0


def test_other_threads_run_while_bytes_are_awaited(start_program, stream, capsys):
    publisher = start_program(BIG, stream)
    with flexpath.subscribe(stream, transports="tcp", fetch_timeout=2.0) as subscriber:
        step = subscriber.next_step(60.0)
        array = step["x"]
        assert publisher.line() == "published"
        publisher.stop()

        def wait():
            with pytest.raises(flexpath.TimedOut):
                array[...]

        assert_others_run(capsys, "bytes are awaited", wait)
        publisher.signal(signal.SIGCONT)
        assert array[-1] == (8 << 20) - 1


def test_a_wait_in_a_thread_does_not_keep_others_from_the_subscriber(stream):
    with flexpath.publish(stream) as publisher, flexpath.subscribe(stream) as subscriber:
        steps, outcomes = [], []

        def loop():
            for step in subscriber:
                steps.append(step.number)
            with pytest.raises(flexpath.Misuse, match="the subscriber was closed"):
                subscriber.next_step(60.0)
            outcomes.append("ended")

        thread = threading.Thread(target=loop)
        thread.start()
        publisher.step().end()
        eventually(lambda: steps, "the step was taken")
        began = time.monotonic()
        assert subscriber.statistics()["steps"] == 1
        subscriber.close()
        thread.join(30.0)
        assert outcomes == ["ended"] and time.monotonic() - began < 10.0
