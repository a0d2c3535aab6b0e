// Records and derived variables by the C++ layer, with both ends in one process.
#include "check.hpp"
#include <flexpath.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

using std::chrono::seconds;

struct cell {
    std::uint32_t id;
    double position[2];
    bool frozen;
};

struct near_cell {
    double position[2];
    std::uint64_t id;
};

static cell made(std::uint64_t index) {
    cell one;
    std::memset(static_cast<void *>(&one), 0, sizeof one);
    one.id = static_cast<std::uint32_t>(100 + index);
    one.position[0] = double(index);
    one.position[1] = 0.5 * double(index);
    one.frozen = index % 3 == 0;
    return one;
}

static flexpath::schema cells_schema() {
    flexpath::schema made("Cell");
    made.description("a cell").field<std::uint32_t>("id").field<double>("position").fixed({2}).unit("nm");
    made.field<bool>("frozen").description("whether it moves").otherwise(true);
    made.of_struct<cell>({offsetof(cell, id), offsetof(cell, position), offsetof(cell, frozen)});
    return made;
}

static flexpath::schema near_schema(const char *unit) {
    flexpath::schema made("Near");
    made.field<double>("position").fixed({2}).unit(unit).field<std::uint64_t>("id");
    made.of_struct<near_cell>({offsetof(near_cell, position), offsetof(near_cell, id)});
    return made;
}

static flexpath::schema molecule_schema() {
    flexpath::schema atom("Atom"), made("Molecule");
    atom.names<std::uint8_t>("element", "Element", {{"H", 1}, {"C", 6}}).text("label");
    made.text("name").record("atoms", atom).list().field<std::uint16_t>("count");
    made.field<std::uint32_t>("bonds").sized_by("count").indexes("atoms");
    made.field<double>("charge").optional().bytes("key");
    made.text("phase").optional().otherwise("gas");
    return made;
}

static flexpath::builder molecules(const flexpath::schema &schema) {
    flexpath::builder made(schema, 3);
    for (std::uint64_t index = 0; index < 3; index++) {
        made.set(index, "name", "molecule " + std::to_string(index)).set_len(index, "atoms", index);
        for (std::uint64_t atom = 0; atom < index; atom++) {
            const std::string place = "atoms[" + std::to_string(atom) + "].";
            made.set(index, place + "element", atom ? 6 : 1).set(index, place + "label", "x");
        }
        made.set(index, "bonds", std::vector<std::uint32_t>(index, 7));
        made.set(index, "key", std::vector<std::uint8_t>{0, 255});
    }
    made.set(1, "charge", -0.5);
    return made;
}

static void check_molecules(const flexpath::step &step) {
    const flexpath::records all = step.records("molecules");
    CHECK(all.size() == 3 && all.type().fields().size() == 7);
    CHECK(all.type().record_of("atoms").to_string().find("record Atom: ") == 0);
    CHECK(std::string(all.type().fields()[3].name) == "bonds" && all.type().fields()[3].extent == FLEXPATH_EXTENT_LIST);
    CHECK(all.text(2, "name") == "molecule 2" && all.text(2, "atoms[1].element") == "C");
    CHECK(all.get<int>(2, "atoms[0].element") == 1 && all.text(0, "phase") == "gas");
    CHECK(all.get<std::uint64_t>(2, "count") == 2 && all.get_all<std::uint32_t>(2, "bonds") == std::vector<std::uint32_t>({7, 7}));
    CHECK(all.column<std::uint32_t>("bonds").size() == 3 && all.column<std::uint16_t>("count")[2] == 2);
    CHECK(!all.has(0, "charge") && all.get<double>(1, "charge") == -0.5);
    CHECK(all.get_all<std::uint8_t>(0, "key") == std::vector<std::uint8_t>({0, 255}));
    const flexpath::records some = step.records("molecules", "[1:3]");
    CHECK(some.size() == 2 && some.text(0, "name") == "molecule 1");
}

template <class Run> static void throws(flexpath_status status, const char *words, Run run) {
    try {
        run();
    } catch (const flexpath::error &error) {
        if (error.status() == status && std::strstr(error.what(), words)) return;
        std::cerr << error.status() << ": " << error.what() << "\n";
    }
    CHECK(!words);
}

struct sum {
    double x;
};

static flexpath::schema sum_schema() {
    flexpath::schema made("Sum");
    made.field<double>("x").of_struct<sum>({offsetof(sum, x)});
    return made;
}

struct label {
    std::uint32_t id;
};

