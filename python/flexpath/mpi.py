"""Cohorts of MPI ranks: ``flexpath.publish("heat", cohort=comm)`` with a communicator of mpi4py.

Each rank of the communicator opens the stream. They find one another by an allgather and a barrier of it, inside the
call that opens and on its thread. So an MPI that was started without threads will do. No step and no close has a
collective. mpi4py need not be installed for anything else.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["options_of"]


def options_of(comm: Any) -> dict[str, Any]:
    """The options of the native part that make the ranks of a communicator one cohort."""
    rank, size = comm.Get_rank(), comm.Get_size()

    def allgather(own: bytes) -> bytes:
        everybody = bytearray(len(own) * size)
        comm.Allgather(own, everybody)
        return bytes(everybody)

    def barrier() -> None:
        comm.Barrier()

    pair: tuple[Callable[[bytes], bytes], Callable[[], None]] = (allgather, barrier)
    return {"cohort": (rank, size), "collectives": pair}
