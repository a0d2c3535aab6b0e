/* Takes every step of the stream `c` and checks all that it can take, in every way of taking. Content is checked from
 * the step that it gets first. Prints how many steps it took. */
#include "check.h"
#include <pthread.h>

static void check_grid(flexpath_step *step, uint64_t at)
{
    const uint64_t start[2] = {1, 2}, count[2] = {6, 3}, stride[2] = {5, 2}, points[4] = {7, 5, 0, 0};
    const flexpath_selection part = {
        .kind = FLEXPATH_SELECTED_REGION, .ndims = 2, .start = start, .count = count};
    const flexpath_selection strided = {
        .kind = FLEXPATH_SELECTED_STRIDED, .ndims = 2, .start = start, .count = count, .stride = stride};
    const flexpath_selection two = {
        .kind = FLEXPATH_SELECTED_POINTS, .ndims = 2, .points = points, .point_count = 2};
    const flexpath_selection columns = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 2, .start = start, .count = count,
        .order = FLEXPATH_ORDER_COLUMN_MAJOR};
    double region[18], every[4], corners[2], standing[18];
    int32_t turned[ROWS * COLUMNS];
    const flexpath_get gets[] = {
        {.variable = "grid", .selection = &part, .destination = region, .len = 18, .dtype = FLEXPATH_DTYPE_F64},
        {.variable = "grid", .selection = &strided, .destination = every, .len = 4, .dtype = FLEXPATH_DTYPE_F64},
        {.variable = "turned", .destination = turned, .len = ROWS * COLUMNS, .dtype = FLEXPATH_DTYPE_I32},
        {.variable = "grid", .selection = &columns, .destination = standing, .len = 18, .dtype = FLEXPATH_DTYPE_F64},
    };
    MUST(flexpath_step_get_all(step, gets, 4, 30000));
    for (uint64_t i = 0; i < 18; i++)
        CHECK(region[i] == (double)value(at, 1 + i / 3, 2 + i % 3));
    for (uint64_t i = 0; i < 18; i++)
        CHECK(standing[i] == (double)value(at, 1 + i % 6, 2 + i / 6));
    for (uint64_t i = 0; i < 4; i++)
        CHECK(every[i] == (double)value(at, 1 + 5 * (i / 2), 2 + 2 * (i % 2)));
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++)
        CHECK(turned[i] == (int32_t)value(at, i / COLUMNS, i % COLUMNS));
    MUST(flexpath_step_get(step, "grid", &two, FLEXPATH_DTYPE_F64, corners, 2, -1));
    CHECK(corners[0] == (double)value(at, 7, 5) && corners[1] == (double)value(at, 0, 0));
}

static void check_view(flexpath_step *step, uint64_t at)
{
    const flexpath_selection block = {.kind = FLEXPATH_SELECTED_BLOCK, .rank = 1, .block = 0};
    flexpath_view *view;
    const void *elements;
    uint64_t len;
    int32_t is_zero_copy;
    MUST(flexpath_step_view(step, "local", &block, FLEXPATH_DTYPE_U8, &view, &elements, &len));
    MUST(flexpath_view_is_zero_copy(view, &is_zero_copy));
    CHECK(len == 3 && memcmp(elements, "\2\2\2", 3) == 0);
    MUST(flexpath_view_release(view));
    (void)at;
}

static void check_particles(flexpath_step *step, uint64_t at, uint64_t size)
{
    flexpath_variable_info info;
    float joined[3 * 64];
    double time;
    uint32_t ranks[4];
    uint64_t rows = 0, i = 0;
    for (uint64_t rank = 0; rank < size; rank++)
        rows += rank + 1 + at;
    MUST(flexpath_step_variable(step, "joined", &info));
    CHECK(info.kind == FLEXPATH_KIND_JOINED_ARRAY && info.ndims == 2 && info.shape[0] == rows && info.shape[1] == 3);
    MUST(flexpath_step_get(step, "joined", NULL, FLEXPATH_DTYPE_F32, joined, 3 * rows, -1));
    for (uint64_t rank = 0; rank < size; rank++)
        for (uint64_t k = 0; k < 3 * (rank + 1 + at); k++)
            CHECK(joined[i++] == (float)(100 * rank + k));
    MUST(flexpath_step_get(step, "time", NULL, FLEXPATH_DTYPE_F64, &time, 1, -1));
    CHECK(time == 0.5 * (double)at);
    MUST(flexpath_step_get(step, "rank", NULL, FLEXPATH_DTYPE_U32, ranks, size, -1));
    for (uint64_t rank = 0; rank < size; rank++)
        CHECK(ranks[rank] == rank);
}

