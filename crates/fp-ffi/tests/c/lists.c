/* Records with lists, texts, names and absent fields: made field by field, read without knowing their type. */
#include "ends.h"

enum { MOLECULES = 6 };

static flexpath_schema *atom_schema(void)
{
    const char *names[] = {"H", "C", "O"};
    const int64_t numbers[] = {1, 6, 8};
    flexpath_schema *schema;
    MUST(flexpath_schema_create("Atom", &schema));
    MUST(flexpath_schema_add_enum(schema, "element", FLEXPATH_DTYPE_U8, "Element", names, numbers, 3));
    MUST(flexpath_schema_add_field(schema, "x", FLEXPATH_DTYPE_F32));
    MUST(flexpath_schema_add_field(schema, "label", FLEXPATH_DTYPE_STRING));
    return schema;
}

static flexpath_schema *molecule_schema(void)
{
    const uint64_t two = 2;
    flexpath_schema *schema, *atom = atom_schema();
    MUST(flexpath_schema_create("Molecule", &schema));
    MUST(flexpath_schema_add_field(schema, "name", FLEXPATH_DTYPE_STRING));
    MUST(flexpath_schema_add_record(schema, "atoms", atom));
    MUST(flexpath_schema_set_list(schema, "atoms", NULL));
    MUST(flexpath_schema_add_field(schema, "bond_count", FLEXPATH_DTYPE_U16));
    MUST(flexpath_schema_add_field(schema, "bonds", FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_set_list(schema, "bonds", "bond_count"));
    MUST(flexpath_schema_set_indexes(schema, "bonds", "atoms"));
    MUST(flexpath_schema_add_field(schema, "charge", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_optional(schema, "charge"));
    MUST(flexpath_schema_add_field(schema, "weight", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_optional(schema, "weight"));
    MUST(flexpath_schema_set_default_real(schema, "weight", 1.5));
    MUST(flexpath_schema_set_unit(schema, "weight", "u"));
    MUST(flexpath_schema_set_description(schema, "weight", "as it is weighed"));
    MUST(flexpath_schema_add_field(schema, "key", FLEXPATH_DTYPE_BYTES));
    MUST(flexpath_schema_add_field(schema, "tags", FLEXPATH_DTYPE_STRING));
    MUST(flexpath_schema_set_fixed(schema, "tags", 1, &two, FLEXPATH_ORDER_ROW_MAJOR));
    MUST(flexpath_schema_add_field(schema, "stable", FLEXPATH_DTYPE_BOOL));
    MUST(flexpath_schema_set_default_bool(schema, "stable", 1));
    MUST(flexpath_schema_free(atom));
    return schema;
}

/* Molecule `index` of a step: `index` atoms in a chain. */
static void set(flexpath_builder *builder, uint64_t at, uint64_t step, uint64_t index)
{
    char text[64], path[64];
    const char *tags[] = {"first", text};
    const uint8_t key[3] = {(uint8_t)index, 0, 255}, stable = index % 2 == 0;
    const double charge = -0.5 * (double)index;
    uint32_t bonds[2 * MOLECULES];
    snprintf(text, sizeof text, "molecule %d of %d", (int)index, (int)step);
    MUST(flexpath_builder_set_text(builder, at, "name", text));
    MUST(flexpath_builder_set_len(builder, at, "atoms", index));
    for (uint64_t atom = 0; atom < index; atom++) {
        const int32_t element = atom % 2 ? 8 : 6;
        const float x = (float)(10 * index + atom);
        snprintf(path, sizeof path, "atoms[%d].element", (int)atom);
        MUST(flexpath_builder_set(builder, at, path, FLEXPATH_DTYPE_I32, &element, 1));
        snprintf(path, sizeof path, "atoms[%d].x", (int)atom);
        MUST(flexpath_builder_set(builder, at, path, FLEXPATH_DTYPE_F32, &x, 1));
        snprintf(path, sizeof path, "atoms[%d].label", (int)atom);
        MUST(flexpath_builder_set_text(builder, at, path, atom ? "chain" : ""));
    }
    for (uint32_t bond = 0; bond + 1 < index; bond++) {
        bonds[2 * bond] = bond;
        bonds[2 * bond + 1] = bond + 1;
    }
    if (index > 1)
        MUST(flexpath_builder_set(builder, at, "bonds", FLEXPATH_DTYPE_U32, bonds, 2 * (index - 1)));
    if (index % 3 == 0)
        MUST(flexpath_builder_set(builder, at, "charge", FLEXPATH_DTYPE_F64, &charge, 1));
    MUST(flexpath_builder_set(builder, at, "key", FLEXPATH_DTYPE_U8, key, 3));
    MUST(flexpath_builder_set_texts(builder, at, "tags", tags, 2));
    MUST(flexpath_builder_set(builder, at, "stable", FLEXPATH_DTYPE_BOOL, &stable, 1));
}

static void publish(uint64_t step, flexpath_schema *schema, flexpath_variable *all, flexpath_variable *list)
{
    const uint64_t half = MOLECULES / 2;
    flexpath_builder *builder;
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    for (uint64_t start = 0; start < MOLECULES; start += half) {
        MUST(flexpath_builder_create(schema, half, &builder));
        for (uint64_t at = 0; at < half; at++)
            set(builder, at, step, start + at);
        MUST(flexpath_publisher_put_built(publisher, all, &start, &half, builder));
        MUST(flexpath_publisher_put_built(publisher, list, NULL, &half, builder));
        MUST(flexpath_builder_free(builder));
    }
    MUST(flexpath_publisher_end_step(publisher));
}

static void check_one(flexpath_records *records, uint64_t at, uint64_t step, uint64_t index)
{
    char expected[64], path[64];
    const char *text;
    flexpath_value value;
    uint32_t bonds[2 * MOLECULES];
    double charge = 7, weight;
    uint16_t bond_count;
    uint8_t key[3], stable;
    snprintf(expected, sizeof expected, "molecule %d of %d", (int)index, (int)step);
    MUST(flexpath_records_text(records, at, "name", &text));
    CHECK(strcmp(text, expected) == 0);
    MUST(flexpath_records_text(records, at, "tags[1]", &text));
    CHECK(strcmp(text, expected) == 0);
    MUST(flexpath_records_describe(records, at, "atoms", &value));
    CHECK(value.kind == FLEXPATH_VALUE_KIND_ARRAY && value.dtype == 0 && value.count == index);
    for (uint64_t atom = 0; atom < index; atom++) {
        int64_t element;
        double x;
        snprintf(path, sizeof path, "atoms[%d].element", (int)atom);
        MUST(flexpath_records_get(records, at, 1, path, FLEXPATH_DTYPE_I64, &element, 1));
        MUST(flexpath_records_text(records, at, path, &text));
        CHECK(atom % 2 ? element == 8 && strcmp(text, "O") == 0 : element == 6 && strcmp(text, "C") == 0);
        snprintf(path, sizeof path, "atoms[%d].x", (int)atom);
        MUST(flexpath_records_get(records, at, 1, path, FLEXPATH_DTYPE_F64, &x, 1));
        CHECK(x == (double)(10 * index + atom));
        snprintf(path, sizeof path, "atoms[%d].label", (int)atom);
        MUST(flexpath_records_text(records, at, path, &text));
        CHECK(strcmp(text, atom ? "chain" : "") == 0);
    }
    MUST(flexpath_records_get(records, at, 1, "bond_count", FLEXPATH_DTYPE_U16, &bond_count, 1));
    CHECK(bond_count == (index > 1 ? 2 * (index - 1) : 0));
    MUST(flexpath_records_get(records, at, 1, "bonds", FLEXPATH_DTYPE_U32, bonds, bond_count));
    for (uint32_t bond = 0; bond < bond_count; bond++)
        CHECK(bonds[bond] == (bond + 1) / 2);
    MUST(flexpath_records_describe(records, at, "charge", &value));
    CHECK(value.kind == (index % 3 ? FLEXPATH_VALUE_KIND_ABSENT : FLEXPATH_VALUE_KIND_NUMBER));
    MUST(flexpath_records_get(records, at, 1, "charge", FLEXPATH_DTYPE_F64, &charge, value.count));
    CHECK(charge == (index % 3 ? 7 : -0.5 * (double)index));
    MUST(flexpath_records_get(records, at, 1, "weight", FLEXPATH_DTYPE_F64, &weight, 1));
    CHECK(weight == 1.5);
    MUST(flexpath_records_get(records, at, 1, "key", FLEXPATH_DTYPE_U8, key, 3));
    CHECK(key[0] == index && key[1] == 0 && key[2] == 255);
    MUST(flexpath_records_get(records, at, 1, "stable", FLEXPATH_DTYPE_BOOL, &stable, 1));
    CHECK(stable == (index % 2 == 0));
}

/* Two of them, the later one first: what belongs together stays together. */
static void check_some(flexpath_step *step, uint64_t number)
{
    const uint64_t points[] = {5, 2};
    const flexpath_selection two = {.kind = FLEXPATH_SELECTED_POINTS, .ndims = 1, .points = points, .point_count = 2};
    flexpath_records *records;
    uint64_t count;
    MUST(flexpath_step_records(step, "molecules", &two, NULL, &records));
    MUST(flexpath_records_count(records, &count));
    CHECK(count == 2);
    check_one(records, 0, number, 5);
    check_one(records, 1, number, 2);
    MUST(flexpath_records_release(records));
}

/* A type of one's own: names alone, and a list in place of the optional number's. */
static void check_converted(flexpath_step *step, uint64_t number)
{
    char expected[64];
    const char *text;
    double weights[MOLECULES];
    flexpath_schema *named;
    flexpath_records *records;
    MUST(flexpath_schema_create("Named", &named));
    MUST(flexpath_schema_add_field(named, "weight", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_default_real(named, "weight", 2.5));
    MUST(flexpath_schema_add_field(named, "name", FLEXPATH_DTYPE_STRING));
    MUST(flexpath_step_records(step, "list", NULL, named, &records));
    MUST(flexpath_records_get(records, 0, MOLECULES, "weight", FLEXPATH_DTYPE_F64, weights, MOLECULES));
    for (int index = 0; index < MOLECULES; index++) {
        snprintf(expected, sizeof expected, "molecule %d of %d", index, (int)number);
        MUST(flexpath_records_text(records, (uint64_t)index, "name", &text));
        CHECK(strcmp(text, expected) == 0 && weights[index] == 2.5);
    }
    MUST(flexpath_records_release(records));
    MUST(flexpath_schema_free(named));
}

static void check_reading(flexpath_records *records)
{
    const void *elements;
    const char *text;
    flexpath_schema *schema, *atom;
    flexpath_value value;
    double number, numbers[2];
    float single;
    uint32_t bonds[64];
    MUST(flexpath_records_schema(records, &schema));
    MUST(flexpath_schema_text(schema, &text));
    CHECK(strstr(text, "\n  weight: f64, may be absent, default 1.5, in \"u\", \"as it is weighed\""));
    CHECK(strstr(text, "\n  bonds: u32, list sized by bond_count, indices into atoms"));
    CHECK(strstr(text, "\n    element: Element (u8: H = 1, C = 6, O = 8)"));
    MUST(flexpath_schema_record_of(schema, "atoms", &atom));
    MUST(flexpath_schema_text(atom, &text));
    CHECK(strncmp(text, "record Atom: ", 13) == 0);
    FAILS(FLEXPATH_STATUS_MISUSE, "\"name\"", flexpath_schema_record_of(schema, "name", &atom));
    MUST(flexpath_schema_free(atom));
    MUST(flexpath_schema_free(schema));
    FAILS(FLEXPATH_STATUS_MISUSE, "\"nome\"; it has name, atoms", flexpath_records_text(records, 0, "nome", &text));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "no text", flexpath_records_text(records, 0, "bond_count", &text));
    FAILS(FLEXPATH_STATUS_MISUSE, "record 6 of 6", flexpath_records_text(records, 6, "name", &text));
    FAILS(FLEXPATH_STATUS_MISUSE, "is no path", flexpath_records_describe(records, 0, "atoms[", &value));
    FAILS(FLEXPATH_STATUS_MISUSE, "index 3 of an array of 3", flexpath_records_describe(records, 3, "atoms[3]", &value));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "a text is not f64", flexpath_records_get(records, 0, 1, "name", FLEXPATH_DTYPE_F64, &number, 1));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "1 fit", flexpath_records_get(records, 0, 2, "weight", FLEXPATH_DTYPE_F64, &number, 1));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "2 fit", flexpath_records_get(records, 0, 1, "weight", FLEXPATH_DTYPE_F64, numbers, 2));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "does not hold every u32", flexpath_records_get(records, 5, 1, "bonds", FLEXPATH_DTYPE_I32, bonds, 8));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "string", flexpath_records_get(records, 0, 1, "name", FLEXPATH_DTYPE_STRING, &number, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "lists or texts", flexpath_records_elements(records, &elements, NULL));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "destination", flexpath_records_get(records, 0, 1, "weight", FLEXPATH_DTYPE_F64, NULL, 1));
    MUST(flexpath_records_get(records, 1, 1, "atoms[0].x", FLEXPATH_DTYPE_F32, &single, 1));
    CHECK(single == 10);
}

