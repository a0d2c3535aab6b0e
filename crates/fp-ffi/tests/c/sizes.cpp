// What is given to C++ has as many numbers, elements and bytes as it must have, or an exception says what is wrong.
#include "check.hpp"
#include <flexpath.hpp>
#include <cstring>
#include <functional>
#include <iostream>

using std::chrono::seconds;
using numbers = std::vector<double>;

struct two {
    double a, b;
};
struct less {
    double a;
};
struct more {
    double a, b, c;
};

static flexpath::schema of_two() {
    flexpath::schema made("Two");
    made.field<double>("a").field<double>("b");
    return made;
}

/* What no conversion leads to. */
static flexpath::schema of_third() {
    flexpath::schema made("Third");
    made.field<double>("c");
    return made;
}

static int throws(flexpath_status status, const char *words, const std::function<void()> &run) {
    try {
        run();
    } catch (const flexpath::error &error) {
        if (error.status() == status && std::strstr(error.what(), words)) return 1;
        std::cerr << error.status() << ": " << error.what() << "\n";
    }
    return 0;
}

#define REFUSED(words, ...) CHECK(throws(FLEXPATH_STATUS_MISUSE, words, [&] { __VA_ARGS__; }))
#define WRONG_LEN(words, ...) CHECK(throws(FLEXPATH_STATUS_WRONG_LEN, words, [&] { __VA_ARGS__; }))

/* The variables of a step. */
struct variables {
    flexpath::schema schema = of_two();
    flexpath::variable<double> grid = flexpath::variable<double>::global("grid", {4, 6});
    flexpath::variable<double> line = flexpath::variable<double>::global("line", {8});
    flexpath::variable<double> rows = flexpath::variable<double>::joined("rows", {3});
    flexpath::variable<double> own = flexpath::variable<double>::local("own", 2);
    flexpath::variable<double> time = flexpath::variable<double>::scalar("time");
    flexpath::variable<double> rank = flexpath::variable<double>::local_scalar("rank");
    flexpath::text_variable title{"title"};
    flexpath::record_variable pairs = flexpath::record_variable::global("pairs", schema, {4});
    flexpath::record_variable some = flexpath::record_variable::joined("some", schema);
    flexpath::record_variable apart = flexpath::record_variable::local("apart", schema, 1);
    flexpath::record_variable one = flexpath::record_variable::scalar("one", schema);
    flexpath::record_variable each = flexpath::record_variable::local_scalar("each", schema);
};

static const flexpath::region whole{{0, 0}, {4, 6}};
static const double cells[24] = {};

static void check_ranks(flexpath::publisher &to, const variables &of) {
    REFUSED("put of variable \"grid\": start has 1 and count 1 numbers, but the variable has 2 dimensions",
            to.put(of.grid, {{0}, {24}}, cells));
    REFUSED("start has 3 and count 3", to.put(of.grid, {{0, 0, 0}, {1, 4, 6}}, cells));
    REFUSED("start has 2 and count 1", to.put(of.grid, {{0, 0}, {4}}, cells));
    REFUSED("start has 1 and count 2", to.put(of.grid, {{0}, {4, 6}}, numbers(24)));
    REFUSED("start has 0 and count 2", to.put(of.grid, {{}, {4, 6}}, numbers(24)));
    REFUSED("start has 0 and count 0", to.put(of.grid, {}, cells));
    REFUSED("start has 1 and count 1", to.loan(of.grid, {{0}, {24}}));
    REFUSED("put of variable \"rows\": start has 0 and count 0 numbers", to.put(of.rows, {}, cells));
    REFUSED("start has 0 and count 3", to.put(of.rows, {{}, {1, 1, 3}}, cells));
    REFUSED("start has 2 and count 1", to.put(of.rows, {{0, 0}, {1}}, cells));
    REFUSED("count [2, 4] does not go with rows of [3]", to.put(of.rows, {{0, 0}, {2, 4}}, numbers(8)));
    REFUSED("count [2, 4] does not go with rows of [3]", to.loan(of.rows, {{0, 0}, {2, 4}}));
    REFUSED("\"own\": start has 0 and count 1", to.put(of.own, {{}, {2}}, cells));
    REFUSED("\"own\": start has 0 and count 3", to.loan(of.own, {{}, {2, 2, 2}}));
    REFUSED("\"time\": start has 1 and count 1 numbers, but the variable has 0", to.put(of.time, {{0}, {1}}, cells));
    REFUSED("\"rank\": start has 0 and count 1", to.put(of.rank, {{}, {2}}, numbers(2)));
    REFUSED("one value is given, but the variable has 2 dimensions", to.put(of.grid, 1.0));
    REFUSED("\"rows\": one value", to.put(of.rows, 1.0));
    REFUSED("\"pairs\": one value", to.put(of.pairs, two{}));
    REFUSED("\"pairs\": one value", to.put(of.pairs, flexpath::builder(of.schema, 1)));
    const std::vector<two> structs(4);
    REFUSED("\"pairs\": start has 2 and count 2", to.put(of.pairs, {{0, 0}, {2, 2}}, structs.data()));
    REFUSED("\"pairs\": start has 0 and count 0", to.put(of.pairs, {}, structs));
    REFUSED("\"some\": start has 0 and count 2", to.put(of.some, {{}, {2, 2}}, structs));
    REFUSED("\"apart\": start has 0 and count 2", to.put(of.apart, {{}, {2, 2}}, structs));
    REFUSED("\"one\": start has 1 and count 1", to.put(of.one, {{0}, {1}}, structs));
    REFUSED("\"pairs\": start has 1 and count 2", to.put(of.pairs, {{0}, {4, 1}}, flexpath::builder(of.schema, 4)));
}

