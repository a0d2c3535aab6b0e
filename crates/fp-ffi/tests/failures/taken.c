/* A second stream of the same name is refused with a message while the first is there. It is so in this process and,
 * started with a word, in another. */
#include "../c/check.h"

int main(int argc, char **argv)
{
    flexpath_publisher *first, *second;
    if (argc > 1) {
        FAILS(FLEXPATH_STATUS_NOT_OPENED, "taken", flexpath_publisher_open("name", NULL, &second));
        printf("%s\n", flexpath_last_error());
        return 0;
    }
    char again[4096];
    MUST(flexpath_publisher_open("name", NULL, &first));
    FAILS(FLEXPATH_STATUS_NOT_OPENED, "taken", flexpath_publisher_open("name", NULL, &second));
    CHECK(snprintf(again, sizeof again, "'%s' other", argv[0]) < (int)sizeof again);
    CHECK(system(again) == 0);
    MUST(flexpath_publisher_close(first));
    MUST(flexpath_publisher_open("name", NULL, &second));
    MUST(flexpath_publisher_close(second));
    printf("refused, and free again\n");
    return 0;
}
