/* Records that are plain structs: put and got as they lie, converted, refused with what does not fit. */
#include "ends.h"
#include <stddef.h>

enum { CELLS = 24 };

typedef struct { float x, y; } corner;
typedef struct { uint32_t id; double position[3]; corner corners[2]; uint8_t frozen; } cell;
/* The same without padding, and in another order. */
#pragma pack(push, 1)
typedef struct { uint8_t frozen; uint32_t id; double position[3]; corner corners[2]; } packed_cell;
#pragma pack(pop)
/* What an analysis wants of it. */
typedef struct { double position[3]; uint64_t id; double weight; } point;

static cell made(uint64_t step, uint64_t index)
{
    cell one;
    memset(&one, 0, sizeof one);
    one.id = (uint32_t)(1000 * step + index);
    for (int axis = 0; axis < 3; axis++)
        one.position[axis] = (double)one.id + 0.25 * axis;
    one.corners[1].y = (float)index;
    one.frozen = index % 3 == 0;
    return one;
}

static int same(const cell *a, const cell *b)
{
    return a->id == b->id && memcmp(a->position, b->position, sizeof a->position) == 0 &&
           memcmp(a->corners, b->corners, sizeof a->corners) == 0 && a->frozen == b->frozen;
}

static flexpath_schema *corner_schema(void)
{
    const size_t offsets[] = {offsetof(corner, x), offsetof(corner, y)};
    flexpath_schema *schema;
    MUST(flexpath_schema_create("Corner", &schema));
    MUST(flexpath_schema_add_field(schema, "x", FLEXPATH_DTYPE_F32));
    MUST(flexpath_schema_add_field(schema, "y", FLEXPATH_DTYPE_F32));
    MUST(flexpath_schema_set_struct(schema, offsets, 2, sizeof(corner)));
    return schema;
}

