/* A publisher offers C functions. Records asked for by name are sent through them as they are put, records asked for by
 * type as they are asked for. Only the results cross. */
#include "ends.h"
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <threads.h>

enum { HITS = 60, HALF = HITS / 2 };

typedef struct { uint32_t id, energy; } hit;
typedef struct { uint32_t id; } mark;

static atomic_int calls, released, is_over;

static flexpath_schema *hit_schema(void)
{
    const size_t offsets[] = {offsetof(hit, id), offsetof(hit, energy)};
    flexpath_schema *schema;
    MUST(flexpath_schema_create("Hit", &schema));
    MUST(flexpath_schema_add_field(schema, "id", FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_add_field(schema, "energy", FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_set_struct(schema, offsets, 2, sizeof(hit)));
    return schema;
}

/* It has one number, whose name is in no other type, so that no conversion makes it. */
static flexpath_schema *mark_schema(const char *name, const char *number)
{
    const size_t offset = 0;
    flexpath_schema *schema;
    MUST(flexpath_schema_create(name, &schema));
    MUST(flexpath_schema_add_field(schema, number, FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_set_struct(schema, &offset, 1, sizeof(mark)));
    return schema;
}

static hit made(uint64_t step, uint64_t index)
{
    hit one = {(uint32_t)(1000 * step + index), (uint32_t)((index * 37 + step) % 100)};
    return one;
}

static int is_hot(const hit *one)
{
    return one->energy > 70;
}

/* What is given, or nothing. */
static const hit *hits_of(const flexpath_records *given, uint64_t *count)
{
    const void *elements;
    atomic_fetch_add(&calls, 1);
    if (flexpath_records_count(given, count) || *count > HITS || flexpath_records_elements(given, &elements, NULL))
        return NULL;
    return (const hit *)elements;
}

/* Those with much energy: fewer of the same type. */
static int32_t hot(void *context, const flexpath_records *given, flexpath_builder *built)
{
    hit few[HITS];
    uint64_t count, taken = 0;
    const hit *all = hits_of(given, &count);
    if (!all || context != &calls)
        return 1;
    for (uint64_t i = 0; i < count; i++)
        if (is_hot(&all[i]))
            few[taken++] = all[i];
    return flexpath_builder_set_structs(built, few, taken) ? 2 : 0;
}

/* Each with twice its energy, in its place. */
static int32_t twice(void *context, const flexpath_records *given, flexpath_builder *built)
{
    hit more[HITS];
    uint64_t count;
    const hit *all = hits_of(given, &count);
    if (!all || context != &calls)
        return 1;
    for (uint64_t i = 0; i < count; i++) {
        more[i] = all[i];
        more[i].energy *= 2;
    }
    return flexpath_builder_set_structs(built, more, count) ? 2 : 0;
}

/* The id of the first, plus what the context says. */
static int32_t first(void *context, const flexpath_records *given, flexpath_builder *built)
{
    mark one;
    uint64_t count;
    const hit *all = hits_of(given, &count);
    if (!all || !count)
        return 1;
    one.id = all[0].id + *(const uint32_t *)context;
    return flexpath_builder_set_structs(built, &one, 1) ? 2 : 0;
}

static int32_t failing(void *context, const flexpath_records *given, flexpath_builder *built)
{
    (void)context, (void)given, (void)built;
    return 7;
}

/* Until the test is over: longer than it may. */
static int32_t endless(void *context, const flexpath_records *given, flexpath_builder *built)
{
    (void)context, (void)given, (void)built;
    while (!is_over)
        thrd_yield();
    return 8;
}

static void release(void *context)
{
    (void)context;
    atomic_fetch_add(&released, 1);
}

static uint32_t ones[] = {1, 2};

static void add(flexpath_transforms *offered, const char *name, flexpath_schema *from, flexpath_schema *to,
                int32_t (*run)(void *, const flexpath_records *, flexpath_builder *))
{
    MUST(flexpath_transforms_add(offered, name, from, to, run, release, run == first ? (void *)&ones[0] : &calls));
}

static void add_all(flexpath_transforms *offered, flexpath_schema *hits, flexpath_schema *marks)
{
    const char *per_block[] = {"hot", "here", "failing", "endless"};
    add(offered, "hot", hits, hits, hot);
    MUST(flexpath_transforms_add_each(offered, "twice", hits, hits, twice, release, &calls));
    add(offered, "whole", hits, hits, hot);
    add(offered, "here", hits, hits, hot);
    add(offered, "failing", hits, hits, failing);
    add(offered, "endless", hits, hits, endless);
    for (int name = 0; name < 4; name++)
        MUST(flexpath_transforms_set_per_block(offered, per_block[name]));
    MUST(flexpath_transforms_set_placement(offered, "here", FLEXPATH_PLACEMENT_SUBSCRIBER));
    MUST(flexpath_transforms_set_timeout(offered, "endless", 50));
    /* Two transforms from one type to another: at least one of them is asked for by name alone. */
    add(offered, "one", hits, marks, first);
    FAILS(FLEXPATH_STATUS_MISUSE, "\"one\" leads from Hit to Mark already",
          flexpath_transforms_add(offered, "two", hits, marks, first, NULL, &ones[1]));
    MUST(flexpath_transforms_set_by_name_only(offered, "one"));
    MUST(flexpath_transforms_add(offered, "two", hits, marks, first, NULL, &ones[1]));
    MUST(flexpath_transforms_set_per_block(offered, "one"));
    MUST(flexpath_transforms_set_per_block(offered, "two"));
}

static void check_refusals(flexpath_transforms *offered)
{
    FAILS(FLEXPATH_STATUS_MISUSE, "no transform is called \"none\"", flexpath_transforms_set_per_block(offered, "none"));
    FAILS(FLEXPATH_STATUS_MISUSE, "\"none\"", flexpath_transforms_set_by_name_only(offered, "none"));
    FAILS(FLEXPATH_STATUS_MISUSE, "\"none\"", flexpath_transforms_set_cost(offered, "none", 1, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "\"none\"", flexpath_transforms_set_timeout(offered, "none", 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "0 milliseconds", flexpath_transforms_set_timeout(offered, "hot", 0));
    FAILS(FLEXPATH_STATUS_MISUSE, "5 is no placement", flexpath_transforms_set_placement(offered, "hot", 5));
    FAILS(FLEXPATH_STATUS_MISUSE, "cannot cost -1", flexpath_transforms_set_cost(offered, "hot", -1, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "cannot cost 1", flexpath_transforms_set_cost(offered, "hot", 1, (double)NAN));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "name", flexpath_transforms_set_cost(offered, NULL, 1, 1));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_transforms_set_per_block(NULL, "hot"));
}

static void publish(uint64_t step, flexpath_variable *hits)
{
    hit half[HALF];
    const uint64_t count = HALF;
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    for (uint64_t start = 0; start < HITS; start += HALF) {
        for (uint64_t i = 0; i < HALF; i++)
            half[i] = made(step, start + i);
        MUST(flexpath_publisher_put(publisher, hits, &start, &count, half));
    }
    MUST(flexpath_publisher_end_step(publisher));
}

static void check_hot(flexpath_step *step, uint64_t number, const char *name, flexpath_schema *type)
{
    flexpath_records *few;
    const void *elements;
    uint64_t count, taken = 0;
    MUST(flexpath_step_records(step, name, NULL, type, &few));
    MUST(flexpath_records_count(few, &count));
    MUST(flexpath_records_elements(few, &elements, NULL));
    for (uint64_t i = 0; i < HITS; i++) {
        const hit one = made(number, i);
        if (is_hot(&one)) {
            CHECK(taken < count && !memcmp((const hit *)elements + taken, &one, sizeof one));
            taken++;
        }
    }
    CHECK(taken == count && taken > 0);
    MUST(flexpath_records_release(few));
}

static void check_step(flexpath_step *step, uint64_t number, flexpath_schema *hits, flexpath_schema *marks)
{
    hit doubled[HITS];
    mark firsts[2];
    check_hot(step, number, "hot", hits);
    check_hot(step, number, "own", hits);
    MUST(flexpath_step_get_records(step, "twice", NULL, hits, doubled, HITS));
    for (uint64_t i = 0; i < HITS; i++)
        CHECK(doubled[i].id == made(number, i).id && doubled[i].energy == 2 * made(number, i).energy);
    MUST(flexpath_step_get_records_by_text(step, "twice", "[40:50:9]", hits, doubled, 2));
    CHECK(doubled[1].id == made(number, 49).id);
    for (uint32_t more = 1; more <= 2; more++) {
        MUST(flexpath_step_get_records(step, more == 1 ? "one" : "two", NULL, marks, firsts, 2));
        CHECK(firsts[0].id == made(number, 0).id + more && firsts[1].id == made(number, HALF).id + more);
    }
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "needs all records at once", flexpath_step_get_records(step, "whole", NULL, hits, doubled, HITS));
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "is to run where", flexpath_step_get_records(step, "here", NULL, hits, doubled, HITS));
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "it returned 7", flexpath_step_get_records(step, "failing", NULL, hits, doubled, HITS));
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "knows no transform \"cold\"; it knows: endless, ", flexpath_step_get_records(step, "cold", NULL, hits, doubled, HITS));
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "\"endless\"", flexpath_step_get_records(step, "endless", NULL, hits, doubled, HITS));
    if (number == 0)
        CHECK(strstr(flexpath_last_error(), "50ms"));
}

