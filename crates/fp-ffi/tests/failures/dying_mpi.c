/* `dying_mpi RANK WAY`: a publisher under MPI, and one of its ranks dies. */
#include "dying.h"
#include <flexpath_mpi.h>

static void abort_all(void)
{
    MPI_Abort(MPI_COMM_WORLD, 7);
}

int main(int argc, char **argv)
{
    int rank, size;
    flexpath_options *options;
    CHECK(argc == 3);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_cohort_mpi(options, MPI_COMM_WORLD));
    publish_and_die(options, (uint64_t)rank, (uint64_t)size, strtoull(argv[1], NULL, 10), argv[2], abort_all);
    MPI_Finalize();
    return 0;
}
