// The C++ layer's share of complete.c, with both ends in one process.
#include "check.hpp"
#include <flexpath.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>

using std::chrono::seconds;

static void publish(flexpath::publisher &publisher) {
    auto grid = flexpath::variable<int>::global("grid", {4, 6});
    auto turned = flexpath::variable<int>::global("turned", {2, 3});
    auto done = flexpath::variable<bool>::scalar("done");
    auto own = flexpath::variable<double>::local_scalar("own");
    flexpath::text_variable title("title");
    grid.unit("K").description("with gaps").dimensions({"row", "column"});
    grid.attribute("bool", true).attribute("integer", -3).attribute("real", 2.5).attribute("text", "größer");
    grid.attribute("reals", std::vector<double>{0.5, 0.25}).attribute("texts", std::vector<std::string>{"a", "b"});
    publisher.begin_step();
    publisher.promise({"grid", "title"});
    CHECK(publisher.is_wanted("grid"));
    publisher.put(grid, {{0, 0}, {1, 6}}, std::vector<int>{0, 1, 2, 3, 4, 5});
    auto loan = publisher.loan(grid, {{2, 0}, {1, 6}});
    for (int column = 0; column < 6; column++) loan.elements()[column] = 20 + column;
    publisher.put(std::move(loan));
    publisher.put(turned.column_major(), {{0, 0}, {2, 3}}, std::vector<int>{0, 10, 1, 11, 2, 12});
    publisher.put(done, true);
    publisher.put(own, 0.5);
    publisher.put(title, "Kühlung");
    publisher.end_step();
}

// Columns one after the other, as they were not put.
static void check_order(const flexpath::step &step) {
    const flexpath::region rows{{0, 1}, {1, 3}}, corner{{1, 0}, {2, 2}};
    const auto filled = step.get_or_fill("grid", -1, flexpath::selection(corner).column_major());
    CHECK(filled == std::vector<int>({-1, 20, -1, 21}));
    CHECK(step.get<int>("grid", flexpath::selection(rows).column_major()) == std::vector<int>({1, 2, 3}));
    CHECK(step.get<double>("own", flexpath::selection().column_major()) == std::vector<double>({0.5}));
    const auto turned = step.view<int>("turned", flexpath::selection().column_major());
    CHECK(turned.elements().size() == 6 && turned.elements()[1] == 10 && turned.elements()[2] == 1);
    CHECK(step.get<int>("turned") == std::vector<int>({0, 1, 2, 10, 11, 12}));
    try {
        flexpath::selection("[0, :]").column_major();
        CHECK(!"words have no order");
    } catch (const flexpath::error &error) {
        CHECK(error.status() == FLEXPATH_STATUS_MISUSE);
    }
}

// Numbers of another type than the publisher's, where that is asked for.
static void check_conversions(const flexpath::step &step) {
    const flexpath::region corner{{0, 1}, {1, 3}};
    CHECK(step.get<double>("grid", flexpath::selection(corner).converted()) == std::vector<double>({1, 2, 3}));
    CHECK(step.get<short>("grid", flexpath::selection("[2, :2]").converted()) == std::vector<short>({20, 21}));
    CHECK(step.get<float>("own", flexpath::selection().converted()) == std::vector<float>({0.5f}));
    CHECK(step.view<double>("grid", flexpath::selection(corner).converted()).elements()[2] == 3.0);
    try {
        step.get<float>("own", flexpath::selection().converted(FLEXPATH_CONVERSION_EXACT));
        CHECK(!"a float holds no double");
    } catch (const flexpath::error &error) {
        CHECK(error.status() == FLEXPATH_STATUS_WRONG_DTYPE && std::strstr(error.what(), "f32 does not hold every f64"));
    }
}

