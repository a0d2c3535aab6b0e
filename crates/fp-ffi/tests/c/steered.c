/* A simulation that says what is asked of it, until it is asked to stop; and somebody who asks. */
#include "check.h"

static void open_simulation(flexpath_publisher **publisher)
{
    flexpath_options *options;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "MinSubscribers", "1"));
    MUST(flexpath_options_set(options, "PauseLimitSecs", "60"));
    MUST(flexpath_options_add_parameter(options, "conductivity", FLEXPATH_PARAMETER_KIND_REAL, 0, 10));
    MUST(flexpath_options_add_parameter(options, "level", FLEXPATH_PARAMETER_KIND_INTEGER, -3, 3));
    MUST(flexpath_options_add_parameter(options, "melts", FLEXPATH_PARAMETER_KIND_BOOL, 0, 0));
    MUST(flexpath_options_add_parameter(options, "title", FLEXPATH_PARAMETER_KIND_TEXT, 0, 0));
    MUST(flexpath_options_add_parameter(options, "stop", FLEXPATH_PARAMETER_KIND_SIGNAL, 0, 0));
    MUST(flexpath_options_describe_parameter(options, "level", "of the tank, in m"));
    FAILS(FLEXPATH_STATUS_MISUSE, "add it before", flexpath_options_describe_parameter(options, "speed", "of the wind"));
    FAILS(FLEXPATH_STATUS_MISUSE, "between 2 and 1",
          flexpath_options_add_parameter(options, "speed", FLEXPATH_PARAMETER_KIND_REAL, 2, 1));
    FAILS(FLEXPATH_STATUS_MISUSE, "no kind of parameter", flexpath_options_add_parameter(options, "speed", 6, 0, 1));
    MUST(flexpath_publisher_open("steered", options, publisher));
    MUST(flexpath_options_free(options));
}

static void show(const flexpath_request *asked)
{
    CHECK(strcmp(asked->by, "asker") == 0);
    if (asked->kind == FLEXPATH_ATTRIBUTE_KIND_TEXT)
        printf("%s = %s\n", asked->parameter, asked->text);
    else if (asked->kind == FLEXPATH_ATTRIBUTE_KIND_REAL)
        printf("%s = %.1f\n", asked->parameter, asked->number);
    else
        printf("%s = %lld\n", asked->parameter, (long long)asked->integer);
}

static void simulate(void)
{
    flexpath_publisher *publisher;
    flexpath_request asked;
    uint64_t count;
    int32_t stops = 0;
    open_simulation(&publisher);
    FAILS(FLEXPATH_STATUS_MISUSE, "no step is open", flexpath_publisher_request_count(publisher, &count));
    while (!stops) {
        MUST(flexpath_publisher_begin_step(publisher, NULL));
        MUST(flexpath_publisher_request_count(publisher, &count));
        for (uint64_t index = 0; index < count; index++) {
            MUST(flexpath_publisher_request_at(publisher, index, &asked));
            show(&asked);
            if (asked.integer == 3)
                MUST(flexpath_publisher_decline(publisher, index, "that is too high"));
        }
        CHECK(flexpath_publisher_request_at(publisher, count, &asked) == FLEXPATH_STATUS_MISUSE);
        MUST(flexpath_publisher_is_asked(publisher, "stop", &stops));
        MUST(flexpath_publisher_end_step(publisher));
    }
    MUST(flexpath_publisher_close(publisher));
}

static flexpath_subscriber *open_asker(const char *policy)
{
    flexpath_options *options;
    flexpath_subscriber *asker;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "Name", "asker"));
    MUST(flexpath_options_set(options, "Variables", ""));
    MUST(flexpath_options_set(options, "QueueFullPolicy", policy));
    MUST(flexpath_subscriber_open("steered", options, &asker));
    MUST(flexpath_options_free(options));
    return asker;
}

static void ask(void)
{
    enum { PATIENCE = 60000, NONE = 0, SOON = 1 };
    const double conductivity = 2.5, much = 11, pause = 30;
    const int64_t level = -2, high = 3;
    const uint8_t melts = 1;
    uint64_t first, second;
    flexpath_subscriber *asker = open_asker("DropOldest");
    MUST(flexpath_subscriber_request(asker, "conductivity", FLEXPATH_ATTRIBUTE_KIND_REAL, &conductivity, 0, PATIENCE,
                                     &first));
    MUST(flexpath_subscriber_request(asker, "level", FLEXPATH_ATTRIBUTE_KIND_INTEGER, &level, SOON, PATIENCE, &second));
    CHECK(second > first);
    MUST(flexpath_subscriber_request(asker, "melts", FLEXPATH_ATTRIBUTE_KIND_BOOL, &melts, 0, PATIENCE, NULL));
    MUST(flexpath_subscriber_request(asker, "title", FLEXPATH_ATTRIBUTE_KIND_TEXT, "a warm day", 0, PATIENCE, NULL));
    FAILS(FLEXPATH_STATUS_NOT_TAKEN, "that is too high",
          flexpath_subscriber_request(asker, "level", FLEXPATH_ATTRIBUTE_KIND_INTEGER, &high, 0, PATIENCE, NULL));
    FAILS(FLEXPATH_STATUS_NOT_TAKEN, "from 0.0 to 10.0",
          flexpath_subscriber_request(asker, "conductivity", FLEXPATH_ATTRIBUTE_KIND_REAL, &much, 0, PATIENCE, NULL));
    FAILS(FLEXPATH_STATUS_NOT_TAKEN, "no such parameter",
          flexpath_subscriber_request(asker, "speed", FLEXPATH_ATTRIBUTE_KIND_REAL, &much, 0, PATIENCE, NULL));
    FAILS(FLEXPATH_STATUS_MISUSE, "no kind of value",
          flexpath_subscriber_request(asker, "speed", 9, &much, 0, PATIENCE, NULL));
    CHECK(flexpath_subscriber_request(asker, "level", FLEXPATH_ATTRIBUTE_KIND_INTEGER, NULL, 0, PATIENCE, NULL) ==
          FLEXPATH_STATUS_BAD_POINTER);
    MUST(flexpath_subscriber_request(asker, "pause", FLEXPATH_ATTRIBUTE_KIND_REAL, &pause, 0, PATIENCE, NULL));
    FAILS(FLEXPATH_STATUS_TIMED_OUT, "no answer",
          flexpath_subscriber_request(asker, "melts", FLEXPATH_ATTRIBUTE_KIND_BOOL, &melts, 0, 20, NULL));
    MUST(flexpath_subscriber_request(asker, "resume", NONE, NULL, 0, PATIENCE, NULL));
    MUST(flexpath_subscriber_request(asker, "stop", NONE, NULL, 0, PATIENCE, NULL));
    MUST(flexpath_subscriber_close(asker));
    printf("asked\n");
}

int main(int count, char **words)
{
    CHECK(count == 2);
    if (strcmp(words[1], "ask") == 0)
        ask();
    else
        simulate();
    return 0;
}