static flexpath_options *asking(flexpath_transforms *own)
{
    const char *names[] = {"hot", "twice", "one", "two", "whole", "here", "failing", "cold", "endless"};
    flexpath_options *options;
    MUST(flexpath_options_create(&options));
    for (int name = 0; name < 9; name++)
        MUST(flexpath_options_add_transformed(options, names[name], "hits", names[name], FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_set_transforms(options, own));
    MUST(flexpath_options_add_transformed(options, "own", "hits", "mine", FLEXPATH_PLACEMENT_SUBSCRIBER));
    return options;
}

/* A subscriber that asks for results alone, and shares them. What they are made of does not come. */
static flexpath_subscriber *open_second(void)
{
    flexpath_options *options;
    flexpath_subscriber *second;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_add_transformed(options, "mine", "hits", "hot", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_subscriber_open("offered", options, &second));
    MUST(flexpath_options_free(options));
    return second;
}

static void check_second(flexpath_subscriber *second, uint64_t number, flexpath_schema *type)
{
    flexpath_step *step;
    hit all[HITS];
    MUST(flexpath_subscriber_next_step(second, 60000, &step));
    check_hot(step, number, "mine", type);
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "hits", flexpath_step_get_records(step, "hits", NULL, type, all, HITS));
    MUST(flexpath_step_release(step));
}