/* Any number of threads may use a step at one time. */
static void *take_turned(void *step)
{
    int32_t turned[ROWS * COLUMNS];
    flexpath_step_info about;
    MUST(flexpath_step_describe(step, &about));
    for (int turn = 0; turn < 20; turn++) {
        memset(turned, 0xff, sizeof turned);
        MUST(flexpath_step_get(step, "turned", NULL, FLEXPATH_DTYPE_I32, turned, ROWS * COLUMNS, -1));
        for (uint64_t i = 0; i < ROWS * COLUMNS; i++)
            CHECK(turned[i] == (int32_t)value(about.step, i / COLUMNS, i % COLUMNS));
    }
    return NULL;
}

static void check_threads(flexpath_step *step)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, take_turned, step) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void check_mistakes(flexpath_step *step)
{
    double room[ROWS * COLUMNS];
    flexpath_variable_info info;
    const flexpath_get twice[] = {
        {.variable = "grid", .destination = room, .len = ROWS * COLUMNS, .dtype = FLEXPATH_DTYPE_F64},
        {.variable = "time", .destination = room + 3, .len = 1, .dtype = FLEXPATH_DTYPE_F64},
    };
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "f64",
          flexpath_step_get(step, "grid", NULL, FLEXPATH_DTYPE_F32, room, ROWS * COLUMNS, -1));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "47",
          flexpath_step_get(step, "grid", NULL, FLEXPATH_DTYPE_F64, room, 47, -1));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "destination",
          flexpath_step_get(step, "grid", NULL, FLEXPATH_DTYPE_F64, NULL, ROWS * COLUMNS, -1));
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "\"none\"",
          flexpath_step_get(step, "none", NULL, FLEXPATH_DTYPE_F64, room, 1, -1));
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "\"none\"", flexpath_step_variable(step, "none", &info));
    FAILS(FLEXPATH_STATUS_MISUSE, "overlap", flexpath_step_get_all(step, twice, 2, -1));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "step", flexpath_subscriber_close((flexpath_subscriber *)step));
}

int main(void)
{
    const uint64_t size = number("PUBLISHERS", 2);
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status;
    uint64_t taken = 0, counted;
    int32_t end;

    MUST(flexpath_subscriber_open("c", NULL, &subscriber));
    while ((status = flexpath_subscriber_next_step(subscriber, 60000, &step)) == FLEXPATH_STATUS_OK) {
        flexpath_step_info about;
        flexpath_variable_info info;
        uint64_t variables;
        MUST(flexpath_step_describe(step, &about));
        MUST(flexpath_step_variable_count(step, &variables));
        CHECK(variables == 7);
        MUST(flexpath_step_variable_at(step, 0, &info));
        CHECK(strcmp(info.name, "grid") == 0 && strcmp(info.unit, "K") == 0);
        CHECK(info.dtype == FLEXPATH_DTYPE_F64 && info.ndims == 2 && info.shape[0] == ROWS);
        check_grid(step, about.step);
        check_view(step, about.step);
        check_particles(step, about.step, size);
        check_threads(step);
        check_mistakes(step);
        MUST(flexpath_step_release(step));
        FAILS(FLEXPATH_STATUS_BAD_HANDLE, "released", flexpath_step_release(step));
        taken++;
    }
    CHECK(status == FLEXPATH_STATUS_END_OF_STREAM);
    MUST(flexpath_subscriber_end(subscriber, &end));
    CHECK(end == FLEXPATH_END_CLOSED);
    MUST(flexpath_subscriber_statistic(subscriber, "steps", &counted));
    CHECK(counted == taken && taken == STEPS);
    MUST(flexpath_subscriber_close(subscriber));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "closed", flexpath_subscriber_close(subscriber));
    printf("took %d steps\n", (int)taken);
    return 0;
}
