"""Which steps a subscriber gets, with whom it shares them, and what both sides are told."""

import contextlib
import os
import re
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import flexpath
import numpy as np
import pytest
from children import eventually


def publish_all(publisher, count):
    """Publish steps with their number, and close the stream: from a thread, as that waits for who takes them."""

    def run():
        with publisher:
            for number in range(count):
                with publisher.step() as step:
                    step["x"] = number

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def taken(subscriber):
    """Number, skipped and value of each step until the end, and the end."""
    found = []
    while True:
        try:
            with subscriber.next_step(30.0) as step:
                found.append((step.number, step.skipped, int(step["x"])))
        except flexpath.EndOfStream as end:
            return found, end


class TestPolicies:
    """What a subscriber gets that takes no step before twenty have been published."""

    COUNT = 20

    def steps(self, stream, policy, **options):
        publisher = flexpath.publish(stream, close_timeout=30.0)
        subscriber = flexpath.subscribe(stream, policy=policy, **options)
        for number in range(self.COUNT):
            with publisher.step() as step:
                step["x"] = number
        closing = threading.Thread(target=publisher.close)
        closing.start()
        found, end = taken(subscriber)
        closing.join(30.0)
        assert all(number == value for number, _, value in found)
        skipped = sum(skipped for _, skipped, _ in found) + end.skipped
        # Those between every k-th and the next are not missed by anybody.
        assert len(found) + skipped == self.COUNT or isinstance(policy, flexpath.EveryKth)
        assert subscriber.statistics()["skipped_steps"] == skipped
        assert end.last == found[-1][0]
        return [number for number, _, _ in found]

    @pytest.mark.parametrize("policy", ["latest_only", flexpath.LatestOnly()])
    def test_the_latest(self, stream, policy):
        found = self.steps(stream, policy, credit_steps=1)
        assert found[-1] == 19 and len(found) <= 2

    def test_the_oldest_give_way(self, stream):
        found = self.steps(stream, "drop_oldest", limit_steps=4, credit_steps=1)
        assert found[-3:] == [17, 18, 19] and len(found) <= 5

    def test_the_newest_give_way(self, stream):
        found = self.steps(stream, "drop_newest", limit_steps=4)
        assert found == list(range(len(found))) and 4 <= len(found) < 10

    def test_a_bounded_wait(self, stream):
        found = self.steps(stream, flexpath.WaitAtMost(0.01), limit_steps=4)
        assert found == list(range(len(found))) and 4 <= len(found) < 10

    def test_every_kth(self, stream):
        assert self.steps(stream, flexpath.EveryKth(6), limit_steps=4) == [0, 6, 12, 18]

    def test_every_one(self, stream):
        assert self.steps(stream, flexpath.EveryStep(30.0), limit_steps=20) == list(range(20))

    def test_who_holds_the_publisher_up_for_too_long_is_left_behind(self, stream):
        with flexpath.publish(stream) as publisher:
            subscriber = flexpath.subscribe(stream, policy=flexpath.EveryStep(0.05), limit_steps=1)
            publisher.step().end()
            publisher.step().end()
            with pytest.raises(flexpath.Lost), subscriber:
                while True:
                    subscriber.next_step(30.0).release()
            assert "member_left" in [event["event"] for event in publisher.events()]


def test_every_step_by_default_and_the_end(stream):
    publishing = publish_all(flexpath.publish(stream, min_subscribers=0), 0)
    publishing.join(30.0)
    publisher = flexpath.publish(stream)
    subscriber = flexpath.subscribe(stream)
    publishing = publish_all(publisher, 30)
    found, end = taken(subscriber)
    assert found == [(number, 0, number) for number in range(30)]
    assert (end.last, end.skipped) == (29, 0) and isinstance(end, EOFError)
    assert re.match(f"stream '{stream}': .*closed", str(end))
    assert list(subscriber) == []
    publishing.join(30.0)


