/* Records: `atoms publish` and `atoms subscribe`, in two terminals. The publisher's struct has more than the subscriber
 * wants, and its neighbours are a list, which a builder makes. */
#include <flexpath.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATOMS = 60, STEPS = 3 };

static void check(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "atoms: %s\n", flexpath_last_error());
        exit(1);
    }
}

/* What is published: the record's fields are the struct's, in its order. */
struct atom { uint32_t id; double position[3]; float mass; };

static flexpath_schema *atom_schema(void)
{
    const size_t offsets[] = {offsetof(struct atom, id), offsetof(struct atom, position), offsetof(struct atom, mass)};
    const uint64_t three = 3;
    flexpath_schema *schema;
    check(flexpath_schema_create("Atom", &schema));
    check(flexpath_schema_add_field(schema, "id", FLEXPATH_DTYPE_U32));
    check(flexpath_schema_add_field(schema, "position", FLEXPATH_DTYPE_F64));
    check(flexpath_schema_set_fixed(schema, "position", 1, &three, FLEXPATH_ORDER_ROW_MAJOR));
    check(flexpath_schema_set_unit(schema, "position", "nm"));
    check(flexpath_schema_add_field(schema, "mass", FLEXPATH_DTYPE_F32));
    check(flexpath_schema_set_struct(schema, offsets, 3, sizeof(struct atom)));
    return schema;
}

/* A record with a list: no struct, so it is made and read field by field. */
static flexpath_schema *bonded_schema(void)
{
    flexpath_schema *schema;
    check(flexpath_schema_create("Bonded", &schema));
    check(flexpath_schema_add_field(schema, "label", FLEXPATH_DTYPE_STRING));
    check(flexpath_schema_add_field(schema, "neighbour_count", FLEXPATH_DTYPE_U16));
    check(flexpath_schema_add_field(schema, "neighbours", FLEXPATH_DTYPE_U32));
    check(flexpath_schema_set_list(schema, "neighbours", "neighbour_count"));
    return schema;
}

static void publish(void)
{
    const uint64_t start = 0, count = ATOMS;
    flexpath_schema *schema = atom_schema(), *of_bonded = bonded_schema();
    flexpath_options *options;
    flexpath_variable *atoms, *bonded;
    flexpath_publisher *publisher;
    check(flexpath_variable_global_records("atoms", schema, 1, &count, &atoms));
    check(flexpath_variable_global_records("bonded", of_bonded, 1, &count, &bonded));
    check(flexpath_options_create(&options));
    check(flexpath_options_set(options, "RendezvousReaderCount", "1"));
    check(flexpath_publisher_open("atoms", options, &publisher));
    for (int step = 0; step < STEPS; step++) {
        struct atom all[ATOMS];
        flexpath_builder *builder;
        memset(all, 0, sizeof all);
        check(flexpath_builder_create(of_bonded, ATOMS, &builder));
        for (uint32_t i = 0; i < ATOMS; i++) {
            const uint32_t neighbours[2] = {i - 1, i + 1}; /* a chain: the first has none before it, the last none behind */
            char label[32];
            snprintf(label, sizeof label, "atom %u", (unsigned)i);
            all[i].id = i;
            all[i].position[0] = 0.1 * i + step;
            all[i].mass = 12;
            check(flexpath_builder_set_text(builder, i, "label", label));
            check(flexpath_builder_set(builder, i, "neighbours", FLEXPATH_DTYPE_U32, i ? neighbours : neighbours + 1,
                                       i == 0 || i == ATOMS - 1 ? 1 : 2));
        }
        check(flexpath_publisher_begin_step(publisher, NULL));
        check(flexpath_publisher_put(publisher, atoms, &start, &count, all));
        check(flexpath_publisher_put_built(publisher, bonded, &start, &count, builder));
        check(flexpath_publisher_end_step(publisher));
        check(flexpath_builder_free(builder));
    }
    check(flexpath_publisher_close(publisher));
    check(flexpath_options_free(options));
    check(flexpath_variable_free(atoms));
    check(flexpath_variable_free(bonded));
    check(flexpath_schema_free(schema));
    check(flexpath_schema_free(of_bonded));
}

/* What the analysis wants of an atom: other types, another order, and a field with a default that nobody publishes. */
struct point { double position[3]; uint64_t id; double charge; };

static flexpath_schema *point_schema(void)
{
    const size_t offsets[] = {offsetof(struct point, position), offsetof(struct point, id), offsetof(struct point, charge)};
    const uint64_t three = 3;
    flexpath_schema *schema;
    check(flexpath_schema_create("Point", &schema));
    check(flexpath_schema_add_field(schema, "position", FLEXPATH_DTYPE_F64));
    check(flexpath_schema_set_fixed(schema, "position", 1, &three, FLEXPATH_ORDER_ROW_MAJOR));
    check(flexpath_schema_add_field(schema, "id", FLEXPATH_DTYPE_U64));
    check(flexpath_schema_add_field(schema, "charge", FLEXPATH_DTYPE_F64));
    check(flexpath_schema_set_default_real(schema, "charge", -1.0));
    check(flexpath_schema_set_struct(schema, offsets, 3, sizeof(struct point)));
    return schema;
}

static void subscribe(void)
{
    flexpath_schema *points = point_schema();
    flexpath_provided provided;
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    uint64_t count;
    check(flexpath_subscriber_open("atoms", NULL, &subscriber));
    check(flexpath_subscriber_of(subscriber, points, &provided, 1, &count));
    printf("%s provides it%s\n", provided.variable, provided.is_converted ? ", converted" : "");
    while (flexpath_subscriber_next_step(subscriber, 10000, &step) == FLEXPATH_STATUS_OK) {
        struct point all[ATOMS];
        uint32_t neighbours[8];
        flexpath_step_info info;
        flexpath_records *bonded;
        flexpath_schema *schema;
        flexpath_value list;
        const char *text;
        check(flexpath_step_describe(step, &info));
        check(flexpath_step_get_records(step, provided.variable, NULL, points, all, ATOMS));
        printf("step %d: atom %d at %.1f, ", (int)info.step, (int)all[7].id, all[7].position[0]);
        /* Records of a type that is not known here: the schema says what they have. */
        check(flexpath_step_records(step, "bonded", NULL, NULL, &bonded));
        check(flexpath_records_describe(bonded, 7, "neighbours", &list));
        check(flexpath_records_get(bonded, 7, 1, "neighbours", FLEXPATH_DTYPE_U32, neighbours, list.count));
        check(flexpath_records_text(bonded, 7, "label", &text));
        printf("%s beside %d and %d\n", text, (int)neighbours[0], (int)neighbours[list.count - 1]);
        if (info.step == 0) {
            check(flexpath_records_schema(bonded, &schema));
            check(flexpath_schema_text(schema, &text));
            printf("%s\n", text);
            check(flexpath_schema_free(schema));
        }
        check(flexpath_records_release(bonded));
        check(flexpath_step_release(step));
    }
    check(flexpath_subscriber_close(subscriber));
    check(flexpath_schema_free(points));
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "publish") == 0)
        publish();
    else
        subscribe();
    return 0;
}
