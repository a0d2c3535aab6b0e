/* What publish.c and subscribe.c leave out, with both ends in one process. Truth values, texts, attributes, blocks,
 * selections in words and gaps are tried. So are events, promises and other variables while it runs. */
#include "check.h"
#include <pthread.h>

static flexpath_publisher *publisher;
static flexpath_subscriber *subscriber;

/* The next event of that kind, passing over others. */
static flexpath_event await_event(int32_t kind, int of_publisher)
{
    flexpath_event event;
    do {
        if (of_publisher)
            MUST(flexpath_publisher_next_event(publisher, 60000, &event));
        else
            MUST(flexpath_subscriber_next_event(subscriber, 60000, &event));
    } while (event.kind != kind);
    return event;
}

static flexpath_step *next_step(void)
{
    flexpath_step *step;
    MUST(flexpath_subscriber_next_step(subscriber, 60000, &step));
    return step;
}

/* A grid of 4 x 6. Rows 0 and 2 are put, as two blocks. */
static flexpath_variable *sparse_grid(void)
{
    const uint64_t shape[2] = {4, 6};
    const char *names[2] = {"row", "column"}, *colours[3] = {"red", "", "grün"};
    const int64_t origin[2] = {-1, 2};
    const double spacing[2] = {0.5, 0.25};
    const uint8_t bytes[3] = {7, 0, 255};
    flexpath_variable *grid;
    MUST(flexpath_variable_global("grid", FLEXPATH_DTYPE_I32, 2, shape, &grid));
    FAILS(FLEXPATH_STATUS_MISUSE, "1 names for 2", flexpath_variable_set_dimensions(grid, names, 1));
    MUST(flexpath_variable_set_dimensions(grid, names, 2));
    MUST(flexpath_variable_set_unit(grid, "K"));
    MUST(flexpath_variable_set_description(grid, "rows with gaps"));
    MUST(flexpath_variable_set_attribute_bool(grid, "a.bool", 5));
    MUST(flexpath_variable_set_attribute_integer(grid, "b.integer", -3));
    MUST(flexpath_variable_set_attribute_unsigned(grid, "c.unsigned", UINT64_MAX));
    MUST(flexpath_variable_set_attribute_real(grid, "d.real", 2.5));
    MUST(flexpath_variable_set_attribute_text(grid, "e.text", "größer"));
    MUST(flexpath_variable_set_attribute_bytes(grid, "f.bytes", bytes, 3));
    MUST(flexpath_variable_set_attribute_integers(grid, "g.integers", origin, 2));
    MUST(flexpath_variable_set_attribute_reals(grid, "h.reals", spacing, 2));
    MUST(flexpath_variable_set_attribute_texts(grid, "i.texts", colours, 3));
    return grid;
}

static void publish(flexpath_variable *grid, flexpath_variable *mask, flexpath_variable *done,
                    flexpath_variable *title)
{
    const uint64_t one[2] = {1, 6}, first[2] = {0, 0}, third[2] = {2, 0}, zero = 0, four = 4;
    const int32_t row[6] = {0, 1, 2, 3, 4, 5}, other[6] = {20, 21, 22, 23, 24, 25};
    const uint8_t truths[4] = {0, 1, 1, 0}, lies[4] = {0, 1, 2, 0}, yes = 1, perhaps = 3;
    const char *promised[] = {"grid", "title"};
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_promise(publisher, promised, 2));
    MUST(flexpath_publisher_put(publisher, grid, first, one, row));
    MUST(flexpath_publisher_put(publisher, grid, third, one, other));
    FAILS(FLEXPATH_STATUS_MISUSE, "truth", flexpath_publisher_put(publisher, mask, &zero, &four, lies));
    MUST(flexpath_publisher_put(publisher, mask, &zero, &four, truths));
    FAILS(FLEXPATH_STATUS_MISUSE, "truth", flexpath_publisher_put(publisher, done, NULL, NULL, &perhaps));
    MUST(flexpath_publisher_put(publisher, done, NULL, NULL, &yes));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "string", flexpath_publisher_put(publisher, title, NULL, NULL, "text"));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "string", flexpath_publisher_put_text(publisher, done, "text"));
    MUST(flexpath_publisher_put_text(publisher, title, "Kühlung"));
    MUST(flexpath_publisher_end_step(publisher));
}

