/* Everything that a caller can do wrong without a peer: errors with a text, and no crash. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Released programs have these sizes, places and numbers in them. */
#define STAYS(condition) _Static_assert(condition, "part of the binary interface")
STAYS(sizeof(flexpath_selection) == 64);
STAYS(sizeof(flexpath_step_info) == 32);
STAYS(sizeof(flexpath_variable_info) == 104);
STAYS(sizeof(flexpath_get) == 40);
STAYS(sizeof(flexpath_event) == 24);
STAYS(offsetof(flexpath_event, text) == 16);
STAYS(sizeof(flexpath_block) == 144);
STAYS(offsetof(flexpath_block, count) == 80);
STAYS(sizeof(flexpath_attribute) == 32);
STAYS(offsetof(flexpath_attribute, kind) == 24);
STAYS(offsetof(flexpath_selection, points) == 32);
STAYS(offsetof(flexpath_selection, rank) == 48);
STAYS(offsetof(flexpath_selection, order) == 56);
STAYS(offsetof(flexpath_step_info, queued_steps) == 24);
STAYS(offsetof(flexpath_variable_info, dtype) == 24);
STAYS(offsetof(flexpath_variable_info, shape) == 40);
STAYS(offsetof(flexpath_get, destination) == 16);
STAYS(offsetof(flexpath_get, dtype) == 32);
STAYS(FLEXPATH_DTYPE_BOOL == 15);
STAYS(FLEXPATH_DTYPE_STRING == 16);
STAYS(FLEXPATH_EVENT_KIND_CLOSED == 14);
STAYS(FLEXPATH_EVENT_KIND_DENIED == 15);
STAYS(FLEXPATH_STATUS_DENIED == -18);
STAYS(sizeof(flexpath_status) == 4);

static void *fail_elsewhere(void *publisher)
{
    CHECK(strcmp(flexpath_last_error(), "") == 0);
    FAILS(FLEXPATH_STATUS_MISUSE, "no step", flexpath_publisher_end_step(publisher));
    return NULL;
}

static void release(void *count)
{
    ++*(int *)count;
}

/* With RefuseIncomplete a step of which a put failed cannot be ended, whoever found the fault. */
static void check_incomplete(flexpath_variable *grid)
{
    const uint64_t start[2] = {0, 0}, outside[2] = {9, 9}, count[2] = {1, 1};
    const double element = 1;
    flexpath_options *options;
    flexpath_publisher *publisher;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "RefuseIncomplete", "true"));
    MUST(flexpath_publisher_open("incomplete", options, &publisher));
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "not inside", flexpath_publisher_put(publisher, grid, outside, count, &element));
    MUST(flexpath_publisher_put(publisher, grid, start, count, &element));
    FAILS(FLEXPATH_STATUS_MISUSE, "a put of it failed", flexpath_publisher_end_step(publisher));
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "elements", flexpath_publisher_put(publisher, grid, start, count, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "elements", flexpath_publisher_end_step(publisher));
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_put(publisher, grid, start, count, &element));
    MUST(flexpath_publisher_end_step(publisher));
    MUST(flexpath_publisher_close(publisher));
    MUST(flexpath_options_free(options));
}

static void write_access(const char *path, const char *rule)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fprintf(file, "[[rule]]\nstream = 'guarded'\nanybody = true\n%s\n", rule) > 0);
    CHECK(fclose(file) == 0);
    CHECK(chmod(path, 0600) == 0);
}

/* What the access list does not allow has a status of its own at the subscriber, and is an event at the publisher. */
static void check_access(void)
{
    char path[512];
    flexpath_options *options;
    flexpath_publisher *publisher;
    flexpath_subscriber *subscriber;
    flexpath_event event;
    CHECK(snprintf(path, sizeof path, "%s/access.toml", getenv("FLEXPATH_RENDEZVOUS")) < (int)sizeof path);
    MUST(flexpath_options_create(&options));
    write_access(path, "may = ['steer']");
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "line 4: \"steer\" is no action", flexpath_options_set(options, "AccessFile", path));
    write_access(path, "may = ['status']");
    MUST(flexpath_options_set(options, "AccessFile", path));
    MUST(flexpath_publisher_open("guarded", options, &publisher));
    FAILS(FLEXPATH_STATUS_DENIED, "rule 1 of the publisher's access list does not let",
          flexpath_subscriber_open("guarded", NULL, &subscriber));
    do {
        MUST(flexpath_publisher_next_event(publisher, 10000, &event));
    } while (event.kind != FLEXPATH_EVENT_KIND_DENIED);
    CHECK(strstr(event.text, "rule 1") != NULL);
    MUST(flexpath_publisher_close(publisher));
    MUST(flexpath_options_free(options));
}

/* A forked child is refused what its parent opened, whatever it calls, and does not harm it. */
static void check_child(flexpath_publisher *publisher, flexpath_variable *grid)
{
    const uint64_t start[2] = {0, 0}, count[2] = {0, 0};
    flexpath_event event;
    uint32_t present;
    int status;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        FAILS(FLEXPATH_STATUS_FORKED, "forked", flexpath_publisher_begin_step(publisher, NULL));
        FAILS(FLEXPATH_STATUS_FORKED, "forked", flexpath_publisher_put(publisher, grid, start, count, NULL));
        FAILS(FLEXPATH_STATUS_FORKED, "forked", flexpath_publisher_next_event(publisher, 60000, &event));
        FAILS(FLEXPATH_STATUS_FORKED, "forked",
              flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, &present));
        FAILS(FLEXPATH_STATUS_FORKED, "forked", flexpath_publisher_close(publisher));
        /* It becomes another program: a search for leaks would find what only the parent's threads know. */
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_end_step(publisher));
}

