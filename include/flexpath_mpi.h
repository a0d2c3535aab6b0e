/* Flexpath for programs under MPI: a cohort from a communicator. Header only, for C and C++.
 *
 * libflexpath knows nothing of MPI: this header is compiled with the program's own mpicc, so one library serves every
 * MPI. MPI is called only while a stream opens: one MPI_Allgather of 512 bytes a rank and one MPI_Barrier, on the
 * thread that calls open. Nothing of it is called in a step or in close, and MPI_Init (no threads) will do.
 *
 *     flexpath_options_create(&options);
 *     flexpath_options_set_cohort_mpi(options, MPI_COMM_WORLD);
 *     flexpath_publisher_open("heat", options, &publisher);    // every rank of the communicator
 *
 * The communicator must stay valid until the last open with these options has returned. No other collective may run on
 * it meanwhile on another thread: whoever has such threads gives a duplicate (MPI_Comm_dup).
 */
#ifndef FLEXPATH_MPI_H
#define FLEXPATH_MPI_H

#include "flexpath.h"

#include <limits.h>
#include <mpi.h>

/* A communicator travels in the context: a pointer in Open MPI, a number in MPICH, and never wider than a pointer. */
static inline MPI_Comm flexpath_mpi_comm(void *context)
{
    return (MPI_Comm)(intptr_t)context;
}

static inline int32_t flexpath_mpi_allgather(void *context, const void *own, size_t len_bytes, void *all)
{
    if (len_bytes > INT_MAX)
        return MPI_ERR_COUNT;
    return MPI_Allgather(own, (int)len_bytes, MPI_BYTE, all, (int)len_bytes, MPI_BYTE, flexpath_mpi_comm(context));
}

static inline int32_t flexpath_mpi_barrier(void *context)
{
    return MPI_Barrier(flexpath_mpi_comm(context));
}

/* Says that the ranks of `communicator` open the stream together. Calls no collective itself. */
static inline flexpath_status flexpath_options_set_cohort_mpi(flexpath_options *options, MPI_Comm communicator)
{
    int rank = 0, size = 0;
    if (MPI_Comm_rank(communicator, &rank) != MPI_SUCCESS || MPI_Comm_size(communicator, &size) != MPI_SUCCESS)
        return FLEXPATH_STATUS_SYSTEM;
    return flexpath_options_set_cohort_collectives(options, (uint32_t)rank, (uint32_t)size, flexpath_mpi_allgather,
                                                   flexpath_mpi_barrier, (void *)(intptr_t)communicator);
}

#endif