static flexpath_attribute attribute(flexpath_step *step, const char *name, int32_t kind, uint64_t count, int32_t is_list)
{
    flexpath_attribute found;
    MUST(flexpath_step_attribute(step, "grid", name, &found));
    CHECK(strcmp(found.name, name) == 0 && found.kind == kind && found.count == count && found.is_list == is_list);
    return found;
}

static void check_attributes(flexpath_step *step)
{
    flexpath_attribute found;
    const char *const *texts;
    const char *name;
    uint64_t count;
    flexpath_variable_info info;
    MUST(flexpath_step_variable(step, "grid", &info));
    CHECK(strcmp(info.unit, "K") == 0 && strcmp(info.description, "rows with gaps") == 0);
    MUST(flexpath_step_dimension(step, "grid", 1, &name));
    CHECK(strcmp(name, "column") == 0);
    FAILS(FLEXPATH_STATUS_MISUSE, "dimension 2", flexpath_step_dimension(step, "grid", 2, &name));
    MUST(flexpath_step_attribute_count(step, "grid", &count));
    CHECK(count == 9);
    MUST(flexpath_step_attribute_at(step, "grid", 8, &found));
    CHECK(strcmp(found.name, "i.texts") == 0);
    FAILS(FLEXPATH_STATUS_MISUSE, "attribute 9", flexpath_step_attribute_at(step, "grid", 9, &found));
    FAILS(FLEXPATH_STATUS_MISUSE, "\"none\"", flexpath_step_attribute(step, "grid", "none", &found));
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "\"none\"", flexpath_step_attribute(step, "none", "a", &found));
    CHECK(*(const uint8_t *)attribute(step, "a.bool", FLEXPATH_ATTRIBUTE_KIND_BOOL, 1, 0).values == 1);
    CHECK(*(const int64_t *)attribute(step, "b.integer", FLEXPATH_ATTRIBUTE_KIND_INTEGER, 1, 0).values == -3);
    CHECK(*(const uint64_t *)attribute(step, "c.unsigned", FLEXPATH_ATTRIBUTE_KIND_UNSIGNED, 1, 0).values == UINT64_MAX);
    CHECK(*(const double *)attribute(step, "d.real", FLEXPATH_ATTRIBUTE_KIND_REAL, 1, 0).values == 2.5);
    texts = attribute(step, "e.text", FLEXPATH_ATTRIBUTE_KIND_TEXT, 1, 0).values;
    CHECK(strcmp(texts[0], "größer") == 0);
    CHECK(memcmp(attribute(step, "f.bytes", FLEXPATH_ATTRIBUTE_KIND_BYTES, 3, 1).values, "\7\0\377", 3) == 0);
    CHECK(((const int64_t *)attribute(step, "g.integers", FLEXPATH_ATTRIBUTE_KIND_INTEGER, 2, 1).values)[1] == 2);
    CHECK(((const double *)attribute(step, "h.reals", FLEXPATH_ATTRIBUTE_KIND_REAL, 2, 1).values)[0] == 0.5);
    texts = attribute(step, "i.texts", FLEXPATH_ATTRIBUTE_KIND_TEXT, 3, 1).values;
    CHECK(strcmp(texts[0], "red") == 0 && strcmp(texts[1], "") == 0 && strcmp(texts[2], "grün") == 0);
}

static void check_blocks(flexpath_step *step)
{
    flexpath_block blocks[2];
    uint64_t count;
    MUST(flexpath_step_blocks(step, "grid", NULL, 0, &count));
    CHECK(count == 2);
    memset(blocks, 0xff, sizeof blocks);
    MUST(flexpath_step_blocks(step, "grid", blocks, 1, &count));
    CHECK(count == 2 && blocks[0].block == 0 && blocks[1].block == UINT32_MAX);
    MUST(flexpath_step_blocks(step, "grid", blocks, 2, &count));
    CHECK(blocks[1].rank == 0 && blocks[1].block == 1 && blocks[1].ndims == 2);
    CHECK(blocks[1].start[0] == 2 && blocks[1].start[1] == 0 && blocks[1].count[0] == 1 && blocks[1].count[1] == 6);
    CHECK(blocks[1].start[2] == 0 && blocks[1].count[7] == 0);
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "blocks", flexpath_step_blocks(step, "grid", NULL, 1, &count));
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "\"none\"", flexpath_step_blocks(step, "none", NULL, 0, &count));
}

