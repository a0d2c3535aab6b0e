/* Streams by the type that they provide, and what an opening demands: a type, a transport, the process's bound. */
#include "check.h"
#include <pthread.h>
#include <stddef.h>

typedef struct { uint32_t id; double place; } particle;

static flexpath_schema *schema_of(const char *unit)
{
    const size_t offsets[] = {offsetof(particle, id), offsetof(particle, place)};
    flexpath_schema *schema;
    MUST(flexpath_schema_create("Particle", &schema));
    MUST(flexpath_schema_add_field(schema, "id", FLEXPATH_DTYPE_U32));
    MUST(flexpath_schema_add_field(schema, "place", FLEXPATH_DTYPE_F64));
    MUST(flexpath_schema_set_unit(schema, "place", unit));
    MUST(flexpath_schema_set_struct(schema, offsets, 2, sizeof(particle)));
    return schema;
}

/* A stream with one step for each subscription that starts. */
typedef struct {
    flexpath_publisher *publisher;
    flexpath_variable *variable;
    pthread_t thread;
} source;

static source open_source(const char *stream, flexpath_schema *schema)
{
    const uint64_t two = 2;
    source made;
    flexpath_options *options;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "Transports", "tcp"));
    MUST(flexpath_publisher_open(stream, options, &made.publisher));
    MUST(flexpath_options_free(options));
    if (schema)
        MUST(flexpath_variable_global_records("particles", schema, 1, &two, &made.variable));
    else
        MUST(flexpath_variable_global("numbers", FLEXPATH_DTYPE_F64, 1, &two, &made.variable));
    return made;
}

static void *publish(void *given)
{
    const source *of = given;
    const uint64_t start = 0, count = 2;
    const particle particles[2] = {{7, 0.5}, {8, 1.5}};
    flexpath_event event = {0};
    while (event.kind != FLEXPATH_EVENT_KIND_SUBSCRIPTION_STARTED)
        MUST(flexpath_publisher_next_event(of->publisher, 60000, &event));
    MUST(flexpath_publisher_begin_step(of->publisher, NULL));
    MUST(flexpath_publisher_put(of->publisher, of->variable, &start, &count, particles));
    MUST(flexpath_publisher_end_step(of->publisher));
    return NULL;
}

static void publish_once(source *of)
{
    CHECK(pthread_create(&of->thread, NULL, publish, of) == 0);
}

static void published(source *of)
{
    CHECK(pthread_join(of->thread, NULL) == 0);
}

static void close_source(source *of)
{
    MUST(flexpath_publisher_close(of->publisher));
    MUST(flexpath_variable_free(of->variable));
}

static void check_found(source sources[2], flexpath_schema *wanted, flexpath_schema *metres)
{
    flexpath_found found[4];
    uint64_t count;
    for (int i = 0; i < 2; i++)
        publish_once(&sources[i]);
    MUST(flexpath_subscriber_find(NULL, wanted, 30000, found, 4, &count));
    for (int i = 0; i < 2; i++)
        published(&sources[i]);
    CHECK(count == 2 && strcmp(found[0].stream, "typed") == 0 && strcmp(found[0].variable, "particles") == 0);
    CHECK(found[0].variable_count == 1 && found[0].is_converted == 0 && strcmp(found[0].differences, "") == 0);
    CHECK(strlen(found[0].contact) > 8 && strcmp(found[1].stream, "plain") == 0);
    CHECK(found[1].variable_count == 0 && strcmp(found[1].variable, "") == 0);
    CHECK(strstr(found[1].differences, "\"numbers\" is of f64, no records") != NULL);
    for (int i = 0; i < 2; i++)
        publish_once(&sources[i]);
    memset(found, 0, sizeof found);
    MUST(flexpath_subscriber_find(NULL, metres, 30000, found, 1, &count));
    for (int i = 0; i < 2; i++)
        published(&sources[i]);
    CHECK(count == 2 && found[0].variable_count == 0 && found[1].stream == NULL);
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_subscriber_find(NULL, NULL, 0, found, 4, &count));
    FAILS(FLEXPATH_STATUS_BAD_POINTER, "count", flexpath_subscriber_find(NULL, wanted, 0, found, 4, NULL));
}

