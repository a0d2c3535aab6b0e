/* A stream under MPI: `stream publish STEPS`, `stream subscribe STEPS`, or `stream both STEPS` (even ranks publish, odd
 * ones subscribe, on communicators of their own). Contents are a function of step and global index. MPI is started
 * without threads, and every call of it is counted by wrappers: after open there must be none. */
#include "../c/check.h"
#include <flexpath_mpi.h>
#include <pthread.h>

enum { ACROSS = 12, DOWN = 5 };

/* Calls of MPI, and those from another thread than the one that called MPI_Init. */
static int allgathers, barriers, others, astray;
static pthread_t home;

#define COUNT(counter) ((counter)++, astray += !pthread_equal(pthread_self(), home))
#define WRAP(name, parameters, arguments, counter)                                                          \
    int name parameters                                                                                      \
    {                                                                                                        \
        COUNT(counter);                                                                                      \
        return P##name arguments;                                                                            \
    }

WRAP(MPI_Allgather, (const void *own, int n, MPI_Datatype t, void *all, int m, MPI_Datatype u, MPI_Comm c),
     (own, n, t, all, m, u, c), allgathers)
WRAP(MPI_Barrier, (MPI_Comm c), (c), barriers)
WRAP(MPI_Bcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c), others)
WRAP(MPI_Gather, (const void *b, int n, MPI_Datatype t, void *a, int m, MPI_Datatype u, int r, MPI_Comm c),
     (b, n, t, a, m, u, r, c), others)
WRAP(MPI_Scatter, (const void *b, int n, MPI_Datatype t, void *a, int m, MPI_Datatype u, int r, MPI_Comm c),
     (b, n, t, a, m, u, r, c), others)
WRAP(MPI_Allreduce, (const void *b, void *a, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, a, n, t, o, c), others)
WRAP(MPI_Reduce, (const void *b, void *a, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c),
     (b, a, n, t, o, r, c), others)
WRAP(MPI_Alltoall, (const void *b, int n, MPI_Datatype t, void *a, int m, MPI_Datatype u, MPI_Comm c),
     (b, n, t, a, m, u, c), others)
WRAP(MPI_Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), others)
WRAP(MPI_Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, to, tag, c, r), others)
WRAP(MPI_Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
     (b, n, t, from, tag, c, s), others)
WRAP(MPI_Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, from, tag, c, r), others)
WRAP(MPI_Iprobe, (int from, int tag, MPI_Comm c, int *flag, MPI_Status *s), (from, tag, c, flag, s), others)
WRAP(MPI_Wait, (MPI_Request *r, MPI_Status *s), (r, s), others)
WRAP(MPI_Test, (MPI_Request *r, int *flag, MPI_Status *s), (r, flag, s), others)
WRAP(MPI_Comm_dup, (MPI_Comm c, MPI_Comm *d), (c, d), others)
WRAP(MPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *d), (c, color, key, d), others)

/* What Flexpath has called since the last look: that, and nothing else, and on the thread of MPI_Init. */
static void expect_calls(int of_each)
{
    CHECK(allgathers == of_each && barriers == of_each && others == 0 && astray == 0);
    allgathers = barriers = others = 0;
}

static double cell(uint64_t step, uint64_t row, uint64_t column)
{
    return (double)(100000 * step + 100 * row + column);
}

static void publish(MPI_Comm communicator, uint64_t steps)
{
    int rank, size;
    flexpath_options *options;
    flexpath_variable *grid;
    flexpath_publisher *publisher;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    const uint64_t shape[2] = {DOWN * (uint64_t)size, ACROSS}, start[2] = {DOWN * (uint64_t)rank, 0};
    const uint64_t count[2] = {DOWN, ACROSS};
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "MinSubscribers", "1"));
    MUST(flexpath_options_set_cohort_mpi(options, communicator));
    MUST(flexpath_variable_global("grid", FLEXPATH_DTYPE_F64, 2, shape, &grid));
    expect_calls(0);
    MUST(flexpath_publisher_open("mpi", options, &publisher));
    expect_calls(1);
    for (uint64_t step = 0; step < steps; step++) {
        double part[DOWN][ACROSS];
        for (uint64_t row = 0; row < DOWN; row++)
            for (uint64_t column = 0; column < ACROSS; column++)
                part[row][column] = cell(step, start[0] + row, column);
        MUST(flexpath_publisher_begin_step(publisher, NULL));
        MUST(flexpath_publisher_put(publisher, grid, start, count, part));
        MUST(flexpath_publisher_end_step(publisher));
    }
    MUST(flexpath_publisher_close(publisher));
    expect_calls(0);
    MUST(flexpath_variable_free(grid));
    MUST(flexpath_options_free(options));
}

