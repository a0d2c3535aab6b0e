/* Pairs of bonds become adjacency lists, and these their lengths, by C functions of this process. */
#include "ends.h"
#include <stddef.h>
#include <stdatomic.h>

enum { ATOMS = 12, PAIRS = ATOMS - 1 };

typedef struct { uint32_t a, b; } pair;
typedef struct { uint32_t atom, count; } degree;

static flexpath_schema *of_struct(const char *name, const char *first, const char *second)
{
    const size_t offsets[] = {0, sizeof(uint32_t)};
    flexpath_schema *schema;
    MUST(flexpath_schema_create(name, &schema));
    MUST(flexpath_schema_add_field(schema, first, FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_add_field(schema, second, FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_set_struct(schema, offsets, 2, 2 * sizeof(uint32_t)));
    return schema;
}

static flexpath_schema *adjacency_schema(void)
{
    flexpath_schema *schema;
    MUST(flexpath_schema_create("Adjacency", &schema));
    MUST(flexpath_schema_add_field(schema, "atom", FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_add_field(schema, "near", FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_set_list(schema, "near", NULL));
    return schema;
}

static atomic_int calls, released, failing;

/* All pairs at once: a list for each atom. */
static int32_t adjacency(void *context, const flexpath_records *given, flexpath_builder *made)
{
    const void *elements;
    uint64_t count;
    uint32_t near[ATOMS], len;
    atomic_fetch_add((atomic_int *)context, 1);
    if (flexpath_records_count(given, &count) || flexpath_records_elements(given, &elements, NULL))
        return 1;
    if (flexpath_builder_resize(made, ATOMS))
        return 2;
    if (failing)
        return flexpath_builder_set_text(made, 0, "nome", "x") ? 40 + failing : 0;
    for (uint32_t atom = 0; atom < ATOMS; atom++) {
        len = 0;
        for (uint64_t i = 0; i < count; i++) {
            const pair *bond = (const pair *)elements + i;
            if (bond->a == atom || bond->b == atom)
                near[len++] = bond->a == atom ? bond->b : bond->a;
        }
        if (flexpath_builder_set(made, atom, "atom", FLEXPATH_DTYPE_U32, &atom, 1) ||
            flexpath_builder_set(made, atom, "near", FLEXPATH_DTYPE_U32, near, len))
            return 3;
    }
    return 0;
}

/* Each list by itself: how long it is. */
static int32_t degrees(void *context, const flexpath_records *given, flexpath_builder *made)
{
    degree all[ATOMS];
    uint64_t count;
    flexpath_value value;
    atomic_fetch_add((atomic_int *)context, 1);
    if (flexpath_records_count(given, &count) || count > ATOMS)
        return 1;
    for (uint64_t i = 0; i < count; i++) {
        if (flexpath_records_get(given, i, 1, "atom", FLEXPATH_DTYPE_U32, &all[i].atom, 1) ||
            flexpath_records_describe(given, i, "near", &value))
            return 2;
        all[i].count = (uint32_t)value.count;
    }
    return flexpath_builder_set_structs(made, all, count) ? 3 : 0;
}

static void release(void *context)
{
    CHECK(context == &calls);
    atomic_fetch_add(&released, 1);
}

static void check_registering(flexpath_transforms *transforms, flexpath_schema *const *types)
{
    flexpath_transforms *none;
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "transforms", flexpath_transforms_create(0, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "adjacency",
          flexpath_transforms_add(transforms, "adjacency", types[0], types[2], adjacency, release, &calls));
    FAILS(FLEXPATH_STATUS_MISUSE, "", flexpath_transforms_add(transforms, "back", types[1], types[0], adjacency, release, &calls));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "run is null",
          flexpath_transforms_add(transforms, "null", types[0], types[2], NULL, release, &calls));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_transforms_add(transforms, "x", NULL, types[2], adjacency, release, &calls));
    CHECK(released == 4);
    MUST(flexpath_transforms_create(50, &none));
    MUST(flexpath_transforms_free(none));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "before", flexpath_transforms_free(none));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "before", flexpath_options_set_transforms(NULL, none));
}

