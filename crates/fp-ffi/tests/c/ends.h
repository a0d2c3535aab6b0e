/* Both ends of a stream in one process, for programs that look at what comes through. */
#ifndef ENDS_H
#define ENDS_H
#include "check.h"

static flexpath_publisher *publisher;
static flexpath_subscriber *subscriber;

static inline void open_ends(const char *stream, flexpath_options *of_subscriber)
{
    flexpath_options *patient;
    MUST(flexpath_options_create(&patient));
    /* Every derived variable must come, also under a checker that slows everything down. */
    MUST(flexpath_options_set(patient, "DeriveBudgetSecs", "60"));
    MUST(flexpath_publisher_open(stream, patient, &publisher));
    MUST(flexpath_options_free(patient));
    MUST(flexpath_subscriber_open(stream, of_subscriber, &subscriber));
    MUST(flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, NULL));
}

static inline flexpath_step *next_step(void)
{
    flexpath_step *step;
    MUST(flexpath_subscriber_next_step(subscriber, 60000, &step));
    return step;
}

static inline void close_ends(void)
{
    MUST(flexpath_subscriber_close(subscriber));
    MUST(flexpath_publisher_close(publisher));
}

static inline uint64_t counted(const char *name)
{
    uint64_t value;
    MUST(flexpath_subscriber_statistic(subscriber, name, &value));
    return value;
}

#endif
