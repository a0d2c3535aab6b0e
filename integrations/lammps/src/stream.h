// SPDX-License-Identifier: GPL-2.0-only
// A stream that a cohort of LAMMPS's ranks publishes: atoms as joined arrays, box and scalars put by rank 0.
#ifndef FLEXPATH_STREAM_H
#define FLEXPATH_STREAM_H

#include "attribute.h"

#include <flexpath.h>
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace flexpath_lammps {

// What Flexpath refused, in its own words.
class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// All of a step that is not said of single atoms.
struct Frame {
    int64_t timestep = 0;
    double time = 0.0;
    // Low and high side in each direction; tilt xy, xz, yz; 1 where the box repeats itself.
    double box[6] = {}, tilt[3] = {};
    int32_t periodic[3] = {};
    std::vector<double> thermo;
};

// What has been put so far by this rank.
struct Published {
    uint64_t steps = 0, wanted_steps = 0, bytes = 0;
};

class Stream {
  public:
    using Options = std::vector<std::pair<std::string, std::string>>;

    // Opens it, with all ranks of `world`; waits at most as long as the options allow. Throws Failure.
    Stream(const std::string &name, const Options &options, MPI_Comm world, const std::string &units,
           const std::vector<Attribute> &attributes, const std::vector<std::string> &thermo);
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    // Publishes a step: `fill(k, memory)` writes attribute k of `rows` atoms, and is called only for what some
    // subscriber wants. No rank waits for another here, unless one is several steps ahead. Throws Failure.
    void publish(const Frame &frame, uint64_t rows, const std::function<void(size_t, void *)> &fill);

    const Published &published() const { return counted; }

  private:
    struct Array {
        flexpath_variable *variable;
        std::string name;
        uint64_t row_bytes, columns;
    };

    void define(const std::string &units, const std::vector<Attribute> &attributes,
                const std::vector<std::string> &thermo);
    flexpath_variable *keep(flexpath_variable *made);
    flexpath_variable *scalar(const std::string &name, int32_t dtype);
    flexpath_variable *global(const std::string &name, int32_t dtype, std::vector<uint64_t> shape);
    void put(flexpath_variable *variable, const std::vector<uint64_t> &count, const void *elements);
    void put_frame(const Frame &frame);
    // Memory that may be pointed at where nobody looks: zeros. The system hands out no page of it until it is read.
    const void *unread(uint64_t bytes);
    bool put_rows(size_t index, uint64_t rows, const std::function<void(size_t, void *)> &fill);
    void free_variables();

    bool is_lead = false;
    flexpath_publisher *publisher = nullptr;
    flexpath_variable *timestep = nullptr, *time = nullptr, *box = nullptr, *tilt = nullptr, *periodic = nullptr;
    std::vector<flexpath_variable *> thermo, all;
    std::vector<Array> arrays;
    Published counted;
    std::unique_ptr<void, decltype(&std::free)> zeros{nullptr, &std::free};
    uint64_t zeros_bytes = 0;
};

} // namespace flexpath_lammps

#endif
