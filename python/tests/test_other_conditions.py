"""Subscribers that want other steps while the stream runs."""

import flexpath
import numpy as np
import pytest


def test_another_condition(stream):
    with flexpath.publish(stream) as publisher, flexpath.subscribe(stream, when="every(2)") as subscriber:
        assert subscriber.first_step == 0
        with publisher.step() as step:
            step["x"] = 0
        with subscriber.next_step(30.0) as step:
            assert step.number == 0
        with pytest.raises(ValueError, match="character 10"):
            subscriber.set_condition("has(x > 4")
        assert subscriber.set_condition("max(x) > 4") == 1
        for number in range(1, 8):
            with publisher.step() as step:
                step["x"] = np.array([number])
        for expected in (5, 6, 7):
            with subscriber.next_step(30.0) as step:
                assert step.number == expected
    with flexpath.publish(stream), flexpath.subscribe(stream) as subscriber:
        with pytest.raises(flexpath.FlexpathError, match="opened without a condition"):
            subscriber.set_condition("has(x)")
