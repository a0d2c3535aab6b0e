"""The part of the demonstration that is written in Python finds the energy that a sum over all pairs gives."""

import importlib.util
from pathlib import Path

import numpy
import pytest

PROGRAM = Path(__file__).parents[2] / "demo" / "python" / "energy.py"


@pytest.fixture(scope="module")
def energy():
    spec = importlib.util.spec_from_file_location("energy", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("periodic", [(0, 0, 0), (0, 0, 1), (1, 1, 1)], ids=str)
def test_the_energy_is_the_sum_over_all_pairs(energy, periodic):
    random = numpy.random.default_rng(7)
    lattice = numpy.stack(numpy.meshgrid(*[1.1 * numpy.arange(6)] * 3, indexing="ij"), -1).reshape(-1, 3)
    # Some lie a little outside, as between two sortings.
    positions = lattice + random.normal(0.0, 0.03, lattice.shape)
    apart = positions[:, None] - positions[None]
    apart -= 6.6 * numpy.round(apart / 6.6) * periodic
    square = (apart**2).sum(axis=-1)[numpy.triu_indices(len(positions), 1)]
    near = 1.0 / square[square < 2.5**2] ** 3
    found, pairs = energy.energy_per_atom(positions, numpy.array([0, 0, 0, 6.6, 6.6, 6.6, *periodic], dtype=float))
    assert pairs == len(near)
    assert found == pytest.approx((4.0 * near * (near - 1.0)).sum() / len(positions), rel=1e-12)