static flexpath_schema *cell_schema(const size_t *offsets, size_t size_bytes)
{
    const uint64_t three = 3, two = 2;
    flexpath_schema *schema, *inner = corner_schema();
    MUST(flexpath_schema_create("Cell", &schema));
    MUST(flexpath_schema_set_description(schema, NULL, "a cell of the mesh"));
    MUST(flexpath_schema_add_field(schema, "id", FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_add_field(schema, "position", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_fixed(schema, "position", 1, &three, FLEXPATH_ORDER_ROW_MAJOR));
    MUST(flexpath_schema_set_unit(schema, "position", "nm"));
    MUST(flexpath_schema_add_record(schema, "corners", inner));
    MUST(flexpath_schema_set_fixed(schema, "corners", 1, &two, FLEXPATH_ORDER_ROW_MAJOR));
    MUST(flexpath_schema_add_field(schema, "frozen", FLEXPATH_DTYPE_BOOL));
    if (offsets)
        MUST(flexpath_schema_set_struct(schema, offsets, 4, size_bytes));
    MUST(flexpath_schema_free(inner));
    return schema;
}

static flexpath_schema *natural(void)
{
    const size_t offsets[] = {offsetof(cell, id), offsetof(cell, position), offsetof(cell, corners), offsetof(cell, frozen)};
    return cell_schema(offsets, sizeof(cell));
}

static flexpath_schema *packed(void)
{
    const size_t offsets[] = {offsetof(packed_cell, id), offsetof(packed_cell, position), offsetof(packed_cell, corners),
                              offsetof(packed_cell, frozen)};
    return cell_schema(offsets, sizeof(packed_cell));
}

static flexpath_schema *point_schema(const char *unit)
{
    const size_t offsets[] = {offsetof(point, position), offsetof(point, id), offsetof(point, weight)};
    const uint64_t three = 3;
    flexpath_schema *schema;
    MUST(flexpath_schema_create("Point", &schema));
    MUST(flexpath_schema_add_field(schema, "position", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_fixed(schema, "position", 1, &three, FLEXPATH_ORDER_ROW_MAJOR));
    MUST(flexpath_schema_set_unit(schema, "position", unit));
    MUST(flexpath_schema_add_field(schema, "id", FLEXPATH_DTYPE_U64));
    MUST(flexpath_schema_add_field(schema, "weight", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_default_real(schema, "weight", 1.5));
    MUST(flexpath_schema_set_struct(schema, offsets, 3, sizeof(point)));
    return schema;
}

static void check_schemas(void)
{
    flexpath_schema *cells = natural(), *others = packed(), *points = point_schema("nm");
    char fingerprint[64];
    const char *text;
    uint64_t number;
    flexpath_field field;
    MUST(flexpath_schema_fingerprint(cells, &text));
    CHECK(strlen(text) == 32);
    strcpy(fingerprint, text);
    MUST(flexpath_schema_fingerprint(others, &text));
    CHECK(strcmp(text, fingerprint) == 0); /* how a struct lies is nobody else's concern */
    MUST(flexpath_schema_text(cells, &text));
    CHECK(strstr(text, "record Cell: ") == text && strstr(text, "\"a cell of the mesh\""));
    CHECK(strstr(text, "\n  position: f64, row-major array of [3], in \"nm\"") && strstr(text, "\n    x: f32"));
    MUST(flexpath_schema_size(cells, &number));
    CHECK(number == sizeof(cell));
    MUST(flexpath_schema_field_count(cells, &number));
    CHECK(number == 4);
    MUST(flexpath_schema_field_at(cells, 1, &field));
    CHECK(strcmp(field.name, "position") == 0 && strcmp(field.unit, "nm") == 0 && strcmp(field.description, "") == 0);
    CHECK(field.dtype == FLEXPATH_DTYPE_F64 && field.extent == FLEXPATH_EXTENT_FIXED && field.ndims == 1);
    CHECK(field.shape[0] == 3 && field.shape[1] == 0 && field.offset_bytes == offsetof(cell, position) && !field.is_optional);
    MUST(flexpath_schema_field_at(cells, 2, &field));
    CHECK(field.dtype == 0);
    FAILS(FLEXPATH_STATUS_MISUSE, "field 4 of 4", flexpath_schema_field_at(cells, 4, &field));
    MUST(flexpath_schema_differences(cells, others, &text));
    CHECK(strcmp(text, "") == 0);
    MUST(flexpath_schema_differences(cells, points, &text));
    CHECK(strstr(text, "Point.id: is u32, wanted as u64, which holds it") && strstr(text, "Point.frozen: is there, but not wanted"));
    MUST(flexpath_schema_free(cells));
    MUST(flexpath_schema_free(others));
    MUST(flexpath_schema_free(points));
}

/* For memory that is put it is called on any thread, and at the latest as the stream closes. */
static int releases, refused;
static void release(void *context)
{
    ++*(int *)context;
}

/* Three arrays of the same cells: as they lie, packed, and each rank's own in one list; and one cell for all. */
static void publish(uint64_t step, flexpath_variable *const *variables)
{
    static cell cells[CELLS];
    const uint64_t first[2] = {0, 0}, second[2] = {2, 0}, half[2] = {2, 6}, all[2] = {4, 6}, rows = CELLS;
    packed_cell tight[CELLS];
    for (uint64_t i = 0; i < CELLS; i++) {
        cells[i] = made(step, i);
        tight[i].id = cells[i].id;
        memcpy(tight[i].position, cells[i].position, sizeof cells[i].position);
        memcpy(tight[i].corners, cells[i].corners, sizeof cells[i].corners);
        tight[i].frozen = cells[i].frozen;
    }
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, variables[0], first, half, cells));
    MUST(flexpath_publisher_put_external(publisher, variables[0], second, half, cells + 12, release, &releases));
    MUST(flexpath_publisher_put(publisher, variables[1], first, all, tight));
    MUST(flexpath_publisher_put(publisher, variables[2], NULL, &rows, cells));
    MUST(flexpath_publisher_put(publisher, variables[3], NULL, NULL, &cells[7]));
    MUST(flexpath_publisher_put(publisher, variables[4], NULL, NULL, &cells[8]));
    MUST(flexpath_publisher_put(publisher, variables[5], NULL, NULL, &cells[0].position[0]));
    MUST(flexpath_publisher_end_step(publisher));
}

static void check_cells(flexpath_step *step, uint64_t number, flexpath_schema *schema)
{
    const char *names[] = {"cells", "packed", "list"};
    const uint64_t start[2] = {1, 4}, count[2] = {2, 2};
    const flexpath_selection part = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 2, .start = start, .count = count};
    cell taken[CELLS], expected;
    for (int variable = 0; variable < 3; variable++) {
        memset(taken, 0, sizeof taken);
        MUST(flexpath_step_get_records(step, names[variable], NULL, schema, taken, CELLS));
        for (uint64_t i = 0; i < CELLS; i++) {
            expected = made(number, i);
            CHECK(same(&taken[i], &expected));
        }
    }
    for (int variable = 0; variable < 2; variable++) {
        if (number % 2)
            MUST(flexpath_step_get_records(step, names[variable], &part, schema, taken, 4));
        else
            MUST(flexpath_step_get_records_by_text(step, names[variable], "[1:3, 4:6]", schema, taken, 4));
        for (uint64_t i = 0; i < 4; i++) {
            expected = made(number, 6 * (1 + i / 2) + 4 + i % 2);
            CHECK(same(&taken[i], &expected));
        }
    }
    MUST(flexpath_step_get_records(step, "first", NULL, schema, taken, 1));
    expected = made(number, 7);
    CHECK(same(&taken[0], &expected));
    MUST(flexpath_step_get_records(step, "own", NULL, schema, taken, 1));
    expected = made(number, 8);
    CHECK(same(&taken[0], &expected));
}

static void check_others(flexpath_step *step, uint64_t number, flexpath_schema *tight, flexpath_schema *points)
{
    packed_cell packed_cells[CELLS];
    point taken[CELLS];
    memset(packed_cells, 0, sizeof packed_cells);
    MUST(flexpath_step_get_records(step, "cells", NULL, tight, packed_cells, CELLS));
    MUST(flexpath_step_get_records(step, "cells", NULL, points, taken, CELLS));
    for (uint64_t i = 0; i < CELLS; i++) {
        const cell expected = made(number, i);
        CHECK(packed_cells[i].id == expected.id && packed_cells[i].frozen == expected.frozen);
        CHECK(memcmp(packed_cells[i].position, expected.position, sizeof expected.position) == 0);
        CHECK(memcmp(packed_cells[i].corners, expected.corners, sizeof expected.corners) == 0);
        CHECK(taken[i].id == expected.id && taken[i].weight == 1.5);
        CHECK(memcmp(taken[i].position, expected.position, sizeof expected.position) == 0);
    }
}

static void check_refusals(flexpath_step *step, flexpath_schema *cells, flexpath_schema *metres)
{
    const uint64_t start[2] = {3, 0}, count[2] = {2, 6};
    const flexpath_selection outside = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 2, .start = start, .count = count};
    cell taken[CELLS];
    point points[CELLS];
    flexpath_records *records;
    FAILS(FLEXPATH_STATUS_INCOMPATIBLE, "Point.position: is in \"nm\", wanted in \"m\"",
          flexpath_step_get_records(step, "cells", NULL, metres, points, CELLS));
    FAILS(FLEXPATH_STATUS_INCOMPATIBLE, "Point.position", flexpath_step_records(step, "cells", NULL, metres, &records));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "", flexpath_step_get_records(step, "cells", NULL, cells, taken, CELLS - 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "", flexpath_step_get_records(step, "cells", &outside, cells, taken, 12));
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "none", flexpath_step_get_records(step, "none", NULL, cells, taken, CELLS));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "no records", flexpath_step_get_records(step, "time", NULL, cells, taken, 1));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "destination", flexpath_step_get_records(step, "cells", NULL, cells, NULL, CELLS));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_step_get_records(step, "cells", NULL, NULL, taken, CELLS));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "a step", flexpath_step_get_records(step, "cells", NULL, (flexpath_schema *)step, taken, CELLS));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "bytes", flexpath_step_get(step, "cells", NULL, FLEXPATH_DTYPE_BYTES, taken, CELLS, -1));
}

