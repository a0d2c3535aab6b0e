/* Variables that are derived where the data is, or here, and read as any other. */
#include "ends.h"

enum { CELLS_OF_GRID = 96 };

static double component(uint64_t axis, uint64_t step, uint64_t index)
{
    return (double)((step * 31 + index * 7 + axis * 13) % 101) - 50.0;
}

/* Squared, so that it is exact. */
static double speed(uint64_t step, uint64_t index)
{
    const double x = component(0, step, index), y = component(1, step, index);
    return x * x + y * y;
}

static void check_options(void)
{
    flexpath_options *options;
    char name[32];
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "at character 14 of", flexpath_options_add_derivation(options, "a", "vx | compute(sqrtt(vx))", 0));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "sqrtt", flexpath_options_add_derivation(options, "a", "vx | compute(sqrtt(vx))", 0));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "character", flexpath_options_add_derivation(options, "a", "vx | squeeze", 0));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "name", flexpath_options_add_derivation(options, "", "vx | max", 0));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "2 arrays", flexpath_options_add_derivation(options, "both", "vx, vy", 0));
    FAILS(FLEXPATH_STATUS_MISUSE, "7 is no placement", flexpath_options_add_derivation(options, "a", "vx | max", 7));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "derivation", flexpath_options_add_derivation(options, "a", NULL, 0));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_options_add_derivation(NULL, "a", "vx | max", 0));
    MUST(flexpath_options_add_derivation(options, "a", "vx | max", FLEXPATH_PLACEMENT_FEWER_BYTES));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "\"a\"", flexpath_options_add_derivation(options, "a", "vx | min", 0));
    for (int i = 0; i < 4096; i++) {
        snprintf(name, sizeof name, "more%d", i);
        if (flexpath_options_add_derivation(options, name, "vx | min", 0) != FLEXPATH_STATUS_OK)
            break;
    }
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "at most", flexpath_options_add_derivation(options, "last", "vx | min", 0));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "Subscriber", flexpath_publisher_open("derived", options, &publisher));
    MUST(flexpath_options_free(options));
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "DeriveTimeoutSecs", flexpath_options_set(options, "DeriveTimeoutSecs", "soon"));
    MUST(flexpath_options_set(options, "DeriveTimeoutSecs", "5.5"));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "DeriveTimeoutSecs", flexpath_subscriber_open("derived", options, &subscriber));
    MUST(flexpath_options_free(options));
}

/* What moves to the other side, and modules: what can be said of them before a stream is there. */
static void check_more_options(void)
{
    flexpath_options *options;
    const uint8_t module[4] = {0, 'a', 's', 'm'};
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "no module is called", flexpath_options_add_derivation(options, "a", "vx | module(squares)", 0));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "module", flexpath_options_add_module(options, "squares", NULL, 4));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "a word is wanted", flexpath_options_add_module(options, "two words", module, 4));
    MUST(flexpath_options_add_module(options, "squares", module, 4));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "another one", flexpath_options_add_module(options, "squares", module, 4));
    MUST(flexpath_options_add_derivation(options, "a", "vx | module(squares)", 0));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "\"a\"", flexpath_options_add_transformed(options, "a", "bonds", "adjacency", 0));
    FAILS(FLEXPATH_STATUS_MISUSE, "9 is no placement", flexpath_options_add_transformed(options, "b", "bonds", "adjacency", 9));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "transform", flexpath_options_add_transformed(options, "b", "bonds", NULL, 0));
    MUST(flexpath_options_add_transformed(options, "b", "bonds", "adjacency", FLEXPATH_PLACEMENT_FEWER_BYTES));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "Subscriber", flexpath_publisher_open("derived", options, &publisher));
    MUST(flexpath_options_free(options));
}

static void await_placement(void)
{
    flexpath_event event;
    do
        MUST(flexpath_subscriber_next_event(subscriber, 60000, &event));
    while (event.kind != FLEXPATH_EVENT_KIND_RESELECTED);
}

static void publish(uint64_t step, flexpath_variable *const *velocity)
{
    const uint64_t half = CELLS_OF_GRID / 2;
    double cells[CELLS_OF_GRID];
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    for (uint64_t axis = 0; axis < 2; axis++)
        for (uint64_t start = 0; start < CELLS_OF_GRID; start += half) {
            for (uint64_t i = 0; i < half; i++)
                cells[i] = component(axis, step, start + i);
            MUST(flexpath_publisher_put(publisher, velocity[axis], &start, &half, cells));
        }
    MUST(flexpath_publisher_end_step(publisher));
}

