// ADIOS2's SST: one side of a stream, alone or (compiled with -DWITH_MPI) as ranks of MPI. Prints one JSON object.
//
// usage: sst writer|reader stream=PATH shape=256x256x128 grid=2x2x1 steps=N warm=N put=copy|span queue=N plane=WAN
//            told=PATH latency=0|1 late=0|1 period_us=N
//
// Each rank has a block of the grid. With latency=1 the first element of each step carries the time at which the step
// began. The writer begins it when the reader has said, by a datagram to `told`, that it has the one before. With
// late=1 the writer waits for nobody. It publishes a step every `period_us`, discarding what nobody takes, until the
// reader says that it has had one. The reader comes when some steps are over. What counts is how long it takes from
// opening to its first data.
#include <adios2.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "measuring.h"

namespace {

std::vector<size_t> extents(const std::string &text) {
    std::vector<size_t> found;
    for (size_t at = 0; at != std::string::npos;) {
        size_t end = text.find('x', at);
        found.push_back(std::stoul(text.substr(at, end - at)));
        at = end == std::string::npos ? end : end + 1;
    }
    return found;
}

struct Setup {
    std::string stream, told;
    std::vector<size_t> shape, start, count;
    int rank = 0, size = 1;
    long steps, warm, period_us;
    bool span, latency, late;
    size_t elements = 1;

    Setup(int argc, char **argv) {
#ifdef WITH_MPI
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
        stream = word(argc, argv, "stream", "stream");
        told = word(argc, argv, "told", "");
        shape = extents(word(argc, argv, "shape", "1"));
        auto grid = extents(word(argc, argv, "grid", "1"));
        grid.resize(shape.size(), 1);
        steps = number(argc, argv, "steps", 10);
        warm = number(argc, argv, "warm", 8);
        span = std::string(word(argc, argv, "put", "copy")) == "span";
        latency = number(argc, argv, "latency", 0) != 0;
        period_us = number(argc, argv, "period_us", 1000);
        late = number(argc, argv, "late", 0) != 0;
        size_t rest = static_cast<size_t>(rank);
        start.resize(shape.size());
        count.resize(shape.size());
        for (size_t axis = shape.size(); axis-- > 0;) {
            size_t at = rest % grid[axis];
            rest /= grid[axis];
            start[axis] = shape[axis] * at / grid[axis];
            count[axis] = shape[axis] * (at + 1) / grid[axis] - start[axis];
            elements *= count[axis];
        }
    }

    // What is cut is not looked at: a block's elements do not know their place in the whole.
    bool is_whole() const { return size == 1; }