static void check_selections(flexpath_step *step)
{
    const flexpath_selection second = {.kind = FLEXPATH_SELECTED_BLOCK, .rank = 0, .block = 1};
    const flexpath_selection beyond = {.kind = FLEXPATH_SELECTED_RANK, .rank = 77};
    int32_t found[24], fill = -1;
    const flexpath_get all = {.variable = "grid", .destination = found, .len = 24, .dtype = FLEXPATH_DTYPE_I32};
    uint64_t shape[8], len;
    uint32_t ndims;
    flexpath_view *view;
    const void *elements;
    MUST(flexpath_step_selected_shape(step, "grid", &second, &ndims, shape));
    CHECK(ndims == 2 && shape[0] == 1 && shape[1] == 6 && shape[2] == 0);
    MUST(flexpath_step_selected_shape_by_text(step, "grid", "[::2, 1::3]", &ndims, shape));
    CHECK(ndims == 2 && shape[0] == 2 && shape[1] == 2);
    MUST(flexpath_step_get_by_text(step, "grid", "[::2, 1::3]", FLEXPATH_DTYPE_I32, found, 4, -1));
    CHECK(found[0] == 1 && found[1] == 4 && found[2] == 21 && found[3] == 24);
    MUST(flexpath_step_get_by_text(step, "grid", "[points (0, 1), (2, 3)]", FLEXPATH_DTYPE_I32, found, 2, -1));
    CHECK(found[0] == 1 && found[1] == 23);
    FAILS(FLEXPATH_STATUS_MISUSE, "no rank 77: the publisher has 1",
          flexpath_step_get(step, "grid", &beyond, FLEXPATH_DTYPE_I32, found, 0, -1));
    FAILS(FLEXPATH_STATUS_MISUSE, "no rank 77",
          flexpath_step_get_by_text(step, "grid", "[rank 77]", FLEXPATH_DTYPE_I32, found, 0, -1));
    FAILS(FLEXPATH_STATUS_MISUSE, "no rank 77", flexpath_step_selected_shape(step, "grid", &beyond, &ndims, shape));
    FAILS(FLEXPATH_STATUS_MISUSE, "1 dimensions",
          flexpath_step_get_by_text(step, "grid", "[0]", FLEXPATH_DTYPE_I32, found, 6, -1));
    FAILS(FLEXPATH_STATUS_MISUSE, "grid", flexpath_step_get_by_text(step, "grid", "[1:", FLEXPATH_DTYPE_I32, found, 4, -1));
    FAILS(FLEXPATH_STATUS_MISUSE, "", flexpath_step_get(step, "grid", NULL, FLEXPATH_DTYPE_I32, found, 24, -1));
    MUST(flexpath_step_get_or_fill(step, &all, &fill, -1));
    for (int32_t i = 0; i < 24; i++)
        CHECK(found[i] == (i / 6 % 2 == 0 ? 10 * (i / 6) + i % 6 : -1));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "fill", flexpath_step_get_or_fill(step, &all, NULL, -1));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "get", flexpath_step_get_or_fill(step, NULL, &fill, -1));
    MUST(flexpath_step_view_by_text(step, "grid", "[2, 1:4]", FLEXPATH_DTYPE_I32, &view, &elements, &len));
    CHECK(len == 3 && ((const int32_t *)elements)[0] == 21);
    MUST(flexpath_view_release(view));
}

