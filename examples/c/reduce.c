/* Work that goes to the data: `reduce publish` and `reduce subscribe [sum_of_squares.wasm]`, in two terminals. The
 * publisher offers a C function by name and sends particles through it. It lets subscribers of its own user hand over
 * modules. */
#include <flexpath.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTICLES = 60, STEPS = 3, LIMIT_MODULE = 1 << 20 };

static void check(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "reduce: %s\n", flexpath_last_error());
        exit(1);
    }
}

struct particle { uint32_t id; float charge; double energy; };

static flexpath_schema *particle_schema(void)
{
    const size_t offsets[] = {offsetof(struct particle, id), offsetof(struct particle, charge), offsetof(struct particle, energy)};
    flexpath_schema *schema;
    check(flexpath_schema_create("Particle", &schema));
    check(flexpath_schema_add_field(schema, "id", FLEXPATH_DTYPE_U32));
    check(flexpath_schema_add_field(schema, "charge", FLEXPATH_DTYPE_F32));
    check(flexpath_schema_add_field(schema, "energy", FLEXPATH_DTYPE_F64));
    check(flexpath_schema_set_struct(schema, offsets, 3, sizeof(struct particle)));
    return schema;
}

/* Particles of much energy. Runs on threads of Flexpath, while the put waits. */
static int32_t hot(void *context, const flexpath_records *given, flexpath_builder *made)
{
    const void *elements;
    struct particle *few;
    uint64_t count, taken = 0;
    int32_t failed;
    if (flexpath_records_count(given, &count) || flexpath_records_elements(given, &elements, NULL))
        return 1;
    few = malloc((count + 1) * sizeof *few);
    if (!few)
        return 2;
    for (uint64_t i = 0; i < count; i++) {
        const struct particle *one = (const struct particle *)elements + i;
        if (one->energy > *(const double *)context)
            few[taken++] = *one;
    }
    failed = flexpath_builder_set_structs(made, few, taken) ? 3 : 0;
    free(few);
    return failed;
}

static flexpath_options *offering(flexpath_schema *schema)
{
    static double threshold = 50;
    flexpath_options *options;
    flexpath_transforms *offered;
    check(flexpath_transforms_create(0, &offered));
    check(flexpath_transforms_add(offered, "hot", schema, schema, hot, NULL, &threshold));
    check(flexpath_transforms_set_per_block(offered, "hot"));
    check(flexpath_options_create(&options));
    check(flexpath_options_set_transforms(options, offered));
    check(flexpath_transforms_free(offered));
    check(flexpath_options_set(options, "RendezvousReaderCount", "1"));
    /* By default a step waits 0.1 seconds for what is made of it. This one would rather wait than leave some out. */
    check(flexpath_options_set(options, "DeriveBudgetSecs", "10"));
    if (flexpath_options_set(options, "DeployPolicy", "SameUid") == FLEXPATH_STATUS_OK) {
        check(flexpath_options_set(options, "DeployMemoryBytes", "16777216"));
        check(flexpath_options_set(options, "DeployTimeSecs", "2"));
    } else
        fprintf(stderr, "reduce: no modules: %s\n", flexpath_last_error());
    return options;
}

static void publish(void)
{
    const uint64_t start = 0, count = PARTICLES;
    flexpath_schema *schema = particle_schema();
    flexpath_options *options = offering(schema);
    flexpath_variable *particles, *energy;
    flexpath_publisher *publisher;
    check(flexpath_variable_joined_records("particles", schema, 0, NULL, &particles));
    check(flexpath_variable_global("energy", FLEXPATH_DTYPE_F64, 1, &count, &energy));
    check(flexpath_publisher_open("reduce", options, &publisher));
    for (uint32_t step = 0; step < STEPS; step++) {
        struct particle all[PARTICLES];
        double energies[PARTICLES];
        for (uint32_t i = 0; i < PARTICLES; i++) {
            all[i].id = i;
            all[i].charge = -1;
            all[i].energy = energies[i] = i + step;
        }
        check(flexpath_publisher_begin_step(publisher, NULL));
        check(flexpath_publisher_put(publisher, particles, NULL, &count, all));
        check(flexpath_publisher_put(publisher, energy, &start, &count, energies));
        check(flexpath_publisher_end_step(publisher));
    }
    check(flexpath_publisher_close(publisher));
    check(flexpath_options_free(options));
    check(flexpath_variable_free(particles));
    check(flexpath_variable_free(energy));
    check(flexpath_schema_free(schema));
}

/* What this program wants of the stream: nothing of it is published as it is. */
static flexpath_options *asking(const char *path)
{
    static uint8_t module[LIMIT_MODULE];
    flexpath_options *options;
    FILE *file;
    size_t len;
    check(flexpath_options_create(&options));
    check(flexpath_options_add_transformed(options, "hot", "particles", "hot", FLEXPATH_PLACEMENT_PUBLISHER));
    if (!path)
        return options;
    file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    len = fread(module, 1, sizeof module, file);
    fclose(file);
    check(flexpath_options_add_module(options, "squares", module, len));
    check(flexpath_options_add_derivation(options, "squares", "energy | module(squares, f64, 1)", FLEXPATH_PLACEMENT_PUBLISHER));
    return options;
}

static void subscribe(const char *path)
{
    flexpath_schema *schema = particle_schema();
    flexpath_options *options = asking(path);
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    check(flexpath_subscriber_open("reduce", options, &subscriber));
    while (flexpath_subscriber_next_step(subscriber, 10000, &step) == FLEXPATH_STATUS_OK) {
        flexpath_step_info info;
        flexpath_records *few;
        uint64_t count;
        uint32_t first;
        double sum;
        check(flexpath_step_describe(step, &info));
        check(flexpath_step_records(step, "hot", NULL, schema, &few));
        check(flexpath_records_count(few, &count));
        check(flexpath_records_get(few, 0, 1, "id", FLEXPATH_DTYPE_U32, &first, 1));
        printf("step %d: %d hot ones, from %d on", (int)info.step, (int)count, (int)first);
        if (path) {
            check(flexpath_step_get(step, "squares", NULL, FLEXPATH_DTYPE_F64, &sum, 1, -1));
            printf("; squares: %.0f", sum);
        }
        printf("\n");
        check(flexpath_records_release(few));
        check(flexpath_step_release(step));
    }
    check(flexpath_subscriber_close(subscriber));
    check(flexpath_options_free(options));
    check(flexpath_schema_free(schema));
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "publish") == 0)
        publish();
    else
        subscribe(count > 2 ? arguments[2] : NULL);
    return 0;
}
