/* What is filled in lent memory, and looked at where it lies, is copied nowhere. The counters of both ends say so, and
 * count where a copy is made. */
#include "check.h"

enum { LEN = 100000 };

static flexpath_publisher *publisher;
static flexpath_subscriber *subscriber;
static flexpath_variable *field;

static uint64_t counted(int of_publisher, const char *name)
{
    uint64_t value;
    if (of_publisher)
        MUST(flexpath_publisher_statistic(publisher, name, &value));
    else
        MUST(flexpath_subscriber_statistic(subscriber, name, &value));
    return value;
}

static void put_lent(uint64_t step)
{
    const uint64_t start = 0, count = LEN;
    flexpath_loan *loan;
    void *memory;
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_loan(publisher, field, &start, &count, &loan, &memory));
    for (uint64_t i = 0; i < LEN; i++)
        ((double *)memory)[i] = (double)(LEN * step + i);
    MUST(flexpath_publisher_put_loan(publisher, loan));
    MUST(flexpath_publisher_end_step(publisher));
}

static void look(uint64_t number)
{
    flexpath_step *step;
    flexpath_view *view;
    const void *elements;
    uint64_t len;
    int32_t is_zero_copy;
    MUST(flexpath_subscriber_next_step(subscriber, 60000, &step));
    MUST(flexpath_step_view(step, "field", NULL, FLEXPATH_DTYPE_F64, &view, &elements, &len));
    MUST(flexpath_view_is_zero_copy(view, &is_zero_copy));
    CHECK(len == LEN && is_zero_copy);
    MUST(flexpath_step_release(step));
    for (uint64_t i = 0; i < LEN; i++)
        CHECK(((const double *)elements)[i] == (double)(LEN * number + i));
    MUST(flexpath_view_release(view));
}

static void check_copies(void)
{
    const char *of_publisher[] = {"put_copied_bytes", "shared_copied_bytes", "gathered_bytes"};
    const char *of_subscriber[] = {"get_copied_bytes", "staged_bytes", "received_bytes"};
    for (int i = 0; i < 3; i++)
        CHECK(counted(1, of_publisher[i]) == 0 && counted(0, of_subscriber[i]) == 0);
    CHECK(counted(1, "payload_bytes") == STEPS * LEN * sizeof(double) && counted(0, "views") == STEPS);
}

int main(void)
{
    static double elements[LEN];
    const uint64_t shape = LEN, start = 0;
    flexpath_step *step;
    MUST(flexpath_variable_global("field", FLEXPATH_DTYPE_F64, 1, &shape, &field));
    MUST(flexpath_publisher_open("zero-copy", NULL, &publisher));
    MUST(flexpath_subscriber_open("zero-copy", NULL, &subscriber));
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, NULL));
    for (uint64_t number = 0; number < STEPS; number++) {
        put_lent(number);
        look(number);
    }
    check_copies();
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, field, &start, &shape, elements));
    MUST(flexpath_publisher_end_step(publisher));
    MUST(flexpath_subscriber_next_step(subscriber, 60000, &step));
    MUST(flexpath_step_get(step, "field", NULL, FLEXPATH_DTYPE_F64, elements, LEN, -1));
    CHECK(counted(1, "put_copied_bytes") == sizeof elements && counted(0, "get_copied_bytes") == sizeof elements);
    MUST(flexpath_step_release(step));
    MUST(flexpath_subscriber_close(subscriber));
    MUST(flexpath_publisher_close(publisher));
    MUST(flexpath_variable_free(field));
    printf("nothing copied\n");
    return 0;
}
