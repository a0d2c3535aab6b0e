"""Ranks of MPI as one cohort, through a communicator of mpi4py."""

import os
import shutil
import subprocess
import sys

import pytest
from programs import DEADLINE, Program, require

import flexpath

PUBLISHER = """
import numpy
from mpi4py import MPI

import flexpath

comm = MPI.COMM_WORLD
first = 100 * comm.rank
with flexpath.publish("heat", cohort=comm, min_subscribers=1) as out:
    for number in range(5):
        part = numpy.arange(first, first + 100) + 1000.0 * number
        with out.step() as s:
            s.put("temperature", part, start=(first,), shape=(100 * comm.size,))
"""

SUBSCRIBER = """
import numpy
from mpi4py import MPI

import flexpath

comm = MPI.COMM_WORLD
found = []
for step in flexpath.subscribe("heat", cohort=comm):
    cells = step["temperature"].shape[0] // comm.size
    mine = step["temperature"][comm.rank * cells : (comm.rank + 1) * cells]
    everybody = comm.allgather(mine)
    found.append(numpy.array_equal(numpy.concatenate(everybody), numpy.arange(300) + 1000.0 * step.number))
assert found == [True] * 5, found
if comm.rank == 0:
    print(f"{comm.size} ranks took {len(found)} steps")
"""


def missing_mpi():
    if shutil.which("mpirun") is None:
        return "there is no mpirun: scripts/install-mpi.sh openmpi"
    tried = subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, text=True, timeout=60)
    return None if tried.returncode == 0 else f"mpi4py cannot be imported: {tried.stderr.strip().splitlines()[-1]}"


def under_mpirun(ranks, program):
    words = [shutil.which("mpirun"), "--oversubscribe", "--bind-to", "none", "--timeout", str(int(DEADLINE))]
    words += ["--mca", "mpi_yield_when_idle", "1", "-n", str(ranks), sys.executable, str(program)]
    return Program(*words[1:], python=words[0])


def test_ranks_publish_to_ranks(monkeypatch, tmp_path):
    if not require("MPI", missing := missing_mpi()):
        pytest.skip(missing)
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    (tmp_path / "publisher.py").write_text(PUBLISHER)
    (tmp_path / "subscriber.py").write_text(SUBSCRIBER)
    with under_mpirun(3, tmp_path / "publisher.py") as publisher:
        with under_mpirun(2, tmp_path / "subscriber.py") as subscriber:
            assert "2 ranks took 5 steps" in subscriber.output()
        publisher.output()


def test_a_collective_that_fails_is_the_error_of_the_opening(rendezvous):
    class Broken:
        def Get_rank(self):
            return 0

        def Get_size(self):
            return 2

        def Allgather(self, own, everybody):
            raise RuntimeError("the network is down")

        def Barrier(self):
            pass

    with pytest.raises(flexpath.FlexpathError, match="the network is down"):
        flexpath.publish("heat", cohort=Broken())
    assert not [name for name in os.listdir(rendezvous) if name.startswith("heat")]
