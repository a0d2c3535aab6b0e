"""Forks, threads on one handle, and the end of the interpreter: in processes of their own, whose end is looked at."""

import flexpath
import pytest
from children import eventually
from test_bad_input import BEGIN, passes

FORK = BEGIN + """
import multiprocessing, traceback, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any fork beside threads
fork = multiprocessing.get_context("fork")

def in_a_child(function):
    ours, theirs = fork.Pipe()

    def run():
        try:
            theirs.send(function())
        except Exception as error:
            theirs.send(f"{type(error).__name__}: {error}")

    child = fork.Process(target=run)
    child.start()
    assert ours.poll(20.0), "the child said nothing"
    child.join(20.0)
    assert child.exitcode == 0, child.exitcode
    return ours.recv()
"""


@pytest.mark.parametrize("transport", ["inproc", "shm", "tcp"])
def test_handles_in_a_forked_child_say_so_and_the_parent_goes_on(run_program, stream, transport):
    source = """
    put([1.0])
    step, writer = take(), publisher.step()
    writer["x"] = [2.0]
    array = step["x"]
    calls = [
        lambda: publisher.step(), lambda: publisher.sync(1.0), lambda: publisher.statistics(),
        lambda: publisher.events(), lambda: publisher.has_subscribers(), lambda: take(),
        lambda: subscriber.poll(), lambda: next(subscriber),
        lambda: subscriber.statistics(), lambda: subscriber.events(), lambda: subscriber.transports(),
        lambda: array[...], lambda: step["x"][...], lambda: array.view(), lambda: step.fetch("x"),
        lambda: writer.put("y", 1), lambda: writer.loan("y", (3,)).__enter__(), lambda: writer.end(),
    ]
    for call in calls:
        said = in_a_child(call)
        assert said.startswith("Misuse: stream ") and "belongs to the parent process" in said, said
    for harmless in (publisher.close, subscriber.close, step.release, writer.abandon, lambda: repr([publisher, step])):
        in_a_child(harmless)

    def drop_all():
        global publisher, subscriber, step, array, writer
        del publisher, subscriber, step, array, writer
        return "dropped"

    assert in_a_child(drop_all) == "dropped"
    assert array[0] == 1.0
    step.release()
    writer.end()
    with take() as step:
        assert step["x"][0] == 2.0
    """
    passes(run_program, stream, source, before=FORK.replace("limit_steps=8", f"transports={transport!r}"))


def test_a_view_is_there_in_a_forked_child(run_program, stream):
    source = """
    put([1.0] * 100_000)
    step = take()
    view = step["x"].view()
    address, (start, end) = view.ctypes.data, (0, 0)
    for line in open("/proc/self/maps"):
        if "memfd:" in line:
            start, end = (int(word, 16) for word in line.split()[0].split("-"))
            if start <= address < end:
                break
    assert start <= address < end, "it lies in shared memory"
    assert in_a_child(lambda: view.sum()) == 100_000.0

    def drop_it():
        global view, step
        del view, step
        return "dropped"

    assert in_a_child(drop_it) == "dropped"
    assert view.sum() == 100_000.0
    step.release()
    del view
    put([4.0])
    with take() as step:
        assert step["x"][0] == 4.0
    """
    passes(run_program, stream, source, before=FORK.replace("limit_steps=8", "transports='shm'"))


def test_a_fork_beside_a_thread_that_waits(run_program, stream):
    source = """
    waiting = threading.Thread(target=lambda: subscriber.next_step(30.0).release())
    waiting.start()
    for _ in range(10):
        assert "belongs to the parent process" in in_a_child(take)
        assert "belongs to the parent process" in in_a_child(subscriber.statistics)
    put(1)
    waiting.join(20.0)
    """
    passes(run_program, stream, source, before=FORK)


def test_a_forked_child_opens_its_own(run_program, stream):
    source = """
    def follow():
        with flexpath.subscribe(sys.argv[1], start_at="oldest", open_timeout=20.0) as own:
            with own.next_step(20.0) as step:
                return step["x"][...].tolist()

    with flexpath.publish(sys.argv[1] + "-2", reserve_steps=1) as publisher:
        sys.argv[1] += "-2"
        put([1, 2, 3])
        assert in_a_child(follow) == [1, 2, 3]
    """
    passes(run_program, stream, source, before=FORK)


def test_a_child_that_runs_on_to_the_end_of_the_program_ends_nothing_of_the_parents(run_program, stream):
    source = """
    with flexpath.publish(sys.argv[1] + "-2") as other:
        child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert status == 0
        put(1)
        with take() as step:
            assert int(step["x"]) == 1
    """
    passes(run_program, stream, source, before=FORK)