/* A get names another type than the variable's only where it says so, and then no text of it is wrong. */
static void check_conversions(flexpath_step *step)
{
    const uint64_t start[] = {2, 0}, count[] = {1, 6};
    flexpath_selection row = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 2, .start = start, .count = count};
    double found[12], fill = 0;
    int16_t small[6];
    int32_t own[6];
    flexpath_get gets[] = {{.variable = "grid", .selection = &row, .destination = found, .len = 6, .dtype = FLEXPATH_DTYPE_F64},
                           {.variable = "grid", .selection = &row, .destination = own, .len = 6, .dtype = FLEXPATH_DTYPE_I32}};
    flexpath_view *view;
    const void *elements;
    uint64_t len;
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "elements are i32, not f64",
          flexpath_step_get(step, "grid", &row, FLEXPATH_DTYPE_F64, found, 6, -1));
    row.conversion = FLEXPATH_CONVERSION_EXACT;
    MUST(flexpath_step_get(step, "grid", &row, FLEXPATH_DTYPE_F64, found, 6, -1));
    CHECK(found[0] == 20.0 && found[5] == 25.0);
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "i16 does not hold every i32",
          flexpath_step_get(step, "grid", &row, FLEXPATH_DTYPE_I16, small, 6, -1));
    FAILS(FLEXPATH_STATUS_WRONG_LEN, "", flexpath_step_get(step, "grid", &row, FLEXPATH_DTYPE_F64, found, 5, -1));
    row.conversion = FLEXPATH_CONVERSION_ANY;
    MUST(flexpath_step_get(step, "grid", &row, FLEXPATH_DTYPE_I16, small, 6, -1));
    CHECK(small[0] == 20 && small[5] == 25);
    found[1] = own[1] = 0;
    MUST(flexpath_step_get_all(step, gets, 2, -1));
    CHECK(found[1] == 21.0 && own[1] == 21);
    MUST(flexpath_step_view(step, "grid", &row, FLEXPATH_DTYPE_F64, &view, &elements, &len));
    CHECK(len == 6 && ((const double *)elements)[3] == 23.0);
    MUST(flexpath_view_release(view));
    MUST(flexpath_step_get_converted_by_text(step, "grid", "[::2, :]", FLEXPATH_CONVERSION_ANY, FLEXPATH_DTYPE_F64, found, 12, -1));
    CHECK(found[0] == 0.0 && found[5] == 5.0 && found[6] == 20.0 && found[11] == 25.0);
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "no conversion leads from i32 to c64",
          flexpath_step_get_converted_by_text(step, "grid", "[0, :3]", FLEXPATH_CONVERSION_ANY, FLEXPATH_DTYPE_C64, found, 3, -1));
    FAILS(FLEXPATH_STATUS_MISUSE, "7 is no conversion",
          flexpath_step_get_converted_by_text(step, "grid", "[0, :]", 7, FLEXPATH_DTYPE_F64, found, 6, -1));
    FAILS(FLEXPATH_STATUS_MISUSE, "converts nothing", flexpath_step_get_or_fill(step, gets, &fill, -1));
}

static void check_values(flexpath_step *step)
{
    uint8_t truths[4], done;
    const char *title, *again;
    flexpath_variable_info info;
    MUST(flexpath_step_variable(step, "mask", &info));
    CHECK(info.dtype == FLEXPATH_DTYPE_BOOL);
    MUST(flexpath_step_get(step, "mask", NULL, FLEXPATH_DTYPE_BOOL, truths, 4, -1));
    CHECK(memcmp(truths, "\0\1\1\0", 4) == 0);
    MUST(flexpath_step_get(step, "done", NULL, FLEXPATH_DTYPE_BOOL, &done, 1, -1));
    CHECK(done == 1);
    MUST(flexpath_step_text(step, "title", &title));
    MUST(flexpath_step_text(step, "title", &again));
    CHECK(title == again && strcmp(title, "Kühlung") == 0);
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "\"done\" holds truth values (bool)", flexpath_step_text(step, "done", &title));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "\"grid\" holds numbers (i32) and no text: flexpath_step_get reads it",
          flexpath_step_text(step, "grid", &title));
    FAILS(FLEXPATH_STATUS_UNKNOWN_VARIABLE, "\"none\"", flexpath_step_text(step, "none", &title));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "string", flexpath_step_get(step, "title", NULL, FLEXPATH_DTYPE_STRING, &done, 1, -1));
}

