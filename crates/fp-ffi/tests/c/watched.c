/* Subscribers that want steps by the numbers of a field: each gets those that are found here,
 * and is told the numbers. */
#include "ends.h"
#include <math.h>
#include <stddef.h>
#include <time.h>

enum { MANY = 40, ALL = ROWS * COLUMNS, ATOMS = 5 };

typedef struct { int32_t charge; double place[2]; } atom;

/* Some whole number that differs from place to place and from step to step. */
static double element(uint64_t step, uint64_t at)
{
    return (double)((step * step * 13 + step * 31 + at * at * 7 + at * 17 + step * at * 5) % 101) - 50;
}

static uint64_t greatest_at(uint64_t step)
{
    uint64_t found = 0;
    for (uint64_t at = 1; at < ALL; at++)
        found = element(step, at) > element(step, found) ? at : found;
    return found;
}

static uint64_t least_at(uint64_t step)
{
    uint64_t found = 0;
    for (uint64_t at = 1; at < ALL; at++)
        found = element(step, at) < element(step, found) ? at : found;
    return found;
}

static double greatest(uint64_t step)
{
    return element(step, greatest_at(step));
}

static double least(uint64_t step)
{
    return element(step, least_at(step));
}

static double sum(uint64_t step)
{
    double found = 0;
    for (uint64_t at = 0; at < ALL; at++)
        found += element(step, at);
    return found;
}

static double mean(uint64_t step)
{
    return sum(step) / ALL;
}

static double variance(uint64_t step)
{
    double squares = 0;
    for (uint64_t at = 0; at < ALL; at++)
        squares += element(step, at) * element(step, at);
    return (squares * ALL - sum(step) * sum(step)) / (ALL * ALL);
}

static double count_above_30(uint64_t step)
{
    double found = 0;
    for (uint64_t at = 0; at < ALL; at++)
        found += element(step, at) > 30;
    return found;
}

static double any_above_49(uint64_t step)
{
    return greatest(step) > 49;
}

static double all_above_minus_49(uint64_t step)
{
    return least(step) > -49;
}

static double doubled_sum(uint64_t step)
{
    return 2 * sum(step);
}

/* What is registered with the publisher, and called by a condition. */
static int32_t doubled(void *context, const void *const *inputs, uint64_t input_count, uint64_t count, void *made, uint64_t made_count)
{
    if (context || input_count != 1 || made_count != count)
        return 1;
    for (uint64_t at = 0; at < count; at++)
        ((double *)made)[at] = 2 * ((const double *)inputs[0])[at];
    return 0;
}

/* The greatest second coordinate of the atoms, which are elements of the field. */
static double farthest(uint64_t step)
{
    double found = element(step, 0);
    for (uint64_t at = 1; at < ATOMS; at++)
        found = element(step, at) > found ? element(step, at) : found;
    return found;
}

/* What is no less than 44 of the 48 elements, or as much as the least such element. */
static double quantile(uint64_t step)
{
    double found = greatest(step);
    for (uint64_t at = 0; at < ALL; at++) {
        int no_more = 0;
        for (uint64_t other = 0; other < ALL; other++)
            no_more += element(step, other) <= element(step, at);
        found = no_more >= 44 && element(step, at) < found ? element(step, at) : found;
    }
    return found;
}

/* The same of the region of rows 2 to 5 and of every second column. */
static uint64_t inner_at(uint64_t step)
{
    uint64_t found = 2 * COLUMNS;
    for (uint64_t at = 2 * COLUMNS; at < 6 * COLUMNS; at++)
        found = at % COLUMNS % 2 == 0 && element(step, at) > element(step, found) ? at : found;
    return found;
}

static double inner(uint64_t step)
{
    return element(step, inner_at(step));
}

/* Rows of a joined array, which are as many as the step says: the first elements of the field. */
static uint64_t age_count(uint64_t step) { return 1 + step % 4; }

static double ages_sum(uint64_t step)
{
    double found = 0;
    for (uint64_t at = 0; at < age_count(step); at++)
        found += element(step, at);
    return found;
}

/* What is measured, as conditions write it. */
static const struct {
    const char *text;
    double (*value)(uint64_t step);
    uint64_t (*place)(uint64_t step);
} measures[] = {
    {"max(T)", greatest, greatest_at},
    {"min(T)", least, least_at},
    {"sum(T)", sum, NULL},
    {"mean(T)", mean, NULL},
    {"variance(T)", variance, NULL},
    {"count(T > 30.0)", count_above_30, NULL},
    {"any(T > 49.0)", any_above_49, NULL},
    {"all(T > -49.0)", all_above_minus_49, NULL},
    {"quantile(T, 0.9, -64.0..64.0 / 128)", quantile, NULL},
    {"max(atoms.place.1)", farthest, NULL},
    {"sum(call(doubled, T))", doubled_sum, NULL},
    {"max(T[2:6, ::2])", inner, inner_at},
    {"sum(ages)", ages_sum, NULL},
};

