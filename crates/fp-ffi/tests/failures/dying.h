/* A publisher that dies in the midst of its steps, one way or another. */
#ifndef DYING_H
#define DYING_H
#include "../c/check.h"
#include <signal.h>
#include <unistd.h>

enum { CELLS = 4096, DIES_AT = 5, LAST = 100000 };

/* Crashes as a simulation does: a write to an address that is none. */
static inline void crash(void)
{
    volatile int *nowhere = (volatile int *)(uintptr_t)8;
    *nowhere = 1;
}

/* A handler of the application's own, as many simulations have one: it must not find threads of ours in its way. */
static void last_words(int number)
{
    static const char text[] = "the simulation crashed\n";
    if (write(2, text, sizeof text - 1) < 0)
        _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

static inline void die(const char *way, void (*abort_all)(void))
{
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(way, "crash") == 0)
        crash();
    else if (strcmp(way, "handled-crash") == 0) {
        signal(SIGSEGV, last_words);
        crash();
    } else if (strcmp(way, "exit") == 0)
        exit(0);
    else if (strcmp(way, "abort") == 0)
        abort_all();
    fprintf(stderr, "%s: no way to die\n", way);
    exit(3);
}

/* Publishes until the rank `dying` dies at a step; the others until their calls say that it is lost. */
static inline void publish_and_die(flexpath_options *options, uint64_t rank, uint64_t size, uint64_t dying,
                                   const char *way, void (*abort_all)(void))
{
    const uint64_t shape = CELLS * size, start = CELLS * rank, count = CELLS;
    flexpath_variable *grid;
    flexpath_publisher *publisher;
    MUST(flexpath_options_set(options, "MinSubscribers", "1"));
    MUST(flexpath_variable_global("grid", FLEXPATH_DTYPE_F64, 1, &shape, &grid));
    MUST(flexpath_publisher_open("dying", options, &publisher));
    for (uint64_t step = 0; step < LAST; step++) {
        double part[CELLS];
        for (uint64_t cell = 0; cell < CELLS; cell++)
            part[cell] = (double)(step + start + cell);
        flexpath_status status = flexpath_publisher_begin_step(publisher, NULL);
        if (status == FLEXPATH_STATUS_LOST) {
            printf("rank %d: %s\n", (int)rank, flexpath_last_error());
            break;
        }
        CHECK(status == FLEXPATH_STATUS_OK);
        MUST(flexpath_publisher_put(publisher, grid, &start, &count, part));
        if (step == DIES_AT && rank == dying)
            die(way, abort_all);
        status = flexpath_publisher_end_step(publisher);
        CHECK(status == FLEXPATH_STATUS_OK || status == FLEXPATH_STATUS_LOST);
    }
    CHECK(flexpath_publisher_close(publisher) == FLEXPATH_STATUS_NOT_CLEAN);
}

#endif