static void check_step(const flexpath::step &step) {
    CHECK(step.variables().size() == 5 && step.variable("grid").ndims == 2);
    CHECK(step.dimension("grid", 1) == "column" && step.attributes("grid").size() == 6);
    const flexpath_attribute reals = step.attribute("grid", "reals");
    CHECK(reals.is_list == 1 && reals.count == 2 && static_cast<const double *>(reals.values)[1] == 0.25);
    const auto blocks = step.blocks("grid");
    CHECK(blocks.size() == 2 && blocks[1].index == 1 && blocks[1].where.start == std::vector<std::uint64_t>({2, 0}));
    CHECK(step.get<int>("grid", "[::2, 1::3]") == std::vector<int>({1, 4, 21, 24}));
    CHECK(step.get<int>("grid", flexpath::region{{2, 4}, {1, 2}}) == std::vector<int>({24, 25}));
    CHECK(step.get<int>("grid", flexpath::selection::block(0, 1)).size() == 6);
    CHECK(step.shape("grid", "[0, :]").size() + step.shape("grid").size() >= 3);
    const auto filled = step.get_or_fill("grid", -1, {{1, 0}, {2, 2}});
    CHECK(filled == std::vector<int>({-1, -1, 20, 21}));
    check_order(step);
    check_conversions(step);
    CHECK(step.view<int>("grid", "[2, 1:4]").elements()[2] == 23);
    CHECK(step.scalar<bool>("done") && step.text("title") == "Kühlung");
    CHECK(step.get<double>("own") == std::vector<double>({0.5}));
}

// A step that came by a number says which, and where it is.
static void check_condition() {
    flexpath::publisher publisher("condition", flexpath::options().set("DeriveBudgetSecs", "60"));
    flexpath::subscriber subscriber("condition", flexpath::options().set("Condition", "max(T[1:3]) > 9"));
    const auto field = flexpath::variable<double>::global("T", {4});
    for (const double top : {4.0, 11.0}) {
        publisher.begin_step();
        publisher.put(field, {{0}, {4}}, std::vector<double>{99, 1, top, 99});
        publisher.end_step();
    }
    const auto step = subscriber.next_step(seconds(60));
    CHECK(step && step->info().step == 1 && step->unjudged().empty());
    CHECK(std::chrono::system_clock::now() - step->decided_at() < std::chrono::hours(1));
    const auto measured = step->measured();
    CHECK(measured.size() == 1 && measured[0].measure == std::string("max(T[1:3])"));
    CHECK(measured[0].number == 11 && measured[0].ndims == 1 && measured[0].place[0] == 2);
    CHECK(subscriber.set_condition("max(T) > 100", seconds(60)) == 2);
}

int main() try {
    flexpath::publisher publisher("complete", flexpath::options().set("OpenTimeoutSecs", "60"));
    CHECK(publisher.next_event(seconds(60))->kind == FLEXPATH_EVENT_KIND_OPENED);
    CHECK(!publisher.has_subscribers());
    flexpath::subscriber subscriber("complete", flexpath::options().add_selection("grid", {}));
    CHECK(publisher.wait_for_subscribers(1, seconds(60)) == 1);
    CHECK(subscriber.next_event(seconds(60))->text.find("open") != std::string::npos);
    CHECK(subscriber.epoch() == publisher.epoch() && !publisher.contact().empty());
    publish(publisher);
    {
        auto step = subscriber.next_step(seconds(60));
        CHECK(step);
        check_step(*step);
        CHECK(subscriber.transports().find("rank 0: ") == 0);
        CHECK(subscriber.step_descriptor() >= 0 && subscriber.event_descriptor() != publisher.event_descriptor());
    }
    subscriber.select_variables({"title"});
    CHECK(subscriber.statistic("steps") == 1 && publisher.statistic("pool_peak_bytes") > 0);
    subscriber.close();
    publisher.close();
    check_condition();
    std::cout << "complete\n";
} catch (const flexpath::error &error) {
    std::cerr << error.status() << ": " << error.what() << "\n";
    return 1;
}
