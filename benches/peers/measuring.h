/* What the peers' programs in C and C++ share: clock, words of the command line, content, what a process used. */
#ifndef MEASURING_H
#define MEASURING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static inline uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The value of `key=value` among the words, or what is said. */
static inline const char *word(int argc, char **argv, const char *key, const char *otherwise) {
    size_t len = strlen(key);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], key, len) == 0 && argv[i][len] == '=') return argv[i] + len + 1;
    return otherwise;
}

static inline long number(int argc, char **argv, const char *key, long otherwise) {
    const char *text = word(argc, argv, key, NULL);
    return text ? atol(text) : otherwise;
}

/* Writes every element afresh: another value in every step and place. */
static inline void fill(int64_t *memory, size_t elements, int64_t step) {
    for (size_t i = 0; i < elements; i++) memory[i] = step * 1000003 + (int64_t)i;
}

/* Looks at elements from end to end; the first one may carry a time. */
static inline void check(const int64_t *memory, size_t elements, int64_t step) {
    for (size_t i = 0; i <= 64; i++) {
        size_t at = (elements - 1) * i / 64;
        if (at > 0 && memory[at] != step * 1000003 + (int64_t)at) {
            fprintf(stderr, "WRONG DATA: element %zu of step %lld\n", at, (long long)step);
            exit(4);
        }
    }
}

static inline double cpu_s(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static inline double thread_cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline double peak_mib(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_maxrss / 1024;
}

static inline int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* That part of the values lies below this one. Sorts the values. */
static inline double quantile(double *values, size_t count, double part) {
    qsort(values, count, sizeof *values, by_size);
    return count ? values[(size_t)((double)(count - 1) * part + 0.5)] : 0;
}

#endif
