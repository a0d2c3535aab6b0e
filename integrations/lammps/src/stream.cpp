// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include "cohort.h"

namespace flexpath_lammps {
namespace {

void must(flexpath_status status)
{
    if (status < 0) throw Failure(flexpath_last_error());
}

// Options that are freed when they are needed no more.
struct Chosen {
    flexpath_options *options = nullptr;
    Chosen() { must(flexpath_options_create(&options)); }
    ~Chosen() { flexpath_options_free(options); }
    Chosen(const Chosen &) = delete;
    Chosen &operator=(const Chosen &) = delete;
};

// A loan that goes back unless it was put.
struct Lent {
    flexpath_loan *loan = nullptr;
    void *memory = nullptr;
    Lent() = default;
    ~Lent()
    {
        if (loan) flexpath_loan_free(loan);
    }
    Lent(const Lent &) = delete;
    Lent &operator=(const Lent &) = delete;
};

} // namespace

Stream::Stream(const std::string &name, const Options &options, MPI_Comm world, const std::string &units,
               const std::vector<Attribute> &attributes, const std::vector<std::string> &thermo)
{
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    is_lead = rank == 0;
    Chosen chosen;
    must(set_cohort(chosen.options, world));
    for (const auto &option : options)
        must(flexpath_options_set(chosen.options, option.first.c_str(), option.second.c_str()));
    try {
        define(units, attributes, thermo);
        must(flexpath_publisher_open(name.c_str(), chosen.options, &publisher));
    } catch (...) {
        free_variables();
        throw;
    }
}

Stream::~Stream()
{
    if (publisher) flexpath_publisher_close(publisher);
    free_variables();
}

void Stream::free_variables()
{
    for (flexpath_variable *variable : all) flexpath_variable_free(variable);
    all.clear();
}

flexpath_variable *Stream::keep(flexpath_variable *made)
{
    all.push_back(made);
    return made;
}

flexpath_variable *Stream::scalar(const std::string &name, int32_t dtype)
{
    flexpath_variable *made = nullptr;
    must(flexpath_variable_scalar(name.c_str(), dtype, &made));
    return keep(made);
}

flexpath_variable *Stream::global(const std::string &name, int32_t dtype, std::vector<uint64_t> shape)
{
    flexpath_variable *made = nullptr;
    must(flexpath_variable_global(name.c_str(), dtype, static_cast<uint32_t>(shape.size()), shape.data(), &made));
    return keep(made);
}

void Stream::define(const std::string &units, const std::vector<Attribute> &attributes,
                    const std::vector<std::string> &words)
{
    timestep = scalar("timestep", FLEXPATH_DTYPE_I64);
    time = scalar("time", FLEXPATH_DTYPE_F64);
    box = global("box", FLEXPATH_DTYPE_F64, {3, 2});
    tilt = global("tilt", FLEXPATH_DTYPE_F64, {3});
    periodic = global("periodic", FLEXPATH_DTYPE_I32, {3});
    for (const std::string &word : words) thermo.push_back(scalar(name_of(word), FLEXPATH_DTYPE_F64));
    for (const Attribute &attribute : attributes) {
        flexpath_variable *made = nullptr;
        must(flexpath_variable_joined(attribute.name.c_str(), attribute.dtype, attribute.columns ? 1 : 0,
                                      &attribute.columns, &made));
        arrays.push_back({keep(made), attribute.name, attribute.row_bytes(), attribute.columns});
    }
    for (flexpath_variable *variable : all)
        must(flexpath_variable_set_attribute_text(variable, "lammps_units", units.c_str()));
}

void Stream::put(flexpath_variable *variable, const std::vector<uint64_t> &count, const void *elements)
{
    const std::vector<uint64_t> start(count.size(), 0);
    must(flexpath_publisher_put(publisher, variable, start.data(), count.data(), elements));
}

void Stream::put_frame(const Frame &frame)
{
    put(timestep, {}, &frame.timestep);
    put(time, {}, &frame.time);
    put(box, {3, 2}, frame.box);
    put(tilt, {3}, frame.tilt);
    put(periodic, {3}, frame.periodic);
    for (size_t index = 0; index < thermo.size(); index++) put(thermo[index], {}, &frame.thermo[index]);
}

const void *Stream::unread(uint64_t bytes)
{
    if (bytes > zeros_bytes || !zeros) {
        zeros.reset(std::calloc(bytes + 1, 1));
        zeros_bytes = bytes;
    }
    if (!zeros) throw Failure("no memory");
    return zeros.get();
}

bool Stream::put_rows(size_t index, uint64_t rows, const std::function<void(size_t, void *)> &fill)
{
    const Array &array = arrays[index];
    int32_t wanted = 0;
    must(flexpath_publisher_is_wanted(publisher, array.name.c_str(), &wanted));
    const uint64_t start[2] = {0, 0}, count[2] = {rows, array.columns};
    if (!wanted) {
        // So that subscribers know that it is there, and how large; the elements are not looked at.
        must(flexpath_publisher_put(publisher, array.variable, start, count, unread(rows * array.row_bytes)));
        return false;
    }
    Lent lent;
    must(flexpath_publisher_loan(publisher, array.variable, start, count, &lent.loan, &lent.memory));
    fill(index, lent.memory);
    flexpath_loan *loan = lent.loan;
    lent.loan = nullptr;
    must(flexpath_publisher_put_loan(publisher, loan));
    counted.bytes += rows * array.row_bytes;
    return true;
}

void Stream::publish(const Frame &frame, uint64_t rows, const std::function<void(size_t, void *)> &fill)
{
    must(flexpath_publisher_begin_step(publisher, nullptr));
    if (is_lead) put_frame(frame);
    bool is_wanted = false;
    for (size_t index = 0; index < arrays.size(); index++) is_wanted |= put_rows(index, rows, fill);
    must(flexpath_publisher_end_step(publisher));
    counted.steps++;
    if (is_wanted) counted.wanted_steps++;
}

} // namespace flexpath_lammps