static void check_texts(void)
{
    const char *text;
    char kept[64];
    MUST(flexpath_publisher_contact(publisher, &text));
    CHECK(strlen(text) > 8);
    MUST(flexpath_publisher_epoch(publisher, &text));
    CHECK(strlen(text) < sizeof kept);
    strcpy(kept, text);
    MUST(flexpath_subscriber_epoch(subscriber, &text));
    CHECK(strlen(kept) >= 16 && strcmp(text, kept) == 0);
    MUST(flexpath_subscriber_transports(subscriber, &text));
    CHECK(strncmp(text, "rank 0: ", 8) == 0);
    MUST(flexpath_publisher_transports(publisher, &text));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "text", flexpath_publisher_contact(publisher, NULL));
}

/* Steps that were under way come as they were. */
static void check_reselection(flexpath_variable *grid, flexpath_variable *mask, flexpath_variable *done,
                              flexpath_variable *title)
{
    const char *names[] = {"mask"};
    flexpath_event event;
    uint8_t truths[4];
    int32_t row[6];
    int turns = 0, others = 0;
    MUST(flexpath_subscriber_select_variables(subscriber, names, 1));
    for (; turns < 50 && !others; turns++) {
        flexpath_step *step;
        publish(grid, mask, done, title);
        step = next_step();
        MUST(flexpath_step_get(step, "mask", NULL, FLEXPATH_DTYPE_BOOL, truths, 4, -1));
        others = flexpath_step_get_by_text(step, "grid", "[0, :]", FLEXPATH_DTYPE_I32, row, 6, -1) ==
                 FLEXPATH_STATUS_UNKNOWN_VARIABLE;
        MUST(flexpath_step_release(step));
    }
    CHECK(others && strstr(flexpath_last_error(), "not among those subscribed to"));
    event = await_event(FLEXPATH_EVENT_KIND_RESELECTED, 0);
    CHECK(event.step < 100 && event.rank == UINT32_MAX && strstr(event.text, "another selection"));
}

/* An event is waited for while other calls on the handle go on. */
static void *await_joining(void *text)
{
    flexpath_event event = await_event(FLEXPATH_EVENT_KIND_MEMBER_JOINED, 1);
    snprintf(text, 128, "%s", event.text);
    return NULL;
}

static void open_both(void)
{
    char joined[128];
    flexpath_event event;
    flexpath_options *options;
    pthread_t thread;
    uint32_t present;
    int32_t is_there;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "OpenTimeoutSecs", "60"));
    MUST(flexpath_options_set(options, "BusyPollSecs", "0.0001"));
    MUST(flexpath_publisher_open("complete", options, &publisher));
    event = await_event(FLEXPATH_EVENT_KIND_OPENED, 1);
    CHECK(event.step == UINT64_MAX && event.rank == UINT32_MAX && strstr(event.text, "open"));
    CHECK(flexpath_publisher_next_event(publisher, 0, &event) == FLEXPATH_STATUS_NOT_YET);
    CHECK(flexpath_publisher_wait_for_subscribers(publisher, 1, 0, &present) == FLEXPATH_STATUS_NOT_YET && present == 0);
    CHECK(pthread_create(&thread, NULL, await_joining, joined) == 0);
    MUST(flexpath_publisher_has_subscribers(publisher, &is_there));
    MUST(flexpath_options_set(options, "Name", "analysis"));
    MUST(flexpath_subscriber_open("complete", options, &subscriber));
    CHECK(pthread_join(thread, NULL) == 0 && strstr(joined, "analysis") != NULL);
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, &present));
    CHECK(present == 1);
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, NULL));
    MUST(flexpath_options_free(options));
}

