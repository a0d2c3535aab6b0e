// SPDX-License-Identifier: GPL-2.0-only
// What can be said of an atom: the words that users of `dump custom` know, as columns of numbers.
#ifndef FLEXPATH_ATTRIBUTE_H
#define FLEXPATH_ATTRIBUTE_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class LAMMPS;
}

namespace flexpath_lammps {

// The own atoms that are published: all, or those of a group.
struct Rows {
    bool is_all = true;
    int count = 0;
    std::vector<int> chosen;
    int operator[](int row) const { return is_all ? row : chosen[row]; }
};

struct Attribute {
    std::string name;
    int32_t dtype = 0;
    // Numbers for each atom; 0 for a plain list of one.
    uint64_t columns = 0;
    // Called by all ranks before filling; may communicate. Empty where there is nothing to compute.
    std::function<void()> evaluate;
    // Writes the numbers of these atoms, row by row.
    std::function<void(const Rows &, void *)> fill;

    uint64_t row_bytes() const;
};

// The attribute of that word. A word that is none ends the run with a text, as LAMMPS's own commands do.
Attribute attribute_of(LAMMPS_NS::LAMMPS *lammps, const std::string &word, int group, int every);

// A name as streams have it: `c_stress[2]` is `c_stress_2`.
std::string name_of(const std::string &word);

} // namespace flexpath_lammps

#endif
