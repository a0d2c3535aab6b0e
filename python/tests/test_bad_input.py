"""Programs that do wrong things: each in a process of its own, whose status and standard error are looked at."""

import textwrap

import pytest

#: What most programs begin with: a publisher and a subscriber of one stream, and a step that the subscriber has.
BEGIN = """
import os, sys, threading
import flexpath
import numpy as np
publisher = flexpath.publish(sys.argv[1], close_timeout=10.0)
subscriber = flexpath.subscribe(sys.argv[1], limit_steps=8)

def put(value, **words):
    with publisher.step() as step:
        step.put("x", value, **words)

def take():
    return subscriber.next_step(timeout=30.0)
"""


def fails(run_program, stream, source, error, before=BEGIN):
    """The program ends by this error, and by nothing else."""
    ended = run_program(before + textwrap.dedent(source), stream)
    assert ended.returncode == 1, ended
    assert ended.stdout == ""
    assert ended.stderr.startswith("Traceback (most recent call last):\n"), ended.stderr
    assert ended.stderr.count("Traceback") == 1, ended.stderr
    said = ended.stderr.strip().splitlines()[-1].replace(stream, "STREAM")
    assert error in said, said


def passes(run_program, stream, source, output="", deadline=30.0, before=BEGIN):
    """The program ends well, with nothing on its standard error."""
    ended = run_program(before + textwrap.dedent(source), stream, deadline=deadline)
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    assert ended.stdout == output, ended.stdout


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("np.array([None, 1])", "there is no element type for object: give an array of numbers"),
        ("None", "there is no element type for object"),
        ("2 ** 70", "there is no element type for object"),
        ("np.array(['2020-01-01'], 'M8[s]')", "there is no element type for datetime64[s]: numbers with a unit go"),
        ("np.array([1], 'm8[h]')", "there is no element type for timedelta64[h]: numbers with a unit go"),
        ("np.array(['a', 'b'])", "there is no element type for <U1: give a text as a str"),
        ("b'abc'", "there is no element type for |S3: give a text as a str; bytes are an array of uint8"),
        ("np.zeros(2, 'V8')", "there is no element type for |V8: convert them"),
        ("np.zeros(2, np.longdouble)", "there is no element type for float128: convert them"),
        ("[[1, 2], [3]]", "this is no array: setting an array element with a sequence"),
        ("np.ma.array([1.0, 2.0], mask=[0, 1])", "a mask cannot be put: give `array.filled(value)`"),
    ],
)
def test_what_has_no_element_type(run_program, stream, value, error):
    fails(run_program, stream, f"put({value})", f"flexpath._errors.Misuse: variable 'x': {error}")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("start=(1, 1), shape=(2, 3)", 'step 0, rank 0, variable "x": region [1:3, 1:4] is not inside shape [2, 3]'),
        ("start=(1,), shape=(2, 3)", "start (1,), shape (2, 3) and an array of shape (2, 3) have different numbers"),
        ("start=(-1, 0), shape=(2, 3)", "start (-1, 0) and shape (2, 3) count from the array's corner: from 0"),
        ("shape=(2,)", "have different numbers of dimensions"),
        ("joined=True, local=True", "it is joined or local, and not both"),
        ("joined=True, start=(0, 0)", "start and shape belong to a global array, and not to this kind"),
        ("dims=('x',)", "dims names 1 dimensions, and the array has 2"),
        ("dims=('x', 'x')", "two dimensions have one name"),
        ("attrs={1: 2}", "attribute 1: the name of an attribute is a text"),
        ("attrs={'a': None}", 'attribute "a": TypeError: NoneType is none of bool, int, float, str, bytes'),
        ("attrs={'a': 2 ** 64}", 'attribute "a": OverflowError'),
    ],
)
def test_what_does_not_fit(run_program, stream, words, error):
    fails(run_program, stream, f"put(np.zeros((2, 3)), {words})", error)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("put(1.5, start=(3,), shape=(10,))", "start (3,), shape (10,) and an array of shape () have different"),
        ("put('text', local=True)", "variable 'x': a text is one value for all ranks"),
        ("put(1.5, joined=True)", "variable 'x': a joined array has rows: give an array of one dimension or more"),
        ("put(np.zeros((1,) * 9))", "9 dimensions, but arrays have at most 8"),
        ("put('x' * 5000)", "Misuse: stream \"STREAM\": the scalars of step 0 take 5001 bytes, more than 4096"),
        ("publisher.step().put('a/b', 1)", "Misuse: variable name: the name \"a/b\" contains '/'"),
        ("publisher.step().put('', 1)", "Misuse: variable name: a name is empty"),
        ("s = publisher.step(); s['x'] = [1]; s['x'] = [2]", 'variable "x": this region was put already'),
        ("s = publisher.step(); s.end(); s.end()", "Misuse: step 0 was ended: begin the next one to put more"),
        ("s = publisher.step(); s.end(); s['x'] = 1", "Misuse: step 0 was ended: begin the next one to put more"),
        ("s = publisher.step(); s.abandon(); s['x'] = 1", "Misuse: step 0 was ended: begin the next one to put more"),
        ("s = publisher.step(); publisher.step()", "step 0: it is still open: end or drop its writer first"),
        (
            "s = publisher.step()\nwith s.loan('x', (2,)) as a:\n    s._native.put_loan(a.base.base.obj)",
            "Misuse: a loan is put twice: ask for a new one for each block",
        ),
        ("s = publisher.step()\nwith s.loan('x', (2,), object): pass", "there is no element type for object"),
        ("publisher.close(); publisher.step()", 'Misuse: stream "STREAM": the publisher was closed: open another one'),
        ("subscriber.close(); take()", "Misuse: stream 'STREAM': the subscriber was closed: subscribe again"),
        ("subscriber.close()\nfor step in subscriber: pass", "the subscriber was closed: subscribe again"),
        ("subscriber.close(); subscriber.statistics()", "the subscriber was closed: subscribe again"),
    ],
)
def test_calls_that_cannot_be_right(run_program, stream, source, error):
    fails(run_program, stream, source, error)