static flexpath_status open_typed(source *of, const char *variable, flexpath_schema *schema)
{
    flexpath_options *options;
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_add_type(options, variable, schema));
    publish_once(of);
    status = flexpath_subscriber_open("typed", options, &subscriber);
    published(of);
    MUST(flexpath_options_free(options));
    if (status == FLEXPATH_STATUS_OK) {
        /* The step that was looked at is still the next one. */
        MUST(flexpath_subscriber_next_step(subscriber, 60000, &step));
        MUST(flexpath_step_release(step));
        MUST(flexpath_subscriber_close(subscriber));
    }
    return status;
}

static void check_types(source *of, flexpath_schema *wanted, flexpath_schema *metres)
{
    flexpath_options *options;
    flexpath_publisher *publisher;
    MUST(open_typed(of, "particles", wanted));
    MUST(open_typed(of, NULL, wanted));
    FAILS(FLEXPATH_STATUS_INCOMPATIBLE, "Particle.place: is in \"nm\", wanted in \"m\"", open_typed(of, NULL, metres));
    FAILS(FLEXPATH_STATUS_INCOMPATIBLE, "particle", open_typed(of, "particle", wanted));
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "null", flexpath_options_add_type(options, NULL, NULL));
    MUST(flexpath_options_add_type(options, NULL, wanted));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "a wanted type is an option of a Subscriber",
          flexpath_publisher_open("other", options, &publisher));
    MUST(flexpath_options_free(options));
}

/* What works at the first attempt falls back to nothing. */
static void check_fallback(void)
{
    flexpath_options *options;
    flexpath_subscriber *subscriber;
    MUST(flexpath_options_create(&options));
    FAILS(FLEXPATH_STATUS_BAD_OPTION, "true or false", flexpath_options_set(options, "ForbidFallback", "perhaps"));
    MUST(flexpath_options_set(options, "ForbidFallback", "true"));
    MUST(flexpath_options_set(options, "Transports", "tcp"));
    MUST(flexpath_options_set(options, "VerbsDevice", "none0"));
    MUST(flexpath_subscriber_open("typed", options, &subscriber));
    MUST(flexpath_subscriber_close(subscriber));
    MUST(flexpath_options_free(options));
}

static void check_bound(source *of)
{
    const uint64_t start = 0, count = 2;
    const particle particles[2] = {{7, 0.5}, {8, 1.5}};
    flexpath_subscriber *subscriber;
    MUST(flexpath_subscriber_open("typed", NULL, &subscriber));
    FAILS(FLEXPATH_STATUS_MISUSE, "at least 1", flexpath_limit_process_bytes(0));
    MUST(flexpath_limit_process_bytes(16));
    MUST(flexpath_publisher_begin_step(of->publisher, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "16", flexpath_publisher_put(of->publisher, of->variable, &start, &count, particles));
    MUST(flexpath_limit_process_bytes(1 << 30));
    MUST(flexpath_publisher_abandon_step(of->publisher));
    MUST(flexpath_subscriber_close(subscriber));
}

int main(void)
{
    flexpath_schema *wanted = schema_of("nm"), *metres = schema_of("m");
    source sources[2] = {open_source("typed", wanted), open_source("plain", NULL)};
    check_found(sources, wanted, metres);
    check_types(&sources[0], wanted, metres);
    check_fallback();
    check_bound(&sources[0]);
    for (int i = 0; i < 2; i++)
        close_source(&sources[i]);
    MUST(flexpath_schema_free(wanted));
    MUST(flexpath_schema_free(metres));
    printf("found\n");
    return 0;
}