static void check_numbers(flexpath::publisher &to, const variables &of) {
    const numbers few(10), many(1000);
    WRONG_LEN("put of variable \"grid\": the block at [0, 0] of extent [4, 6] has 24 elements, but 10 are given: give",
              to.put(of.grid, whole, few));
    WRONG_LEN("but 1000 are given", to.put(of.grid, whole, many));
    WRONG_LEN("has 24 elements, but 10", to.put(of.grid, whole, numbers(10)));
    WRONG_LEN("has 24 elements, but 1000", to.put(of.grid, whole, numbers(1000)));
    WRONG_LEN("has 0 elements, but 1 are", to.put(of.grid, {{0, 0}, {0, 6}}, numbers(1)));
    WRONG_LEN("has 1000 elements, but 10", to.put(of.line, {{0}, {1000}}, few));
    WRONG_LEN("has 100000000 elements, but 10", to.put(of.line, {{0}, {100000000}}, numbers(10)));
    WRONG_LEN("but 0 are given", to.put(of.grid, {{0, 0}, {UINT64_C(1) << 32, UINT64_C(1) << 32}}, numbers()));
    WRONG_LEN("has 6 elements, but 2", to.put(of.rows, {{0}, {2}}, numbers(2)));
    WRONG_LEN("has 6 elements, but 7", to.put(of.rows, {{}, {2, 3}}, numbers(7)));
    WRONG_LEN("has 4 elements, but 5", to.put(of.own, {{}, {2, 2}}, numbers(5)));
    WRONG_LEN("has 1 elements, but 2", to.put(of.time, {}, numbers(2)));
    numbers kept(10);
    WRONG_LEN("has 24 elements", to.put(of.grid, whole, std::move(kept)));
    CHECK(kept.size() == 10);
    int released = 0;
    const auto release = [](void *count) { ++*static_cast<int *>(count); };
    REFUSED("put_external of variable \"grid\": start has 1", to.put_external(of.grid, {{0}, {24}}, cells, release, &released));
    REFUSED("\"rows\": count [1, 2]", to.put_external(of.rows, {{}, {1, 2}}, cells, release, &released));
    CHECK(released == 2);
    REFUSED("3 bytes, of which byte 1 is zero", to.put(of.title, std::string("a\0b", 3)));
    REFUSED("byte 0 is zero", to.promise({std::string(1, '\0')}));
}

