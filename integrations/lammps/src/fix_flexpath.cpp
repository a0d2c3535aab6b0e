// SPDX-License-Identifier: GPL-2.0-only
#include "fix_flexpath.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "input.h"
#include "modify.h"
#include "universe.h"
#include "update.h"
#include "variable.h"

#include <cstring>
#include <set>

using LAMMPS_NS::bigint;
using LAMMPS_NS::LAMMPS;
namespace utils = LAMMPS_NS::utils;

namespace flexpath_lammps {
namespace {

const char *const KEYWORDS[] = {"thermo", "option", "required"};

bool is_keyword(const char *word)
{
    for (const char *keyword : KEYWORDS)
        if (std::strcmp(word, keyword) == 0) return true;
    return false;
}

} // namespace

FixFlexpath::FixFlexpath(LAMMPS *lammps, int count, char **words) : Fix(lammps, count, words)
{
    dynamic_group_allow = 1;
    parse(count, words);
    refuse_twice();
    // As LAMMPS names the files of its partitions: log.lammps.0, log.lammps.1.
    if (universe->nworlds > 1) name += "." + std::to_string(universe->iworld);
    has_computes = !thermo.empty();
    for (const Attribute &attribute : attributes) has_computes |= static_cast<bool>(attribute.evaluate);
}

FixFlexpath::~FixFlexpath() = default;

void FixFlexpath::parse(int count, char **words)
{
    if (count < 5) error->all(FLERR, "fix flexpath: expected fix ID group flexpath N stream attributes...");
    nevery = utils::inumeric(FLERR, words[3], false, lmp);
    if (nevery < 1) error->all(FLERR, "fix flexpath: N must be 1 or more");
    name = words[4];
    int at = 5;
    for (; at < count && !is_keyword(words[at]); at++)
        attributes.push_back(attribute_of(lmp, words[at], igroup, nevery));
    while (at < count) at = parse_keyword(at, count, words);
}

int FixFlexpath::parse_keyword(int at, int count, char **words)
{
    const std::string keyword = words[at++];
    if (keyword == "thermo") {
        while (at < count && !is_keyword(words[at])) thermo.push_back(words[at++]);
        return at;
    }
    if (keyword == "option" && at + 2 <= count) {
        options.emplace_back(words[at], words[at + 1]);
        return at + 2;
    }
    if (keyword == "required" && at + 1 <= count) {
        is_required = utils::logical(FLERR, words[at], false, lmp) != 0;
        return at + 1;
    }
    error->all(FLERR, "fix flexpath: not understood from " + keyword + " on");
    return count;
}

// Names of a step's variables differ.
void FixFlexpath::refuse_twice()
{
    std::set<std::string> names = {"timestep", "time", "box", "tilt", "periodic"};
    std::vector<std::string> asked;
    for (const Attribute &attribute : attributes) asked.push_back(attribute.name);
    for (const std::string &word : thermo) asked.push_back(name_of(word));
    for (const std::string &one : asked)
        if (!names.insert(one).second) error->all(FLERR, "fix flexpath: " + one + " is published already");
}

int FixFlexpath::setmask()
{
    using namespace LAMMPS_NS::FixConst;
    return END_OF_STEP | MIN_POST_FORCE | POST_RUN;
}

bigint FixFlexpath::next_due() const
{
    return (update->ntimestep / nevery + 1) * nevery;
}

// A run begins.
void FixFlexpath::init()
{
    cost.restart();
    if (stream) at_restart = stream->published();
}

void FixFlexpath::setup(int)
{
    open();
    if (is_due(update->ntimestep) && update->ntimestep != last_published)
        publish_now();
    else
        announce();
}

void FixFlexpath::min_setup(int)
{
    open();
    if (is_due(update->ntimestep) && update->ntimestep != last_published) {
        keep();
        publish_kept();
    } else
        announce();
}

// Tells computes that they will be asked next time, so that LAMMPS tallies then what they need: energies, pressures.
void FixFlexpath::announce()
{
    if (has_computes) modify->addstep_compute_all(next_due());
}

void FixFlexpath::end_of_step()
{
    publish_now();
}

// The minimizer tries positions: the last it tried in an iteration are those it took. So an iteration is kept, and
// published when the next has begun.
void FixFlexpath::min_post_force(int)
{
    const bigint step = update->ntimestep;
    if (kept.is_waiting && kept.frame.timestep != step) publish_kept();
    const bool is_last = step - update->firststep == update->nsteps;
    if (step != last_published && (is_due(step) || is_last)) keep();
}

void FixFlexpath::post_run()
{
    if (kept.is_waiting) publish_kept();
    report();
    init();
}

// All ranks open, or none: a rank alone would wait for the others.
void FixFlexpath::open()
{
    if (stream || has_failed) return;
    std::string why;
    {
        const Cost::Section section(cost);
        try {
            stream = std::make_unique<Stream>(name, options, world, update->unit_style, attributes, thermo);
        } catch (const Failure &failure) {
            why = failure.what();
        }
    }
    refuse_together(why);
}

void FixFlexpath::refuse_together(const std::string &why)
{
    int mine = why.empty() ? comm->nprocs : comm->me, first = 0;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world);
    if (first == comm->nprocs) return;
    char text[512] = {};
    std::strncpy(text, why.c_str(), sizeof text - 1);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, world);
    stream.reset();
    has_failed = true;
    const std::string said = "Flexpath stream " + name + ", rank " + std::to_string(first) + ": " + text;
    if (is_required) error->all(FLERR, said);
    if (comm->me == 0) error->warning(FLERR, said + "; the run goes on without it");
}