static flexpath::schema label_schema() {
    flexpath::schema made("Label");
    made.field<std::uint32_t>("id").of_struct<label>({offsetof(label, id)});
    return made;
}

// The ids of cells that are not frozen: what the publisher offers.
static flexpath::transforms offered(const flexpath::schema &schema) {
    const auto thawed = [](const flexpath::records &given, flexpath::builder &made) {
        std::vector<label> all;
        for (const cell &one : given.elements<cell>())
            if (!one.frozen) all.push_back({one.id});
        made.set_structs(all);
    };
    flexpath::transforms made;
    made.add("thawed", schema, label_schema(), thawed).per_block("thawed").by_name_only("thawed");
    made.cost("thawed", 2, 0.5).placement("thawed", FLEXPATH_PLACEMENT_PUBLISHER).timeout("thawed", seconds(5));
    made.add("ids", schema, label_schema(), thawed);
    throws(FLEXPATH_STATUS_MISUSE, "none", [&] { made.per_block("none"); });
    throws(FLEXPATH_STATUS_MISUSE, "cannot cost", [&] { made.cost("ids", -1, 0); });
    return made;
}

// All cells become one sum.
static void add_up(const flexpath::records &given, flexpath::builder &made) {
    sum all{0};
    for (const cell &one : given.elements<cell>()) all.x += one.position[0];
    if (all.x < 0) throw std::runtime_error("never");
    made.set_structs(std::vector<sum>{all});
}

static void check_cells(const flexpath::step &step, const flexpath::schema &schema) {
    const auto all = step.get_records<cell>("cells", schema);
    CHECK(all.size() == 12);
    for (std::uint64_t index = 0; index < 12; index++) {
        const cell expected = made(index);
        CHECK(all[index].id == expected.id && all[index].position[1] == expected.position[1]);
        CHECK(all[index].frozen == expected.frozen);
    }
    const auto near = step.get_records<near_cell>("cells", near_schema("nm"), "[1, 2:4]");
    CHECK(near.size() == 2 && near[0].id == 106 && near[1].position[0] == 7);
    const flexpath::region row{{2, 0}, {1, 4}};
    const flexpath::records last = step.records("cells", schema, row);
    CHECK(last.elements<cell>().size() == 4 && last.elements<cell>()[3].id == 111);
    throws(FLEXPATH_STATUS_WRONG_LEN, "size", [&] { last.elements<near_cell>(); });
    CHECK(step.get_records<cell>("one", schema)[0].id == 105);
    throws(FLEXPATH_STATUS_INCOMPATIBLE, "Near.position", [&] { step.get_records<near_cell>("cells", near_schema("km")); });
    throws(FLEXPATH_STATUS_NOT_DERIVED, "no field \"none\"", [&] { step.records("cells", near_schema("m")); });
    throws(FLEXPATH_STATUS_WRONG_DTYPE, "\"cells\" holds records", [&] { step.text("cells"); });
    throws(FLEXPATH_STATUS_MISUSE, "no rank 77", [&] { step.records("cells", "[rank 77]"); });
    throws(FLEXPATH_STATUS_MISUSE, "no rank 1", [&] { step.get_records<cell>("cells", schema, flexpath::selection::rank(1)); });
    const flexpath::records total = step.records("cells", sum_schema());
    CHECK(total.size() == 1 && total.elements<sum>()[0].x == 66);
}

static void check_thawed(const flexpath::step &step) {
    const flexpath::records thawed = step.records("thawed", label_schema());
    std::vector<std::uint32_t> expected;
    for (std::uint64_t index = 0; index < 12; index++)
        if (!made(index).frozen) expected.push_back(made(index).id);
    CHECK(!expected.empty() && expected.size() < 12 && thawed.column<std::uint32_t>("id") == expected);
    throws(FLEXPATH_STATUS_NOT_DERIVED, "needs all records at once", [&] { step.records("ids"); });
}

/* A stream that is found by its type, and attached to because it has it. */
static void check_found(const flexpath::schema &schema) {
    const auto cells = flexpath::record_variable::global("cells", schema, {1});
    flexpath::publisher publisher("typed");
    std::thread publishing([&] {
        for (int steps = 0; steps < 3; steps++) {
            while (publisher.next_event(seconds(60))->kind != FLEXPATH_EVENT_KIND_SUBSCRIPTION_STARTED) {}
            publisher.begin_step();
            publisher.put(cells, {{0}, {1}}, std::vector<cell>{made(7)});
            publisher.end_step();
        }
    });
    const auto found = flexpath::find(schema, seconds(30));
    CHECK(found.size() == 1 && found[0].stream == "typed" && found[0].variable == "cells" && !found[0].is_converted);
    throws(FLEXPATH_STATUS_INCOMPATIBLE, "is in \"nm\"",
           [] { flexpath::subscriber("typed", flexpath::options().add_type(near_schema("km"))); });
    flexpath::subscriber typed("typed", flexpath::options().add_type(schema, "cells"));
    publishing.join();
    CHECK(typed.next_step(seconds(60))->get_records<cell>("cells", schema)[0].id == 107);
    typed.close();
    publisher.close();
}