static void check_structs(flexpath::publisher &to, const variables &of) {
    const flexpath::region four{{0}, {4}};
    const std::vector<less> small(4);
    WRONG_LEN("put of variable \"pairs\": structs of 8 bytes are given, but those of the records have 16",
              to.put(of.pairs, four, small.data()));
    WRONG_LEN("structs of 8 bytes", to.put(of.pairs, four, small));
    WRONG_LEN("structs of 24 bytes", to.put(of.pairs, four, std::vector<more>(4)));
    WRONG_LEN("structs of 8 bytes", to.put(of.one, less{}));
    WRONG_LEN("structs of 24 bytes", to.put(of.each, more{}));
    WRONG_LEN("has 4 elements, but 3", to.put(of.pairs, four, std::vector<two>(3)));
    WRONG_LEN("has 4 elements, but 5", to.put(of.pairs, four, std::vector<two>(5)));
    WRONG_LEN("has 2 elements, but 3", to.put(of.some, {{}, {2}}, std::vector<two>(3)));
    WRONG_LEN("but 3", to.put(of.pairs, four, flexpath::builder(of.schema, 3)));
    WRONG_LEN("but 5", to.put(of.pairs, four, flexpath::builder(of.schema, 5)));
    WRONG_LEN("set_structs of a builder: structs of 8 bytes", flexpath::builder(of.schema, 1).set_structs(small));
    flexpath::schema padded = of_two();
    padded.of_struct<more>({0, 16});
    WRONG_LEN("structs of 16 bytes are given, but those of the records have 24",
              flexpath::builder(padded, 1).set_structs(std::vector<two>(1)));
    padded.of_struct<more>({0});
    REFUSED("1 offsets", flexpath::builder(padded, 1));
}

static void publish(flexpath::publisher &to, const variables &of) {
    to.put(of.grid, whole, numbers(24, 1));
    to.put(of.line, {{0}, {8}}, numbers(8));
    to.put(of.line, {{2}, {3}}, numbers(3, 5));
    REFUSED("\"line\": this region was put already", to.put(of.line, {{2}, {3}}, numbers(3, 6)));
    auto lent = to.loan(of.rows, {{}, {5}});
    CHECK(lent.elements().size() == 15);
    for (double &element : lent.elements()) element = 2;
    to.put(std::move(lent));
    to.put(of.rows, {{0, 0}, {1, 3}}, numbers(3, 2));
    to.put(of.rows, {{0}, {1}}, numbers(3, 2));
    to.put(of.own, {{}, {2, 2}}, cells);
    to.put(of.time, 0.5);
    const numbers one(1);
    to.put(of.rank, {}, one);
    to.put(of.title, "sizes");
    const std::vector<two> structs(4, two{1, 2});
    to.put(of.pairs, {{0}, {4}}, structs);
    to.put(of.some, {{}, {3}}, flexpath::builder(of.schema, 3));
    to.put(of.apart, {{0}, {4}}, structs.data());
    to.put(of.one, structs[0]);
    to.put(of.each, flexpath::builder(of.schema, 1));
}

static void check_selections(const flexpath::step &step) {
    const flexpath::region crooked{{0}, {1, 6}}, flat{{0}, {4}};
    double place[24];
    const char *words = "selection of variable \"grid\": start [0] has 1 numbers and count [1, 6] has 2";
    REFUSED(words, step.get<double>("grid", crooked));
    REFUSED(words, step.get<double>("grid", flexpath::selection(crooked).column_major()));
    REFUSED(words, step.get_into("grid", crooked, place, 6));
    REFUSED(words, step.get_or_fill("grid", 1.0, crooked));
    REFUSED(words, step.view<double>("grid", crooked));
    REFUSED(words, step.shape("grid", crooked));
    REFUSED(words, step.records("grid", crooked));
    REFUSED(words, step.get_records<two>("grid", of_two(), crooked));
    REFUSED(words, flexpath::options().add_selection("grid", crooked));
    const char *other = "\"grid\": the selection has 1 dimensions";
    REFUSED(other, step.get<double>("grid", flat));
    REFUSED(other, step.get_into("grid", flat, place, 4));
    REFUSED(other, step.get_or_fill("grid", 1.0, flat));
    REFUSED(other, step.view<double>("grid", flat));
    REFUSED("no rank 77: the publisher has 1", step.get<double>("grid", flexpath::selection::rank(77)));
    REFUSED("no rank 77: the publisher has 1", step.view<double>("grid", "[rank 77]"));
    CHECK(step.get<double>("grid", "[points (0, 1), (3, 5)]") == numbers({1, 1}));
}

