/* Publishes the temperature of a rod that cools: ten steps. Started several times as one cohort (by mpirun, or with
 * FLEXPATH_RANK and FLEXPATH_SIZE), each rank owns its part of the rod. */
#include <flexpath.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the text of what went wrong. */
static void must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "publisher: %s\n", flexpath_last_error());
        exit(1);
    }
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

int main(void)
{
    const uint64_t rank = number("FLEXPATH_RANK", 0), size = number("FLEXPATH_SIZE", 1);
    const uint64_t shape = 100 * size, start = 100 * rank, count = 100;
    flexpath_options *options;
    flexpath_variable *temperature;
    flexpath_publisher *publisher;

    must(flexpath_options_create(&options));
    must(flexpath_options_set_cohort(options, (uint32_t)rank, (uint32_t)size));
    must(flexpath_options_set(options, "RendezvousReaderCount", "1"));
    must(flexpath_variable_global("temperature", FLEXPATH_DTYPE_F64, 1, &shape, &temperature));
    must(flexpath_variable_set_unit(temperature, "K"));
    must(flexpath_publisher_open("heat", options, &publisher));
    for (int step = 0; step < 10; step++) {
        double part[100];
        for (uint64_t cell = 0; cell < count; cell++)
            part[cell] = 300.0 + (double)(start + cell) / (1 + step);
        must(flexpath_publisher_begin_step(publisher, NULL));
        must(flexpath_publisher_put(publisher, temperature, &start, &count, part));
        must(flexpath_publisher_end_step(publisher));
    }
    must(flexpath_publisher_close(publisher));
    must(flexpath_variable_free(temperature));
    must(flexpath_options_free(options));
    return 0;
}
