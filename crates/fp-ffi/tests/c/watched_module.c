/* Conditions on what a module makes of each element, twice as much: subscribers get exactly the steps that are found here,
 * and are told the numbers. Argument 1 is the file of the module. */
#include "ends.h"
#include <math.h>

enum { MANY = 40, ALL = ROWS * COLUMNS, LIMIT = 1 << 16 };

/* Some whole number that differs from place to place and from step to step. */
static double element(uint64_t step, uint64_t at)
{
    return (double)((step * step * 13 + step * 31 + at * at * 7 + at * 17 + step * at * 5) % 101) - 50;
}

static double twice_sum(uint64_t step, uint64_t *place)
{
    double found = 0;
    (void)place;
    for (uint64_t at = 0; at < ALL; at++)
        found += 2 * element(step, at);
    return found;
}

/* Of the rows 2 to 6, which both blocks have parts of. */
static double twice_greatest(uint64_t step, uint64_t *place)
{
    *place = 2 * COLUMNS;
    for (uint64_t at = 2 * COLUMNS; at < 6 * COLUMNS; at++)
        *place = element(step, at) > element(step, *place) ? at : *place;
    return 2 * element(step, *place);
}

static double twice_least(uint64_t step, uint64_t *place)
{
    *place = 0;
    for (uint64_t at = 1; at < ALL; at++)
        *place = element(step, at) < element(step, *place) ? at : *place;
    return 2 * element(step, *place);
}

static int sum_is(uint64_t step)
{
    uint64_t place;
    return twice_sum(step, &place) > 50;
}

static int greatest_is(uint64_t step)
{
    uint64_t place;
    return twice_greatest(step, &place) > 94;
}

static int greatest_rises(uint64_t step)
{
    return greatest_is(step) && (step == 0 || !greatest_is(step - 1));
}

static int least_is(uint64_t step)
{
    uint64_t place;
    twice_least(step, &place);
    return place % COLUMNS >= 3;
}

static const struct {
    const char *text;
    int (*is_met)(uint64_t step);
    double (*value)(uint64_t step, uint64_t *place);
    uint64_t dims;
} conditions[] = {
    {"sum(module(twice, T)) > 50", sum_is, twice_sum, 0},
    {"max(module(twice, T[2:6, :])) > 94", greatest_is, twice_greatest, 2},
    {"rises(max(module(twice, T[2:6, :])) > 94)", greatest_rises, twice_greatest, 2},
    {"argmin(module(twice, T))[1] >= 3", least_is, twice_least, 2},
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

static uint8_t module[LIMIT];
static size_t len;

static void take_module(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    len = fread(module, 1, LIMIT, file);
    CHECK(len > 0 && len < LIMIT);
    fclose(file);
}

static void open_publisher(void)
{
    char listed[80];
    const char *hash;
    flexpath_options *options;
    MUST(flexpath_module_hash(module, len, &hash));
    snprintf(listed, sizeof listed, "Listed:%s", hash);
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "DeployPolicy", listed));
    MUST(flexpath_options_set(options, "DeriveBudgetSecs", "60"));
    MUST(flexpath_publisher_open("watched", options, &publisher));
    MUST(flexpath_options_free(options));
}

static flexpath_subscriber *watch(const char *condition)
{
    flexpath_options *options;
    flexpath_subscriber *opened;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_add_module(options, "twice", module, len));
    MUST(flexpath_options_set(options, "Condition", condition));
    MUST(flexpath_options_set(options, "QueueLimit", "64"));
    MUST(flexpath_subscriber_open("watched", options, &opened));
    MUST(flexpath_options_free(options));
    return opened;
}

static void publish(uint64_t step, flexpath_variable *field)
{
    const uint64_t rows = ROWS / 2;
    double block[ALL / 2];
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    for (uint64_t half = 0; half < 2; half++) {
        const uint64_t start[] = {half * rows, 0}, count[] = {rows, COLUMNS};
        for (uint64_t at = 0; at < ALL / 2; at++)
            block[at] = element(step, half * (ALL / 2) + at);
        MUST(flexpath_publisher_put(publisher, field, start, count, block));
    }
    MUST(flexpath_publisher_end_step(publisher));
}

static void check_measured(flexpath_step *step, uint64_t number, int which)
{
    flexpath_measured info;
    const char *reason;
    uint64_t count, place = 0;
    double wanted = conditions[which].value(number, &place);
    MUST(flexpath_step_unjudged(step, &reason));
    CHECK(*reason == '\0');
    MUST(flexpath_step_measured_count(step, &count));
    CHECK(count == 1);
    MUST(flexpath_step_measured_at(step, 0, &info));
    CHECK(strstr(info.measure, "(module(") && info.is_there == 1 && fabs(info.number - wanted) <= 1e-9);
    CHECK(info.ndims == conditions[which].dims);
    CHECK(!info.ndims || info.place[0] * COLUMNS + info.place[1] == place);
}

/* Exactly the steps that are as the condition says come; some do, and some do not. */
static void check_condition(flexpath_subscriber *watcher, int which)
{
    uint64_t taken = 0;
    flexpath_step *step;
    for (uint64_t number = 0; number < MANY; number++) {
        flexpath_step_info info;
        if (!conditions[which].is_met(number))
            continue;
        MUST(flexpath_subscriber_next_step(watcher, 60000, &step));
        MUST(flexpath_step_describe(step, &info));
        CHECK(info.step == number && info.skipped == 0);
        check_measured(step, number, which);
        MUST(flexpath_step_release(step));
        taken++;
    }
    CHECK(taken > 0 && taken < MANY);
    CHECK(flexpath_subscriber_next_step(watcher, 0, &step) == FLEXPATH_STATUS_NOT_YET);
}

int main(int count, char **arguments)
{
    const uint64_t shape[] = {ROWS, COLUMNS};
    flexpath_subscriber *watchers[CONDITIONS];
    flexpath_variable *field;
    CHECK(count == 2);
    take_module(arguments[1]);
    MUST(flexpath_variable_global("T", FLEXPATH_DTYPE_F64, 2, shape, &field));
    open_publisher();
    for (int which = 0; which < CONDITIONS; which++)
        watchers[which] = watch(conditions[which].text);
    for (uint64_t number = 0; number < MANY; number++)
        publish(number, field);
    for (int which = 0; which < CONDITIONS; which++) {
        check_condition(watchers[which], which);
        MUST(flexpath_subscriber_close(watchers[which]));
    }
    MUST(flexpath_publisher_close(publisher));
    MUST(flexpath_variable_free(field));
    printf("watched\n");
    return 0;
}
