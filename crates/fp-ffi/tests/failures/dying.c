/* `dying RANK WAY`: a publisher of FLEXPATH_SIZE processes, and one of them dies. */
#include "dying.h"

int main(int argc, char **argv)
{
    flexpath_options *options;
    CHECK(argc == 3);
    MUST(flexpath_options_create(&options));
    MUST(flexpath_options_set_cohort_from_environment(options));
    publish_and_die(options, number("FLEXPATH_RANK", 0), number("FLEXPATH_SIZE", 1), strtoull(argv[1], NULL, 10),
                    argv[2], abort);
    return 0;
}