/* Two ways lead there: the one that is said to be cheaper is taken. */
static void check_cost(flexpath_schema *hits, flexpath_schema *marks, flexpath_variable *variable)
{
    flexpath_schema *between = mark_schema("Between", "between");
    flexpath_transforms *ways;
    flexpath_options *options;
    flexpath_provided provided;
    uint64_t count;
    MUST(flexpath_transforms_create(0, &ways));
    MUST(flexpath_transforms_add(ways, "straight", hits, marks, first, NULL, &ones[0]));
    MUST(flexpath_transforms_add(ways, "there", hits, between, first, NULL, &ones[0]));
    MUST(flexpath_transforms_add(ways, "back", between, marks, first, NULL, &ones[0]));
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_transforms(options, ways));
    open_ends("ways", options);
    publish(0, variable);
    MUST(flexpath_subscriber_of(subscriber, marks, &provided, 1, &count));
    CHECK(count == 1 && strstr(provided.differences, "straight"));
    MUST(flexpath_transforms_set_cost(ways, "straight", 100, 1));
    MUST(flexpath_transforms_set_cost(ways, "there", 2, 0.125));
    MUST(flexpath_subscriber_of(subscriber, marks, &provided, 1, &count));
    CHECK(count == 1 && strstr(provided.differences, "there") && !strstr(provided.differences, "straight"));
    close_ends();
    MUST(flexpath_options_free(options));
    MUST(flexpath_transforms_free(ways));
    MUST(flexpath_schema_free(between));
}

