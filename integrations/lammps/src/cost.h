// SPDX-License-Identifier: GPL-2.0-only
// What publishing costs a rank, in CPU and wall time.
#ifndef FLEXPATH_COST_H
#define FLEXPATH_COST_H

#include <ctime>

namespace flexpath_lammps {

inline double seconds(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Readings of the three clocks: this thread's CPU, the CPU of all threads of the process, the wall.
struct Clocks {
    double thread, process, wall;
    static Clocks now()
    {
        return {seconds(CLOCK_THREAD_CPUTIME_ID), seconds(CLOCK_PROCESS_CPUTIME_ID), seconds(CLOCK_MONOTONIC)};
    }
};

// The cost of a run. Inside Flexpath counts all between beginning and ending a step, the copying of the atoms included.
class Cost {
  public:
    void restart()
    {
        begun = Clocks::now();
        inside_cpu = inside_wall = 0.0;
    }
    // CPU of the calls.
    double calls() const { return inside_cpu; }
    double calls_wall() const { return inside_wall; }
    // CPU of the process since the restart, and the part of every thread but the caller's. LAMMPS has one thread
    // (unless OpenMP is on), so the others are Flexpath's, and MPI's if it has any.
    double process() const { return seconds(CLOCK_PROCESS_CPUTIME_ID) - begun.process; }
    double others() const
    {
        const double rest = process() - (seconds(CLOCK_THREAD_CPUTIME_ID) - begun.thread);
        return rest > 0.0 ? rest : 0.0;
    }
    double wall() const { return seconds(CLOCK_MONOTONIC) - begun.wall; }

    // Counts from its making to its end.
    class Section {
      public:
        explicit Section(Cost &cost)
            : cost(cost), thread(seconds(CLOCK_THREAD_CPUTIME_ID)), wall(seconds(CLOCK_MONOTONIC))
        {
        }
        ~Section()
        {
            cost.inside_cpu += seconds(CLOCK_THREAD_CPUTIME_ID) - thread;
            cost.inside_wall += seconds(CLOCK_MONOTONIC) - wall;
        }
        Section(const Section &) = delete;
        Section &operator=(const Section &) = delete;

      private:
        Cost &cost;
        double thread, wall;
    };

  private:
    Clocks begun = Clocks::now();
    double inside_cpu = 0.0, inside_wall = 0.0;
};

} // namespace flexpath_lammps

#endif
