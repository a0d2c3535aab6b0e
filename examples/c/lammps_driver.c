/* LAMMPS as a library. This program loads liblammps when it runs, sets a melt up, and publishes the atoms from inside
 * LAMMPS's own loop. Each rank publishes its own, wherever they are. Nothing of LAMMPS or MPI is needed to build it:
 *
 *     cc examples/c/lammps_driver.c -o lammps_driver $(pkg-config --cflags --libs flexpath) -ldl
 *     mpirun -n 4 ./lammps_driver 100 10      publishes the stream `melt`: 100 steps, every 10th of them
 *
 * FLEXPATH_LAMMPS_LIBRARY names another library file; MIN_SUBSCRIBERS how many subscribers to wait for. Programs whose
 * LAMMPS knows plugins need none of this: see integrations/lammps. */
#include <dlfcn.h>
#include <flexpath.h>
#include <stdio.h>
#include <stdlib.h>

/* The functions of LAMMPS's C library that are used, as its manual declares them. */
typedef void (*on_step_t)(void *context, int64_t step, int count, void *ids, double **positions, double **forces);
static void *(*lammps_open_no_mpi)(int argc, char **argv, void **unused);
static void (*lammps_close)(void *lammps);
static void (*lammps_mpi_finalize)(void);
static char *(*lammps_command)(void *lammps, const char *command);
static int (*lammps_extract_setting)(void *lammps, const char *name);
static void *(*lammps_extract_atom)(void *lammps, const char *name);
static void (*lammps_set_fix_external_callback)(void *lammps, const char *fix, on_step_t on_step, void *context);

enum { ID_WHOLE_NUMBERS_OF_8_BYTES = 8 };

static const char *const MELT[] = {
    "units lj",
    "atom_style atomic",
    "lattice fcc 0.8442",
    "region box block 0 6 0 6 0 6",
    "create_box 1 box",
    "create_atoms 1 box",
    "mass 1 1.0",
    "velocity all create 3.0 87287 loop geom",
    "pair_style lj/cut 2.5",
    "pair_coeff 1 1 1.0 1.0 2.5",
    "fix move all nve",
};

/* What a step is published with. */
struct output {
    void *lammps;
    flexpath_publisher *publisher;
    flexpath_variable *timestep, *id, *position, *velocity;
    int is_lead, steps;
};

static void must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "lammps_driver: %s\n", flexpath_last_error());
        exit(1);
    }
}

static uint64_t number(const char *text, uint64_t otherwise)
{
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Finds a function; a pointer to data becomes one to code in the way POSIX promises. */
static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "lammps_driver: liblammps has no %s\n", name);
        exit(1);
    }
    *(void **)function = found;
}

static void load(void)
{
    const char *named = getenv("FLEXPATH_LAMMPS_LIBRARY");
    /* Global, as Open MPI's own plugins look for it there. */
    void *library = dlopen(named ? named : "liblammps.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "lammps_driver: LAMMPS is not installed: %s\n", dlerror());
        exit(77);
    }
    find(library, "lammps_open_no_mpi", &lammps_open_no_mpi);
    find(library, "lammps_close", &lammps_close);
    find(library, "lammps_mpi_finalize", &lammps_mpi_finalize);
    find(library, "lammps_command", &lammps_command);
    find(library, "lammps_extract_setting", &lammps_extract_setting);
    find(library, "lammps_extract_atom", &lammps_extract_atom);
    find(library, "lammps_set_fix_external_callback", &lammps_set_fix_external_callback);
}

/* Puts the rows of this rank's atoms. LAMMPS moves its atoms on, so they are copied: into memory that subscribers share. */
static void put(struct output *output, flexpath_variable *variable, int rows, uint64_t columns, const void *elements)
{
    const uint64_t start[2] = {0, 0}, count[2] = {(uint64_t)rows, columns};
    must(flexpath_publisher_put(output->publisher, variable, start, count, elements));
}

/* LAMMPS calls this on every rank, in the middle of a step, with the forces known. */
static void on_step(void *context, int64_t step, int count, void *ids, double **positions, double **forces)
{
    static double none[3];
    struct output *output = context;
    double **velocities = lammps_extract_atom(output->lammps, "v");
    for (int atom = 0; atom < count; atom++) /* these are added to the forces */
        forces[atom][0] = forces[atom][1] = forces[atom][2] = 0.0;
    must(flexpath_publisher_begin_step(output->publisher, NULL));
    if (output->is_lead) must(flexpath_publisher_put(output->publisher, output->timestep, NULL, NULL, &step));
    /* The rows of one table lie one after another. */
    put(output, output->id, count, 0, count ? ids : none);
    put(output, output->position, count, 3, count ? positions[0] : none);
    put(output, output->velocity, count, 3, count ? velocities[0] : none);
    must(flexpath_publisher_end_step(output->publisher));
    output->steps++;
}

static void open_stream(struct output *output)
{
    const uint64_t three = 3;
    const char *subscribers = getenv("MIN_SUBSCRIBERS");
    const int wide = lammps_extract_setting(output->lammps, "tagint") == ID_WHOLE_NUMBERS_OF_8_BYTES;
    flexpath_options *options;
    output->is_lead = lammps_extract_setting(output->lammps, "world_rank") == 0;
    must(flexpath_options_create(&options));
    /* LAMMPS has started MPI by itself; the ranks are the launcher's. */
    must(flexpath_options_set_cohort(options, (uint32_t)lammps_extract_setting(output->lammps, "world_rank"),
                                     (uint32_t)lammps_extract_setting(output->lammps, "world_size")));
    must(flexpath_options_set(options, "MinSubscribers", subscribers ? subscribers : "0"));
    must(flexpath_variable_scalar("timestep", FLEXPATH_DTYPE_I64, &output->timestep));
    must(flexpath_variable_joined("id", wide ? FLEXPATH_DTYPE_I64 : FLEXPATH_DTYPE_I32, 0, NULL, &output->id));
    must(flexpath_variable_joined("x", FLEXPATH_DTYPE_F64, 1, &three, &output->position));
    must(flexpath_variable_joined("v", FLEXPATH_DTYPE_F64, 1, &three, &output->velocity));
    must(flexpath_publisher_open("melt", options, &output->publisher));
    must(flexpath_options_free(options));
}

static void close_stream(struct output *output)
{
    must(flexpath_publisher_close(output->publisher));
    must(flexpath_variable_free(output->timestep));
    must(flexpath_variable_free(output->id));
    must(flexpath_variable_free(output->position));
    must(flexpath_variable_free(output->velocity));
}

int main(int argc, char **argv)
{
    char *quiet[] = {argv[0], "-screen", "none", "-log", "none", "-nocite", NULL};
    const uint64_t steps = number(argc > 1 ? argv[1] : NULL, 100), every = number(argc > 2 ? argv[2] : NULL, 10);
    struct output output = {0};
    char command[128];

    load();
    output.lammps = lammps_open_no_mpi(6, quiet, NULL);
    for (size_t line = 0; line < sizeof MELT / sizeof *MELT; line++) lammps_command(output.lammps, MELT[line]);
    open_stream(&output);
    snprintf(command, sizeof command, "fix out all external pf/callback %llu 1", (unsigned long long)every);
    lammps_command(output.lammps, command);
    lammps_set_fix_external_callback(output.lammps, "out", on_step, &output);
    snprintf(command, sizeof command, "run %llu", (unsigned long long)steps);
    lammps_command(output.lammps, command);
    if (output.is_lead) printf("published %d steps\n", output.steps);
    close_stream(&output);
    lammps_close(output.lammps);
    lammps_mpi_finalize();
    return 0;
}
