"""The programs of docs/python.md, and those in Python of docs/watches.md and docs/steering.md, run as they stand there.

The two programs run as a stranger runs them: in an empty virtual environment with the wheel, if FLEXPATH_WHEEL names
one, and otherwise in this environment. Each of the other blocks runs by itself, beside a publisher of what it takes.
"""

import os
import re
import sys
from pathlib import Path

import pytest
from programs import Program, run

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"
#: Pages whose programs print what is known here, in their order: the greatest element is 399 and the number of the step.
PRINTED = {"watches.md": ["7 max(temperature) 406.0 (399,)\nNone\n"], "steering.md": []}

#: What the blocks subscribe to. It is published as long as the block runs, or until its steps are over.
PUBLISHER = """
import numpy

import flexpath

with flexpath.publish("heat", min_subscribers=1, reserve_steps=2) as out:
    for number in range(20):
        with out.step() as s:
            s.put("temperature", numpy.arange(400.0) + number, unit="K", dims=("x",))
            s["time"] = 0.1 * number
"""

#: A comment before a block that says who runs it instead.
ELSEWHERE = re.compile(r"<!-- run by (\w+\.py) -->\n$")


def blocks(guide=GUIDE):
    """The blocks of Python, each with what stands before it."""
    text = guide.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: block.start()], block[1]) for block in found]


def named(name):
    """The program that begins with its own name."""
    return next(block for _, block in blocks() if block.startswith(f"# {name}:"))


def others():
    unnamed = [(before, block) for before, block in blocks() if not re.match(r"# \w+\.py:", block)]
    here = [block for before, block in unnamed if not ELSEWHERE.search(before)]
    return here


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an empty environment with the wheel, or this one."""
    wheel = os.environ.get("FLEXPATH_WHEEL")
    if not wheel:
        return sys.executable
    empty = tmp_path_factory.mktemp("empty") / "environment"
    run("-m", "venv", empty)
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    # numpy comes with it, from a registry that may be slow.
    run(*words, python=empty / "bin" / "python", deadline=600.0)
    return empty / "bin" / "python"


def test_the_two_programs_run(python, tmp_path):
    for name in ("publisher.py", "subscriber.py"):
        (tmp_path / name).write_text(named(name), encoding="utf-8")
    with Program("publisher.py", folder=tmp_path, python=python) as publisher:
        said = run("subscriber.py", folder=tmp_path, python=python).splitlines()
        publisher.output()
    assert len(said) == 10 and said[0] == "0 0.0 498.0", said


def test_blocks_that_others_run_are_few():
    elsewhere = [ELSEWHERE.search(before) for before, _ in blocks()]
    assert [match[1] for match in elsewhere if match] == ["test_mpi.py"]
    assert len(others()) >= 6


@pytest.mark.parametrize("block", others(), ids=lambda block: re.sub(r"\W+", "-", block)[:40])
def test_a_block_runs(block, tmp_path):
    (tmp_path / "publishing.py").write_text(PUBLISHER, encoding="utf-8")
    (tmp_path / "block.py").write_text(block, encoding="utf-8")
    with Program("publishing.py", folder=tmp_path):
        run("block.py", folder=tmp_path)


@pytest.mark.parametrize("page", PRINTED)
def test_a_program_prints_what_it_should(page, tmp_path):
    programs = [block for _, block in blocks(GUIDE.with_name(page))]
    for block, wanted in zip(programs, PRINTED[page], strict=True):
        (tmp_path / "publishing.py").write_text(PUBLISHER, encoding="utf-8")
        (tmp_path / "block.py").write_text(block, encoding="utf-8")
        with Program("publishing.py", folder=tmp_path) as publisher:
            assert run("block.py", folder=tmp_path) == wanted
            publisher.output()


def test_it_is_short():
    assert len(GUIDE.read_text(encoding="utf-8").splitlines()) < 250