int main() try {
    const flexpath::schema schema = cells_schema(), of_molecules = molecule_schema();
    CHECK(schema.differences(near_schema("m")).find("Near.position: is in \"nm\"") == 0);
    CHECK(schema.fingerprint() == cells_schema().fingerprint() && schema.size_bytes() == sizeof(cell));
    throws(FLEXPATH_STATUS_BAD_OPTION, "at character", [] { flexpath::options().add_derivation("a", "b | squeeze"); });
    const auto cells = flexpath::record_variable::global("cells", schema, {3, 4});
    const auto one = flexpath::record_variable::scalar("one", schema);
    const auto all = flexpath::record_variable::joined("molecules", of_molecules);
    const auto heat = flexpath::variable<double>::global("heat", {4});
    flexpath::options chosen;
    chosen.set("Variables", "cells,one,molecules").add_derivation("hottest", "heat | max");
    chosen.add_derivation("coldest", "heat | min", FLEXPATH_PLACEMENT_SUBSCRIBER).add_derivation("none", "cold | min");
    flexpath::transforms transforms;
    transforms.add("sum", schema, sum_schema(), add_up);
    transforms.add("fail", schema, near_schema("m"), [](const flexpath::records &given, flexpath::builder &made) {
        made.resize(given.size()).set(0, "none", 1.0);
    });
    transforms.add_function<double, float>("halved", [](const auto &given, flexpath::span<float> made) {
        for (std::size_t index = 0; index < made.size(); index++) made[index] = float(given.at(0)[index] / 2);
    });
    chosen.add_derivation("half", "heat | call(halved, f32)", FLEXPATH_PLACEMENT_SUBSCRIBER);
    throws(FLEXPATH_STATUS_MISUSE, "sum", [&] { transforms.add("sum", schema, of_molecules, add_up); });
    chosen.set_transforms(transforms);
    chosen.add_transformed("thawed", "cells", "thawed").add_transformed("ids", "cells", "ids");
    flexpath::options offering;
    offering.set_transforms(offered(schema)).set("DeriveBudgetSecs", "60");
    flexpath::publisher publisher("records", offering);
    flexpath::subscriber subscriber("records", chosen);
    publisher.wait_for_subscribers(1, seconds(60));
    std::vector<cell> structs;
    for (std::uint64_t index = 0; index < 12; index++) structs.push_back(made(index));
    publisher.begin_step();
    publisher.put(cells, {{0, 0}, {3, 4}}, structs.data());
    publisher.put(one, structs[5]);
    publisher.put(all, {{0}, {3}}, molecules(of_molecules));
    publisher.put(heat, {{0}, {4}}, std::vector<double>{3, 8, 1, 2});
    publisher.end_step();
    CHECK(subscriber.of(schema).size() == 2 && !subscriber.of(schema)[0].is_converted);
    CHECK(subscriber.of(sum_schema()).size() == 2 && subscriber.of(sum_schema())[0].differences.find("sum") != std::string::npos);
    CHECK(subscriber.of(near_schema("nm"))[0].differences.find("Near.id: is u32") != std::string::npos);
    throws(FLEXPATH_STATUS_INCOMPATIBLE, "\"molecules\"", [&] { subscriber.of(near_schema("km")); });
    {
        const auto step = subscriber.next_step(seconds(60));
        CHECK(step);
        check_cells(*step, schema);
        check_molecules(*step);
        check_thawed(*step);
        CHECK(step->scalar<double>("hottest") == 8 && step->scalar<double>("coldest") == 1);
        CHECK(step->get<float>("half") == std::vector<float>({1.5f, 4, 0.5f, 1}));
        throws(FLEXPATH_STATUS_NOT_DERIVED, "cold", [&] { step->scalar<double>("none"); });
    }
    subscriber.close();
    publisher.close();
    check_found(schema);
    std::cout << "all there\n";
} catch (const flexpath::error &error) {
    std::cerr << error.status() << ": " << error.what() << "\n";
    return 1;
}
