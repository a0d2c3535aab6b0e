/* Deployed code: a publisher says whose modules it runs and what they may use; a subscriber hands one over. The module, one
 * that never ends, and the hash of the first are the arguments; and whether the links prove whose they are. */
#include "ends.h"

enum { CELLS = 40, HALF = CELLS / 2, LIMIT = 1 << 16 };

struct module { uint8_t bytes[LIMIT]; size_t len; };

static struct module squares, endless;
static uint64_t opened;

static void take(struct module *module, const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    module->len = fread(module->bytes, 1, LIMIT, file);
    CHECK(module->len > 0 && module->len < LIMIT);
    fclose(file);
}

static void publish(flexpath_variable *cells)
{
    const uint64_t half = HALF;
    double elements[HALF];
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    for (uint64_t start = 0; start < CELLS; start += HALF) {
        for (uint64_t i = 0; i < HALF; i++)
            elements[i] = (double)(start + i);
        MUST(flexpath_publisher_put(publisher, cells, &start, &half, elements));
    }
    MUST(flexpath_publisher_end_step(publisher));
}

static double sum(uint64_t from, uint64_t to)
{
    double sum = 0;
    for (uint64_t i = from; i < to; i++)
        sum += (double)(i * i);
    return sum;
}

/* Runs one step through a module. `limits` are names and values, in turn. Without words it works. */
static void try(const char *policy, const char *const *limits, const struct module *module, int32_t placement, const char *words)
{
    const uint64_t shape = CELLS;
    char name[32];
    double rows[2];
    flexpath_options *allowing, *asking;
    flexpath_variable *cells;
    flexpath_step *step;
    MUST(flexpath_options_create(&allowing));
    MUST(flexpath_options_set(allowing, "DeriveBudgetSecs", "60"));
    if (policy)
        MUST(flexpath_options_set(allowing, "DeployPolicy", policy));
    for (; limits && *limits; limits += 2)
        MUST(flexpath_options_set(allowing, limits[0], limits[1]));
    MUST(flexpath_options_create(&asking));
    MUST(flexpath_options_add_module(asking, "squares", module->bytes, module->len));
    MUST(flexpath_options_add_derivation(asking, "sums", "cells | module(squares, f64, 1)", placement));
    MUST(flexpath_variable_global("cells", FLEXPATH_DTYPE_F64, 1, &shape, &cells));
    snprintf(name, sizeof name, "deployed%d", (int)opened++);
    MUST(flexpath_publisher_open(name, allowing, &publisher));
    MUST(flexpath_subscriber_open(name, asking, &subscriber));
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, NULL));
    publish(cells);
    step = next_step();
    if (words)
        FAILS(FLEXPATH_STATUS_NOT_DERIVED, words, flexpath_step_get(step, "sums", NULL, FLEXPATH_DTYPE_F64, rows, 2, -1));
    else if (placement == FLEXPATH_PLACEMENT_PUBLISHER) {
        MUST(flexpath_step_get(step, "sums", NULL, FLEXPATH_DTYPE_F64, rows, 2, -1));
        CHECK(rows[0] == sum(0, HALF) && rows[1] == sum(HALF, CELLS));
    } else {
        MUST(flexpath_step_get(step, "sums", NULL, FLEXPATH_DTYPE_F64, rows, 1, -1));
        CHECK(rows[0] == sum(0, CELLS));
    }
    MUST(flexpath_step_release(step));
    close_ends();
    MUST(flexpath_options_free(allowing));
    MUST(flexpath_options_free(asking));
    MUST(flexpath_variable_free(cells));
}

/* A condition on what the module makes: this one makes a row of each block, which is no field. So it ran, and why the step
 * was not judged is told. */