static void check_step(flexpath_step *step, uint64_t number)
{
    double cells[CELLS_OF_GRID], most, low = 0;
    uint64_t shape[8];
    uint32_t ndims;
    flexpath_variable_info info;
    const char *all[] = {"speed", "here", "cheaper"};
    for (int name = 0; name < 3; name++) {
        MUST(flexpath_step_get(step, all[name], NULL, FLEXPATH_DTYPE_F64, cells, CELLS_OF_GRID, -1));
        for (uint64_t i = 0; i < CELLS_OF_GRID; i++)
            CHECK(cells[i] == speed(number, i));
    }
    MUST(flexpath_step_get_by_text(step, "speed", "[40:56:2]", FLEXPATH_DTYPE_F64, cells, 8, -1));
    for (uint64_t i = 0; i < 8; i++)
        CHECK(cells[i] == speed(number, 40 + 2 * i));
    MUST(flexpath_step_get(step, "most", NULL, FLEXPATH_DTYPE_F64, &most, 1, -1));
    for (uint64_t i = 0; i < CELLS_OF_GRID; i++)
        low = component(0, number, i) > low ? component(0, number, i) : low;
    CHECK(most == low);
    MUST(flexpath_step_selected_shape(step, "hot.index", NULL, &ndims, shape));
    CHECK(ndims == 1 && shape[0] > 0 && shape[0] < CELLS_OF_GRID);
    MUST(flexpath_step_variable(step, "speed", &info));
    CHECK(info.dtype == FLEXPATH_DTYPE_F64 && info.ndims == 1 && info.shape[0] == CELLS_OF_GRID);
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "\"nothing\"", flexpath_step_variable(step, "wrong", &info));
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "\"none\"", flexpath_step_variable(step, "none", &info));
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "\"nothing\"", flexpath_step_get(step, "wrong", NULL, FLEXPATH_DTYPE_F64, cells, 1, -1));
}

int main(void)
{
    const uint64_t shape = CELLS_OF_GRID;
    uint64_t value;
    flexpath_options *options;
    flexpath_variable *velocity[2];
    const uint8_t module[4] = {0, 'a', 's', 'm'};
    check_options();
    check_more_options();
    MUST(flexpath_variable_global("vx", FLEXPATH_DTYPE_F64, 1, &shape, &velocity[0]));
    MUST(flexpath_variable_global("vy", FLEXPATH_DTYPE_F64, 1, &shape, &velocity[1]));
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_add_derivation(options, "speed", "vx, vy | compute(vx*vx + vy*vy)", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_add_derivation(options, "here", "vx, vy | compute(vx*vx + vy*vy)", FLEXPATH_PLACEMENT_SUBSCRIBER));
    MUST(flexpath_options_add_derivation(options, "cheaper", "vx, vy | compute(vx*vx + vy*vy) | lz4", FLEXPATH_PLACEMENT_FEWER_BYTES));
    MUST(flexpath_options_add_derivation(options, "most", "vx | max", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_add_derivation(options, "hot", "vx | points(> 5)", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_add_derivation(options, "wrong", "nothing | max", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_add_module(options, "squares", module, 4));
    MUST(flexpath_options_add_derivation(options, "there", "vx | module(squares)", FLEXPATH_PLACEMENT_PUBLISHER));
    open_ends("derived", options);
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "these are: speed, here", flexpath_subscriber_place(subscriber, "vx", 0));
    FAILS(FLEXPATH_STATUS_MISUSE, "3 is no placement", flexpath_subscriber_place(subscriber, "speed", 3));
    MUST(flexpath_options_free(options));
    for (uint64_t number = 0; number < 3; number++) {
        flexpath_step *step;
        publish(number, velocity);
        step = next_step();
        check_step(step, number);
        MUST(flexpath_step_release(step));
    }
    MUST(flexpath_publisher_statistic(publisher, "derivations", &value));
    CHECK(value >= 9);
    /* One step waits that is read as it was asked for, and one comes after that. */
    publish(3, velocity);
    MUST(flexpath_subscriber_place(subscriber, "speed", FLEXPATH_PLACEMENT_SUBSCRIBER));
    await_placement();
    MUST(flexpath_subscriber_place(subscriber, "here", FLEXPATH_PLACEMENT_PUBLISHER));
    await_placement();
    publish(4, velocity);
    for (uint64_t number = 3; number < 5; number++) {
        flexpath_step *step = next_step();
        double cells[CELLS_OF_GRID];
        check_step(step, number);
        FAILS(FLEXPATH_STATUS_NOT_DERIVED, "this publisher runs no code", flexpath_step_get(step, "there", NULL, FLEXPATH_DTYPE_F64, cells, CELLS_OF_GRID, -1));
        MUST(flexpath_step_release(step));
    }
    MUST(flexpath_subscriber_statistic(subscriber, "moves", &value));
    /* Two names of one derivation are made on one side, and move together. */
    CHECK(value == 4);
    /* This library does not either, or it says what is wrong with the module. */
    MUST(flexpath_subscriber_place(subscriber, "there", FLEXPATH_PLACEMENT_SUBSCRIBER));
    await_placement();
    publish(5, velocity);
    {
        flexpath_step *step = next_step();
        double cells[CELLS_OF_GRID];
        check_step(step, 5);
        FAILS(FLEXPATH_STATUS_NOT_DERIVED, "module(", flexpath_step_get(step, "there", NULL, FLEXPATH_DTYPE_F64, cells, CELLS_OF_GRID, -1));
        MUST(flexpath_step_release(step));
    }
    close_ends();
    MUST(flexpath_variable_free(velocity[0]));
    MUST(flexpath_variable_free(velocity[1]));
    printf("derived\n");
    return 0;
}
