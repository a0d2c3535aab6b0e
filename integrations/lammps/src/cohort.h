// SPDX-License-Identifier: GPL-2.0-only
#ifndef FLEXPATH_COHORT_H
#define FLEXPATH_COHORT_H

#include <flexpath.h>
#include <mpi.h>

#if __has_include(<flexpath_mpi.h>)
#include <flexpath_mpi.h>
#define FLEXPATH_HAS_MPI_HEADER 1
#else
#define FLEXPATH_HAS_MPI_HEADER 0
#endif

namespace flexpath_lammps {

// Says who opens the stream together: the ranks of a communicator. The only place that knows how a cohort comes from MPI.
// Without the header for it, each rank looks for the lead in the rendezvous.
inline flexpath_status set_cohort(flexpath_options *options, MPI_Comm world)
{
#if FLEXPATH_HAS_MPI_HEADER
    return flexpath_options_set_cohort_mpi(options, world);
#else
    int rank = 0, size = 1;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    return flexpath_options_set_cohort(options, static_cast<uint32_t>(rank), static_cast<uint32_t>(size));
#endif
}

} // namespace flexpath_lammps

#endif