static int has_particles(uint64_t step) { return step % 3 == 0; }
static int max_is(uint64_t step) { return greatest(step) > 48; }
static int min_is(uint64_t step) { return least(step) < -48; }
static int sum_is(uint64_t step) { return sum(step) > 0; }
static int mean_is(uint64_t step) { return mean(step) <= 1; }
static int variance_is(uint64_t step) { return variance(step) >= 850; }
static int count_is(uint64_t step) { return count_above_30(step) >= 10; }
static int any_is(uint64_t step) { return any_above_49(step) != 0; }
static int all_is(uint64_t step) { return all_above_minus_49(step) != 0; }
static int change_is(uint64_t step) { return step > 0 && greatest(step) - greatest(step - 1) > 0; }
static int both_are(uint64_t step) { return max_is(step) && least(step) < -47; }
static int one_is(uint64_t step) { return any_is(step) || sum(step) < -150; }
static int is_not(uint64_t step) { return !sum_is(step); }
static int rises(uint64_t step) { return max_is(step) && (step == 0 || !max_is(step - 1)); }

static int is_every(uint64_t step) { return step % 7 == 0; }
static int argmax_is(uint64_t step) { return greatest_at(step) / COLUMNS < 4; }
static int argmin_is(uint64_t step) { return least_at(step) % COLUMNS >= 3; }
static int call_is(uint64_t step) { return doubled_sum(step) > 50; }
static int field_is(uint64_t step) { return farthest(step) > 30; }
static int quantile_is(uint64_t step) { return quantile(step) > 40; }

static int region_is(uint64_t step) { return inner(step) > 45; }
static int joined_is(uint64_t step) { return ages_sum(step) > 0; }

/* Windows of three steps; what they have of a step, by which statistic, and the number to be above. */
static int window_is(uint64_t step, double (*of)(uint64_t step), char statistic, double threshold)
{
    double low = of(step), high = of(step), total = 0;
    if (step < 2)
        return 0;
    for (uint64_t at = step - 2; at <= step; at++) {
        low = of(at) < low ? of(at) : low;
        high = of(at) > high ? of(at) : high;
        total += of(at);
    }
    switch (statistic) {
    case '<': return low > threshold;
    case '>': return high > threshold;
    case '+': return total > threshold;
    case '/': return total / 3 > threshold;
    default: return high - low > threshold;
    }
}

static int window_max_is(uint64_t step) { return window_is(step, mean, '>', 2); }
static int window_min_is(uint64_t step) { return window_is(step, mean, '<', -2); }
static int window_sum_is(uint64_t step) { return window_is(step, sum, '+', 0); }
static int window_mean_is(uint64_t step) { return window_is(step, mean, '/', 0); }
static int window_range_is(uint64_t step) { return window_is(step, greatest, '-', 1); }

static int held(uint64_t step)
{
    return sum_is(step) + (step > 0 && sum_is(step - 1)) + (step > 1 && sum_is(step - 2)) >= 2;
}

static int hysteresis(uint64_t step)
{
    int is_on = 0;
    for (uint64_t at = 0; at <= step; at++)
        is_on = sum(at) > 100 || (is_on && !(sum(at) < -100));
    return is_on;
}

static const struct {
    const char *text;
    int (*is_met)(uint64_t step);
} conditions[] = {
    {"has(particles)", has_particles},
    {"max(T) > 48", max_is},
    {"min(T) < -48", min_is},
    {"sum(T) > 0", sum_is},
    {"mean(T) <= 1", mean_is},
    {"variance(T) >= 850", variance_is},
    {"count(T > 30) >= 10", count_is},
    {"any(T > 49)", any_is},
    {"all(T > -49)", all_is},
    {"change(max(T)) > 0", change_is},
    {"max(T) > 48 and min(T) < -47", both_are},
    {"max(T) > 49 or sum(T) < -150", one_is},
    {"not sum(T) > 0", is_not},
    {"rises(max(T) > 48)", rises},
    {"hysteresis(sum(T) > 100, sum(T) < -100)", hysteresis},
    {"held(sum(T) > 0, 2, 3)", held},
    {"every(7)", is_every},
    {"argmax(T)[0] < 4", argmax_is},
    {"argmin(T)[1] >= 3", argmin_is},
    {"window(mean(T), 3, max) > 2", window_max_is},
    {"window(mean(T), 3, min) > -2", window_min_is},
    {"window(sum(T), 3, sum) > 0", window_sum_is},
    {"window(mean(T), 3, mean) > 0", window_mean_is},
    {"window(max(T), 3, range) > 1", window_range_is},
    {"max(T[2:6, ::2]) > 45", region_is},
    {"sum(ages) > 0", joined_is},
    {"quantile(T, 0.9, -64..64 / 128) > 40", quantile_is},
    {"max(atoms.place.1) > 30", field_is},
    {"sum(call(doubled, T)) > 50", call_is},
};