def test_a_spawned_child_opens_its_own(run_program, stream):
    source = """
    import multiprocessing
    import sys
    import flexpath

    def follow(name, found):
        with flexpath.subscribe(name) as subscriber:
            found.put([step["x"][...].tolist() for step in subscriber])

    if __name__ == "__main__":
        spawn = multiprocessing.get_context("spawn")
        found = spawn.Queue()
        child = spawn.Process(target=follow, args=(sys.argv[1], found))
        child.start()
        with flexpath.publish(sys.argv[1], min_subscribers=1) as publisher:
            for number in range(3):
                with publisher.step() as step:
                    step["x"] = [number] * 3
        assert found.get(timeout=20.0) == [[number] * 3 for number in range(3)]
        child.join(20.0)
        assert child.exitcode == 0
    """
    passes(run_program, stream, source, before="")


THREADS = BEGIN + """
def in_threads(*functions):
    errors = []

    def run(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(25.0)
        assert not thread.is_alive()
    return errors
"""


def test_threads_that_take_from_one_subscriber(run_program, stream):
    source = """
    taken = []

    def publish():
        with publisher:
            for number in range(400):
                put(number)

    def take_some():
        for step in iter(lambda: subscriber.next_step(20.0), None):
            with step:
                taken.append(int(step["x"]))

    errors = in_threads(publish, *[take_some] * 4)
    assert [type(error) for error in errors] == [flexpath.EndOfStream] * 4, errors
    assert sorted(taken) == list(range(400))
    """
    passes(run_program, stream, source, before=THREADS)


def test_threads_that_read_one_step(run_program, stream):
    source = """
    put(np.arange(100_000.0).reshape(100, -1))
    with take() as step:
        def read():
            for row in range(100):
                assert step["x"][row, ::3][1] == 1000 * row + 3
                assert step["x"].view(row)[1] == 1000 * row + 1

        assert in_threads(*[read] * 4) == []

    put(np.arange(1000.0))
    step = take()

    def read_until_released():
        while True:
            assert step["x"][-1] == 999.0

    errors = in_threads(read_until_released, read_until_released, lambda: step.release())
    assert [type(error) for error in errors] == [flexpath.Misuse] * 2, errors
    """
    passes(run_program, stream, source, before=THREADS)


def test_threads_that_use_one_publisher(run_program, stream):
    source = """
    over = threading.Event()

    def look():
        while not over.is_set():
            assert publisher.has_subscribers() and publisher.statistics()["steps"] <= 200
            publisher.events(), publisher.transports()

    def publish():
        for number in range(200):
            put(number)
        over.set()

    def follow():
        for number in range(200):
            with take() as step:
                assert int(step["x"]) == number

    assert in_threads(look, look, publish, follow) == []

    step = publisher.step()
    parts = [lambda at=at: step.put("x", np.full(10, at), start=(10 * at,), shape=(80,)) for at in range(8)]
    assert in_threads(*parts) == []
    step.end()
    with take() as step:
        assert step["x"][::10].tolist() == list(range(8))

    def begin():
        publisher.step().end()

    errors = in_threads(*[begin] * 4)
    assert all(isinstance(error, flexpath.Misuse) and "still open" in str(error) for error in errors), errors
    errors = in_threads(*[publisher.close] * 4, *[subscriber.close] * 4)
    assert errors == [], errors
    """
    passes(run_program, stream, source, before=THREADS)


DAEMON = """
def daemon(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
"""


@pytest.mark.parametrize(
    "source",
    [
        "",
        "put(1)\nstep = take()",
        "put(1)\nkept = [take()['x'].view()]\nkept.append(kept)",
        "step = publisher.step()\nstep['x'] = 1",
        "step = publisher.step()\nloan = step.loan('x', (3,))\narray = loan.__enter__()",
        "array = np.arange(100_000.0)\nput(array, copy=False)\nstep = take()\nview = step['x'].view()",
        "put(np.zeros(10))\nsteps = iter(subscriber)\nstep = next(steps)\narray = step['x']",
        "daemon(lambda: [step for step in subscriber])",
        "daemon(lambda: publisher.wait_for_subscriptions(2, 100.0))",
        "[put(1) for _ in range(8)]\ndaemon(publisher.step)",
        "def follow():\n    for step in subscriber: assert step['x'][...].size == 1000\n"
        "def publish():\n    while True: put(np.zeros(1000))\n"
        "daemon(follow)\ndaemon(publish)",
        "import asyncio\nasync def wait():\n    async for step in subscriber: pass\n"
        "daemon(lambda: asyncio.run(wait()))",
        "class Late:\n    def __del__(self): self.publisher.close()\n"
        "late = Late()\nlate.publisher, late.itself = publisher, late",
        "sys.modules['late'] = [publisher, subscriber]\nimport gc\ngc.disable()",
        "import atexit\natexit.register(lambda: (put(1), take().release()))",
        "publisher.close()\nlist(subscriber)",
        "del publisher\ndel subscriber",
    ],
)
def test_the_interpreter_ends(run_program, stream, source):
    passes(run_program, stream, source + "\nprint('done')", "done\n", deadline=10.0, before=BEGIN + DAEMON)