TAKEN = BEGIN + "put(np.arange(6.0).reshape(2, 3))\nstep = take()\n"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("step['x'][5]", "IndexError: x: index 5 is out of bounds for axis 0 with size 2"),
        ("step['x'][0, 0, 0]", "IndexError: x: too many indices for array: array is 2-dimensional, but 3 were indexed"),
        ("step['x']['a']", "IndexError: x: only integers, slices"),
        ("step['x'][[0, 7]]", "IndexError: x: index 7 is out of bounds for axis 0 with size 2"),
        ("step['x'].view(5)", "IndexError: x: index 5 is out of bounds"),
        ("step['y']", "KeyError: \"stream 'STREAM', step 0: there is no variable 'y'; there are: 'x'\""),
        ("float(step['x'])", "can only convert an array of size 1"),
        ("step['x'].read(out=np.zeros(6))", "Misuse: variable 'x': out has shape (6,), and (2, 3) is read"),
        ("step['x'].read(out=np.zeros((2, 3), 'f4'))", "f32 does not hold every f64: that has to be asked for"),
        ("step['x'].read(out=np.zeros((2, 6))[:, ::2])", "Misuse: the memory has gaps: give a contiguous array"),
        ("step['x'].read(out=step['x'].view())", "Misuse: the array to be filled is read-only"),
        ("step['x'].read(out=np.zeros(49, 'u1')[1:].view('f8').reshape(2, 3))", "does not lie as its"),
        ("step['x'].read(out=np.zeros((2, 3)), fill=0)", "Misuse: variable 'x': give out= or fill=, and not both"),
        ("step['x'].astype(object)", "Misuse: variable 'x': there is no element type for object"),
        ("step['x'].view()[0] = 1", "ValueError: assignment destination is read-only"),
        ("step.release(); step['x'][...]", "step 0: it was released. A loop releases the step before as it goes on"),
        ("array = step['x']\nstep.release(); array[...]", "step 0: it was released"),
        ("with step: pass\nstep['x'].shape", "step 0: it was released"),
        ("step.done(); step.done()", "step 0: it was released"),
        ("step.give_back()", "redeliver"),
        ("list(step); subscriber.close(); step['x'][...]", "the subscriber is closed: take what you need of a step"),
        ("put(1)\nfor other in subscriber: break\nother.release(); other['x'][...]", "step 1: it was released"),
        (
            "put(1)\nkept = []\nfor other in subscriber:\n    kept.append(other)\n    put(2)\n"
            "    if len(kept) == 2: kept[0]['x'][...]",
            "step 1: it was released. A loop releases the step before as it goes on: copy what is needed longer",
        ),
    ],
)
def test_steps_that_are_used_wrongly(run_program, stream, source, error):
    fails(run_program, stream, source, error, before=TAKEN)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("flexpath.publish(name, colour=3)", "Misuse: there is no option colour"),
        ("flexpath.subscribe(name, colour=3)", "Misuse: there is no option colour"),
        ("flexpath.publish(name, limit_bytes='a')", "Misuse: option limit_bytes=a: TypeError"),
        ("flexpath.subscribe(name, limit_steps=-1)", "Misuse: option limit_steps=-1: OverflowError"),
        ("flexpath.subscribe(name, open_timeout=-1)", "Misuse: a time of -1 s: give seconds, 0 or more"),
        ("flexpath.subscribe(name, open_timeout=float('nan'))", "Misuse: a time of NaN s"),
        ("flexpath.subscribe(name, policy='often')", "policy='often': there is no such policy; there are: every_step"),
        ("flexpath.subscribe(name, policy=3)", "Misuse: policy=3: give the name of a policy, or one such as"),
        ("flexpath.subscribe(name, policy=flexpath.EveryKth(0))", "EveryKth::every is 0"),
        ("flexpath.subscribe(name, start_at='never')", 'start_at="never": give "next", "oldest", or a step\'s number'),
        ("flexpath.subscribe(name, explicit_done=True)", "explicit_done is for members of a set of workers"),
        (
            "flexpath.subscribe(name, derive={'s': 'vx, | magnitude('})",
            'Misuse: at character 16 of "vx, | magnitude(": something is opened and not closed',
        ),
        ("flexpath.subscribe(name, derive={'s': 'v | twist'})", 'character 5 of "v | twist": "twist" is no operation'),
        ("flexpath.subscribe(name, derive={'s': ('v | max', 'left')})", 'there is no side "left"'),
        ("flexpath.subscribe(name, when='has(x')", '"has(x", character 6: a closing bracket is expected here'),
        ("flexpath.publish(name, transports='pigeon')", "`pigeon` is no transport: a list of inproc, shm"),
        ("flexpath.publish('a/b')", "Misuse: stream name: the name \"a/b\" contains '/'"),
        ("flexpath.publish('')", "Misuse: stream name: a name is empty"),
        ("flexpath.publish(name, cohort=(2, 2))", "Misuse: rank 2 is outside a cohort of 2: ranks are 0 to size - 1"),
        ("flexpath.publish(name, cohort=3)", 'Misuse: cohort=3: give "environment", (rank, size), or a communicator'),
        ("flexpath.publish(name, rendezvous='/not/there')", "Misuse: there is no rendezvous directory /not/there"),
        ("flexpath.publish(name, token_file='/not/there')", "Misuse: no token can be read from /not/there"),
        ("flexpath.subscribe(name, contact='x')", 'option contact="x": a contact begins with `flexpath:1`'),
        ("flexpath.subscribe(name, open_timeout=0.1)", 'rank 0: timed out: no entry of "STREAM"'),
        ("flexpath.publish(name, min_subscribers=1, open_timeout=0.1)", "0 of 1 subscribers attached within"),
        ("a = flexpath.publish(name); flexpath.publish(name)", "the name is taken by process"),
        ("flexpath.status(name)", 'TimedOut: stream "STREAM": nobody publishes it'),
    ],
)
def test_options_that_cannot_be_right(run_program, stream, source, error):
    fails(run_program, stream, source, error, before="import sys, flexpath\nname = sys.argv[1]\n")


