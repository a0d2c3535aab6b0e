/* `worker MODE`: a member of a work-sharing set of the stream `shared`, one step at a time. It says which steps it gets,
 * and which of them come again. A line on its input says what becomes of each: it is `done`, it goes `back`, or it and
 * all after it are done (`rest`). */
#include "../c/check.h"

static void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

static flexpath_subscriber *join(const char *mode)
{
    flexpath_options *options;
    flexpath_subscriber *subscriber;
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set(options, "ShareSet", "workers"));
    MUST(flexpath_options_set(options, "ShareMode", mode));
    MUST(flexpath_options_set(options, "ShareRedeliver", "true"));
    MUST(flexpath_options_set(options, "CreditSteps", "1"));
    MUST(flexpath_options_set(options, "QueueLimit", "8"));
    MUST(flexpath_subscriber_open("shared", options, &subscriber));
    MUST(flexpath_options_free(options));
    return subscriber;
}

int main(int argc, char **argv)
{
    flexpath_subscriber *subscriber;
    flexpath_step *step;
    flexpath_status status;
    char word[16] = "";
    CHECK(argc == 2);
    subscriber = join(argv[1]);
    say("joined");
    while ((status = flexpath_subscriber_next_step(subscriber, 60000, &step)) == FLEXPATH_STATUS_OK) {
        flexpath_step_info about;
        char text[64];
        MUST(flexpath_step_describe(step, &about));
        snprintf(text, sizeof text, "%d%s", (int)about.step, about.is_redelivered ? " again" : "");
        say(text);
        if (strcmp(word, "rest") != 0)
            CHECK(scanf("%15s", word) == 1);
        if (strcmp(word, "back") == 0)
            MUST(flexpath_step_give_back(step));
        else
            MUST(flexpath_step_release(step));
    }
    CHECK(status == FLEXPATH_STATUS_END_OF_STREAM);
    MUST(flexpath_subscriber_close(subscriber));
    say("over");
    return 0;
}
