/* A simulation that says what is asked of it, until it is asked to stop; and somebody who asks. */
#include "check.hpp"
#include <cstring>
#include <flexpath.hpp>
#include <future>
#include <memory>

using namespace std::chrono_literals;

static void simulate()
{
    flexpath::options chosen;
    chosen.set("MinSubscribers", "1").set("PauseLimitSecs", "60");
    chosen.add_parameter("conductivity", FLEXPATH_PARAMETER_KIND_REAL, 0, 10);
    chosen.add_parameter("level", FLEXPATH_PARAMETER_KIND_INTEGER, -3, 3);
    chosen.describe_parameter("level", "of the tank, in m");
    chosen.add_parameter("melts", FLEXPATH_PARAMETER_KIND_BOOL);
    chosen.add_parameter("title", FLEXPATH_PARAMETER_KIND_TEXT);
    chosen.add_parameter("stop", FLEXPATH_PARAMETER_KIND_SIGNAL);
    flexpath::publisher publisher("steered", chosen);
    for (bool stops = false; !stops;) {
        publisher.begin_step();
        const auto all = publisher.requests();
        for (std::size_t index = 0; index < all.size(); index++) {
            const flexpath_request &asked = all[index];
            std::cout << asked.parameter << " = ";
            if (asked.kind == FLEXPATH_ATTRIBUTE_KIND_TEXT)
                std::cout << asked.text << '\n';
            else
                std::cout << asked.number << (asked.number == 2 ? ".0\n" : "\n");
            if (asked.integer == 3) publisher.decline(index, "that is too high");
        }
        stops = publisher.is_asked("stop");
        publisher.end_step();
    }
    publisher.close();
}

template <class Call> static void not_taken(const char *words, Call call)
{
    try {
        call();
    } catch (const flexpath::error &error) {
        CHECK(error.status() == FLEXPATH_STATUS_NOT_TAKEN && strstr(error.what(), words) != nullptr);
        return;
    }
    CHECK(!"it is taken");
}

static void ask()
{
    flexpath::options chosen;
    chosen.set("Name", "asker").set("Variables", "").set("QueueFullPolicy", "DropOldest");
    flexpath::subscriber asker("steered", chosen);
    /* It may ask while steps come to a function, and is told there that no more will come. */
    auto steps = std::make_shared<std::uint64_t>(0);
    auto over = std::make_shared<std::promise<std::uint64_t>>();
    asker.on_step([steps, over](std::optional<flexpath::step> came) {
        if (came)
            (*steps)++;
        else
            over->set_value(*steps);
    });
    const std::uint64_t first = asker.request("conductivity", 2.5, 60s);
    CHECK(asker.request("level", -2, 60s, true) > first);
    asker.request("melts", true, 60s);
    asker.request("title", "a warm day", 60s);
    not_taken("that is too high", [&] { asker.request("level", 3, 60s); });
    not_taken("from 0.0 to 10.0", [&] { asker.request("conductivity", 11.0, 60s); });
    asker.request("pause", 30, 60s);
    asker.request("resume", 60s);
    asker.request("melts", true, 60s);
    asker.request("stop", 60s);
    auto taken = over->get_future();
    CHECK(taken.wait_for(60s) == std::future_status::ready && taken.get() > 0);
    CHECK(asker.end() == FLEXPATH_END_CLOSED);
    asker.close();
    std::cout << "asked\n";
}

int main(int count, char **words)
{
    CHECK(count == 2);
    if (std::string(words[1]) == "ask")
        ask();
    else
        simulate();
    return 0;
}