/* A type that only the publisher can make, asked for as it is: nobody says by what. */
static void check_by_type(flexpath_schema *hits, flexpath_schema *marks, flexpath_variable *variable)
{
    flexpath_transforms *offered;
    flexpath_options *offering;
    flexpath_provided provided;
    flexpath_step *step;
    mark firsts[2];
    uint64_t count;
    MUST(flexpath_transforms_create(0, &offered));
    MUST(flexpath_transforms_add(offered, "one", hits, marks, first, NULL, &ones[0]));
    MUST(flexpath_transforms_set_per_block(offered, "one"));
    MUST(flexpath_options_create(&offering));
    MUST(flexpath_options_set_transforms(offering, offered));
    MUST(flexpath_options_set(offering, "DeriveBudgetSecs", "60"));
    MUST(flexpath_publisher_open("typed", offering, &publisher));
    MUST(flexpath_subscriber_open("typed", NULL, &subscriber));
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, NULL));
    publish(5, variable);
    MUST(flexpath_subscriber_of(subscriber, marks, &provided, 1, &count));
    CHECK(count == 1 && !strcmp(provided.variable, "hits") && provided.is_converted);
    CHECK(strstr(provided.differences, "-[one: ") && strstr(provided.differences, ", by the publisher"));
    step = next_step();
    MUST(flexpath_step_get_records(step, "hits", NULL, marks, firsts, 2));
    CHECK(firsts[0].id == made(5, 0).id + 1 && firsts[1].id == made(5, HALF).id + 1);
    MUST(flexpath_step_release(step));
    close_ends();
    MUST(flexpath_options_free(offering));
    MUST(flexpath_transforms_free(offered));
}

int main(void)
{
    flexpath_schema *hits = hit_schema(), *marks = mark_schema("Mark", "mark");
    const uint64_t shape = HITS;
    uint64_t value;
    flexpath_transforms *offered, *own;
    flexpath_options *offering, *options;
    flexpath_variable *variable;
    flexpath_subscriber *second;
    MUST(flexpath_variable_global_records("hits", hits, 1, &shape, &variable));
    MUST(flexpath_transforms_create(0, &offered));
    add_all(offered, hits, marks);
    check_refusals(offered);
    MUST(flexpath_transforms_create(0, &own));
    add(own, "mine", hits, hits, hot);
    MUST(flexpath_transforms_set_per_block(own, "mine"));
    MUST(flexpath_options_create(&offering));
    MUST(flexpath_options_set_transforms(offering, offered));
    /* The endless one uses its own time up, and leaves the others theirs. */
    MUST(flexpath_options_set(offering, "DeriveBudgetSecs", "60"));
    options = asking(own);
    MUST(flexpath_publisher_open("offered", offering, &publisher));
    MUST(flexpath_transforms_free(offered));
    MUST(flexpath_subscriber_open("offered", options, &subscriber));
    MUST(flexpath_options_free(offering));
    MUST(flexpath_options_free(options));
    second = open_second();
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 2, 60000, NULL));
    for (uint64_t number = 0; number < 3; number++) {
        flexpath_step *step;
        publish(number, variable);
        step = next_step();
        check_step(step, number, hits, marks);
        MUST(flexpath_step_release(step));
        check_second(second, number, hits);
    }
    MUST(flexpath_subscriber_close(second));
    MUST(flexpath_publisher_statistic(publisher, "transforms", &value));
    CHECK(value == 3 * 2 * 4 && calls > 0);
    is_over = 1;
    close_ends();
    check_cost(hits, marks, variable);
    check_by_type(hits, marks, variable);
    MUST(flexpath_transforms_free(own));
    MUST(flexpath_variable_free(variable));
    MUST(flexpath_schema_free(hits));
    MUST(flexpath_schema_free(marks));
    printf("offered\n");
    return 0;
}