def test_a_collective_that_raises_is_the_error_of_the_opening(run_program, stream):
    source = """
    class Broken:
        def Get_rank(self): return 0
        def Get_size(self): return 2
        def Allgather(self, own, everybody): raise RuntimeError("the network is down")
        def Barrier(self): pass
    flexpath.publish(sys.argv[1], cohort=Broken())
    """
    fails(run_program, stream, source, "RuntimeError: the network is down", before="import sys, flexpath\n")


def test_a_collective_that_gives_something_else_is_an_error(run_program, stream):
    source = """
    flexpath.publish(sys.argv[1], cohort=(0, 2), collectives=(lambda own: "a text", lambda: None))
    """
    fails(run_program, stream, source, "str", before="import sys, flexpath\n")


def test_what_is_put_without_a_copy_although_it_has_gaps_is_copied(run_program, stream):
    source = """
    table = np.arange(12.0).reshape(3, 4)
    put(table[:, ::2], copy=False)
    table[...] = 0
    with take() as step:
        assert step["x"][...].tolist() == [[0, 2], [4, 6], [8, 10]]
    assert publisher.statistics()["arranged_bytes"] == 48
    """
    passes(run_program, stream, source)


def test_a_step_whose_block_raises_is_nobodys(run_program, stream):
    source = """
    try:
        with publisher.step() as step:
            step["x"] = np.arange(3)
            raise KeyError("x")
    except KeyError:
        pass
    with publisher.step() as step:
        step["x"] = 2
        step.abandon()
    with publisher.step() as step:
        step["x"] = 3
        step.end()
    with take() as step:
        assert (step.number, step.skipped, int(step["x"])) == (2, 2, 3)
    """
    passes(run_program, stream, source)


def test_an_error_in_the_block_of_a_publisher_or_subscriber_is_the_error(run_program, stream):
    source = """
    with flexpath.publish(sys.argv[1] + "-2") as out, flexpath.subscribe(sys.argv[1] + "-2") as them:
        with out.step() as step:
            step["x"] = 1
        with them.next_step(30.0) as step:
            raise KeyError("mine")
    """
    fails(run_program, stream, source, "KeyError: 'mine'")
