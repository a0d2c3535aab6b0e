/* A program with an event loop of its own: it waits by poll(2) for steps, for events and for a pipe. */
#include "ends.h"
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum { MANY = 300 };

static flexpath_variable *number_variable;

static int is_readable(int descriptor, int timeout_ms)
{
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    return poll(&watched, 1, timeout_ms) == 1;
}

static void publish(uint64_t value)
{
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, number_variable, NULL, NULL, &value));
    MUST(flexpath_publisher_end_step(publisher));
}

static void *publish_many(void *nothing)
{
    for (uint64_t i = 0; i < MANY; i++)
        publish(i);
    return nothing;
}

/* Set as long as a look finds something, and cleared by the look that takes the last. */
static void check_levels(int steps, int events)
{
    flexpath_step *step;
    flexpath_event event;
    int32_t again;
    CHECK(!is_readable(steps, 0));
    CHECK(flexpath_subscriber_next_step(subscriber, 0, &step) == FLEXPATH_STATUS_NOT_YET && !is_readable(steps, 0));
    publish(7);
    CHECK(is_readable(steps, 60000) && is_readable(steps, 0));
    MUST(flexpath_subscriber_next_step(subscriber, 0, &step));
    CHECK(!is_readable(steps, 0));
    MUST(flexpath_step_release(step));
    CHECK(is_readable(events, 60000));
    while (flexpath_publisher_next_event(publisher, 0, &event) == FLEXPATH_STATUS_OK)
        ;
    CHECK(!is_readable(events, 0));
    MUST(flexpath_subscriber_step_descriptor(subscriber, &again));
    CHECK(again == steps);
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "descriptor", flexpath_subscriber_step_descriptor(subscriber, NULL));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_publisher_event_descriptor(NULL, &again));
}

/* Steps, beside something of the program's own. */
static void check_loop(int steps)
{
    pthread_t thread;
    int ends[2], is_told = 0;
    uint64_t taken = 0, value;
    flexpath_step *step;
    char byte = 1;
    CHECK(pipe(ends) == 0);
    CHECK(pthread_create(&thread, NULL, publish_many, NULL) == 0);
    while (taken < MANY || !is_told) {
        struct pollfd watched[] = {{.fd = steps, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
        CHECK(poll(watched, 2, 60000) > 0);
        if (watched[1].revents)
            is_told = read(ends[0], &byte, 1) == 1;
        while (flexpath_subscriber_next_step(subscriber, 0, &step) == FLEXPATH_STATUS_OK) {
            MUST(flexpath_step_get(step, "number", NULL, FLEXPATH_DTYPE_U64, &value, 1, -1));
            CHECK(value == taken);
            MUST(flexpath_step_release(step));
            if (++taken == MANY / 2)
                CHECK(write(ends[1], &byte, 1) == 1);
        }
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

int main(void)
{
    int32_t steps, of_publisher, of_subscriber;
    flexpath_step *step;
    MUST(flexpath_variable_scalar("number", FLEXPATH_DTYPE_U64, &number_variable));
    open_ends("polled", NULL);
    MUST(flexpath_subscriber_step_descriptor(subscriber, &steps));
    MUST(flexpath_publisher_event_descriptor(publisher, &of_publisher));
    MUST(flexpath_subscriber_event_descriptor(subscriber, &of_subscriber));
    CHECK(is_readable(of_subscriber, 60000));
    check_levels(steps, of_publisher);
    check_loop(steps);
    MUST(flexpath_publisher_close(publisher));
    CHECK(is_readable(steps, 60000));
    CHECK(flexpath_subscriber_next_step(subscriber, 0, &step) == FLEXPATH_STATUS_END_OF_STREAM);
    MUST(flexpath_subscriber_close(subscriber));
    MUST(flexpath_variable_free(number_variable));
    printf("polled\n");
    return 0;
}