    size_t whole() const {
        size_t all = 1;
        for (size_t extent : shape) all *= extent;
        return all;
    }
};

sockaddr_un place(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the path of `told` is too long");
    memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

int ear(const std::string &path) {
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    auto address = place(path);
    if (bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) throw std::runtime_error("cannot bind " + path);
    timeval patience{60, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

double cpu_since = 0;

void report(const Setup &setup, double seconds, std::vector<double> &one_way_us, double join_ms, double filling_s) {
    double cpu = cpu_s() - cpu_since - filling_s, peak = peak_mib();
#ifdef WITH_MPI
    double sums[2] = {cpu, peak}, all[2];
    MPI_Reduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    double longest = seconds;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (setup.rank != 0) return;
    cpu = all[0], peak = all[1], seconds = longest;
#endif
    double bytes = static_cast<double>(setup.whole()) * 8 * static_cast<double>(setup.steps);
    double p50 = quantile(one_way_us.data(), one_way_us.size(), 0.5), p99 = quantile(one_way_us.data(), one_way_us.size(), 0.99);
    printf("{\"gb_per_s\": %g, \"steps_per_s\": %g, \"p50_us\": %g, \"p99_us\": %g, \"join_ms\": %g, \"cpu_s_per_gb\": %g, "
           "\"peak_mib\": %g, \"version\": \"ADIOS2 %s\"}\n",
           bytes / seconds / 1e9, static_cast<double>(setup.steps) / seconds, p50, p99, join_ms, cpu / (bytes / 1e9), peak,
           ADIOS2_VERSION_STR);
}

void write(adios2::IO &io, const Setup &setup) {
    int fd = setup.latency && setup.rank == 0 ? ear(setup.told) : -1;
    auto variable = io.DefineVariable<int64_t>("x", setup.shape, setup.start, setup.count, adios2::ConstantDims);
    auto engine = io.Open(setup.stream, adios2::Mode::Write);
    std::vector<int64_t> own(setup.span ? 0 : setup.elements);
    double filling_s = 0;
    uint64_t started = now_ns();
    for (long step = 0; step < setup.warm + setup.steps; step++) {
        if (step == setup.warm) cpu_since = cpu_s(), started = now_ns(), filling_s = 0;
        char byte;
        if (fd >= 0 && step > 0 && recv(fd, &byte, 1, 0) != 1) throw std::runtime_error("the reader says nothing");
        double before = thread_cpu_s();
        if (!setup.span) fill(own.data(), setup.elements, step);
        filling_s += thread_cpu_s() - before;
        int64_t stamp = static_cast<int64_t>(now_ns());
        engine.BeginStep();
        int64_t *memory = own.data();
        if (setup.span) {
            auto span = engine.Put(variable);
            memory = span.data();
            before = thread_cpu_s();
            fill(memory, setup.elements, step);
            filling_s += thread_cpu_s() - before;
        }
        if (setup.latency) memory[0] = stamp;
        if (!setup.span) engine.Put(variable, own.data(), adios2::Mode::Deferred);
        engine.EndStep();
    }
    double seconds = static_cast<double>(now_ns() - started) / 1e9;
    engine.Close();
    std::vector<double> none;
    report(setup, seconds, none, 0, filling_s);
}

void write_on(adios2::IO &io, const Setup &setup) {
    int fd = setup.rank == 0 ? ear(setup.told) : -1;
    auto variable = io.DefineVariable<int64_t>("x", setup.shape, setup.start, setup.count, adios2::ConstantDims);
    auto engine = io.Open(setup.stream, adios2::Mode::Write);
    std::vector<int64_t> own(setup.elements);
    int over = 0;
    for (long step = 0; !over && step < 10000000 / setup.period_us; step++) {
        fill(own.data(), setup.elements, 0);
        engine.BeginStep();
        engine.Put(variable, own.data(), adios2::Mode::Deferred);
        engine.EndStep();
        usleep(static_cast<useconds_t>(setup.period_us));
        char byte;
        over = fd >= 0 && recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
#ifdef WITH_MPI
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
#endif
    }
    if (!over) throw std::runtime_error("the reader never came");
    engine.Close();
    std::vector<double> none;
    report(setup, 1, none, 0, 0);
}

void join_late(adios2::IO &io, const Setup &setup) {
    usleep(500000);
    std::vector<int64_t> own(setup.elements, 1);
    uint64_t opening = now_ns();
    auto engine = io.Open(setup.stream, adios2::Mode::Read);
    if (engine.BeginStep(adios2::StepMode::Read, 60.0f) != adios2::StepStatus::OK) throw std::runtime_error("no step");
    auto variable = io.InquireVariable<int64_t>("x");
    variable.SetSelection({setup.start, setup.count});
    engine.Get(variable, own.data(), adios2::Mode::Deferred);
    engine.PerformGets();
    double join_ms = static_cast<double>(now_ns() - opening) / 1e6;
    if (setup.is_whole()) check(own.data(), setup.elements, 0);
    engine.EndStep();
    engine.Close();
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    auto address = place(setup.told);
    if (sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr *>(&address), sizeof address) != 1)
        throw std::runtime_error("cannot tell the writer");
    std::vector<double> none;
    report(setup, 1, none, join_ms, 0);
}

void read(adios2::IO &io, const Setup &setup) {
    int fd = setup.latency ? socket(AF_UNIX, SOCK_DGRAM, 0) : -1;
    std::vector<int64_t> own(setup.elements, 1);
    std::vector<double> one_way_us;
    uint64_t opening = now_ns(), started = opening, had = opening;
    double join_ms = 0;
    auto engine = io.Open(setup.stream, adios2::Mode::Read);
    for (long step = 0; step < setup.warm + setup.steps; step++) {
        if (engine.BeginStep(adios2::StepMode::Read, 60.0f) != adios2::StepStatus::OK) throw std::runtime_error("no step");
        auto variable = io.InquireVariable<int64_t>("x");
        variable.SetSelection({setup.start, setup.count});
        engine.Get(variable, own.data(), adios2::Mode::Deferred);
        engine.PerformGets();
        had = now_ns();
        engine.EndStep();
        if (step == 0) join_ms = static_cast<double>(had - opening) / 1e6;
        if (step + 1 == setup.warm) started = had, cpu_since = cpu_s();
        if (setup.is_whole()) check(own.data(), setup.elements, step);
        if (setup.latency) {
            if (step >= setup.warm) one_way_us.push_back(static_cast<double>(had - static_cast<uint64_t>(own[0])) / 1e3);
            auto address = place(setup.told);
            if (step + 1 < setup.warm + setup.steps &&
                sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr *>(&address), sizeof address) != 1)
                throw std::runtime_error("cannot tell the writer");
        }
    }
    report(setup, static_cast<double>(had - started) / 1e9, one_way_us, join_ms, 0);
    engine.Close();
}

}  // namespace

int main(int argc, char **argv) {
#ifdef WITH_MPI
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
#endif
    int status = 0;
    try {
        Setup setup(argc, argv);
#ifdef WITH_MPI
        adios2::ADIOS adios(MPI_COMM_WORLD);
#else
        adios2::ADIOS adios;
#endif
        auto io = adios.DeclareIO("bench");
        io.SetEngine("SST");
        io.SetParameters({{"QueueLimit", word(argc, argv, "queue", "2")},
                          {"QueueFullPolicy", setup.late ? "Discard" : "Block"},
                          {"DataTransport", word(argc, argv, "plane", "WAN")},
                          {"MarshalMethod", "BP5"},
                          {"RendezvousReaderCount", setup.late ? "0" : "1"},
                          {"OpenTimeoutSecs", "60"}});
        bool writes = argc > 1 && std::string(argv[1]) == "writer";
        if (setup.late) writes ? write_on(io, setup) : join_late(io, setup);
        else writes ? write(io, setup) : read(io, setup);
    } catch (const std::exception &error) {
        fprintf(stderr, "sst: %s\n", error.what());
        status = 1;
    }
#ifdef WITH_MPI
    if (status) MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
#endif
    return status;
}
