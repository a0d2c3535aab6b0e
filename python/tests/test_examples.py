"""The example programs, as somebody who tries them runs them."""

import re
from pathlib import Path

from programs import Program, run

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_two_programs():
    with Program(EXAMPLES / "publisher.py") as publisher:
        said = run(EXAMPLES / "subscriber.py").splitlines()
        assert publisher.output() == ""
    assert len(said) == 10 and said[0] == "step 0 at 0.0 s: 498.00 K", said


def test_four_workers_learn_from_a_stream():
    said = run(EXAMPLES / "train_online.py", "--steps", "24")
    assert "24 steps, by worker: 0:" in said and "given again: none" in said, said
    learned(said)


def test_what_a_lost_worker_had_is_learned_by_another():
    said = run(EXAMPLES / "train_online.py", "--steps", "24", "--lose")
    assert "24 steps, by worker: 0: 2, 1:" in said, said
    assert re.search(r"given again: \[\d+", said), said
    learned(said)


def learned(said):
    accuracy = float(re.search(r"in the end ([\d.]+)%", said)[1])
    edge = float(re.search(r"beyond ([\d.]+) of half", said)[1])
    assert accuracy > 95.0 and abs(edge - 0.9) < 0.06, said
