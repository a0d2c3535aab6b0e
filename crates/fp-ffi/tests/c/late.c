/* Takes one step of the stream `c`. A line on its input says when the publisher has been stopped, and another when it
 * goes on. Meanwhile a get times out, and what arrives late is not written to its memory. */
#include "check.h"

static void await_line(const char *said)
{
    int letter;
    printf("%s\n", said);
    fflush(stdout);
    while ((letter = getchar()) != '\n')
        CHECK(letter != EOF);
}

int main(void)
{
    flexpath_options *options;
    flexpath_subscriber *subscriber;
    flexpath_step *step, *next;
    flexpath_step_info about;
    const uint64_t len = 2 * number("WIDE", 16);
    double *first = malloc(len * sizeof *first), *late = malloc(len * sizeof *late), *again = malloc(len * sizeof *again);

    CHECK(first != NULL && late != NULL && again != NULL);

    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "Transports", "tcp"));
    MUST(flexpath_options_set(options, "CreditSteps", "1"));
    MUST(flexpath_subscriber_open("c", options, &subscriber));
    MUST(flexpath_subscriber_next_step(subscriber, 60000, &step));
    MUST(flexpath_step_describe(step, &about));
    MUST(flexpath_step_get(step, "wide", NULL, FLEXPATH_DTYPE_F64, first, len, -1));
    CHECK(flexpath_subscriber_next_step(subscriber, 0, &next) == FLEXPATH_STATUS_NOT_YET);
    for (uint64_t i = 0; i < len; i++)
        late[i] = -1.0;
    await_line("holds a step");
    FAILS(FLEXPATH_STATUS_TIMED_OUT, "waited",
          flexpath_step_get(step, "wide", NULL, FLEXPATH_DTYPE_F64, late, len, 300));
    for (uint64_t i = 0; i < len; i++)
        late[i] = -2.0;
    await_line("timed out");
    MUST(flexpath_step_get(step, "wide", NULL, FLEXPATH_DTYPE_F64, again, len, -1));
    for (uint64_t i = 0; i < len; i++)
        CHECK(late[i] == -2.0 && again[i] == first[i] && first[i] == (double)value(about.step, 0, i));
    MUST(flexpath_step_release(step));
    MUST(flexpath_subscriber_close(subscriber));
    MUST(flexpath_options_free(options));
    free(first);
    free(late);
    free(again);
    printf("done\n");
    return 0;
}
