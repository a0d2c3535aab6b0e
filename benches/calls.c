/* Puts small blocks, one of 64 KiB and one of a MiB, into many steps, and prints what a put of each took. It prints
 * nanoseconds, the middle of all steps, in the order small, medium, large, small section. Its counterpart in Rust is in
 * calls.rs. */
#define _POSIX_C_SOURCE 200809L
#include <flexpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SMALL_PUTS = 256, SMALL_LEN = 8, MEDIUM_LEN = 1 << 13, LARGE_LEN = 1 << 17, STEPS = 400 };

static double small_ns[STEPS], medium_ns[STEPS], large_ns[STEPS], section_ns[STEPS], elements[LARGE_LEN];

static void must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "calls: %s\n", flexpath_last_error());
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int rising(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double middle(double *all)
{
    qsort(all, STEPS, sizeof *all, rising);
    return all[STEPS / 2];
}

/* Every second of the elements, gathered in lent memory. */
static void put_section(flexpath_publisher *publisher, const flexpath_variable *section, uint64_t start)
{
    const uint64_t count = SMALL_LEN;
    flexpath_loan *loan;
    void *memory;
    must(flexpath_publisher_loan(publisher, section, &start, &count, &loan, &memory));
    for (int at = 0; at < SMALL_LEN; at++)
        ((double *)memory)[at] = elements[2 * at];
    must(flexpath_publisher_put_loan(publisher, loan));
}

int main(int argc, char **argv)
{
    const uint64_t small_shape = SMALL_PUTS * SMALL_LEN, medium_shape = MEDIUM_LEN, large_shape = LARGE_LEN;
    const uint64_t zero = 0, small_count = SMALL_LEN;
    flexpath_options *options;
    flexpath_variable *small, *section, *medium, *large;
    flexpath_publisher *publisher;

    for (int at = 0; at < LARGE_LEN; at++)
        elements[at] = 1;
    must(flexpath_options_create(&options));
    must(flexpath_options_set(options, "MinSubscribers", argc > 1 ? argv[1] : "0"));
    must(flexpath_variable_global("small", FLEXPATH_DTYPE_F64, 1, &small_shape, &small));
    must(flexpath_variable_global("section", FLEXPATH_DTYPE_F64, 1, &small_shape, &section));
    must(flexpath_variable_global("medium", FLEXPATH_DTYPE_F64, 1, &medium_shape, &medium));
    must(flexpath_variable_global("large", FLEXPATH_DTYPE_F64, 1, &large_shape, &large));
    must(flexpath_publisher_open("calls", options, &publisher));
    for (int step = 0; step < STEPS; step++) {
        must(flexpath_publisher_begin_step(publisher, NULL));
        const double before = now_ns();
        for (uint64_t put = 0; put < SMALL_PUTS; put++) {
            const uint64_t start = put * SMALL_LEN;
            must(flexpath_publisher_put(publisher, small, &start, &small_count, elements));
        }
        const double small_put = now_ns();
        must(flexpath_publisher_put(publisher, medium, &zero, &medium_shape, elements));
        const double medium_put = now_ns();
        must(flexpath_publisher_put(publisher, large, &zero, &large_shape, elements));
        const double large_put = now_ns();
        for (uint64_t put = 0; put < SMALL_PUTS; put++)
            put_section(publisher, section, put * SMALL_LEN);
        section_ns[step] = (now_ns() - large_put) / SMALL_PUTS;
        large_ns[step] = large_put - medium_put;
        medium_ns[step] = medium_put - small_put;
        small_ns[step] = (small_put - before) / SMALL_PUTS;
        must(flexpath_publisher_end_step(publisher));
    }
    must(flexpath_publisher_close(publisher));
    must(flexpath_variable_free(small));
    must(flexpath_variable_free(section));
    must(flexpath_variable_free(medium));
    must(flexpath_variable_free(large));
    must(flexpath_options_free(options));
    printf("%.1f %.1f %.1f %.1f\n", middle(small_ns), middle(medium_ns), middle(large_ns), middle(section_ns));
    return 0;
}
