/* SPDX-License-Identifier: GPL-2.0-only
 * Attaches to a stream of LAMMPS and writes its atoms as `dump custom` does: sorted by id, in full precision.
 *
 * usage: record STREAM FILE [STEPS]      leaves after so many steps; otherwise stays until the end. FILE `none`: takes all
 *                                        the same, and writes nothing
 * The environment: WORDS="id x v c_ke" (what is written; id first), SLOW_MS (rests so long after each step). */
#define _POSIX_C_SOURCE 200809L
#include <flexpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 32, TIMEOUT_MS = 120000 };

struct column {
    const char *name;
    double *numbers;
    uint64_t rows, columns;
};

static void must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "record: %s\n", flexpath_last_error());
        exit(1);
    }
}

static struct column take(flexpath_step *step, const char *name)
{
    flexpath_variable_info info;
    struct column made = {.name = name};
    must(flexpath_step_variable(step, name, &info));
    made.rows = info.shape[0];
    made.columns = info.ndims > 1 ? info.shape[1] : 1;
    const uint64_t len = made.rows * made.columns;
    made.numbers = calloc(len + 1, sizeof *made.numbers);
    if (info.dtype == FLEXPATH_DTYPE_F64) {
        must(flexpath_step_get(step, name, NULL, FLEXPATH_DTYPE_F64, made.numbers, len, -1));
    } else {
        int32_t *whole = calloc(len + 1, sizeof *whole);
        must(flexpath_step_get(step, name, NULL, FLEXPATH_DTYPE_I32, whole, len, -1));
        for (uint64_t i = 0; i < len; i++) made.numbers[i] = whole[i];
        free(whole);
    }
    return made;
}

static const double *ids;
static int by_id(const void *left, const void *right)
{
    const double a = ids[*(const uint64_t *)left], b = ids[*(const uint64_t *)right];
    return (a > b) - (a < b);
}

static void write_rows(FILE *file, const struct column *columns, int count)
{
    uint64_t *order = calloc(columns[0].rows + 1, sizeof *order);
    for (uint64_t row = 0; row < columns[0].rows; row++) order[row] = row;
    ids = columns[0].numbers;
    qsort(order, columns[0].rows, sizeof *order, by_id);
    for (uint64_t row = 0; row < columns[0].rows; row++) {
        for (int c = 0; c < count; c++)
            for (uint64_t k = 0; k < columns[c].columns; k++)
                fprintf(file, "%s%.17g", c || k ? " " : "", columns[c].numbers[order[row] * columns[c].columns + k]);
        fputc('\n', file);
    }
    free(order);
}

static void free_columns(struct column *columns, int count)
{
    for (int c = 0; c < count; c++) free(columns[c].numbers);
}

static void write_step(FILE *file, flexpath_step *step, char *const *words, int count)
{
    struct column columns[WORDS];
    double box[6], tilt[3];
    int64_t timestep;
    must(flexpath_step_get(step, "timestep", NULL, FLEXPATH_DTYPE_I64, &timestep, 1, -1));
    must(flexpath_step_get(step, "box", NULL, FLEXPATH_DTYPE_F64, box, 6, -1));
    must(flexpath_step_get(step, "tilt", NULL, FLEXPATH_DTYPE_F64, tilt, 3, -1));
    for (int c = 0; c < count; c++) columns[c] = take(step, words[c]);
    if (!file) return free_columns(columns, count);
    fprintf(file, "STEP %lld ATOMS %llu BOX", (long long)timestep, (unsigned long long)columns[0].rows);
    for (int k = 0; k < 6; k++) fprintf(file, " %.17g", box[k]);
    for (int k = 0; k < 3; k++) fprintf(file, " %.17g", tilt[k]);
    flexpath_variable_info info;
    double temperature;
    if (flexpath_step_variable(step, "temp", &info) == FLEXPATH_STATUS_OK) {
        must(flexpath_step_get(step, "temp", NULL, FLEXPATH_DTYPE_F64, &temperature, 1, -1));
        fprintf(file, " TEMP %.17g", temperature);
    }
    fputc('\n', file);
    write_rows(file, columns, count);
    fflush(file);
    free_columns(columns, count);
}

static int split(char *text, char **words)
{
    int count = 0;
    for (char *word = strtok(text, " "); word && count < WORDS; word = strtok(NULL, " ")) words[count++] = word;
    return count;
}

int main(int argc, char **argv)
{
    const char *chosen = getenv("WORDS"), *slow = getenv("SLOW_MS");
    char *text = strdup(chosen ? chosen : "id type x v"), *words[WORDS];
    const int count = split(text, words);
    const long long limit = argc > 3 ? atoll(argv[3]) : -1, slow_ms = slow ? atoll(slow) : 0;
    const int is_written = argc > 2 && strcmp(argv[2], "none") != 0;
    FILE *file = is_written ? fopen(argv[2], "w") : NULL;
    long long taken = 0, skipped = 0;
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status = FLEXPATH_STATUS_OK;

    if (argc < 3 || (is_written && !file)) return fprintf(stderr, "usage: record STREAM FILE [STEPS]\n"), 2;
    must(flexpath_subscriber_open(argv[1], NULL, &subscriber));
    printf("attached\n");
    fflush(stdout);
    while (taken != limit) {
        must(status = flexpath_subscriber_next_step(subscriber, TIMEOUT_MS, &step));
        if (status != FLEXPATH_STATUS_OK) break;
        flexpath_step_info info;
        must(flexpath_step_describe(step, &info));
        skipped += info.skipped;
        write_step(file, step, words, count);
        must(flexpath_step_release(step));
        taken++;
        printf("taken %lld\n", taken);
        fflush(stdout);
        const struct timespec rest = {slow_ms / 1000, slow_ms % 1000 * 1000000};
        nanosleep(&rest, NULL);
    }
    printf("took %lld steps, skipped %lld: %s\n", taken, skipped,
           status == FLEXPATH_STATUS_END_OF_STREAM ? flexpath_last_error()
           : status == FLEXPATH_STATUS_NOT_YET     ? "no step in time"
                                                   : "left");
    must(flexpath_subscriber_close(subscriber));
    free(text);
    return (file && fclose(file) != 0) || status == FLEXPATH_STATUS_NOT_YET;
}
