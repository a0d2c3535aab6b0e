// SPDX-License-Identifier: GPL-2.0-only
#include "environment.h"

#include "fix_flexpath.h"

#include "command.h"
#include "domain.h"
#include "error.h"
#include "group.h"
#include "input.h"
#include "modify.h"

#include <cstdlib>
#include <memory>
#include <sstream>

using LAMMPS_NS::LAMMPS;
using Creator = LAMMPS_NS::Input::CommandCreator;

namespace flexpath_lammps {
namespace {

const char *const VARIABLE = "FLEXPATH_LAMMPS";
const char *const FIX = "FLEXPATH_ENVIRONMENT";

// What rank 0 found in the environment: the others may have been started without it.
std::string asked;

std::string from_rank_0(MPI_Comm world)
{
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    const char *found = rank == 0 ? std::getenv(VARIABLE) : nullptr;
    std::string text = found ? found : "";
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, world);
    text.resize(length);
    MPI_Bcast(&text[0], length, MPI_CHAR, 0, world);
    return text;
}

std::string spaced(std::string list)
{
    for (char &letter : list)
        if (letter == ',') letter = ' ';
    return list;
}

// `every=10 stream=melt attributes=id,x thermo=temp,pe group=all SkewSteps=8` as the words of a fix command.
std::string fix_command(LAMMPS *lammps, std::string &stream)
{
    std::string group = "all", every = "100", attributes = "id type x v", thermo, options;
    stream = "lammps";
    std::istringstream words(asked);
    for (std::string word; words >> word;) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
            lammps->error->all(FLERR, std::string(VARIABLE) + ": " + word + " is no name=value");
        const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
        if (key == "every") every = value;
        else if (key == "stream") stream = value;
        else if (key == "attributes") attributes = spaced(value);
        else if (key == "thermo") thermo = " thermo " + spaced(value);
        else if (key == "group") group = value;
        else options += " option " + key + " " + value;
    }
    return std::string(FIX) + " " + group + " flexpath " + every + " " + stream + " " + attributes + thermo + options +
           " required no";
}

bool is_published_already(LAMMPS *lammps, const std::string &stream)
{
    for (const LAMMPS_NS::Fix *fix : lammps->modify->get_fix_by_style("flexpath")) {
        const auto *ours = dynamic_cast<const FixFlexpath *>(fix);
        if (ours && ours->stream_name().compare(0, stream.size(), stream) == 0) return true;
    }
    return false;
}

// Adds the fix before the first run of a box: it stays for the runs that follow, until `clear`.
void add_fix(LAMMPS *lammps)
{
    if (!lammps->domain->box_exist || lammps->modify->get_fix_by_id(FIX)) return;
    // As after `plugin unload fix flexpath`.
    if (lammps->modify->fix_map->count("flexpath") == 0) return;
    std::string stream;
    const std::string command = fix_command(lammps, stream);
    if (!is_published_already(lammps, stream)) lammps->modify->add_fix(command);
}

// The commands as they were: the same for every LAMMPS of the process.
Creator original_run = nullptr, original_minimize = nullptr;

// A command that adds the fix and then does what it always did.
template <Creator &original> class Publishing : public LAMMPS_NS::Command {
  public:
    explicit Publishing(LAMMPS *lammps) : Command(lammps) {}
    void command(int count, char **words) override
    {
        add_fix(lmp);
        const std::unique_ptr<Command> wrapped(original(lmp));
        wrapped->command(count, words);
    }
};

template <Creator &original> LAMMPS_NS::Command *publishing(LAMMPS *lammps)
{
    return new Publishing<original>(lammps);
}

template <Creator &original> void wrap(LAMMPS *lammps, const char *command)
{
    auto &commands = *lammps->input->command_map;
    const auto found = commands.find(command);
    const Creator wrapper = &publishing<original>;
    if (found == commands.end() || found->second == wrapper) return;
    original = found->second;
    found->second = wrapper;
}

} // namespace

void publish_as_environment_says(LAMMPS *lammps)
{
    asked = from_rank_0(lammps->world);
    if (asked.empty()) return;
    wrap<original_run>(lammps, "run");
    wrap<original_minimize>(lammps, "minimize");
}

} // namespace flexpath_lammps