def test_an_ended_subscriber_keeps_nothing_of_who_asked_it(stream):
    class Something:
        def __del__(self):
            gone.set()

    gone = threading.Event()

    def ask():
        something = Something()
        with pytest.raises(flexpath.EndOfStream):
            subscriber.next_step(30.0)
        return something and None

    subscriber = None
    with flexpath.publish(stream) as publisher:
        subscriber = flexpath.subscribe(stream)
        publisher.step().end()
        subscriber.next_step(30.0).release()
    ask()
    assert gone.is_set()


def test_a_step_that_is_here_and_none(pair):
    assert pair.subscriber.poll() is None
    with pytest.raises(flexpath.TimedOut, match="no step came within 0.01 s: the publisher is there, and has none"):
        pair.subscriber.next_step(0.01)
    pair.put(1)
    with eventually(pair.subscriber.poll, "a step is here") as step:
        assert int(step["x"]) == 1


def test_steps_of_the_reserve(stream):
    with flexpath.publish(stream, reserve_steps=3, first_step=10) as publisher:
        for number in range(10, 16):
            with publisher.step() as step:
                step["x"] = number
        for start_at, expected in (("oldest", [13, 14, 15]), (14, [15]), (15, []), ("next", [])):
            with flexpath.subscribe(stream, start_at=start_at) as subscriber:
                found = []
                with pytest.raises(flexpath.TimedOut):
                    while True:
                        with subscriber.next_step(1.0 if len(found) < len(expected) else 0.05) as step:
                            found.append(int(step["x"]))
                assert found == expected


def test_two_subscribers_get_each_step(stream):
    publisher = flexpath.publish(stream)
    subscribers = [flexpath.subscribe(stream, name=f"number-{at}") for at in range(2)]
    found = [[], []]

    def take(at):
        for step in subscribers[at]:
            found[at].append(int(step["x"]))

    threads = [publish_all(publisher, 30)] + [threading.Thread(target=take, args=(at,)) for at in range(2)]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert found == [list(range(30))] * 2


@pytest.mark.parametrize("on_demand", [True, False])
def test_members_of_a_set_divide_the_steps(stream, on_demand):
    publisher = flexpath.publish(stream)
    share = flexpath.Share("workers", on_demand=on_demand)
    members = [flexpath.subscribe(stream, share=share) for _ in range(3)]
    found = [[] for _ in members]

    def take(at):
        for step in members[at]:
            found[at].append(int(step["x"]))

    threads = [publish_all(publisher, 60)] + [threading.Thread(target=take, args=(at,)) for at in range(3)]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert sorted(sum(found, [])) == list(range(60))
    if not on_demand:
        assert min(map(len, found)) >= 10


def test_a_step_that_is_given_back_comes_again(stream):
    with flexpath.publish(stream) as publisher:
        one, other = (flexpath.subscribe(stream, share="workers", explicit_done=True) for _ in range(2))
        with publisher.step() as step:
            step["x"] = 7
        members = [one, other]
        for turn in range(4):
            step = eventually(lambda: one.poll() or other.poll(), "one of them gets it")
            assert int(step["x"]) == 7 and step.is_redelivered == (turn > 0)
            if turn == 0:
                step.give_back()
            elif turn == 1:
                step.release()
            elif turn == 2:
                with pytest.raises(KeyError), step:
                    raise KeyError
            else:
                step.done()
                assert step.is_released
        publisher.sync(30.0)
        for member in members:
            assert member.poll() is None
            member.close()


def test_code_that_a_publisher_does_not_run_is_named(stream):
    derive, modules = {"d": ("x | module(mine)", "publisher")}, {"mine": b"\0asm\1\0\0\0"}
    with flexpath.publish(stream) as publisher:
        with flexpath.subscribe(stream, derive=derive, modules=modules, variables=["x"]) as subscriber:
            with publisher.step() as step:
                step["x"] = [1.0]
            with subscriber.next_step(30.0) as step:
                assert step["x"][...].tolist() == [1.0]
                with pytest.raises(KeyError, match="this publisher runs no code that others hand over"):
                    step["d"][...]
        with flexpath.subscribe(stream, transformed={"y": ("x", "nothing")}, variables=["x"]) as subscriber:
            with publisher.step() as step:
                step["x"] = [1.0]
            with subscriber.next_step(30.0) as step:
                assert "y" not in step and step["x"][0] == 1.0