/* Steps with particles: every third. Nothing comes of the others, and they are not counted as skipped. */
static void check_conditions(void)
{
    flexpath_publisher *from;
    flexpath_subscriber *some;
    flexpath_options *reader;
    flexpath_variable *field, *particles;
    flexpath_step *step;
    flexpath_step_info about;
    uint64_t number, expected;
    MUST(flexpath_variable_scalar("field", FLEXPATH_DTYPE_U64, &field));
    MUST(flexpath_variable_scalar("particles", FLEXPATH_DTYPE_U64, &particles));
    MUST(flexpath_options_create(&reader));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "character 14", flexpath_options_set(reader, "Condition", "has(particles"));
    MUST(flexpath_options_set(reader, "Condition", "has(particles)"));
    MUST(flexpath_options_set(reader, "QueueLimit", "1"));
    MUST(flexpath_publisher_open("conditions", NULL, &from));
    MUST(flexpath_subscriber_open("conditions", reader, &some));
    for (expected = 0; expected < 7; expected++) {
        MUST(flexpath_publisher_begin_step(from, &number));
        MUST(flexpath_publisher_put(from, field, NULL, NULL, &number));
        if (expected % 3 == 0)
            MUST(flexpath_publisher_put(from, particles, NULL, NULL, &number));
        MUST(flexpath_publisher_end_step(from));
        if (expected % 3 == 0) {
            MUST(flexpath_subscriber_next_step(some, 60000, &step));
            MUST(flexpath_step_describe(step, &about));
            CHECK(about.step == expected && about.skipped == 0);
            MUST(flexpath_step_release(step));
        }
    }
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "character 10", flexpath_subscriber_set_condition(some, "has(field", 60000, NULL));
    MUST(flexpath_subscriber_first_step(some, &number));
    CHECK(number == 0);
    MUST(flexpath_subscriber_set_condition(some, "every(2)", 60000, &number));
    CHECK(number == 7);
    for (expected = 7; expected < 11; expected++) {
        MUST(flexpath_publisher_begin_step(from, &number));
        MUST(flexpath_publisher_put(from, field, NULL, NULL, &number));
        MUST(flexpath_publisher_end_step(from));
        if (expected % 2 == 0) {
            MUST(flexpath_subscriber_next_step(some, 60000, &step));
            MUST(flexpath_step_describe(step, &about));
            CHECK(about.step == expected && about.skipped == 0);
            MUST(flexpath_step_release(step));
        }
    }
    MUST(flexpath_subscriber_close(some));
    MUST(flexpath_publisher_close(from));
    MUST(flexpath_options_free(reader));
    MUST(flexpath_variable_free(field));
    MUST(flexpath_variable_free(particles));
}

/* A member of a work-sharing set gives a step back and gets it again. What it only releases, it did not do. */
static void check_given_back(flexpath_step *lone)
{
    flexpath_publisher *from;
    flexpath_subscriber *worker;
    flexpath_options *member;
    flexpath_variable *field;
    flexpath_step *taken;
    flexpath_step_info about;
    uint64_t number;
    int turn;
    FAILS(FLEXPATH_STATUS_MISUSE, "no member of a work-sharing set", flexpath_step_give_back(lone));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "released before", flexpath_step_done(lone));
    MUST(flexpath_variable_scalar("field", FLEXPATH_DTYPE_U64, &field));
    MUST(flexpath_publisher_open("given", NULL, &from));
    MUST(flexpath_options_create(&member));
    MUST(flexpath_options_set(member, "ShareExplicitDone", "true"));
    FAILS(FLEXPATH_STATUS_NOT_OPENED, "ShareExplicitDone is for members", flexpath_subscriber_open("given", member, &worker));
    MUST(flexpath_options_set(member, "ShareSet", "workers"));
    MUST(flexpath_options_set(member, "ShareRedeliver", "true"));
    MUST(flexpath_subscriber_open("given", member, &worker));
    MUST(flexpath_publisher_begin_step(from, &number));
    MUST(flexpath_publisher_put(from, field, NULL, NULL, &number));
    MUST(flexpath_publisher_end_step(from));
    for (turn = 0; turn < 3; turn++) {
        MUST(flexpath_subscriber_next_step(worker, 60000, &taken));
        MUST(flexpath_step_describe(taken, &about));
        CHECK(about.step == 0 && about.is_redelivered == (turn > 0));
        MUST(turn == 0 ? flexpath_step_give_back(taken) : turn == 1 ? flexpath_step_release(taken) : flexpath_step_done(taken));
    }
    MUST(flexpath_publisher_sync(from, 60000));
    MUST(flexpath_subscriber_close(worker));
    MUST(flexpath_publisher_close(from));
    MUST(flexpath_options_free(member));
    MUST(flexpath_variable_free(field));
}

