// SPDX-License-Identifier: GPL-2.0-only
// What LAMMPS's plugin loader takes from a plugin. Written after the documented interface ("Writing plugins" in LAMMPS's
// manual), since packaged LAMMPS does not ship its own header for it.
#ifndef FLEXPATH_PLUGIN_ABI_H
#define FLEXPATH_PLUGIN_ABI_H

extern "C" {
// What a style is and how one is made. The loader copies the structure; the texts must stay.
struct flexpath_lammps_style {
    const char *version;
    const char *kind;
    const char *name;
    const char *what;
    const char *author;
    void *creator;
    void *library;
};

// Given to the plugin when it is loaded: makes a style known to a LAMMPS.
typedef void (*flexpath_lammps_register)(flexpath_lammps_style *style, void *lammps);
}

#endif
