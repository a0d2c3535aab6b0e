/* C functions over plain arrays, which derivations call by name, on either side. Where one is refused its context is
 * released at once. */
#include "ends.h"
#include <stdatomic.h>

enum { LEN = 12 };

static atomic_int calls, own_calls, released;

static int32_t drift(void *context, const void *const *inputs, uint64_t input_count, uint64_t count, void *made, uint64_t made_count)
{
    const double *x = inputs[0], *y = inputs[1];
    atomic_fetch_add((atomic_int *)context, 1);
    if (input_count != 2 || made_count != count)
        return 1;
    for (uint64_t i = 0; i < count; i++)
        ((double *)made)[i] = x[i] - 2 * y[i];
    return 0;
}

static int32_t halved(void *context, const void *const *inputs, uint64_t input_count, uint64_t count, void *made, uint64_t made_count)
{
    if (context || input_count != 1 || made_count != count)
        return 1;
    for (uint64_t i = 0; i < count; i++)
        ((float *)made)[i] = (float)(((const double *)inputs[0])[i] / 2);
    return 0;
}

/* A row of each block: how many, and their sum. */
static int32_t summary(void *context, const void *const *inputs, uint64_t input_count, uint64_t count, void *made, uint64_t made_count)
{
    double *row = made;
    if (context || input_count != 1 || made_count != 2)
        return 1;
    row[0] = (double)count;
    for (uint64_t i = 0; i < count; i++)
        row[1] += ((const double *)inputs[0])[i];
    return 0;
}

static int32_t failing(void *context, const void *const *inputs, uint64_t input_count, uint64_t count, void *made, uint64_t made_count)
{
    return context || inputs == NULL || made == NULL || input_count != 1 || count != made_count ? 1 : 42;
}

static void release(void *context)
{
    CHECK(context == &calls || context == &own_calls);
    atomic_fetch_add(&released, 1);
}

static flexpath_transforms *functions(atomic_int *counter)
{
    flexpath_transforms *made;
    MUST(flexpath_transforms_create(0, &made));
    MUST(flexpath_transforms_add_function(made, "drift", FLEXPATH_DTYPE_F64, FLEXPATH_DTYPE_F64, 0, drift, release, counter));
    MUST(flexpath_transforms_add_function(made, "halved", FLEXPATH_DTYPE_F64, FLEXPATH_DTYPE_F32, 0, halved, NULL, NULL));
    MUST(flexpath_transforms_add_function(made, "summary", FLEXPATH_DTYPE_F64, FLEXPATH_DTYPE_F64, 2, summary, NULL, NULL));
    MUST(flexpath_transforms_add_function(made, "failing", FLEXPATH_DTYPE_F64, FLEXPATH_DTYPE_F64, 0, failing, NULL, NULL));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "string",
          flexpath_transforms_add_function(made, "no", FLEXPATH_DTYPE_STRING, FLEXPATH_DTYPE_F64, 0, halved, NULL, NULL));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "run",
          flexpath_transforms_add_function(made, "no", FLEXPATH_DTYPE_F64, FLEXPATH_DTYPE_F64, 0, NULL, NULL, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "drift",
          flexpath_transforms_add_function(made, "drift", FLEXPATH_DTYPE_F64, FLEXPATH_DTYPE_F64, 0, drift, release, counter));
    return made;
}

static flexpath_options *asking(flexpath_transforms *own)
{
    flexpath_options *made;
    MUST(flexpath_options_create(&made));
    MUST(flexpath_options_set_transforms(made, own));
    MUST(flexpath_options_add_derivation(made, "drift", "x, y | call(drift)", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_add_derivation(made, "drift here", "y, x | call(drift)", FLEXPATH_PLACEMENT_SUBSCRIBER));
    MUST(flexpath_options_add_derivation(made, "halved", "x | call(halved, f32)", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_add_derivation(made, "rows", "x | call(summary, f64, 2)", FLEXPATH_PLACEMENT_PUBLISHER));
    MUST(flexpath_options_add_derivation(made, "failing", "x | call(failing)", FLEXPATH_PLACEMENT_PUBLISHER));
    return made;
}

static void publish(void)
{
    const char *names[] = {"x", "y"};
    const uint64_t len = LEN, half = LEN / 2;
    double elements[LEN];
    flexpath_variable *variable;
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    for (int which = 0; which < 2; which++) {
        MUST(flexpath_variable_global(names[which], FLEXPATH_DTYPE_F64, 1, &len, &variable));
        for (int i = 0; i < LEN; i++)
            elements[i] = which ? i : 10 * i;
        for (uint64_t start = 0; start < LEN; start += half)
            MUST(flexpath_publisher_put(publisher, variable, &start, &half, elements + start));
        MUST(flexpath_variable_free(variable));
    }
    MUST(flexpath_publisher_end_step(publisher));
}

static void check(flexpath_step *step)
{
    double found[LEN];
    float halves[LEN];
    const char *drifts[] = {"drift", "drift here"};
    for (int which = 0; which < 2; which++) {
        memset(found, 0, sizeof found);
        MUST(flexpath_step_get(step, drifts[which], NULL, FLEXPATH_DTYPE_F64, found, LEN, -1));
        for (int i = 0; i < LEN; i++)
            CHECK(found[i] == (which ? -19 : 8) * i);
    }
    MUST(flexpath_step_get(step, "halved", NULL, FLEXPATH_DTYPE_F32, halves, LEN, -1));
    CHECK(halves[0] == 0 && halves[11] == 55);
    MUST(flexpath_step_get(step, "rows", NULL, FLEXPATH_DTYPE_F64, found, 4, -1));
    CHECK(found[0] == 6 && found[1] == 150 && found[2] == 6 && found[3] == 510);
    FAILS(FLEXPATH_STATUS_NOT_DERIVED, "it returned 42", flexpath_step_get(step, "failing", NULL, FLEXPATH_DTYPE_F64, found, LEN, -1));
}

int main(void)
{
    flexpath_transforms *offered = functions(&calls), *own = functions(&own_calls);
    flexpath_options *offering, *reader = asking(own);
    flexpath_step *step;
    MUST(flexpath_options_create(&offering));
    MUST(flexpath_options_set(offering, "DeriveBudgetSecs", "60"));
    MUST(flexpath_options_set_transforms(offering, offered));
    MUST(flexpath_publisher_open("called", offering, &publisher));
    MUST(flexpath_subscriber_open("called", reader, &subscriber));
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, NULL));
    MUST(flexpath_options_free(offering));
    MUST(flexpath_options_free(reader));
    MUST(flexpath_transforms_free(offered));
    MUST(flexpath_transforms_free(own));
    publish();
    step = next_step();
    check(step);
    MUST(flexpath_step_release(step));
    CHECK(atomic_load(&calls) >= 1 && atomic_load(&own_calls) >= 1 && atomic_load(&released) == 2);
    close_ends();
    printf("called\n");
    return 0;
}
