/* Steps that come to a function, on a thread of the library's. */
#include "ends.h"
#include <pthread.h>

enum { MANY = 60, FEW = 20 };

/* What the function has seen: guarded, as another thread looks at it. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t steps, sum, released;
    int is_over, is_held, has_returned;
    int32_t end;
    char why[256];
} seen;

static flexpath_variable *number_variable;

static void publish(uint64_t value)
{
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, number_variable, NULL, NULL, &value));
    MUST(flexpath_publisher_end_step(publisher));
}

static void tell(seen *what, int *flag)
{
    CHECK(pthread_mutex_lock(&what->lock) == 0);
    *flag = 1;
    CHECK(pthread_cond_broadcast(&what->changed) == 0);
    CHECK(pthread_mutex_unlock(&what->lock) == 0);
}

static void wait_for(seen *what, const int *flag)
{
    CHECK(pthread_mutex_lock(&what->lock) == 0);
    while (!*flag)
        CHECK(pthread_cond_wait(&what->changed, &what->lock) == 0);
    CHECK(pthread_mutex_unlock(&what->lock) == 0);
}

static void released(void *context)
{
    ((seen *)context)->released++;
}

/* What is forbidden there, and what is not. */
static void check_rules(void)
{
    flexpath_step *none;
    FAILS(FLEXPATH_STATUS_MISUSE, "cannot close", flexpath_subscriber_close(subscriber));
    FAILS(FLEXPATH_STATUS_MISUSE, "flexpath_subscriber_on_step", flexpath_subscriber_next_step(subscriber, 0, &none));
    CHECK(counted("steps") > 0);
}

static void each(void *context, flexpath_step *step)
{
    seen *what = context;
    uint64_t value;
    if (!step) {
        strncpy(what->why, flexpath_last_error(), sizeof what->why - 1);
        MUST(flexpath_subscriber_end(subscriber, &what->end));
        tell(what, &what->is_over);
        return;
    }
    check_rules();
    MUST(flexpath_step_get(step, "number", NULL, FLEXPATH_DTYPE_U64, &value, 1, -1));
    what->steps++;
    what->sum += value;
    /* It may release the step by itself. */
    if (value % 2)
        MUST(flexpath_step_release(step));
}

static void open_watched(const char *condition)
{
    flexpath_options *options;
    MUST(flexpath_options_create(&options));
    if (condition)
        MUST(flexpath_options_set(options, "Condition", condition));
    open_ends("called_back", options);
    MUST(flexpath_options_free(options));
}

/* Each step that the condition asks for, in order and once, and then the end. */
static void check_steps(void)
{
    seen what = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    open_watched("max(number) >= 40");
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "run is null", flexpath_subscriber_on_step(subscriber, NULL, released, &what));
    CHECK(what.released == 1);
    MUST(flexpath_subscriber_on_step(subscriber, each, released, &what));
    FAILS(FLEXPATH_STATUS_MISUSE, "already", flexpath_subscriber_on_step(subscriber, each, released, &what));
    CHECK(what.released == 2);
    for (uint64_t value = 0; value < MANY; value++)
        publish(value);
    MUST(flexpath_publisher_close(publisher));
    wait_for(&what, &what.is_over);
    CHECK(what.steps == FEW && what.sum == (40 + 59) * FEW / 2);
    CHECK(what.end == FLEXPATH_END_CLOSED && strstr(what.why, "closed"));
    MUST(flexpath_subscriber_close(subscriber));
    CHECK(what.released == 3);
}

static void hold(void *context, flexpath_step *step)
{
    seen *what = context;
    CHECK(step && what->steps++ == 0);
    tell(what, &what->is_held);
    wait_for(what, &what->is_over);
    what->has_returned = 1;
}

static void *close_it(void *context)
{
    MUST(flexpath_subscriber_close(subscriber));
    /* Not before the function has returned, and its context is released. */
    CHECK(((seen *)context)->has_returned && ((seen *)context)->released == 1);
    return NULL;
}

/* A close waits for the function, and after it nothing is called. */
static void check_close(void)
{
    seen what = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    flexpath_step *none;
    pthread_t thread;
    open_watched(NULL);
    MUST(flexpath_subscriber_on_step(subscriber, hold, released, &what));
    publish(1);
    publish(2);
    wait_for(&what, &what.is_held);
    CHECK(pthread_create(&thread, NULL, close_it, &what) == 0);
    /* From when it is closed on the handle is none. */
    while (flexpath_subscriber_next_step(subscriber, 0, &none) != FLEXPATH_STATUS_BAD_HANDLE)
        ;
    tell(&what, &what.is_over);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(what.steps == 1);
    MUST(flexpath_publisher_close(publisher));
}

int main(void)
{
    MUST(flexpath_variable_scalar("number", FLEXPATH_DTYPE_U64, &number_variable));
    check_steps();
    check_close();
    MUST(flexpath_variable_free(number_variable));
    printf("called back\n");
    return 0;
}