int main(void)
{
    const uint64_t shape[2] = {4, 4}, start[2] = {2, 0}, count[2] = {2, 4}, outside[2] = {3, 0};
    double elements[8] = {0};
    char text[256], long_name[10001] = {0};
    int released = 0;
    uint64_t counted;
    pthread_t thread;
    flexpath_options *options;
    flexpath_variable *grid;
    flexpath_publisher *publisher;
    flexpath_subscriber *subscriber;

    CHECK(strncmp(flexpath_version(), "0.", 2) == 0);
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "null", flexpath_options_create(NULL));
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "QueueFullPolicy", flexpath_options_set(options, "QueueLimits", "3"));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "many", flexpath_options_set(options, "QueueLimit", "many"));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "name", flexpath_options_set(options, NULL, "3"));
    FAILS(FLEXPATH_STATUS_MISUSE, "rank 3", flexpath_options_set_cohort(options, 3, 3));
    MUST(flexpath_options_set(options, "QueueLimit", "3"));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "QueueLimit", flexpath_publisher_open("misuse", options, &publisher));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "set of options", flexpath_publisher_close((flexpath_publisher *)options));
    MUST(flexpath_options_set(options, "OpenTimeoutSecs", "0.05"));
    FAILS(FLEXPATH_STATUS_NOT_OPENED, "nobody", flexpath_subscriber_open("nobody", options, &subscriber));
    MUST(flexpath_options_set(options, "TlsKey", "key.pem"));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "TlsCertificate", flexpath_subscriber_open("nobody", options, &subscriber));
    MUST(flexpath_options_free(options));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "before", flexpath_options_set(options, "QueueLimit", "3"));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_publisher_close(NULL));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "no handle", flexpath_publisher_close((flexpath_publisher *)text));

    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "99", flexpath_variable_scalar("x", 99, &grid));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "string", flexpath_variable_local_scalar("x", FLEXPATH_DTYPE_STRING, &grid));
    FAILS(FLEXPATH_STATUS_WRONG_DTYPE, "bytes", flexpath_variable_scalar("x", 17, &grid));
    FAILS(FLEXPATH_STATUS_MISUSE, "empty", flexpath_variable_scalar("", FLEXPATH_DTYPE_F64, &grid));
    FAILS(FLEXPATH_STATUS_MISUSE, "contains", flexpath_variable_global("a\nb", FLEXPATH_DTYPE_F64, 2, shape, &grid));
    memset(long_name, 'x', sizeof long_name - 1);
    FAILS(FLEXPATH_STATUS_MISUSE, "longer than 255",
          flexpath_variable_local(long_name, FLEXPATH_DTYPE_F64, 1, &grid));
    FAILS(FLEXPATH_STATUS_MISUSE, "9 dim", flexpath_variable_global("x", FLEXPATH_DTYPE_F64, 9, shape, &grid));
    MUST(flexpath_variable_global("grid", FLEXPATH_DTYPE_F64, 2, shape, &grid));
    FAILS(FLEXPATH_STATUS_MISUSE, "order", flexpath_variable_set_order(grid, 7));
    FAILS(FLEXPATH_STATUS_NOT_OPENED, "name", flexpath_publisher_open("", NULL, &publisher));
    MUST(flexpath_publisher_open("misuse", NULL, &publisher));
    FAILS(FLEXPATH_STATUS_MISUSE, "no step", flexpath_publisher_put(publisher, grid, start, count, elements));
    CHECK(pthread_create(&thread, NULL, fail_elsewhere, publisher) == 0 && pthread_join(thread, NULL) == 0);
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "still open", flexpath_publisher_begin_step(publisher, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "not inside", flexpath_publisher_put(publisher, grid, outside, count, elements));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "elements", flexpath_publisher_put(publisher, grid, start, count, NULL));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "aligned",
          flexpath_publisher_put(publisher, grid, start, count, (const char *)elements + 1));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "count", flexpath_publisher_put(publisher, grid, start, NULL, elements));
    /* The release is called whatever happens. */
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null",
          flexpath_publisher_put_external(NULL, grid, start, count, elements, release, &released));
    FAILS(FLEXPATH_STATUS_MISUSE, "not inside",
          flexpath_publisher_put_external(publisher, grid, outside, count, elements, release, &released));
    MUST(flexpath_publisher_put_external(publisher, grid, start, count, elements, release, &released));
    CHECK(released == 3);
    FAILS(FLEXPATH_STATUS_MISUSE, "already", flexpath_publisher_put(publisher, grid, start, count, elements));
    MUST(flexpath_publisher_end_step(publisher));
    MUST(flexpath_publisher_begin_step(publisher, NULL));
    MUST(flexpath_publisher_abandon_step(publisher));
    MUST(flexpath_publisher_statistic(publisher, "steps", &counted));
    CHECK(counted == 1);
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "payload_bytes", flexpath_publisher_statistic(publisher, "x", &counted));
    check_child(publisher, grid);
    check_incomplete(grid);
    check_access();
    MUST(flexpath_variable_free(grid));
    MUST(flexpath_publisher_close(publisher));
    printf("all refused\n");
    return 0;
}
