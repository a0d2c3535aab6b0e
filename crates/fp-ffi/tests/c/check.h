/* What the C programs of the tests share: content by function of step and global index, and checks. */
#ifndef CHECK_H
#define CHECK_H
#include <flexpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 6, STEPS = 5 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition,                      \
                    flexpath_last_error());                                                                  \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* The call succeeds. */
#define MUST(call) CHECK((call) == FLEXPATH_STATUS_OK)

/* The call fails with that status, and the text of the failure has these words. */
#define FAILS(status, words, call)                                                                           \
    do {                                                                                                     \
        CHECK((call) == (status));                                                                           \
        CHECK(strstr(flexpath_last_error(), words) != NULL);                                                 \
    } while (0)

static inline uint64_t value(uint64_t step, uint64_t row, uint64_t column)
{
    return 1000 * step + COLUMNS * row + column;
}

static inline uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

#endif
