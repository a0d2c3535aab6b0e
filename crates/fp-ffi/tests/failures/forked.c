/* A child that was forked off while its parent publishes and subscribes. Every call on the parent's handles is refused
 * with a message. The child's end leaves the parent's streams alone, and a child can open a stream of its own. */
#include "../c/check.h"
#include <sys/wait.h>
#include <unistd.h>

enum { CELLS = 64 };

static void put_step(flexpath_publisher *publisher, flexpath_variable *grid, double value)
{
    const uint64_t start = 0, count = CELLS;
    double part[CELLS];
    for (int cell = 0; cell < CELLS; cell++)
        part[cell] = value;
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, grid, &start, &count, part));
    MUST(flexpath_publisher_end_step(publisher));
}

static void take_step(flexpath_subscriber *subscriber, double value)
{
    flexpath_step *step;
    double taken[CELLS];
    MUST(flexpath_subscriber_next_step(subscriber, 10000, &step));
    MUST(flexpath_step_get(step, "grid", NULL, FLEXPATH_DTYPE_F64, taken, CELLS, -1));
    CHECK(taken[0] == value && taken[CELLS - 1] == value);
    MUST(flexpath_step_release(step));
}

static void open_both(const char *stream, flexpath_publisher **publisher, flexpath_subscriber **subscriber)
{
    MUST(flexpath_publisher_open(stream, NULL, publisher));
    MUST(flexpath_subscriber_open(stream, NULL, subscriber));
}

static void in_the_child(flexpath_publisher *publisher, flexpath_subscriber *subscriber, flexpath_variable *grid)
{
    flexpath_step *step;
    FAILS(FLEXPATH_STATUS_FORKED, "a forked child must open its own", flexpath_publisher_begin_step(publisher, NULL));
    FAILS(FLEXPATH_STATUS_FORKED, "a forked child must open its own",
          flexpath_subscriber_next_step(subscriber, 10000, &step));
    FAILS(FLEXPATH_STATUS_FORKED, "a forked child must open its own", flexpath_publisher_close(publisher));
    FAILS(FLEXPATH_STATUS_FORKED, "a forked child must open its own", flexpath_subscriber_close(subscriber));
    open_both("of-the-child", &publisher, &subscriber);
    put_step(publisher, grid, 3.0);
    take_step(subscriber, 3.0);
    MUST(flexpath_subscriber_close(subscriber));
    MUST(flexpath_publisher_close(publisher));
}

int main(void)
{
    const uint64_t shape = CELLS;
    flexpath_variable *grid;
    flexpath_publisher *publisher;
    flexpath_subscriber *subscriber;
    int state;
    MUST(flexpath_variable_global("grid", FLEXPATH_DTYPE_F64, 1, &shape, &grid));
    open_both("of-the-parent", &publisher, &subscriber);
    put_step(publisher, grid, 1.0);
    take_step(subscriber, 1.0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        in_the_child(publisher, subscriber, grid);
        /* With all that a program does as it ends. */
        exit(0);
    }
    CHECK(waitpid(child, &state, 0) == child);
    CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    put_step(publisher, grid, 2.0);
    take_step(subscriber, 2.0);
    MUST(flexpath_subscriber_close(subscriber));
    MUST(flexpath_publisher_close(publisher));
    printf("refused, and the parent went on\n");
    return 0;
}
