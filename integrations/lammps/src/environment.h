// SPDX-License-Identifier: GPL-2.0-only
// Publishing without a word in the input: asked for by the variable FLEXPATH_LAMMPS of the environment.
#ifndef FLEXPATH_ENVIRONMENT_H
#define FLEXPATH_ENVIRONMENT_H

namespace LAMMPS_NS {
class LAMMPS;
}

namespace flexpath_lammps {

// Where FLEXPATH_LAMMPS is set on rank 0, wraps the commands `run` and `minimize`, so that they add a fix flexpath first.
// All ranks must call it.
void publish_as_environment_says(LAMMPS_NS::LAMMPS *lammps);

} // namespace flexpath_lammps

#endif
