/* What subscribers with conditions are told of arrays that are not there, that have NaN, or that are too short. */
#include "ends.h"
#include <math.h>

static void open_watching(const char *condition)
{
    flexpath_options *options;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "Condition", condition));
    open_ends("watched", options);
    MUST(flexpath_options_free(options));
}

/* A step of four elements, of which a condition wants nine. */
static void check_unjudged(void)
{
    const uint64_t shape = 4, start = 0;
    const double four[4] = {0};
    flexpath_variable *few;
    flexpath_measured info;
    flexpath_step *step;
    const char *reason;
    uint64_t count;
    MUST(flexpath_variable_global("T", FLEXPATH_DTYPE_F64, 1, &shape, &few));
    open_watching("max(T[0:9]) > 1");
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, few, &start, &shape, four));
    MUST(flexpath_publisher_end_step(publisher));
    step = next_step();
    MUST(flexpath_step_unjudged(step, &reason));
    CHECK(strstr(reason, "publisher rank 0 did not measure: ") == reason && strchr(reason, '9'));
    MUST(flexpath_step_measured_count(step, &count));
    CHECK(count == 0);
    FAILS(FLEXPATH_STATUS_MISUSE, "measured number 0 of 0", flexpath_step_measured_at(step, 0, &info));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "reason is null", flexpath_step_unjudged(step, NULL));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "micros is null", flexpath_step_decided_at(step, NULL));
    MUST(flexpath_step_release(step));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "released before", flexpath_step_unjudged(step, &reason));
    close_ends();
    MUST(flexpath_variable_free(few));
}

/* An array that is not there has no number, and one with NaN has NaN: neither is more nor less than another. */
static void check_no_number(void)
{
    const uint64_t shape = 3, start = 0, expected[] = {0, 1, 3};
    const double of_step[2][3] = {{5, NAN, 7}, {5, 6, 7}};
    flexpath_variable *few, *other;
    flexpath_step_info about;
    flexpath_measured info;
    flexpath_step *step;
    MUST(flexpath_variable_global("T", FLEXPATH_DTYPE_F64, 1, &shape, &few));
    MUST(flexpath_variable_scalar("number", FLEXPATH_DTYPE_U64, &other));
    open_watching("not max(T) > 1");
    for (uint64_t number = 0; number < 4; number++) {
        MUST(flexpath_publisher_begin_step(publisher, NULL));
        MUST(flexpath_publisher_put(publisher, other, NULL, NULL, &number));
        if (number == 1 || number == 2)
            MUST(flexpath_publisher_put(publisher, few, &start, &shape, of_step[number - 1]));
        MUST(flexpath_publisher_end_step(publisher));
    }
    for (int at = 0; at < 3; at++) {
        step = next_step();
        MUST(flexpath_step_describe(step, &about));
        CHECK(about.step == expected[at] && about.skipped == 0);
        MUST(flexpath_step_measured_at(step, 0, &info));
        CHECK(strcmp(info.measure, "max(T)") == 0 && isnan(info.number));
        CHECK(info.is_there == (at == 1) && info.ndims == (at == 1) && (at != 1 || info.place[0] == 1));
        MUST(flexpath_step_release(step));
    }
    close_ends();
    MUST(flexpath_variable_free(few));
    MUST(flexpath_variable_free(other));
}

int main(void)
{
    check_unjudged();
    check_no_number();
    printf("watched\n");
    return 0;
}
