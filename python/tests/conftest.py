"""What all tests have: a rendezvous of their own, names of streams, and programs in processes of their own."""

import functools
import uuid

import children
import flexpath
import pytest


@pytest.fixture(autouse=True)
def rendezvous(monkeypatch, tmp_path_factory):
    """The directory in which this test's streams are found, and no others."""
    place = tmp_path_factory.mktemp("rendezvous")
    monkeypatch.setenv("FLEXPATH_RENDEZVOUS", str(place))
    return place


@pytest.fixture
def stream():
    """A name that no other stream has."""
    return f"stream-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def run_program(tmp_path):
    """`run_program(source, *arguments)` runs a program to its end, within a deadline: a `CompletedProcess`."""
    return functools.partial(children.run_program, tmp_path)


@pytest.fixture
def start_program(tmp_path):
    """`start_program(source, *arguments)` starts a program, as a `children.Child`. It ends with the test."""
    started = []

    def start(source, *arguments, **options):
        started.append(children.Child(tmp_path, source, *arguments, **options))
        return started[-1]

    yield start
    for child in started:
        child.__exit__()


class Pair:
    """A publisher and a subscriber of one stream, in this process."""

    def __init__(self, stream, **options):
        self.stream = stream
        self.publisher = flexpath.publish(stream, close_timeout=10.0)
        self.subscriber = flexpath.subscribe(stream, **options)

    def put(self, *arguments, **words):
        """Publish a step with one variable, "x"."""
        with self.publisher.step() as step:
            step.put("x", *arguments, **words)

    def take(self):
        """The next step."""
        return self.subscriber.next_step(timeout=30.0)

    def trip(self, *arguments, **words):
        """What is read of a variable that is put."""
        self.put(*arguments, **words)
        with self.take() as step:
            return step["x"][...]

    def close(self):
        """Leave the stream, then close it."""
        self.subscriber.close()
        self.publisher.close()


@pytest.fixture
def pair(stream):
    """A publisher and a subscriber of one stream, in this process."""
    made = Pair(stream)
    yield made
    made.close()