static void check_elements(flexpath_step *step, uint64_t number, flexpath_schema *cells, flexpath_schema *tight)
{
    flexpath_records *records;
    const void *elements;
    uint64_t count;
    int32_t is_zero_copy;
    MUST(flexpath_step_records_by_text(step, "cells", "[2:4, :]", cells, &records));
    MUST(flexpath_records_count(records, &count));
    CHECK(count == 12);
    MUST(flexpath_records_elements(records, &elements, &is_zero_copy));
    for (uint64_t i = 0; i < count; i++) {
        const cell expected = made(number, 12 + i);
        CHECK(same((const cell *)elements + i, &expected));
    }
    MUST(flexpath_records_release(records));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "before", flexpath_records_count(records, &count));
    MUST(flexpath_step_records(step, "cells", NULL, tight, &records));
    FAILS(FLEXPATH_STATUS_MISUSE, "lie otherwise", flexpath_records_elements(records, &elements, NULL));
    MUST(flexpath_records_release(records));
}

/* Which variables provide a type is known when the first step is here, which is still the next one. */
static void check_provided(flexpath_schema *cells, flexpath_schema *points, flexpath_schema *metres)
{
    flexpath_provided provided[8];
    uint64_t count;
    MUST(flexpath_subscriber_of(subscriber, cells, provided, 8, &count));
    CHECK(count == 5 && provided[0].is_converted == 0 && strcmp(provided[0].differences, "") == 0);
    CHECK(strcmp(provided[0].variable, "cells") == 0);
    MUST(flexpath_subscriber_of(subscriber, points, provided, 1, &count));
    CHECK(count == 5 && provided[0].is_converted == 1 && strstr(provided[0].differences, "Point.weight: is not there"));
    MUST(flexpath_subscriber_of(subscriber, points, NULL, 0, &count));
    FAILS(FLEXPATH_STATUS_INCOMPATIBLE, "variable \"packed\": \"Cell\" is not \"Point\":\n  Point.position: is in",
          flexpath_subscriber_of(subscriber, metres, provided, 8, &count));
    CHECK(strstr(flexpath_last_error(), "variable \"time\" is of f64, no records"));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_subscriber_of(subscriber, NULL, provided, 8, &count));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "provided", flexpath_subscriber_of(subscriber, cells, NULL, 8, &count));
}

