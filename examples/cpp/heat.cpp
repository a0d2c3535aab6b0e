/* Publisher and subscriber of the stream `heat` in C++: `heat publish` and `heat subscribe`, in two terminals. */
#include <flexpath.hpp>
#include <iostream>
#include <string>

static void publish() {
    auto temperature = flexpath::variable<double>::global("temperature", {100});
    temperature.unit("K");
    flexpath::publisher publisher("heat", flexpath::options().set("RendezvousReaderCount", "1"));
    for (int step = 0; step < 10; step++) {
        std::vector<double> cells(100);
        for (std::size_t cell = 0; cell < cells.size(); cell++) cells[cell] = 300.0 + double(cell) / (1 + step);
        publisher.begin_step();
        publisher.put(temperature, {{0}, {100}}, cells.data());
        publisher.end_step();
    }
    publisher.close();
}

static void subscribe() {
    flexpath::subscriber subscriber("heat");
    while (!subscriber.has_ended()) {
        auto step = subscriber.next_step(std::chrono::seconds(10));
        if (!step) continue;
        auto cells = step->get<double>("temperature", {{48}, {4}});
        auto all = step->view<double>("temperature");
        std::cout << "step " << step->info().step << ": " << cells[0] << " of " << all.elements().size() << "\n";
    }
    subscriber.close();
}

int main(int, char **arguments) try {
    arguments[1] == std::string("publish") ? publish() : subscribe();
} catch (const flexpath::error &error) {
    std::cerr << "heat: " << error.what() << "\n";
    return 1;
}
