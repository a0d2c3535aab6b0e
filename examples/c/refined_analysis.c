/* Attaches to the stream `refined` of refined_grid.c, asks which boxes there are in each step, and looks at every one
 * of them where it lies. Checks each cell of the last component, which is a function of step and place. Says how much
 * of the first there is, and when the boxes have changed. */
#include "refined_grid.h"
#include <flexpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BLOCKS = FINE_BOXES * FINE_BOXES * FINE_BOXES, FINE_SIDE = FINE_BOXES * BOX };

static flexpath_status must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "refined_analysis: %s\n", flexpath_last_error());
        exit(1);
    }
    return status;
}

static void wrong(const char *what, double found, double expected)
{
    fprintf(stderr, "refined_analysis: %s: %.17g instead of %.17g\n", what, found, expected);
    exit(1);
}

/* A component of a block, looked at where it is: that is a contiguous part of one block, so nothing is copied. */
static flexpath_view *look(flexpath_step *step, const char *variable, const flexpath_block *block, uint64_t component,
                           const double **cells)
{
    const uint64_t start[4] = {component, block->start[1], block->start[2], block->start[3]};
    const uint64_t count[4] = {1, block->count[1], block->count[2], block->count[3]};
    const flexpath_selection part = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 4, .start = start, .count = count};
    flexpath_view *view;
    const void *elements;
    uint64_t len;
    must(flexpath_step_view(step, variable, &part, FLEXPATH_DTYPE_F64, &view, &elements, &len));
    if (len != BOX * BOX * BOX)
        wrong("cells of a box", (double)len, BOX * BOX * BOX);
    *cells = elements;
    return view;
}

/* Every cell of the last component is what it must be; the sum of the first. */
static double check_block(flexpath_step *step, const char *variable, int level, uint64_t number,
                          const flexpath_block *block)
{
    const double *cells;
    double sum = 0;
    flexpath_view *view = look(step, variable, block, COMPONENTS - 1, &cells);
    for (uint64_t k = 0; k < BOX * BOX * BOX; k++) {
        const uint64_t z = k / (BOX * BOX), y = k / BOX % BOX, x = k % BOX;
        const double expected = marker(number, level, block->start[1] + z, block->start[2] + y, block->start[3] + x);
        if (cells[k] != expected)
            wrong(variable, cells[k], expected);
    }
    must(flexpath_view_release(view));
    view = look(step, variable, block, 0, &cells);
    for (int k = 0; k < BOX * BOX * BOX; k++)
        sum += cells[k];
    must(flexpath_view_release(view));
    return sum;
}

/* A plane across both boxes and gaps of the fine level: -1 where no box is. Says how many cells have one. */
static uint64_t check_plane(flexpath_step *step, uint64_t number, const flexpath_block *through)
{
    const uint64_t z = through->start[1] + 3;
    const uint64_t start[4] = {COMPONENTS - 1, z, 0, 0}, count[4] = {1, 1, FINE_SIDE, FINE_SIDE};
    const flexpath_selection plane = {.kind = FLEXPATH_SELECTED_REGION, .ndims = 4, .start = start, .count = count};
    static double cells[FINE_SIDE * FINE_SIDE];
    const flexpath_get get = {.variable = FINE, .selection = &plane, .destination = cells,
                              .len = FINE_SIDE * FINE_SIDE, .dtype = FLEXPATH_DTYPE_F64};
    const double none = -1;
    uint64_t covered = 0;
    must(flexpath_step_get_or_fill(step, &get, &none, -1));
    for (uint64_t k = 0; k < FINE_SIDE * FINE_SIDE; k++) {
        if (cells[k] != none && cells[k] != marker(number, 1, z, k / FINE_SIDE, k % FINE_SIDE))
            wrong("plane", cells[k], marker(number, 1, z, k / FINE_SIDE, k % FINE_SIDE));
        covered += cells[k] != none;
    }
    return covered;
}

/* The cells of a plane that the boxes cover. */
static uint64_t covered_by(const flexpath_block *blocks, uint64_t count, uint64_t z)
{
    uint64_t covered = 0;
    for (uint64_t i = 0; i < count; i++)
        covered += blocks[i].start[1] <= z && z < blocks[i].start[1] + BOX ? BOX * BOX : 0;
    return covered;
}

/* Checks a step; returns the number of its fine boxes, which are written to `fine`. */
static uint64_t check_step(flexpath_step *step, flexpath_block *fine)
{
    flexpath_block coarse[LIMIT_BLOCKS];
    flexpath_step_info info;
    uint64_t coarse_count, fine_count, of_rank[64] = {0};
    double sum = 0;
    must(flexpath_step_describe(step, &info));
    must(flexpath_step_blocks(step, COARSE, coarse, LIMIT_BLOCKS, &coarse_count));
    must(flexpath_step_blocks(step, FINE, fine, LIMIT_BLOCKS, &fine_count));
    for (uint64_t i = 0; i < coarse_count; i++)
        sum += check_block(step, COARSE, 0, info.step, &coarse[i]);
    for (uint64_t i = 0; i < fine_count; i++) {
        check_block(step, FINE, 1, info.step, &fine[i]);
        of_rank[fine[i].rank % 64]++;
    }
    if (fine_count > 0) {
        const uint64_t covered = check_plane(step, info.step, &fine[0]);
        const uint64_t expected = covered_by(fine, fine_count, fine[0].start[1] + 3);
        if (covered != expected)
            wrong("cells of the plane", (double)covered, (double)expected);
    }
    printf("step %llu: %llu coarse boxes, %llu fine ones:", (unsigned long long)info.step,
           (unsigned long long)coarse_count, (unsigned long long)fine_count);
    for (int rank = 0; rank < 64; rank++)
        if (of_rank[rank] > 0)
            printf(" %llu of rank %d", (unsigned long long)of_rank[rank], rank);
    printf("; %.1f of the first component\n", sum);
    return fine_count;
}

int main(void)
{
    static flexpath_block fine[LIMIT_BLOCKS], before[LIMIT_BLOCKS];
    uint64_t count, count_before = 0, changes = 0, steps = 0, views;
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status;

    must(flexpath_subscriber_open("refined", NULL, &subscriber));
    while ((status = must(flexpath_subscriber_next_step(subscriber, 60000, &step))) == FLEXPATH_STATUS_OK) {
        memset(fine, 0, sizeof fine);
        count = check_step(step, fine);
        must(flexpath_step_release(step));
        changes += steps > 0 && (count != count_before || memcmp(fine, before, sizeof fine) != 0);
        memcpy(before, fine, sizeof fine);
        count_before = count;
        steps++;
    }
    if (status != FLEXPATH_STATUS_END_OF_STREAM)
        wrong("end of the stream", status, FLEXPATH_STATUS_END_OF_STREAM);
    printf("%s\n", flexpath_last_error());
    must(flexpath_subscriber_statistic(subscriber, "views", &views));
    must(flexpath_subscriber_close(subscriber));
    printf("%llu steps, the fine boxes changed %llu times, %llu views without a copy\n", (unsigned long long)steps,
           (unsigned long long)changes, (unsigned long long)views);
    return 0;
}
