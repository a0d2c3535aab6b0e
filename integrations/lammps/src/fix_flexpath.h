// SPDX-License-Identifier: GPL-2.0-only
// fix ID group flexpath N stream attributes... [thermo words...] [option NAME VALUE]... [required yes|no]
#ifndef FLEXPATH_FIX_H
#define FLEXPATH_FIX_H

#include "fix.h"

#include "cost.h"
#include "stream.h"

#include <memory>
#include <string>
#include <vector>

namespace flexpath_lammps {

class FixFlexpath : public LAMMPS_NS::Fix {
  public:
    FixFlexpath(LAMMPS_NS::LAMMPS *lammps, int count, char **words);
    ~FixFlexpath() override;

    int setmask() override;
    void init() override;
    void setup(int) override;
    void min_setup(int) override;
    void end_of_step() override;
    void min_post_force(int) override;
    void post_run() override;
    double memory_usage() override;

    const std::string &stream_name() const { return name; }

  private:
    // A step of a minimizer: kept until it is certain that its last forces were the ones accepted.
    struct Kept {
        Frame frame;
        uint64_t rows = 0;
        std::vector<std::vector<char>> columns;
        bool is_waiting = false;
    };

    void parse(int count, char **words);
    int parse_keyword(int at, int count, char **words);
    void refuse_twice();
    bool is_due(LAMMPS_NS::bigint step) const { return step % nevery == 0; }
    LAMMPS_NS::bigint next_due() const;

    void open();
    void refuse_together(const std::string &why);
    void announce();
    void evaluate();
    Frame frame() const;
    Rows rows() const;
    void publish_now();
    void keep();
    void publish_kept();
    void guarded(const std::function<void()> &what);
    void report();

    std::string name;
    std::vector<Attribute> attributes;
    std::vector<std::string> thermo;
    std::vector<double> thermo_values;
    Stream::Options options;
    // Whether a stream that cannot be opened ends the run, or the run goes on without it.
    bool is_required = true;
    bool has_failed = false;
    // Whether anything published is computed for it, by all ranks together.
    bool has_computes = false;
    std::unique_ptr<Stream> stream;
    Kept kept;
    LAMMPS_NS::bigint last_published = -1;
    Published at_restart;
    Cost cost;
};

} // namespace flexpath_lammps

#endif
