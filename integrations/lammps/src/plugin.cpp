// SPDX-License-Identifier: GPL-2.0-only
// Where LAMMPS enters: found on LAMMPS_PLUGIN_PATH, or by `plugin load flexpathplugin.so`.
#include "environment.h"
#include "fix_flexpath.h"
#include "plugin_abi.h"

#include "library.h"
#include "modify.h"

namespace {

LAMMPS_NS::Fix *make_fix(LAMMPS_NS::LAMMPS *lammps, int count, char **words)
{
    return new flexpath_lammps::FixFlexpath(lammps, count, words);
}

// A plugin reaches into LAMMPS's objects, whose layout another version may have changed.
bool is_built_for(void *lammps)
{
    const int found = lammps_version(lammps);
    if (found == FLEXPATH_LAMMPS_VERSION) return true;
    std::fprintf(stderr, "WARNING: flexpathplugin.so was built for LAMMPS %d, this is %d: not loaded. Build it again.\n",
                 FLEXPATH_LAMMPS_VERSION, found);
    return false;
}

} // namespace

extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lammps, void *library, void *registers)
{
    if (!is_built_for(lammps)) return;
    flexpath_lammps_style style = {};
    style.version = FLEXPATH_LAMMPS_VERSION_TEXT;
    style.kind = "fix";
    style.name = "flexpath";
    style.what = "fix flexpath: publishes atoms while the run goes on";
    style.author = "Flexpath";
    style.creator = reinterpret_cast<void *>(&make_fix);
    style.library = library;
    reinterpret_cast<flexpath_lammps_register>(registers)(&style, lammps);
    auto *instance = static_cast<LAMMPS_NS::LAMMPS *>(lammps);
    // The loader keeps one list for all LAMMPS of a process, and passes over what it knows: a second LAMMPS would have
    // no fix.
    (*instance->modify->fix_map)[style.name] = &make_fix;
    flexpath_lammps::publish_as_environment_says(instance);
}