static void check_builder(flexpath_schema *schema)
{
    const double half = 0.5;
    const int32_t nothing = 7;
    const uint8_t perhaps = 2;
    const uint16_t said = 9;
    const uint64_t one = 1, zero = 0;
    const char *texts[] = {"a", "b", "c"};
    flexpath_builder *builder;
    flexpath_variable *variable;
    FAILS(FLEXPATH_STATUS_SYSTEM, "no memory", flexpath_builder_create(schema, UINT64_MAX, &builder));
    MUST(flexpath_builder_create(schema, 1, &builder));
    FAILS(FLEXPATH_STATUS_MISUSE, "record 1 of 1", flexpath_builder_set_text(builder, 1, "name", "x"));
    FAILS(FLEXPATH_STATUS_MISUSE, "\"nome\"; it has name", flexpath_builder_set_text(builder, 0, "nome", "x"));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "no text", flexpath_builder_set_text(builder, 0, "weight", "x"));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "from f64 to string", flexpath_builder_set(builder, 0, "name", FLEXPATH_DTYPE_F64, &half, 1));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "u32 does not hold every f64", flexpath_builder_set(builder, 0, "bonds", FLEXPATH_DTYPE_F64, &half, 1));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "it has 2 elements, not 3", flexpath_builder_set_texts(builder, 0, "tags", texts, 3));
    FAILS(FLEXPATH_STATUS_MISUSE, "record 0 of 0", flexpath_builder_set_text(builder, 0, "atoms[0].label", "x"));
    FAILS(FLEXPATH_STATUS_MISUSE, "no list of records", flexpath_builder_set_len(builder, 0, "bonds", 2));
    FAILS(FLEXPATH_STATUS_SYSTEM, "no memory", flexpath_builder_set_len(builder, 0, "atoms", UINT64_MAX));
    MUST(flexpath_builder_set_len(builder, 0, "atoms", 2));
    FAILS(FLEXPATH_STATUS_MISUSE, "no name of \"Element\" has the number 7",
          flexpath_builder_set(builder, 0, "atoms[1].element", FLEXPATH_DTYPE_I32, &nothing, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "truth", flexpath_builder_set(builder, 0, "stable", FLEXPATH_DTYPE_BOOL, &perhaps, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "without an index", flexpath_builder_set_text(builder, 0, "tags[1]", "x"));
    FAILS(FLEXPATH_STATUS_MISUSE, "a name", flexpath_builder_set_text(builder, 0, "tags[x]", "x"));
    MUST(flexpath_variable_joined_records("list", schema, 0, NULL, &variable));
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "lists or texts", flexpath_publisher_put(publisher, variable, NULL, &one, &half));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "", flexpath_publisher_put_built(publisher, variable, NULL, &zero, builder));
    MUST(flexpath_builder_set(builder, 0, "bond_count", FLEXPATH_DTYPE_U16, &said, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "length field says 9", flexpath_publisher_put_built(publisher, variable, NULL, &one, builder));
    MUST(flexpath_publisher_abandon_step(publisher));
    MUST(flexpath_variable_free(variable));
    MUST(flexpath_builder_free(builder));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "before", flexpath_builder_set_text(builder, 0, "name", "x"));
}