def test_what_is_computed_where_the_data_is(stream):
    derive = {"speed": "vx, vy | magnitude", "top": ("vx | max", "subscriber"), "mean": ("vx | mean", "publisher")}
    with flexpath.publish(stream) as publisher:
        with flexpath.subscribe(stream, derive=derive, variables=["vx"]) as subscriber:
            with publisher.step() as step:
                step["vx"], step["vy"] = [3.0, 6.0], [4.0, 8.0]
            with subscriber.next_step(30.0) as step:
                assert step["speed"][...].tolist() == [5.0, 10.0] and step["speed"][1:].tolist() == [10.0]
                assert (float(step["top"]), float(step["mean"])) == (6.0, 4.5)
            placements = subscriber.placements()
            assert (placements["top"], placements["mean"]) == ("subscriber", "publisher")
            subscriber.place("mean", "subscriber")
            with publisher.step() as step:
                step["vx"], step["vy"] = [3.0, 6.0], [4.0, 8.0, 12.0]
            with subscriber.next_step(30.0) as step:
                assert "speed" not in step and float(step["top"]) == 6.0
                with pytest.raises(KeyError, match='"speed" .* magnitude: arrays of shapes'):
                    step["speed"]
            with publisher.step() as step:
                step["vx"] = [3.0, 6.0]
            with subscriber.next_step(30.0) as step:
                assert "speed" not in step and float(step["top"]) == 6.0
                with pytest.raises(KeyError, match='"speed" .* there is no variable "vy"; there are vx'):
                    step["speed"]
            eventually(lambda: subscriber.placements()["mean"] == "subscriber", "it was moved")


def test_steps_that_have_something(stream):
    with flexpath.publish(stream) as publisher, flexpath.subscribe(stream, when="has(particles)") as subscriber:
        for number in range(6):
            with publisher.step() as step:
                step["x"] = number
                if number % 2:
                    step["particles"] = np.zeros(3)
        for expected in (1, 3, 5):
            with subscriber.next_step(30.0) as step:
                assert int(step["x"]) == expected


def fields(steps):
    """A field of whole numbers for each step."""
    return np.random.default_rng(7).integers(-5, 13, (steps, 4, 6)).astype(float)


def rises(truths):
    """The numbers of the steps in which something holds that did not hold in the one before."""
    return [number for number, is_so in enumerate(truths) if is_so and not (number and truths[number - 1])]


