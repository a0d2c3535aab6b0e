// Opens and closes a stream from C++ over a communicator.
#include <flexpath.hpp>
#include <flexpath_mpi.h>
#include <cstdio>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        flexpath::options options;
        flexpath::check(flexpath_options_set_cohort_mpi(options.raw(), MPI_COMM_WORLD));
        flexpath_publisher *publisher = nullptr;
        flexpath::check(flexpath_publisher_open("cpp", options.raw(), &publisher));
        flexpath::check(flexpath_publisher_close(publisher));
    }
    MPI_Finalize();
    if (rank == 0) std::puts("all as expected");
    return 0;
}