static flexpath_variable *ages;

enum { MEASURES = sizeof measures / sizeof *measures, CONDITIONS = sizeof conditions / sizeof *conditions };

static flexpath_subscriber *with_condition(const char *condition)
{
    flexpath_options *options;
    flexpath_subscriber *opened;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "Condition", condition));
    MUST(flexpath_options_set(options, "QueueLimit", "64"));
    MUST(flexpath_subscriber_open("watched", options, &opened));
    MUST(flexpath_options_free(options));
    return opened;
}

static void open_publisher(void)
{
    flexpath_options *options;
    flexpath_transforms *functions;
    MUST(flexpath_transforms_create(0, &functions));
    MUST(flexpath_transforms_add_function(functions, "doubled", FLEXPATH_DTYPE_F64, FLEXPATH_DTYPE_F64, 0, doubled, NULL, NULL));
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_transforms(options, functions));
    MUST(flexpath_transforms_free(functions));
    /* Every step must be judged, also under a checker that slows everything down. */
    MUST(flexpath_options_set(options, "DeriveBudgetSecs", "60"));
    MUST(flexpath_publisher_open("watched", options, &publisher));
    MUST(flexpath_options_free(options));
}

static flexpath_variable *variable_of_atoms(void)
{
    const size_t offsets[] = {offsetof(atom, charge), offsetof(atom, place)};
    const uint64_t two = 2;
    flexpath_schema *schema;
    flexpath_variable *atoms;
    MUST(flexpath_schema_create("Atom", &schema));
    MUST(flexpath_schema_add_field(schema, "charge", FLEXPATH_DTYPE_I32));
    MUST(flexpath_schema_add_field(schema, "place", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_fixed(schema, "place", 1, &two, FLEXPATH_ORDER_ROW_MAJOR));
    MUST(flexpath_schema_set_struct(schema, offsets, 2, sizeof(atom)));
    MUST(flexpath_variable_joined_records("atoms", schema, 0, NULL, &atoms));
    MUST(flexpath_schema_free(schema));
    return atoms;
}

static void publish(uint64_t step, flexpath_variable *field, flexpath_variable *particles, flexpath_variable *of_atoms)
{
    const uint64_t rows = ROWS / 2, atom_count = ATOMS, aged = age_count(step);
    atom atoms[ATOMS] = {0};
    double block[ALL / 2];
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    for (uint64_t half = 0; half < 2; half++) {
        const uint64_t start[] = {half * rows, 0}, count[] = {rows, COLUMNS};
        for (uint64_t at = 0; at < ALL / 2; at++)
            block[at] = element(step, half * (ALL / 2) + at);
        MUST(flexpath_publisher_put(publisher, field, start, count, block));
    }
    for (uint64_t at = 0; at < ATOMS; at++)
        atoms[at].place[1] = element(step, at);
    MUST(flexpath_publisher_put(publisher, of_atoms, NULL, &atom_count, atoms));
    for (uint64_t at = 0; at < aged; at++)
        block[at] = element(step, at);
    MUST(flexpath_publisher_put(publisher, ages, NULL, &aged, block));
    if (has_particles(step))
        MUST(flexpath_publisher_put(publisher, particles, NULL, NULL, &step));
    MUST(flexpath_publisher_end_step(publisher));
}

/* The numbers, and where a greatest or least one is, are those of the step. */
static void check_measured(flexpath_step *step, uint64_t number, const char *condition)
{
    uint64_t count;
    flexpath_measured info;
    const char *reason;
    uint64_t micros;
    time_t now = time(NULL);
    MUST(flexpath_step_unjudged(step, &reason));
    CHECK(*reason == '\0');
    /* What was decided within the last hour is of this run. */
    MUST(flexpath_step_decided_at(step, &micros));
    CHECK(micros / 1000000 <= (uint64_t)now + 1 && micros / 1000000 + 3600 > (uint64_t)now);
    MUST(flexpath_step_measured_count(step, &count));
    CHECK((count == 0) == (strcmp(condition, "has(particles)") == 0 || strcmp(condition, "every(7)") == 0));
    for (uint64_t index = 0; index < count; index++) {
        int which = 0;
        MUST(flexpath_step_measured_at(step, index, &info));
        while (which < MEASURES && strcmp(measures[which].text, info.measure) != 0)
            which++;
        CHECK(which < MEASURES && info.is_there == 1);
        CHECK(fabs(info.number - measures[which].value(number)) <= 1e-9);
        CHECK(info.upper - info.number == (measures[which].value == quantile));
        CHECK(info.ndims == (measures[which].place ? 2 : 0));
        if (measures[which].place)
            CHECK(info.place[0] * COLUMNS + info.place[1] == measures[which].place(number));
    }
    FAILS(FLEXPATH_STATUS_MISUSE, "they count from 0", flexpath_step_measured_at(step, count, &info));
}

/* Exactly the steps that are as the condition says come; some do, and some do not. */
static void check_condition(flexpath_subscriber *watcher, int which)
{
    uint64_t taken = 0;
    for (uint64_t number = 0; number < MANY; number++) {
        flexpath_step *step;
        flexpath_step_info info;
        if (!conditions[which].is_met(number))
            continue;
        MUST(flexpath_subscriber_next_step(watcher, 60000, &step));
        MUST(flexpath_step_describe(step, &info));
        CHECK(info.step == number && info.skipped == 0);
        check_measured(step, number, conditions[which].text);
        MUST(flexpath_step_release(step));
        taken++;
    }
    CHECK(taken > 0 && taken < MANY);
}

static void check_conditions(flexpath_variable *field, flexpath_variable *particles)
{
    flexpath_subscriber *watchers[CONDITIONS];
    flexpath_variable *atoms = variable_of_atoms();
    flexpath_step *step;
    open_publisher();
    for (int which = 0; which < CONDITIONS; which++)
        watchers[which] = with_condition(conditions[which].text);
    for (uint64_t number = 0; number < MANY; number++)
        publish(number, field, particles, atoms);
    for (int which = 0; which < CONDITIONS; which++) {
        check_condition(watchers[which], which);
        CHECK(flexpath_subscriber_next_step(watchers[which], 0, &step) == FLEXPATH_STATUS_NOT_YET);
        MUST(flexpath_subscriber_close(watchers[which]));
    }
    MUST(flexpath_publisher_close(publisher));
    MUST(flexpath_variable_free(atoms));
}

/* The last hits that a publisher keeps, for who comes when they are over. */
static void check_late(flexpath_variable *field, flexpath_variable *particles)
{
    flexpath_variable *atoms = variable_of_atoms();
    flexpath_options *options;
    uint64_t number = MANY, hits = 0;
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "character 7", flexpath_options_set(options, "ReserveCondition", "max(T)"));
    MUST(flexpath_options_set(options, "ReserveCondition", "max(T) > 48"));
    FAILS(FLEXPATH_STATUS_NOT_OPENED, "ReserveQueueLimit is 0", flexpath_publisher_open("watched", options, &publisher));
    MUST(flexpath_options_set(options, "ReserveQueueLimit", "3"));
    MUST(flexpath_options_set(options, "DeriveBudgetSecs", "60"));
    MUST(flexpath_publisher_open("watched", options, &publisher));
    MUST(flexpath_options_free(options));
    for (uint64_t step = 0; step < MANY; step++)
        publish(step, field, particles, atoms);
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "Condition", "max(T) > 48"));
    MUST(flexpath_options_set(options, "StartAt", "OldestReserved"));
    MUST(flexpath_subscriber_open("watched", options, &subscriber));
    MUST(flexpath_options_free(options));
    while (hits < 3)
        hits += (uint64_t)max_is(--number);
    for (; hits > 0; number++) {
        flexpath_step_info info;
        flexpath_step *step;
        if (!max_is(number))
            continue;
        step = next_step();
        MUST(flexpath_step_describe(step, &info));
        CHECK(info.step == number && info.skipped == 0);
        check_measured(step, number, "max(T) > 48");
        MUST(flexpath_step_release(step));
        hits--;
    }
    close_ends();
    MUST(flexpath_variable_free(atoms));
}

int main(void)
{
    const uint64_t shape[] = {ROWS, COLUMNS};
    flexpath_variable *field, *particles;
    MUST(flexpath_variable_global("T", FLEXPATH_DTYPE_F64, 2, shape, &field));
    MUST(flexpath_variable_scalar("particles", FLEXPATH_DTYPE_U64, &particles));
    MUST(flexpath_variable_joined("ages", FLEXPATH_DTYPE_F64, 0, NULL, &ages));
    check_conditions(field, particles);
    check_late(field, particles);
    MUST(flexpath_variable_free(field));
    MUST(flexpath_variable_free(particles));
    MUST(flexpath_variable_free(ages));
    printf("watched\n");
    return 0;
}
