/* Reads the stream `dying`, and awaits another publisher where one is lost. Says which steps it gets. */
#include "../c/check.h"

int main(void)
{
    flexpath_options *options;
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status;
    int32_t end;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "AwaitRestartSecs", "60"));
    MUST(flexpath_subscriber_open("dying", options, &subscriber));
    MUST(flexpath_options_free(options));
    while ((status = flexpath_subscriber_next_step(subscriber, 60000, &step)) == FLEXPATH_STATUS_OK) {
        flexpath_step_info about;
        MUST(flexpath_step_describe(step, &about));
        printf("%d\n", (int)about.step);
        fflush(stdout);
        MUST(flexpath_step_release(step));
    }
    CHECK(status == FLEXPATH_STATUS_END_OF_STREAM);
    MUST(flexpath_subscriber_end(subscriber, &end));
    CHECK(end == FLEXPATH_END_CLOSED);
    MUST(flexpath_subscriber_close(subscriber));
    printf("over\n");
    return 0;
}