static void check_puts(flexpath_variable *cells_variable, flexpath_variable *of_points)
{
    const uint64_t start[2] = {0, 0}, count[2] = {1, 6}, one = 1;
    cell cells[CELLS];
    flexpath_loan *loan;
    void *memory;
    memset(cells, 0, sizeof cells);
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "elements", flexpath_publisher_put(publisher, cells_variable, start, count, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "lent", flexpath_publisher_loan(publisher, cells_variable, start, count, &loan, &memory));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "elements",
          flexpath_publisher_put_external(publisher, cells_variable, start, count, NULL, release, &refused));
    CHECK(refused == 1);
    MUST(flexpath_publisher_put(publisher, cells_variable, start, count, cells));
    MUST(flexpath_publisher_put(publisher, of_points, NULL, &one, cells));
    MUST(flexpath_publisher_abandon_step(publisher));
}

int main(void)
{
    const uint64_t shape[2] = {4, 6};
    flexpath_schema *cells = natural(), *tight = packed(), *points = point_schema("nm"), *metres = point_schema("m");
    flexpath_variable *variables[6], *of_points;
    check_schemas();
    MUST(flexpath_variable_global_records("cells", cells, 2, shape, &variables[0]));
    MUST(flexpath_variable_global_records("packed", tight, 2, shape, &variables[1]));
    MUST(flexpath_variable_joined_records("list", cells, 0, NULL, &variables[2]));
    MUST(flexpath_variable_record("first", cells, &variables[3]));
    MUST(flexpath_variable_local_record("own", cells, &variables[4]));
    MUST(flexpath_variable_scalar("time", FLEXPATH_DTYPE_F64, &variables[5]));
    MUST(flexpath_variable_local_records("points", points, 1, &of_points));
    FAILS(FLEXPATH_STATUS_MISUSE, "9 dim", flexpath_variable_local_records("x", points, 9, &of_points));
    open_ends("records", NULL);
    for (uint64_t number = 0; number < 3; number++) {
        flexpath_step *step;
        publish(number, variables);
        if (number == 0)
            check_provided(cells, points, metres);
        step = next_step();
        check_cells(step, number, cells);
        CHECK(number > 0 || counted("handled_records") == 0);
        check_others(step, number, tight, points);
        check_refusals(step, cells, metres);
        check_elements(step, number, cells, tight);
        MUST(flexpath_step_release(step));
    }
    check_puts(variables[0], of_points);
    close_ends();
    CHECK(releases == 3);
    for (int variable = 0; variable < 6; variable++)
        MUST(flexpath_variable_free(variables[variable]));
    MUST(flexpath_variable_free(of_points));
    MUST(flexpath_schema_free(cells));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "before", flexpath_schema_free(cells));
    MUST(flexpath_schema_free(tight));
    MUST(flexpath_schema_free(points));
    MUST(flexpath_schema_free(metres));
    printf("as they lay\n");
    return 0;
}