/* Numbers that go on from run to run: steps from 40 on, and a subscriber that has step 37 and those before it. The
 * reserve has 41 and 42. */
static void check_numbers(void)
{
    flexpath_publisher *from;
    flexpath_subscriber *after;
    flexpath_options *options, *reader;
    flexpath_variable *count;
    flexpath_step *step;
    flexpath_step_info about;
    uint64_t number, expected;
    MUST(flexpath_variable_scalar("count", FLEXPATH_DTYPE_U64, &count));
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_create(&reader));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "After:<step>", flexpath_options_set(reader, "StartAt", "Later"));
    MUST(flexpath_options_set(options, "FirstStep", "40"));
    MUST(flexpath_options_set(options, "ReserveQueueLimit", "2"));
    MUST(flexpath_options_set(reader, "StartAt", "After:37"));
    MUST(flexpath_publisher_open("numbers", options, &from));
    for (expected = 40; expected < 43; expected++) {
        MUST(flexpath_publisher_begin_step(from, &number));
        CHECK(number == expected);
        MUST(flexpath_publisher_put(from, count, NULL, NULL, &number));
        MUST(flexpath_publisher_end_step(from));
    }
    MUST(flexpath_subscriber_open("numbers", reader, &after));
    for (expected = 41; expected < 43; expected++) {
        MUST(flexpath_subscriber_next_step(after, 60000, &step));
        MUST(flexpath_step_describe(step, &about));
        CHECK(about.step == expected && about.skipped == (expected == 41 ? 3 : 0));
        MUST(flexpath_step_release(step));
    }
    MUST(flexpath_subscriber_close(after));
    MUST(flexpath_publisher_close(from));
    MUST(flexpath_options_free(reader));
    MUST(flexpath_options_free(options));
    MUST(flexpath_variable_free(count));
}

int main(void)
{
    const uint64_t four = 4;
    const char *promised[] = {"nothing"};
    flexpath_variable *grid = sparse_grid(), *mask, *done, *title;
    flexpath_step *step;
    flexpath_event event;
    uint64_t counted;

    MUST(flexpath_variable_global("mask", FLEXPATH_DTYPE_BOOL, 1, &four, &mask));
    MUST(flexpath_variable_scalar("done", FLEXPATH_DTYPE_BOOL, &done));
    MUST(flexpath_variable_scalar("title", FLEXPATH_DTYPE_STRING, &title));
    open_both();
    publish(grid, mask, done, title);
    step = next_step();
    check_attributes(step);
    check_blocks(step);
    check_selections(step);
    check_conversions(step);
    check_values(step);
    check_texts();
    MUST(flexpath_publisher_statistic(publisher, "queued_steps", &counted));
    CHECK(counted == 1);
    FAILS(FLEXPATH_STATUS_TIMED_OUT, "subscription ", flexpath_publisher_sync(publisher, 0));
    check_given_back(step);
    MUST(flexpath_publisher_sync(publisher, 60000));
    MUST(flexpath_publisher_statistic(publisher, "sync_ns", &counted));
    CHECK(counted > 0);
    MUST(flexpath_subscriber_statistic(subscriber, "next_step_ns", &counted));
    CHECK(counted > 0);
    check_reselection(grid, mask, done, title);
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_promise(publisher, promised, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "promised", flexpath_publisher_end_step(publisher));
    CHECK(await_event(FLEXPATH_EVENT_KIND_STEP_REJECTED, 1).step < 100);
    MUST(flexpath_publisher_statistic(publisher, "pool_peak_bytes", &counted));
    CHECK(counted > 0);
    MUST(flexpath_subscriber_statistic(subscriber, "deciphered_bytes", &counted));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "enciphered_bytes", flexpath_subscriber_statistic(subscriber, "pool_peak_bytes", &counted));
    MUST(flexpath_subscriber_close(subscriber));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "closed", flexpath_subscriber_next_event(subscriber, 0, &event));
    MUST(flexpath_publisher_close(publisher));
    MUST(flexpath_variable_free(grid));
    MUST(flexpath_variable_free(mask));
    MUST(flexpath_variable_free(done));
    MUST(flexpath_variable_free(title));
    check_numbers();
    check_conditions();
    printf("complete\n");
    return 0;
}