static void check_gets(const flexpath::step &step) {
    double place[24];
    WRONG_LEN("has 24 elements, but 5", step.get_into("grid", {}, place, 5));
    WRONG_LEN("has 6 elements, but 24", step.get_into("grid", "[0, :]", place, 24));
    WRONG_LEN("has 6 elements, but 7", step.get_into("grid", flexpath::region{{1, 0}, {1, 6}}, place, 7));
    WRONG_LEN("has 24 elements, but 1", step.scalar<double>("grid"));
    WRONG_LEN("get_records of variable \"pairs\": structs of 8", step.get_records<less>("pairs", of_two()));
    WRONG_LEN("structs of 24 bytes", step.get_records<more>("pairs", of_two(), "[1:2]"));
    WRONG_LEN("another size", step.records("pairs", of_two()).elements<less>());
    CHECK(throws(FLEXPATH_STATUS_NOT_DERIVED, "", [&] { step.records("pairs", of_third()); }));
    CHECK(throws(FLEXPATH_STATUS_WRONG_DTYPE, "\"rows\" holds numbers (f64)", [&] { step.text("rows"); }));
    CHECK(step.get<double>("line") == numbers({0, 0, 5, 5, 5, 0, 0, 0}));
    CHECK(step.get<double>("line", flexpath::selection::block(0, 0)) == numbers(8));
    CHECK(step.get<double>("rows") == numbers(21, 2) && step.get<double>("own").size() == 4);
    CHECK(step.get_records<two>("pairs", of_two())[3].b == 2 && step.records("some").size() == 3);
    CHECK(step.get_records<two>("apart", of_two()).size() == 4 && step.text("title") == "sizes");
}

static void check_definitions() {
    REFUSED("9 dim", flexpath::variable<double>::global("x", std::vector<std::uint64_t>(9, 1)));
    REFUSED("9", flexpath::variable<double>::joined("x", std::vector<std::uint64_t>(8, 1)));
    REFUSED("9 dim", flexpath::variable<double>::local("x", 9));
    auto grid = flexpath::variable<double>::global("grid", {2, 2});
    REFUSED("1 names for 2 dimensions", grid.dimensions({"a"}));
    REFUSED("3 names for 2 dimensions", grid.dimensions({"a", "b", "c"}));
    REFUSED("byte 1 is zero", grid.attribute("text", std::string("a\0b", 3)));
    REFUSED("byte 1 is zero", grid.attribute("texts", std::vector<std::string>{"a", std::string("a\0b", 3)}));
    REFUSED("byte 1 is zero", flexpath::builder(of_two(), 1).set(0, "a", std::string("a\0b", 3)));
    auto line = flexpath::variable<double>::global("line", {4});
    grid = std::move(line);
    CHECK(grid.raw() && !line.raw());
}

static void check_standing() {
    flexpath::options options;
    REFUSED("standing selection of variable \"grid\": \"[0:1, :]\" is in words", options.add_selection("grid", "[0:1, :]"));
    REFUSED("in words", options.add_selection("grid", std::string("[rank 0]")));
    const flexpath::region row{{0, 0}, {1, 6}};
    options.add_selection("grid", row).add_selection("rows", flexpath::selection::rank(0)).add_selection("own", {});
}

/* Fills fewer bytes than a struct has. */
static void shrink(const flexpath::records &given, flexpath::builder &made) {
    made.set_structs(std::vector<char>(given.size()));
}

int main() try {
    check_definitions();
    check_standing();
    const variables all;
    flexpath::transforms transforms;
    transforms.add("shrink", all.schema, of_third(), shrink);
    flexpath::publisher publisher("sizes");
    flexpath::subscriber subscriber("sizes", flexpath::options().set_transforms(transforms));
    publisher.wait_for_subscribers(1, seconds(60));
    publisher.begin_step();
    check_ranks(publisher, all);
    check_numbers(publisher, all);
    check_structs(publisher, all);
    publish(publisher, all);
    publisher.end_step();
    {
        const auto step = subscriber.next_step(seconds(60));
        CHECK(step);
        check_selections(*step);
        check_gets(*step);
    }
    subscriber.close();
    publisher.close();
    std::cout << "all checked\n";
} catch (const flexpath::error &error) {
    std::cerr << error.status() << ": " << error.what() << "\n";
    return 1;
}
