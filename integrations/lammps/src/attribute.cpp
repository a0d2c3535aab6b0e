// SPDX-License-Identifier: GPL-2.0-only
#include "attribute.h"

#include "atom.h"
#include "compute.h"
#include "domain.h"
#include "error.h"
#include "fix.h"
#include "input.h"
#include "library.h"
#include "modify.h"
#include "update.h"
#include "variable.h"

#include <flexpath.h>

#include <cstdlib>
#include <cstring>
#include <memory>

using LAMMPS_NS::LAMMPS;

namespace flexpath_lammps {
namespace {

// A word that is one column of a vector.
struct Component {
    const char *word;
    const char *vector;
    int column;
};

const Component COMPONENTS[] = {
    {"vx", "v", 0},        {"vy", "v", 1},        {"vz", "v", 2},        {"fx", "f", 0},      {"fy", "f", 1},
    {"fz", "f", 2},        {"ix", "image", 0},    {"iy", "image", 1},    {"iz", "image", 2},  {"mux", "mu", 0},
    {"muy", "mu", 1},      {"muz", "mu", 2},      {"omegax", "omega", 0}, {"omegay", "omega", 1},
    {"omegaz", "omega", 2}, {"tqx", "torque", 0}, {"tqy", "torque", 1},  {"tqz", "torque", 2},
};

constexpr int EVERY_COLUMN = -1;

[[noreturn]] void refuse(LAMMPS *lammps, const std::string &why)
{
    lammps->error->all(FLERR, "fix flexpath: " + why);
    std::abort();
}

template <class T> void copy_list(const T *list, const Rows &rows, T *to)
{
    if (rows.is_all) {
        if (rows.count > 0) std::memcpy(to, list, sizeof(T) * rows.count);
        return;
    }
    for (int row = 0; row < rows.count; row++) to[row] = list[rows[row]];
}

template <class T> void copy_rows(T *const *table, int columns, int column, const Rows &rows, T *to)
{
    if (column != EVERY_COLUMN) {
        for (int row = 0; row < rows.count; row++) to[row] = table[rows[row]][column];
        return;
    }
    for (int row = 0; row < rows.count; row++) std::memcpy(to + row * columns, table[rows[row]], sizeof(T) * columns);
}

// Data that LAMMPS keeps for each atom under that name, found anew each time: its arrays move.
void fill_kept(LAMMPS *lammps, const std::string &name, int datatype, int columns, int column, const Rows &rows, void *to)
{
    void *from = lammps->atom->extract(name.c_str());
    switch (datatype) {
    case LAMMPS_INT: return copy_list(static_cast<int *>(from), rows, static_cast<int *>(to));
    case LAMMPS_INT64: return copy_list(static_cast<int64_t *>(from), rows, static_cast<int64_t *>(to));
    case LAMMPS_DOUBLE: return copy_list(static_cast<double *>(from), rows, static_cast<double *>(to));
    case LAMMPS_INT_2D: return copy_rows(static_cast<int **>(from), columns, column, rows, static_cast<int *>(to));
    case LAMMPS_INT64_2D:
        return copy_rows(static_cast<int64_t **>(from), columns, column, rows, static_cast<int64_t *>(to));
    default: return copy_rows(static_cast<double **>(from), columns, column, rows, static_cast<double *>(to));
    }
}

int32_t dtype_of(int datatype)
{
    if (datatype == LAMMPS_INT || datatype == LAMMPS_INT_2D) return FLEXPATH_DTYPE_I32;
    return datatype == LAMMPS_INT64 || datatype == LAMMPS_INT64_2D ? FLEXPATH_DTYPE_I64 : FLEXPATH_DTYPE_F64;
}

Attribute kept(LAMMPS *lammps, const std::string &word, const std::string &vector, int column)
{
    const int datatype = lammps->atom->extract_datatype(vector.c_str());
    if (datatype < LAMMPS_INT || datatype > LAMMPS_INT64_2D || !lammps->atom->extract(vector.c_str()))
        refuse(lammps, "atoms here have no " + word);
    const bool is_table = datatype == LAMMPS_INT_2D || datatype == LAMMPS_DOUBLE_2D || datatype == LAMMPS_INT64_2D;
    const int columns = is_table ? lammps->atom->extract_size(vector.c_str(), LMP_SIZE_COLS) : 0;
    if (column >= columns && column != EVERY_COLUMN) refuse(lammps, "atoms here have no " + word);
    Attribute made;
    made.dtype = dtype_of(datatype);
    made.columns = column == EVERY_COLUMN ? columns : 0;
    made.fill = [=](const Rows &rows, void *to) { fill_kept(lammps, vector, datatype, columns, column, rows, to); };
    return made;
}

// How often an atom left the box on each side.
Attribute image(LAMMPS *lammps, int column)
{
    Attribute made;
    made.dtype = FLEXPATH_DTYPE_I32;
    made.columns = column == EVERY_COLUMN ? 3 : 0;
    made.fill = [=](const Rows &rows, void *to) {
        int *out = static_cast<int *>(to);
        for (int row = 0; row < rows.count; row++) {
            const LAMMPS_NS::imageint flags = lammps->atom->image[rows[row]];
            const int turns[3] = {static_cast<int>((flags & IMGMASK) - IMGMAX),
                                  static_cast<int>((flags >> IMGBITS & IMGMASK) - IMGMAX),
                                  static_cast<int>((flags >> IMG2BITS) - IMGMAX)};
            if (column == EVERY_COLUMN)
                std::memcpy(out + 3 * row, turns, sizeof turns);
            else
                out[row] = turns[column];
        }
    };
    return made;
}

// Positions as if the box had no sides: followed through every periodic turn.
Attribute unwrapped(LAMMPS *lammps)
{
    Attribute made;
    made.dtype = FLEXPATH_DTYPE_F64;
    made.columns = 3;
    made.fill = [=](const Rows &rows, void *to) {
        double *out = static_cast<double *>(to);
        for (int row = 0; row < rows.count; row++)
            lammps->domain->unmap(lammps->atom->x[rows[row]], lammps->atom->image[rows[row]], out + 3 * row);
    };
    return made;
}

// The mass of each atom, where LAMMPS has one for each type as well.
Attribute mass(LAMMPS *lammps)
{
    Attribute made;
    made.dtype = FLEXPATH_DTYPE_F64;
    made.fill = [=](const Rows &rows, void *to) {
        const LAMMPS_NS::Atom *atom = lammps->atom;
        double *out = static_cast<double *>(to);
        for (int row = 0; row < rows.count; row++)
            out[row] = atom->rmass ? atom->rmass[rows[row]] : atom->mass[atom->type[rows[row]]];
    };
    return made;
}

// `c_ID` or `c_ID[2]`: the id, and the column from 0 or EVERY_COLUMN.
struct Reference {
    std::string id;
    int column = EVERY_COLUMN;
};

Reference reference_of(LAMMPS *lammps, const std::string &word)
{
    Reference made;
    const size_t open = word.find('[');
    made.id = word.substr(2, open == std::string::npos ? open : open - 2);
    if (open == std::string::npos) return made;
    char *end = nullptr;
    made.column = static_cast<int>(std::strtol(word.c_str() + open + 1, &end, 10)) - 1;
    if (std::strcmp(end, "]") != 0 || made.column < 0) refuse(lammps, word + " has no column number in its brackets");
    return made;
}

// What computes and fixes both have: one number for each atom, or a row of `columns`.
template <class Source> void fill_source(const Source *source, int columns, int column, const Rows &rows, double *to)
{
    if (columns == 0) return copy_list(static_cast<const double *>(source->vector_atom), rows, to);
    copy_rows(source->array_atom, columns, column, rows, to);
}

template <class Source> Attribute column_of(LAMMPS *lammps, const std::string &word, const Source *source, int column)
{
    if (!source) refuse(lammps, "there is no " + word);
    const int columns = source->size_peratom_cols;
    if (!source->peratom_flag) refuse(lammps, word + " gives nothing for each atom");
    if (column != EVERY_COLUMN && column >= columns) refuse(lammps, word + " has no such column");
    Attribute made;
    made.dtype = FLEXPATH_DTYPE_F64;
    made.columns = column == EVERY_COLUMN ? columns : 0;
    return made;
}

LAMMPS_NS::Compute *compute_now(LAMMPS *lammps, const std::string &id)
{
    LAMMPS_NS::Compute *compute = lammps->modify->get_compute_by_id(id);
    if (!compute) refuse(lammps, "compute " + id + " is gone");
    return compute;
}

Attribute of_compute(LAMMPS *lammps, const std::string &word)
{
    const Reference asked = reference_of(lammps, word);
    const std::string id = asked.id;
    const int column = asked.column;
    Attribute made = column_of(lammps, word, lammps->modify->get_compute_by_id(id), column);
    made.evaluate = [=] {
        LAMMPS_NS::Compute *compute = compute_now(lammps, id);
        if (compute->invoked_flag & LAMMPS_NS::Compute::INVOKED_PERATOM) return;
        compute->compute_peratom();
        compute->invoked_flag |= LAMMPS_NS::Compute::INVOKED_PERATOM;
    };
    made.fill = [=](const Rows &rows, void *to) {
        const LAMMPS_NS::Compute *compute = compute_now(lammps, id);
        fill_source(compute, compute->size_peratom_cols, column, rows, static_cast<double *>(to));
    };
    return made;
}

LAMMPS_NS::Fix *fix_now(LAMMPS *lammps, const std::string &id)
{
    LAMMPS_NS::Fix *fix = lammps->modify->get_fix_by_id(id);
    if (!fix) refuse(lammps, "fix " + id + " is gone");
    return fix;
}

Attribute of_fix(LAMMPS *lammps, const std::string &word, int every)
{
    const Reference asked = reference_of(lammps, word);
    const std::string id = asked.id;
    const int column = asked.column;
    const LAMMPS_NS::Fix *fix = lammps->modify->get_fix_by_id(id);
    Attribute made = column_of(lammps, word, fix, column);
    if (fix->peratom_freq < 1 || every % fix->peratom_freq != 0)
        refuse(lammps, word + " is not computed on every step that is published");
    made.fill = [=](const Rows &rows, void *to) {
        const LAMMPS_NS::Fix *now = fix_now(lammps, id);
        fill_source(now, now->size_peratom_cols, column, rows, static_cast<double *>(to));
    };
    return made;
}

Attribute of_variable(LAMMPS *lammps, const std::string &word, int group)
{
    const std::string name = word.substr(2);
    LAMMPS_NS::Variable *variable = lammps->input->variable;
    const int found = variable->find(name.c_str());
    if (found < 0 || !variable->atomstyle(found)) refuse(lammps, word + " is no atom-style variable");
    const auto values = std::make_shared<std::vector<double>>();
    Attribute made;
    made.dtype = FLEXPATH_DTYPE_F64;
    made.evaluate = [=] {
        const int now = lammps->input->variable->find(name.c_str());
        if (now < 0) refuse(lammps, "variable " + name + " is gone");
        values->resize(lammps->atom->nlocal + 1);
        lammps->input->variable->compute_atom(now, group, values->data(), 1, 0);
    };
    made.fill = [=](const Rows &rows, void *to) {
        copy_list(static_cast<const double *>(values->data()), rows, static_cast<double *>(to));
    };
    return made;
}

Attribute vector_of(LAMMPS *lammps, const std::string &word, const std::string &vector, int column)
{
    if (vector == "image") return image(lammps, column);
    if (vector == "xu") return unwrapped(lammps);
    return kept(lammps, word, vector, column);
}

Attribute found(LAMMPS *lammps, const std::string &word, int group, int every)
{
    const std::string prefix = word.substr(0, 2);
    if (prefix == "c_") return of_compute(lammps, word);
    if (prefix == "f_") return of_fix(lammps, word, every);
    if (prefix == "v_") return of_variable(lammps, word, group);
    if (word == "mass") return mass(lammps);
    if (word == "mol") return kept(lammps, word, "molecule", EVERY_COLUMN);
    if (word == "y" || word == "z") refuse(lammps, "x is the position, of three columns: there is no " + word);
    for (const Component &component : COMPONENTS)
        if (word == component.word) return vector_of(lammps, word, component.vector, component.column);
    return vector_of(lammps, word, word, EVERY_COLUMN);
}

} // namespace

uint64_t Attribute::row_bytes() const
{
    return (dtype == FLEXPATH_DTYPE_I32 ? 4 : 8) * (columns ? columns : 1);
}

std::string name_of(const std::string &word)
{
    std::string name;
    for (const char letter : word) {
        if (letter == '[') name += '_';
        else if (letter != ']') name += letter;
    }
    return name;
}

Attribute attribute_of(LAMMPS *lammps, const std::string &word, int group, int every)
{
    Attribute made = found(lammps, word, group, every);
    made.name = name_of(word);
    return made;
}

} // namespace flexpath_lammps