static void publish(uint64_t step, flexpath_variable *bonds)
{
    const uint64_t count = PAIRS;
    pair all[PAIRS];
    for (uint32_t i = 0; i < PAIRS; i++) {
        all[i].a = i;
        all[i].b = (uint32_t)((i + 1 + step) % ATOMS);
    }
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, bonds, NULL, &count, all));
    MUST(flexpath_publisher_end_step(publisher));
}

/* Pair i is that of atoms i and i + 1 + step, for all atoms but the last. */
static uint32_t expected(uint64_t step, uint32_t atom)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < PAIRS; i++)
        count += i == atom || (i + 1 + step) % ATOMS == atom;
    return count;
}

static void check_step(flexpath_step *step, uint64_t number, flexpath_schema *const *types)
{
    degree all[ATOMS];
    uint32_t first;
    uint64_t count;
    flexpath_value value;
    flexpath_records *lists;
    MUST(flexpath_step_records(step, "bonds", NULL, types[1], &lists));
    MUST(flexpath_records_count(lists, &count));
    CHECK(count == ATOMS);
    for (uint32_t atom = 0; atom < ATOMS; atom++) {
        MUST(flexpath_records_describe(lists, atom, "near", &value));
        CHECK(value.count == expected(number, atom));
    }
    MUST(flexpath_records_get(lists, 0, 1, "near[0]", FLEXPATH_DTYPE_U32, &first, 1));
    CHECK(first == 1 + number);
    MUST(flexpath_records_release(lists));
    MUST(flexpath_step_get_records(step, "bonds", NULL, types[2], all, ATOMS));
    for (uint32_t atom = 0; atom < ATOMS; atom++)
        CHECK(all[atom].atom == atom && all[atom].count == expected(number, atom));
    MUST(flexpath_step_get_records_by_text(step, "bonds", "[3:5]", types[2], all, 2));
    CHECK(all[1].atom == 4 && all[1].count == expected(number, 4));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "", flexpath_step_get_records(step, "bonds", NULL, types[2], all, ATOMS - 1));
    FAILS(FLEXPATH_STATUS_INCOMPATIBLE, "", flexpath_step_get_records(step, "bonds", NULL, types[3], all, ATOMS));
}

int main(void)
{
    flexpath_schema *types[] = {of_struct("Pair", "a", "b"), adjacency_schema(), of_struct("Degree", "atom", "count"),
                                of_struct("Nothing", "x", "y")};
    degree all[ATOMS];
    uint64_t count;
    flexpath_provided provided;
    flexpath_transforms *transforms;
    flexpath_options *options;
    flexpath_variable *bonds;
    MUST(flexpath_transforms_create(0, &transforms));
    MUST(flexpath_transforms_add(transforms, "adjacency", types[0], types[1], adjacency, release, &calls));
    MUST(flexpath_transforms_add_each(transforms, "degrees", types[1], types[2], degrees, release, &calls));
    check_registering(transforms, types);
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_transforms(options, transforms));
    MUST(flexpath_variable_joined_records("bonds", types[0], 0, NULL, &bonds));
    open_ends("transforms", options);
    MUST(flexpath_options_free(options));
    for (uint64_t number = 0; number < 3; number++) {
        flexpath_step *step;
        publish(number, bonds);
        if (number == 0) {
            MUST(flexpath_subscriber_of(subscriber, types[2], &provided, 1, &count));
            CHECK(count == 1 && provided.is_converted && strstr(provided.differences, "adjacency") && strstr(provided.differences, "degrees"));
        }
        failing = 0;
        step = next_step();
        check_step(step, number, types);
        MUST(flexpath_step_release(step));
        publish(number, bonds);
        failing = 1;
        step = next_step();
        FAILS(FLEXPATH_STATUS_NOT_DERIVED, "it returned 41 (record \"Adjacency\" has no field \"nome\"",
              flexpath_step_get_records(step, "bonds", NULL, types[2], all, ATOMS));
        MUST(flexpath_step_get_records(step, "bonds", NULL, types[0], all, PAIRS));
        MUST(flexpath_step_release(step));
    }
    CHECK(calls > 0 && released == 4);
    close_ends();
    MUST(flexpath_transforms_free(transforms));
    MUST(flexpath_variable_free(bonds));
    for (int type = 0; type < 4; type++)
        MUST(flexpath_schema_free(types[type]));
    printf("transformed\n");
    return 0;
}