@pytest.mark.parametrize(
    "source",
    [
        "for step in subscriber: pass",
        "subscriber.next_step()",
        "subscriber.next_step(100.0)",
        "asyncio.run(subscriber.next_step_async(100.0))",
        "flexpath.subscribe('nobody', open_timeout=100.0)",
        "flexpath.publish('else', min_subscribers=1, open_timeout=100.0)",
        "exec('with subscriber: list(subscriber)')",
        "exec('with subscriber.next_step(100.0): pass')",
    ],
)
def test_the_interpreter_ends_while_a_daemon_thread_waits(run_program, stream, source):
    before = "import asyncio, sys, threading, flexpath\nsubscriber = flexpath.subscribe(sys.argv[1])\n"
    source = f"def wait():\n    {source}\ndaemon(wait)\nprint('done')"
    with flexpath.publish(stream) as publisher:
        passes(run_program, stream, source, "done\n", deadline=10.0, before=before + DAEMON)
        eventually(lambda: not publisher.has_subscribers(), "it is noticed that nobody is there")


def test_the_status_is_the_programs(run_program, stream):
    for source, status in (("sys.exit(3)", 3), ("os._exit(4)", 4), ("put(1)\nstep = take()\nraise SystemExit(5)", 5)):
        ended = run_program(BEGIN + source, stream, deadline=10.0)
        assert (ended.returncode, ended.stdout, ended.stderr) == (status, "", "")


def test_what_was_published_is_delivered_though_nobody_closed(start_program, stream):
    source = """
import sys, flexpath
publisher = flexpath.publish(sys.argv[1], min_subscribers=1)
for number in range(4):
    with publisher.step() as step:
        step["x"] = number
print("end")
"""
    publisher = start_program(source, stream)
    with flexpath.subscribe(stream) as subscriber:
        assert publisher.line() == "end"
        assert [int(step["x"]) for step in subscriber] == [0, 1, 2, 3]
    assert publisher.finish().returncode == 0


#: A worker that says that it has a step, and fails when it is told to.
FAILS = """
import sys, flexpath

def fail(value):
    print("has")
    sys.stdin.readline()
    raise KeyError(value)
"""

RAISES = {
    "in a loop": """
for step in flexpath.subscribe(sys.argv[1], share="workers"):
    fail(int(step["x"]))
""",
    "in a loop of a function": """
def work():
    for step in flexpath.subscribe(sys.argv[1], share="workers"):
        fail(int(step["x"]))
work()
""",
    "in a block of the subscriber": """
with flexpath.subscribe(sys.argv[1], share="workers") as subscriber:
    for step in subscriber:
        fail(int(step["x"]))
""",
    "in a block of the step": """
subscriber = flexpath.subscribe(sys.argv[1], share="workers")
with subscriber.next_step(30.0) as step:
    fail(int(step["x"]))
""",
    "after a step was taken": """
subscriber = flexpath.subscribe(sys.argv[1], share="workers", explicit_done=True)
step = subscriber.next_step(30.0)
fail(int(step["x"]))
""",
    "in a task": """
import asyncio
async def work():
    async for step in flexpath.subscribe(sys.argv[1], share="workers"):
        fail(int(step["x"]))
asyncio.run(work())
""",
}


@pytest.mark.parametrize("source", RAISES.values(), ids=RAISES)
def test_a_step_whose_worker_raises_comes_to_another(start_program, stream, source):
    with flexpath.publish(stream) as publisher:
        worker = start_program(FAILS + source, stream)
        assert publisher.wait_for_subscriptions(1, 60.0) == 1
        with publisher.step() as step:
            step["x"] = 7
        assert worker.line() == "has"
        with flexpath.subscribe(stream, share="workers", explicit_done="explicit_done" in source) as other:
            worker.say("fail")
            ended = worker.finish()
            assert ended.returncode == 1 and ended.stderr.endswith("\nKeyError: 7\n"), ended
            with other.next_step(30.0) as step:
                assert int(step["x"]) == 7 and step.is_redelivered
                step.done()


def test_a_step_whose_worker_ends_well_is_done(start_program, stream):
    with flexpath.publish(stream) as publisher:
        source = """
import sys, flexpath
for step in flexpath.subscribe(sys.argv[1], share="workers"):
    print("has")
    sys.stdin.readline()
    break
"""
        worker = start_program(source, stream)
        assert publisher.wait_for_subscriptions(1, 60.0) == 1
        publisher.step().end()
        assert worker.line() == "has"
        with flexpath.subscribe(stream, share="workers") as other:
            worker.say("end")
            assert worker.finish().returncode == 0
            publisher.step().end()
            with other.next_step(30.0) as step:
                assert step.number == 1 and not step.is_redelivered