// What all ranks must do together for a step, whether anybody wants it or not. Ranks learn at different steps that
// somebody does.
void FixFlexpath::evaluate()
{
    if (!has_computes) return;
    modify->clearstep_compute();
    for (const Attribute &attribute : attributes)
        if (attribute.evaluate) attribute.evaluate();
    thermo_values.clear();
    for (const std::string &word : thermo) thermo_values.push_back(input->variable->compute_equal(word));
    modify->addstep_compute(next_due());
}

Frame FixFlexpath::frame() const
{
    Frame made;
    made.timestep = update->ntimestep;
    made.time = update->atime + static_cast<double>(update->ntimestep - update->atimestep) * update->dt;
    for (int side = 0; side < 3; side++) {
        made.box[2 * side] = domain->boxlo[side];
        made.box[2 * side + 1] = domain->boxhi[side];
        made.periodic[side] = domain->periodicity[side];
    }
    made.tilt[0] = domain->xy;
    made.tilt[1] = domain->xz;
    made.tilt[2] = domain->yz;
    made.thermo = thermo_values;
    return made;
}

Rows FixFlexpath::rows() const
{
    Rows made;
    made.is_all = igroup == 0;
    made.count = atom->nlocal;
    if (made.is_all) return made;
    for (int row = 0; row < atom->nlocal; row++)
        if (atom->mask[row] & groupbit) made.chosen.push_back(row);
    made.count = static_cast<int>(made.chosen.size());
    return made;
}

void FixFlexpath::publish_now()
{
    if (has_failed) return;
    evaluate();
    guarded([this] {
        const Rows own = rows();
        stream->publish(frame(), own.count,
                        [&](size_t index, void *memory) { attributes[index].fill(own, memory); });
    });
    last_published = update->ntimestep;
}

void FixFlexpath::keep()
{
    if (has_failed) return;
    evaluate();
    const Rows own = rows();
    kept.frame = frame();
    kept.rows = own.count;
    kept.columns.resize(attributes.size());
    for (size_t index = 0; index < attributes.size(); index++) {
        kept.columns[index].resize(own.count * attributes[index].row_bytes() + 1);
        attributes[index].fill(own, kept.columns[index].data());
    }
    kept.is_waiting = true;
}

void FixFlexpath::publish_kept()
{
    kept.is_waiting = false;
    guarded([this] {
        stream->publish(kept.frame, kept.rows, [this](size_t index, void *memory) {
            std::memcpy(memory, kept.columns[index].data(), kept.rows * attributes[index].row_bytes());
        });
    });
    last_published = kept.frame.timestep;
}

// A stream that fails in mid-run is closed, which the other ranks are told; the simulation goes on.
void FixFlexpath::guarded(const std::function<void()> &what)
{
    if (has_failed) return;
    const Cost::Section section(cost);
    try {
        what();
    } catch (const Failure &failure) {
        std::fprintf(stderr, "WARNING: Flexpath stream %s ends on rank %d at step " BIGINT_FORMAT ": %s\n", name.c_str(),
                     comm->me, update->ntimestep, failure.what());
        has_failed = true;
        stream.reset();
    }
}

double FixFlexpath::memory_usage()
{
    double bytes = 0.0;
    for (const auto &column : kept.columns) bytes += static_cast<double>(column.capacity());
    return bytes;
}

// What the run's publishing cost, of all ranks together.
void FixFlexpath::report()
{
    const Published now = stream ? stream->published() : at_restart;
    double mine[7] = {cost.calls(),
                      cost.others(),
                      cost.process(),
                      static_cast<double>(now.bytes - at_restart.bytes),
                      cost.calls_wall(),
                      static_cast<double>(now.steps - at_restart.steps),
                      static_cast<double>(now.wanted_steps - at_restart.wanted_steps)};
    double sum[4] = {}, most[3] = {};
    const double wall = cost.wall();
    MPI_Reduce(mine, sum, 4, MPI_DOUBLE, MPI_SUM, 0, world);
    MPI_Reduce(mine + 4, most, 3, MPI_DOUBLE, MPI_MAX, 0, world);
    if (comm->me != 0 || most[1] == 0.0) return;
    char text[1024];
    std::snprintf(text, sizeof text,
                  "Flexpath stream %s: %.0f steps, %.0f of them wanted by a subscriber, %.1f MiB of atoms\n"
                  "Flexpath CPU: calls %.4f s + other threads %.4f s = %.3f %% of the run's %.2f s\n"
                  "Flexpath wall: calls %.4f s (slowest rank) = %.3f %% of %.2f s\n"
                  "Flexpath leaves out of both: computes, variables and thermo words, which LAMMPS evaluates on published "
                  "steps; of CPU: waiting for a first subscriber or for room, which is in the wall time\n",
                  name.c_str(), most[1], most[2], sum[3] / 1048576.0, sum[0], sum[1],
                  100.0 * (sum[0] + sum[1]) / sum[2], sum[2], most[0], 100.0 * most[0] / wall, wall);
    utils::logmesg(lmp, std::string(text));
}

} // namespace flexpath_lammps
