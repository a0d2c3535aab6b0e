// What fails in C throws in C++, with status and text; handles move and give themselves back.
#include <flexpath.hpp>
#include <cstring>
#include <iostream>

template <class Run> static bool throws(flexpath_status status, const char *words, Run run) {
    try {
        run();
    } catch (const flexpath::error &error) {
        if (error.status() == status && std::strstr(error.what(), words)) return true;
        std::cerr << error.status() << ": " << error.what() << "\n";
    }
    return false;
}

int main() {
    flexpath::options options;
    bool good = throws(FLEXPATH_STATUS_BAD_OPTION, "QueueLimit", [&] { options.set("Queue", "1"); });
    auto grid = flexpath::variable<float>::global("grid", {2, 3});
    auto moved = std::move(grid);
    good &= grid.raw() == nullptr && moved.raw() != nullptr;
    flexpath::publisher publisher("mistakes");
    const float elements[6] = {};
    good &= throws(FLEXPATH_STATUS_MISUSE, "no step", [&] { publisher.put(moved, {{0, 0}, {2, 3}}, elements); });
    good &= publisher.begin_step() == 0;
    good &= throws(FLEXPATH_STATUS_BAD_HANDLE, "null", [&] { publisher.put(grid, {{0, 0}, {2, 3}}, elements); });
    good &= throws(FLEXPATH_STATUS_MISUSE, "not inside", [&] { publisher.put(moved, {{1, 0}, {2, 3}}, elements); });
    publisher.put(moved, {{0, 0}, {2, 3}}, elements);
    publisher.end_step();
    publisher.close();
    good &= throws(FLEXPATH_STATUS_BAD_HANDLE, "null", [&] { publisher.end_step(); });
    if (good) std::cout << "all thrown\n";
    return good ? 0 : 1;
}