static void check_condition(const char *policy)
{
    const char *condition = "any(module(squares, cells) > 1)", *reason;
    const uint64_t shape = CELLS;
    flexpath_options *allowing, *asking;
    flexpath_variable *cells;
    flexpath_step *step;
    MUST(flexpath_options_create(&allowing));
    MUST(flexpath_options_set(allowing, "DeriveBudgetSecs", "60"));
    MUST(flexpath_options_set(allowing, "DeployPolicy", policy));
    MUST(flexpath_options_create(&asking));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "(flexpath_options_add_module)", flexpath_options_set(asking, "Condition", condition));
    MUST(flexpath_options_add_module(asking, "squares", squares.bytes, squares.len));
    MUST(flexpath_options_set(asking, "Condition", condition));
    MUST(flexpath_variable_global("cells", FLEXPATH_DTYPE_F64, 1, &shape, &cells));
    MUST(flexpath_publisher_open("condition", allowing, &publisher));
    MUST(flexpath_subscriber_open("condition", asking, &subscriber));
    publish(cells);
    step = next_step();
    MUST(flexpath_step_unjudged(step, &reason));
    CHECK(strstr(reason, "the module gave f64"));
    MUST(flexpath_step_release(step));
    close_ends();
    MUST(flexpath_options_free(allowing));
    MUST(flexpath_options_free(asking));
    MUST(flexpath_variable_free(cells));
}

static void check_limits(const char *listed)
{
    const char *fuel[] = {"DeployFuel", "10", NULL}, *memory[] = {"DeployMemoryBytes", "65535", NULL};
    const char *bytes[] = {"DeployModuleBytes", "8", NULL}, *seconds[] = {"DeployTimeSecs", "0.05", NULL};
    try(listed, fuel, &squares, FLEXPATH_PLACEMENT_PUBLISHER, "the module did more than 10 units of work");
    try(listed, memory, &squares, FLEXPATH_PLACEMENT_PUBLISHER, "the module wanted more memory than 65535 bytes");
    try(listed, bytes, &squares, FLEXPATH_PLACEMENT_PUBLISHER, "bytes is larger than 8");
    try(listed, seconds, &endless, FLEXPATH_PLACEMENT_PUBLISHER, "the module ran for longer than 50ms");
}

int main(int count, char **arguments)
{
    char hash[80], listed[160], other[80];
    const char *text;
    flexpath_options *options;
    CHECK(count == 5);
    take(&squares, arguments[1]);
    take(&endless, arguments[2]);
    MUST(flexpath_module_hash(squares.bytes, squares.len, &text));
    CHECK(!strcmp(text, arguments[3]));
    snprintf(hash, sizeof hash, "%s", text);
    MUST(flexpath_module_hash(endless.bytes, endless.len, &text));
    snprintf(listed, sizeof listed, "Listed:%s, %s", text, hash);
    snprintf(other, sizeof other, "Listed:%s", text);
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "module", flexpath_module_hash(NULL, 1, &text));
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "Nobody, SameUid or Listed", flexpath_options_set(options, "DeployPolicy", "Everybody"));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "64 hex digits", flexpath_options_set(options, "DeployPolicy", "Listed:12"));
    MUST(flexpath_options_set(options, "DeployPolicy", listed));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "DeployPolicy is an option of a Publisher", flexpath_subscriber_open("deployed", options, &subscriber));
    MUST(flexpath_options_free(options));
    try(NULL, NULL, &squares, FLEXPATH_PLACEMENT_PUBLISHER, "this publisher runs no code");
    try("Nobody", NULL, &squares, FLEXPATH_PLACEMENT_PUBLISHER, "this publisher runs no code");
    try("SameUid", NULL, &squares, FLEXPATH_PLACEMENT_PUBLISHER, strcmp(arguments[4], "proved") ? "who sent this is not known" : NULL);
    try(listed, NULL, &squares, FLEXPATH_PLACEMENT_PUBLISHER, NULL);
    try(other, NULL, &squares, FLEXPATH_PLACEMENT_PUBLISHER, hash);
    try(NULL, NULL, &squares, FLEXPATH_PLACEMENT_SUBSCRIBER, NULL);
    check_limits(listed);
    check_condition(listed);
    printf("deployed\n");
    return 0;
}
