/* Publishes every kind of variable in every way of putting: the stream `c`, on FLEXPATH_SIZE ranks (2 or 4). */
#include "check.h"
#include <stdatomic.h>

static atomic_int released;

static void release(void *context)
{
    atomic_fetch_add(&released, 1);
    free(context);
}

static void put_grid(flexpath_publisher *publisher, flexpath_variable *grid, uint64_t step, uint64_t first,
                     uint64_t rows)
{
    /* Two blocks: one copied, one filled in memory that was lent. */
    const uint64_t half = rows / 2, count[2] = {half, COLUMNS};
    const uint64_t upper[2] = {first, 0}, lower[2] = {first + half, 0};
    double copied[ROWS * COLUMNS];
    flexpath_loan *loan;
    void *memory;
    for (uint64_t i = 0; i < half * COLUMNS; i++)
        copied[i] = (double)value(step, first + i / COLUMNS, i % COLUMNS);
    MUST(flexpath_publisher_put(publisher, grid, upper, count, copied));
    MUST(flexpath_publisher_loan(publisher, grid, lower, count, &loan, &memory));
    for (uint64_t i = 0; i < half * COLUMNS; i++)
        ((double *)memory)[i] = (double)value(step, first + half + i / COLUMNS, i % COLUMNS);
    MUST(flexpath_publisher_put_loan(publisher, loan));
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "before", flexpath_publisher_put_loan(publisher, loan));
}

static void put_turned(flexpath_publisher *publisher, flexpath_variable *turned, uint64_t step,
                       uint64_t first, uint64_t rows)
{
    const uint64_t start[2] = {first, 0}, count[2] = {rows, COLUMNS};
    int32_t *elements = malloc(rows * COLUMNS * sizeof *elements);
    CHECK(elements != NULL);
    for (uint64_t column = 0; column < COLUMNS; column++)
        for (uint64_t row = 0; row < rows; row++)
            elements[column * rows + row] = (int32_t)value(step, first + row, column);
    MUST(flexpath_publisher_put_external(publisher, turned, start, count, elements, release, elements));
}

int main(void)
{
    const uint64_t rank = number("FLEXPATH_RANK", 0), size = number("FLEXPATH_SIZE", 1);
    const uint64_t shape[2] = {ROWS, COLUMNS}, row[1] = {3}, rows = ROWS / size;
    const uint64_t of_each = number("WIDE", 16), all = of_each * size, first = of_each * rank;
    double *elements = malloc(of_each * sizeof *elements);
    flexpath_options *options;
    flexpath_variable *grid, *turned, *joined, *local, *time, *of_rank, *wide;
    flexpath_publisher *publisher;

    CHECK(elements != NULL);
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_cohort_from_environment(options));
    MUST(flexpath_options_set(options, "RendezvousReaderCount", "1"));
    MUST(flexpath_options_set(options, "OpenTimeoutSecs", "60"));
    MUST(flexpath_variable_global("grid", FLEXPATH_DTYPE_F64, 2, shape, &grid));
    MUST(flexpath_variable_set_unit(grid, "K"));
    MUST(flexpath_variable_set_attribute_real(grid, "cutoff", 2.5));
    MUST(flexpath_variable_global("turned", FLEXPATH_DTYPE_I32, 2, shape, &turned));
    MUST(flexpath_variable_set_order(turned, FLEXPATH_ORDER_COLUMN_MAJOR));
    MUST(flexpath_variable_joined("joined", FLEXPATH_DTYPE_F32, 1, row, &joined));
    MUST(flexpath_variable_local("local", FLEXPATH_DTYPE_U8, 1, &local));
    MUST(flexpath_variable_scalar("time", FLEXPATH_DTYPE_F64, &time));
    MUST(flexpath_variable_local_scalar("rank", FLEXPATH_DTYPE_U32, &of_rank));
    MUST(flexpath_variable_global("wide", FLEXPATH_DTYPE_F64, 1, &all, &wide));
    MUST(flexpath_publisher_open("c", options, &publisher));
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t joined_rows = rank + 1 + step, local_count = rank + 2;
        float joined_elements[3 * 16];
        uint8_t bytes[16];
        uint64_t number_of_step;
        const double now = 0.5 * (double)step;
        const uint32_t own = (uint32_t)rank;
        for (uint64_t i = 0; i < 3 * joined_rows; i++)
            joined_elements[i] = (float)(100 * rank + i);
        memset(bytes, (int)(rank + 1), sizeof bytes);
        MUST(flexpath_publisher_begin_step(publisher, &number_of_step));
        put_grid(publisher, grid, number_of_step, rank * rows, rows);
        put_turned(publisher, turned, number_of_step, rank * rows, rows);
        MUST(flexpath_publisher_put(publisher, joined, NULL, &joined_rows, joined_elements));
        MUST(flexpath_publisher_put(publisher, local, NULL, &local_count, bytes));
        MUST(flexpath_publisher_put(publisher, time, NULL, NULL, &now));
        MUST(flexpath_publisher_put(publisher, of_rank, NULL, NULL, &own));
        for (uint64_t i = 0; i < of_each; i++)
            elements[i] = (double)value(number_of_step, 0, first + i);
        MUST(flexpath_publisher_put(publisher, wide, &first, &of_each, elements));
        MUST(flexpath_publisher_end_step(publisher));
    }
    MUST(flexpath_publisher_close(publisher));
    CHECK(atomic_load(&released) == STEPS);
    FAILS(FLEXPATH_STATUS_BAD_HANDLE, "closed", flexpath_publisher_end_step(publisher));
    {
        flexpath_variable *all[] = {grid, turned, joined, local, time, of_rank, wide};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            MUST(flexpath_variable_free(all[i]));
    }
    MUST(flexpath_options_free(options));
    free(elements);
    printf("published %d steps\n", STEPS);
    return 0;
}
