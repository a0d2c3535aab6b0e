/* How long a stream takes to open over all ranks of a run. Beside it stands what the MPI itself takes to bring as many
 * ranks together: MPI_Allgather of as many bytes and MPI_Barrier, in the same run. Each round is timed from a barrier
 * to the slowest rank's end. Prints the medians, their ratio and what is left of the bound. */
#include <flexpath_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 5, RECORD = 512 };

static void must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "opening: %s\n", flexpath_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The slowest rank's time, at rank 0. */
static double slowest(double seconds)
{
    double all = 0.0;
    MPI_Reduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all;
}

static double gather(const char *own, char *all)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Allgather(own, RECORD, MPI_BYTE, all, RECORD, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return slowest(MPI_Wtime() - start);
}

static double open_stream(flexpath_options *options, int round)
{
    char name[32];
    flexpath_publisher *publisher;
    snprintf(name, sizeof name, "opening-%d", round);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    must(flexpath_publisher_open(name, options, &publisher));
    const double took = slowest(MPI_Wtime() - start);
    must(flexpath_publisher_close(publisher));
    return took;
}

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, by_size);
    return times[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    int rank, size;
    double ours[ROUNDS], theirs[ROUNDS];
    char own[RECORD];
    flexpath_options *options;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(own, rank, sizeof own);
    char *all = malloc((size_t)size * RECORD);
    must(flexpath_options_create(&options));
    must(flexpath_options_set_cohort_mpi(options, MPI_COMM_WORLD));
    gather(own, all);
    for (int round = 0; round < ROUNDS; round++) {
        theirs[round] = gather(own, all);
        ours[round] = open_stream(options, round);
    }
    if (rank == 0) {
        const double base = 1e3 * median(theirs), took = 1e3 * median(ours), bound = 2 * base + 500;
        printf("ranks %d, cores %ld: allgather and barrier %.2f ms, opening %.2f ms (fastest to slowest: %.2f to %.2f), "
               "ratio %.2f, bound %.2f ms: %s\n",
               size, sysconf(_SC_NPROCESSORS_ONLN), base, took, 1e3 * ours[0], 1e3 * ours[ROUNDS - 1], took / base,
               bound, took <= bound ? "kept" : "MISSED");
    }
    must(flexpath_options_free(options));
    free(all);
    MPI_Finalize();
    return 0;
}
