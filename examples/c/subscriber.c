/* Attaches to the stream `heat` while it runs, and takes four cells of every step from whoever owns them. */
#include <flexpath.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the text of what went wrong. */
static flexpath_status must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "subscriber: %s\n", flexpath_last_error());
        exit(1);
    }
    return status;
}

int main(void)
{
    const uint64_t start = 48, count = 4;
    const flexpath_selection middle = {
        .kind = FLEXPATH_SELECTED_REGION, .ndims = 1, .start = &start, .count = &count};
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status;

    must(flexpath_subscriber_open("heat", NULL, &subscriber));
    while ((status = must(flexpath_subscriber_next_step(subscriber, 10000, &step))) !=
           FLEXPATH_STATUS_END_OF_STREAM) {
        flexpath_step_info info;
        double cells[4];
        if (status == FLEXPATH_STATUS_NOT_YET) {
            printf("no step for 10 s\n");
            continue;
        }
        must(flexpath_step_describe(step, &info));
        must(flexpath_step_get(step, "temperature", &middle, FLEXPATH_DTYPE_F64, cells, 4, -1));
        printf("step %llu: [%.2f, %.2f, %.2f, %.2f]\n", (unsigned long long)info.step, cells[0], cells[1],
               cells[2], cells[3]);
        must(flexpath_step_release(step));
    }
    printf("%s\n", flexpath_last_error());
    must(flexpath_subscriber_close(subscriber));
    return 0;
}