/* Each rank takes every column that leaves its rank when divided by their number, over all rows, and checks it. */
static void check_step(flexpath_step *step, uint64_t number, uint64_t rank, uint64_t size)
{
    flexpath_variable_info info;
    MUST(flexpath_step_variable(step, "grid", &info));
    CHECK(info.ndims == 2 && info.shape[1] == ACROSS && info.shape[0] % DOWN == 0);
    const uint64_t rows = info.shape[0];
    for (uint64_t column = rank; column < ACROSS; column += size) {
        double *taken = malloc(rows * sizeof *taken);
        CHECK(taken != NULL);
        flexpath_selection part = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 2};
        const uint64_t start[2] = {0, column}, count[2] = {rows, 1};
        part.start = start;
        part.count = count;
        MUST(flexpath_step_get(step, "grid", &part, FLEXPATH_DTYPE_F64, taken, rows, -1));
        for (uint64_t row = 0; row < rows; row++)
            CHECK(taken[row] == cell(number, row, column));
        free(taken);
    }
}

static void subscribe(MPI_Comm communicator, uint64_t steps)
{
    int rank, size;
    uint64_t taken = 0;
    flexpath_options *options;
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_cohort_mpi(options, communicator));
    MUST(flexpath_subscriber_open("mpi", options, &subscriber));
    expect_calls(1);
    while ((status = flexpath_subscriber_next_step(subscriber, 30000, &step)) == FLEXPATH_STATUS_OK) {
        check_step(step, taken++, (uint64_t)rank, (uint64_t)size);
        MUST(flexpath_step_release(step));
    }
    CHECK(status == FLEXPATH_STATUS_END_OF_STREAM);
    CHECK(taken == steps);
    MUST(flexpath_subscriber_close(subscriber));
    expect_calls(0);
    MUST(flexpath_options_free(options));
}

/* The whole shape of this test's mistakes: one rank cannot, all are told. */
static void decline(int rank)
{
    flexpath_options *options;
    flexpath_publisher *publisher;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_cohort_mpi(options, MPI_COMM_WORLD));
    if (rank == 1)
        MUST(flexpath_options_set(options, "QueueLimit", "3"));
    CHECK(flexpath_publisher_open("mpi", options, &publisher) < 0);
    const char *mine = "QueueLimit is an option of a Subscriber";
    CHECK(strstr(flexpath_last_error(), mine) != NULL);
    CHECK((strstr(flexpath_last_error(), "rank 1 could not open its part") != NULL) == (rank != 1));
    expect_calls(1);
    MUST(flexpath_options_free(options));
}

int main(int argc, char **argv)
{
    int rank, provided;
    CHECK(argc == 3);
    home = pthread_self();
    MPI_Init(&argc, &argv);
    MPI_Query_thread(&provided);
    CHECK(provided == MPI_THREAD_SINGLE || getenv("ANY_THREADS") != NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const uint64_t steps = strtoull(argv[2], NULL, 10);
    if (strcmp(argv[1], "publish") == 0)
        publish(MPI_COMM_WORLD, steps);
    else if (strcmp(argv[1], "subscribe") == 0)
        subscribe(MPI_COMM_WORLD, steps);
    else if (strcmp(argv[1], "decline") == 0)
        decline(rank);
    else {
        MPI_Comm part;
        PMPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
        if (rank % 2 == 0)
            publish(part, steps);
        else
            subscribe(part, steps);
        MPI_Comm_free(&part);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("%s: all as expected\n", argv[1]);
    return 0;
}