class TestConditions:
    def test_steps_come_by_their_numbers_which_are_told(self, stream):
        all_fields = fields(40)
        tops = [field[1:3].max() for field in all_fields]
        expected = rises([top > 11 for top in tops])
        assert 2 < len(expected) < 38
        watching = {"when": "rises(max(T[1:3, :]) > 11)", "limit_steps": 64}
        with flexpath.publish(stream) as publisher, flexpath.subscribe(stream, **watching) as subscriber:
            for field in all_fields:
                with publisher.step() as step:
                    step["T"] = field
            for number in expected:
                with subscriber.next_step(30.0) as step:
                    assert step.number == number and step.judgement.unjudged is None
                    assert timedelta(0) <= datetime.now(UTC) - step.judgement.decided_at < timedelta(hours=1)
                    (top,) = step.judgement.measured
                place = np.unravel_index(all_fields[number][1:3].argmax(), (2, 6))
                where = (int(place[0]) + 1, int(place[1]))
                assert top == flexpath.Measured("max(T[1:3, :])", float(tops[number]), where)
                assert isinstance(top.number, float) and step.judgement.measured == (top,)
            assert subscriber.poll() is None

    def test_integers_stay_exact(self, stream):
        with flexpath.publish(stream) as publisher:
            when = "sum(n) > 0 and count(n > 1) >= 1 and not min(missing) < 0"
            with flexpath.subscribe(stream, when=when) as subscriber:
                with publisher.step() as step:
                    step["n"] = np.array([2**53, 1], "i8")
                with subscriber.next_step(30.0) as step:
                    told = [(one.measure, one.number, one.place) for one in step.judgement.measured]
        assert told == [("sum(n)", 2**53 + 1, None), ("count(n > 1.0)", 1, None), ("min(missing)", None, None)]
        assert all(isinstance(number, int) for _, number, _ in told[:2])

    def test_every_so_many_steps_windows_places_and_quantiles(self, stream):
        all_fields = fields(40)
        means = [field.mean() for field in all_fields]
        expected = {
            "every(7)": [number for number in range(40) if number % 7 == 0],
            "argmax(T)[0] >= 2": [number for number in range(40) if all_fields[number].argmax() // 6 >= 2],
            "window(mean(T), 3, max) > 4.5": [
                number for number in range(2, 40) if max(means[number - 2 : number + 1]) > 4.5
            ],
            "quantile(T, 0.5, -64..64 / 128) >= 6": [
                number for number in range(40) if np.sort(all_fields[number], axis=None)[11] >= 6
            ],
        }
        with contextlib.ExitStack() as stack:
            publisher = stack.enter_context(flexpath.publish(stream))
            opened = {
                when: stack.enter_context(flexpath.subscribe(stream, when=when, limit_steps=64)) for when in expected
            }
            for field in all_fields:
                with publisher.step() as step:
                    step["T"] = field
            for when, numbers in expected.items():
                assert 0 < len(numbers) < 40, when
                for number in numbers:
                    with opened[when].next_step(30.0) as step:
                        assert step.number == number, when
                        if when.startswith("quantile"):
                            middle = np.floor(np.sort(all_fields[number], axis=None)[11])
                            assert step.judgement.measured[0].number == (middle, middle + 1)
                assert opened[when].poll() is None

    def test_who_comes_late_has_the_last_hits(self, stream):
        with flexpath.publish(stream, reserve_steps=3, reserve_when="max(T) > 6") as publisher:
            for number in range(40):
                with publisher.step() as step:
                    step["T"] = np.full(4, float(number % 8))
            with flexpath.subscribe(stream, when="max(T) > 6", start_at="oldest") as late:
                for number in (23, 31, 39):
                    with late.next_step(30.0) as step:
                        found = (step.number, step.skipped, step.judgement.measured[0].number)
                        assert found == (number, 0, 7.0)

    def test_a_step_that_was_not_judged_says_why(self, stream):
        with (
            flexpath.publish(stream) as publisher,
            flexpath.subscribe(stream, when="max(T[0:9]) > 1") as subscriber,
        ):
            with publisher.step() as step:
                step["T"] = np.zeros(4)
            with subscriber.next_step(30.0) as step:
                assert step.judgement.measured == ()
                assert re.match("publisher rank 0 did not measure: .*9", step.judgement.unjudged)

    def test_without_numbers_there_is_nothing_to_tell(self, stream):
        with flexpath.publish(stream) as publisher:
            with flexpath.subscribe(stream) as all_steps, flexpath.subscribe(stream, when="has(x)") as some:
                with publisher.step() as step:
                    step["x"] = 1
                with all_steps.next_step(30.0) as step:
                    assert step.judgement is None
                with some.next_step(30.0) as step:
                    assert step.judgement.measured == () and step.judgement.unjudged is None


def test_other_variables_from_some_step_on(stream):
    with flexpath.publish(stream) as publisher, flexpath.subscribe(stream, variables="a") as subscriber:
        first = None
        for number in range(100):
            with publisher.step() as step:
                step["a"], step["b"] = np.zeros(2000), np.ones(2000)
            with subscriber.next_step(30.0) as step:
                told = [event["first"] for event in subscriber.events() if event["event"] == "reselected"]
                first = told[0] if told else first
                if first is not None and number >= first:
                    assert step["b"][0] == 1.0
                    break
                assert step["a"][0] == 0.0
                if number == 0:
                    subscriber.select(["b"])
        assert first is not None and number >= first


def test_what_each_side_is_told(stream):
    with flexpath.publish(stream) as publisher:
        with flexpath.subscribe(stream, name="viewer") as subscriber:
            with pytest.raises(KeyError), publisher.step():
                raise KeyError
            publisher.step().end()
            with subscriber.next_step(30.0) as step:
                assert step.skipped == 1
            told = {event["event"]: event for event in publisher.events()}
            assert told["opened"]["epoch"] == publisher.epoch
            assert told["member_joined"]["label"].startswith("viewer")
            assert told["step_rejected"]["step"] == 0 and "abandoned" in told["step_rejected"]["text"]
            assert "the stream is open" in subscriber.events()[0]["text"] and subscriber.events() == []
        eventually(lambda: "member_left" in [event["event"] for event in publisher.events()], "it is told who left")


def test_what_is_counted(pair):
    pair.put(np.zeros(1000))
    with pair.take() as step:
        assert step["x"][::4].size == 250
        ours, theirs = pair.subscriber.statistics(), pair.publisher.statistics()
    assert (ours["steps"], ours["payload_bytes"], ours["region_gets"]) == (1, 2000, 0)
    assert (theirs["steps"], theirs["put_copied_bytes"], theirs["arranged_bytes"]) == (1, 8000, 0)


@pytest.mark.parametrize("transport", ["inproc", "shm", "tcp"])
def test_over_what_the_data_comes(stream, transport):
    with flexpath.publish(stream) as publisher, flexpath.subscribe(stream, transports=transport) as subscriber:
        with publisher.step() as step:
            step["x"] = np.arange(100_000)
        with subscriber.next_step(30.0) as step:
            assert step["x"][-1] == 99_999
        assert subscriber.transports()[0].startswith(f"transport={transport}")
        assert any(f"transport={transport}" in line for line in publisher.transports())


def test_who_there_is_and_what_it_waits_for(pair, stream, rendezvous, tmp_path):
    found = {entry["name"]: entry for entry in flexpath.streams()}
    assert found[stream] == {"name": stream, "epoch": pair.publisher.epoch, "contact": pair.publisher.contact}
    assert flexpath.streams(rendezvous) == flexpath.streams() and flexpath.streams(tmp_path) == []
    pair.put(1)
    with pair.take():
        of_publisher = next(of for of in flexpath.status(stream)["cohorts"] if of["publishes"])
        assert of_publisher["ranks"][0]["subscriptions"][0]["held"] == 1
        with pytest.raises(flexpath.TimedOut, match="for steps to be released: subscription 2: steps 0"):
            pair.publisher.sync(0.05)
    pair.publisher.sync(30.0)
    assert pair.publisher.has_subscribers() and pair.publisher.wait_for_subscriptions(1, 30.0) == 1
    assert pair.publisher.wait_for_subscriptions(2, 0.01) == 1
    with pytest.raises(flexpath.TimedOut, match="nobody publishes it"):
        flexpath.status("nobody")


def test_by_contact_and_rendezvous(stream, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with flexpath.publish(stream, rendezvous=elsewhere) as publisher:
        with flexpath.subscribe(stream, contact=publisher.contact) as subscriber:
            assert subscriber.epoch == publisher.epoch
        with flexpath.subscribe(stream, rendezvous=str(elsewhere)) as subscriber:
            assert subscriber.epoch == publisher.epoch
        with pytest.raises(flexpath.TimedOut, match=f'no entry of "{stream}"'):
            flexpath.subscribe(stream, open_timeout=0.05)


def test_only_who_knows_the_token(stream, tmp_path):
    for name, digit in (("ours", "a"), ("theirs", "b")):
        (tmp_path / name).write_text(digit * 64)
        (tmp_path / name).chmod(0o600)
    with flexpath.publish(stream, token_file=tmp_path / "ours") as publisher:
        with flexpath.subscribe(stream, token_file=tmp_path / "ours") as subscriber:
            publisher.step().end()
            subscriber.next_step(30.0).release()
        with pytest.raises(flexpath.FlexpathError, match="token"):
            flexpath.subscribe(stream, token_file=tmp_path / "theirs", open_timeout=2.0)


def test_the_command_takes_arguments_of_any_bytes(tmp_path):
    place = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(place)
    command = [sys.executable, "-m", "flexpath", "ls", "--rendezvous", place]
    done = subprocess.run(command, capture_output=True, timeout=60.0, check=False)
    # A folder of another name would not be there.
    assert done.returncode == 0 and done.stderr.startswith(b"no stream is being published in "), done