static void check_schemas(void)
{
    const size_t offsets[] = {0, 1};
    const uint64_t shape[9] = {1};
    flexpath_schema *schema, *inside;
    flexpath_variable *variable;
    const char *text;
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "name", flexpath_schema_create(NULL, &schema));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "schema", flexpath_schema_create("x", NULL));
    MUST(flexpath_schema_create("x", &schema));
    FAILS(FLEXPATH_STATUS_MISUSE, "without bytes", flexpath_schema_fingerprint(schema, &text));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "99", flexpath_schema_add_field(schema, "a", 99));
    FAILS(FLEXPATH_STATUS_MISUSE, "no field \"a\" yet", flexpath_schema_set_unit(schema, "a", "m"));
    FAILS(FLEXPATH_STATUS_MISUSE, "", flexpath_schema_add_record(schema, "inside", schema));
    MUST(flexpath_schema_add_field(schema, "a", FLEXPATH_DTYPE_F64));
    FAILS(FLEXPATH_STATUS_MISUSE, "9 dim", flexpath_schema_set_fixed(schema, "a", 9, shape, 0));
    MUST(flexpath_schema_set_struct(schema, offsets, 1, 7));
    FAILS(FLEXPATH_STATUS_MISUSE, "ends at 8, but the struct is of 7 bytes", flexpath_variable_record("x", schema, &variable));
    MUST(flexpath_schema_set_struct(schema, offsets, 2, 16));
    FAILS(FLEXPATH_STATUS_MISUSE, "2 offsets for 1 fields", flexpath_variable_record("x", schema, &variable));
    MUST(flexpath_schema_set_struct(schema, offsets, 1, 8));
    MUST(flexpath_schema_set_default_integer(schema, "a", 3));
    FAILS(FLEXPATH_STATUS_MISUSE, "x.a: Integer(3) cannot be a default", flexpath_schema_fingerprint(schema, &text));
    MUST(flexpath_schema_set_default_real(schema, "a", 3.0));
    MUST(flexpath_schema_fingerprint(schema, &text));
    MUST(flexpath_schema_set_default_text(schema, "a", "three"));
    FAILS(FLEXPATH_STATUS_MISUSE, "cannot be a default", flexpath_schema_fingerprint(schema, &text));
    MUST(flexpath_schema_set_default_real(schema, "a", 3.0));
    MUST(flexpath_schema_set_list(schema, "a", "b"));
    FAILS(FLEXPATH_STATUS_MISUSE, "sized by \"b\"", flexpath_schema_text(schema, &text));
    MUST(flexpath_schema_set_list(schema, "a", NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "cannot be a default", flexpath_schema_text(schema, &text));
    MUST(flexpath_schema_free(schema));
    /* A type that is put into itself again and again is refused before it is large. */
    MUST(flexpath_schema_create("bomb", &schema));
    MUST(flexpath_schema_add_field(schema, "a", FLEXPATH_DTYPE_U8));
    for (int depth = 0; depth < 64; depth++) {
        char name[32];
        snprintf(name, sizeof name, "inside%d", depth);
        if (flexpath_schema_add_record(schema, name, schema) != FLEXPATH_STATUS_OK)
            break;
    }
    FAILS(FLEXPATH_STATUS_MISUSE, "more than", flexpath_schema_add_record(schema, "again", schema));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_schema_add_record(schema, "again", NULL));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "no handle", flexpath_schema_text((flexpath_schema *)&inside, &text));
    MUST(flexpath_schema_free(schema));
}

int main(void)
{
    const uint64_t shape = MOLECULES;
    flexpath_schema *schema = molecule_schema();
    flexpath_variable *all, *list;
    check_schemas();
    MUST(flexpath_variable_global_records("molecules", schema, 1, &shape, &all));
    MUST(flexpath_variable_joined_records("list", schema, 0, NULL, &list));
    open_ends("lists", NULL);
    check_builder(schema);
    for (uint64_t number = 0; number < 3; number++) {
        flexpath_step *step;
        flexpath_records *records;
        publish(number, schema, all, list);
        step = next_step();
        MUST(flexpath_step_records(step, "molecules", NULL, NULL, &records));
        for (uint64_t index = 0; index < MOLECULES; index++)
            check_one(records, index, number, index);
        check_reading(records);
        check_some(step, number);
        check_converted(step, number);
        MUST(flexpath_step_release(step));
        check_one(records, 1, number, 1); /* records hold their step */
        MUST(flexpath_records_release(records));
    }
    close_ends();
    MUST(flexpath_variable_free(all));
    MUST(flexpath_variable_free(list));
    MUST(flexpath_schema_free(schema));
    printf("all there\n");
    return 0;
}
