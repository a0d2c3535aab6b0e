"""Steering: what is asked of a simulation is seen by it, and what it says comes back."""

import threading

import flexpath
import pytest

PARAMETERS = {"conductivity": (0.0, 10.0), "level": (-3, 3), "melts": bool, "title": str, "stop": None}


class Simulation:
    """Publishes until it is asked to stop, and notes what it saw."""

    def __init__(self, stream):
        self.seen = []
        self._publisher = flexpath.publish(stream, parameters=PARAMETERS, pause=60.0)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        stops = False
        while not stops:
            with self._publisher.step() as step:
                for request in step.requests:
                    self.seen.append((step.number, request.parameter, request.value, request.by))
                    if request.value == "ugly":
                        step.decline(request, "that is no title")
                stops = step.is_asked("stop")

    def end(self):
        self._thread.join(60.0)
        self._publisher.close()


@pytest.fixture
def simulation(stream):
    simulation = Simulation(stream)
    yield simulation
    if simulation._thread.is_alive():
        flexpath.request(stream, "stop", timeout=60.0)
    simulation.end()


def test_values_of_every_kind_are_seen_as_they_were_asked_for(stream, simulation):
    asked = [("conductivity", 2), ("level", -2), ("melts", False), ("title", "a warm day"), ("stop", True)]
    steps = [flexpath.request(stream, name, value, timeout=60.0, name="asker") for name, value in asked]
    simulation.end()
    expected = [(step, name, value, "asker") for step, (name, value) in zip(steps, asked, strict=True)]
    assert simulation.seen == expected
    assert [type(value) for _, _, value, _ in simulation.seen] == [float, int, bool, str, bool]


def test_what_is_not_taken_says_why(stream, simulation):
    with flexpath.subscribe(stream, variables=[], policy="drop_oldest") as subscriber:
        for name, value, words in [
            ("conductivity", 11.0, "a number from 0.0 to 10.0"),
            ("level", 1.5, "a whole number from -3 to 3"),
            ("melts", "yes", "true or false"),
            ("speed", 1.0, "no such parameter, but conductivity"),
            ("pause", 61.0, "at most 60.0"),
            ("title", "ugly", "that is no title"),
        ]:
            with pytest.raises(flexpath.NotTaken, match=words):
                subscriber.request(name, value, timeout=60.0)
        with pytest.raises(TypeError, match="none of bool, int"):
            subscriber.request("level", object())


def test_a_paused_simulation_goes_on_when_it_is_told(stream, simulation):
    with flexpath.subscribe(stream, variables=[], policy="drop_oldest") as subscriber:
        subscriber.request("pause", 50, timeout=60.0)
        with pytest.raises(flexpath.TimedOut, match="no answer"):
            subscriber.request("level", 1, timeout=0.05)
        subscriber.request("resume", timeout=60.0)
        step = subscriber.request("level", 2, timeout=60.0, now=True)
    flexpath.request(stream, "stop", timeout=60.0)
    simulation.end()
    assert [(name, value) for _, name, value, _ in simulation.seen][:2] in (
        [("level", 1), ("level", 2)],
        [("level", 2), ("level", 1)],
    )
    assert step in [number for number, *_ in simulation.seen]


def test_who_takes_every_step_asks_by_another(stream, simulation):
    with (
        flexpath.subscribe(stream, limit_steps=4) as subscriber,
        pytest.raises(flexpath.Misuse, match="ask by a subscriber of its own"),
    ):
        subscriber.request("level", 1)


@pytest.mark.parametrize("takes", [(1, 2, 3), "level", int, ("a", "b"), (True, False)])
def test_parameters_that_are_none_are_named(stream, takes):
    with pytest.raises(flexpath.Misuse, match="'level'.*give \\(least, greatest\\)"):
        flexpath.publish(stream, parameters={"level": takes})


@pytest.mark.parametrize("takes", [(2, 1), (float("nan"), 1.0)])
def test_a_range_has_numbers(stream, takes):
    with pytest.raises(flexpath.Misuse, match="'level'.*no number lies between"):
        flexpath.publish(stream, parameters={"level": takes})


def test_what_can_be_asked_for_is_told(stream):
    described = {"level": flexpath.Parameter((-3, 2**53 + 1), "of the tank"), "speed": flexpath.Parameter((0.5, 2.0))}
    plain = {"melts": bool, "title": str, "stop": None}
    with flexpath.publish(stream, parameters=described | plain, pause=60.0):
        told = flexpath.parameters(stream)
    expected = described | {name: flexpath.Parameter(takes) for name, takes in plain.items()}
    assert told == expected | {"pause": flexpath.Parameter((0.0, 60.0)), "resume": flexpath.Parameter(None)}
    assert type(told["level"].takes[0]) is int


def test_more_within_a_second_than_may_be_is_refused(stream):
    publisher = flexpath.publish(stream, parameters={"stop": None}, limit_requests_per_second=1)
    over = threading.Event()

    def simulate():
        while not over.is_set():
            with publisher.step():
                pass

    thread = threading.Thread(target=simulate)
    thread.start()
    try:
        with (
            flexpath.subscribe(stream, variables=[], policy="drop_oldest") as subscriber,
            pytest.raises(flexpath.NotTaken, match="takes 1 requests a second at most"),
        ):
            for _ in range(1000):
                subscriber.request("stop", timeout=60.0)
    finally:
        over.set()
        thread.join()
        publisher.close()


def test_a_request_of_another_step_is_declined_by_nobody(stream):
    with flexpath.publish(stream, parameters=PARAMETERS) as publisher, publisher.step() as step:
        stranger = flexpath.Request("level", 1, "asker", 0)
        with pytest.raises(flexpath.Misuse, match="no request of this step"):
            step.decline(stranger, "no")
