/* Two codes that need each other's field in every step, each under an MPI of its own:
 *
 *     mpirun -n 2 ./coupled air sea 100 &
 *     mpirun -n 3 ./coupled sea air 100
 *
 * Each publishes its field and then takes the other's. In that order neither can wait for ever: what a code waits for is
 * published before its partner waits. The first step is precious, so the partner gets it even if it attaches late.
 *
 * MILLISECONDS: how long a step takes besides, as if there were more to compute. The other waits for it, and no longer.
 *
 * Every cell of the one gives the other a quarter of the difference, so that the difference halves in each step. */
#define _POSIX_C_SOURCE 199309L
#include <flexpath_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELLS = 720, PATIENCE_MS = 60000 };

static const char *name;

static void check(flexpath_status status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "%s: %s\n", name, flexpath_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static flexpath_options *options(void)
{
    flexpath_options *made;
    check(flexpath_options_create(&made));
    check(flexpath_options_set_cohort_mpi(made, MPI_COMM_WORLD));
    return made;
}

static double begins(const char *of, uint64_t cell)
{
    return strcmp(of, "air") == 0 ? 290 + (double)(cell % 7) : 280 + (double)(cell % 5);
}

/* The other's field at the same step, where this rank's cells are. */
static void take(flexpath_subscriber *subscriber, uint64_t number, uint64_t first, uint64_t count, double *field)
{
    const flexpath_selection selected = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 1, .start = &first, .count = &count};
    flexpath_step_info about;
    flexpath_step *step;
    flexpath_status came = flexpath_subscriber_next_step(subscriber, PATIENCE_MS, &step);
    if (came != FLEXPATH_STATUS_OK) {
        const char *why = came == FLEXPATH_STATUS_NOT_YET ? "it did not come in time" : flexpath_last_error();
        fprintf(stderr, "%s: no step %llu of the partner: %s\n", name, (unsigned long long)number, why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    check(flexpath_step_describe(step, &about));
    if (about.step != number) {
        fprintf(stderr, "%s: step %llu came in place of %llu\n", name, (unsigned long long)about.step,
                (unsigned long long)number);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    check(flexpath_step_get(step, "temperature", &selected, FLEXPATH_DTYPE_F64, field, count, -1));
    check(flexpath_step_release(step));
}

int main(int words, char **word)
{
    const uint64_t shape[] = {CELLS};
    flexpath_publisher *publisher;
    flexpath_subscriber *subscriber;
    flexpath_variable *temperature;
    flexpath_options *of_publisher, *of_subscriber;
    double own[CELLS], other[CELLS], left = 1, error = 0;
    int rank, size;

    MPI_Init(&words, &word);
    if (words != 4 && words != 5) {
        fprintf(stderr, "usage: coupled NAME PARTNER STEPS [MILLISECONDS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    name = word[1];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const uint64_t first = (uint64_t)CELLS * (uint64_t)rank / (uint64_t)size;
    const uint64_t count = (uint64_t)CELLS * (uint64_t)(rank + 1) / (uint64_t)size - first;
    const uint64_t steps = strtoull(word[3], NULL, 10);
    const long ms = words == 5 ? atol(word[4]) : 0;
    const struct timespec besides = {.tv_sec = ms / 1000, .tv_nsec = 1000000L * (ms % 1000)};
    for (uint64_t cell = 0; cell < count; cell++)
        own[cell] = begins(name, first + cell);

    of_publisher = options();
    check(flexpath_options_set(of_publisher, "FirstTimestepPrecious", "true"));
    check(flexpath_publisher_open(name, of_publisher, &publisher));
    of_subscriber = options();
    check(flexpath_subscriber_open(word[2], of_subscriber, &subscriber));
    check(flexpath_variable_global("temperature", FLEXPATH_DTYPE_F64, 1, shape, &temperature));

    for (uint64_t step = 0; step < steps; step++) {
        check(flexpath_publisher_begin_step(publisher, NULL));
        check(flexpath_publisher_put(publisher, temperature, &first, &count, own));
        check(flexpath_publisher_end_step(publisher));
        take(subscriber, step, first, count, other);
        for (uint64_t cell = 0; cell < count; cell++)
            own[cell] += (other[cell] - own[cell]) / 4;
        left /= 2;
        nanosleep(&besides, NULL);
    }

    for (uint64_t cell = 0; cell < count; cell++) {
        const double mine = begins(name, first + cell), mean = (mine + begins(word[2], first + cell)) / 2;
        const double off = own[cell] - mean - (mine - mean) * left, positive = off < 0 ? -off : off;
        error = positive > error ? positive : error;
    }
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %llu steps with %s, %s\n", name, (unsigned long long)steps, word[2],
               error < 1e-9 ? "as calculated" : "and it is wrong");

    /* The partner may still need the last step: closing waits for that. */
    check(flexpath_subscriber_close(subscriber));
    check(flexpath_publisher_close(publisher));
    check(flexpath_variable_free(temperature));
    check(flexpath_options_free(of_publisher));
    check(flexpath_options_free(of_subscriber));
    MPI_Finalize();
    return 0;
}
