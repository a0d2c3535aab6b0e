/* An unstructured mesh under MPI, as Conduit's Blueprint names one: each rank is a domain, a cube of hexahedra, each cut
 * into six tetrahedra. Hills pass through the values of points and elements, while the mesh stays as it is.
 *
 *     mpirun -n 4 tetrahedra [steps [subscribers to wait for [cells along a side]]]
 *     flexpath check tetrahedra
 *
 * A dot stands where Blueprint has a slash: docs/conventions.md. */
#include <flexpath_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT_SIDE = 64, TETRAHEDRA = 6 };

static int rank, size, side = 4;

static void must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "tetrahedra, rank %d: %s\n", rank, flexpath_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The texts of the convention: they are scalars, the same on all ranks. */
static const char *const texts[][2] = {
    {"coordsets.coords.type", "explicit"},
    {"topologies.mesh.type", "unstructured"},
    {"topologies.mesh.coordset", "coords"},
    {"topologies.mesh.elements.shape", "tet"},
    {"fields.height.association", "vertex"},
    {"fields.height.topology", "mesh"},
    {"fields.density.association", "element"},
    {"fields.density.topology", "mesh"},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* The lists of a domain. */
enum { X, Y, Z, CONNECTIVITY, HEIGHT, DENSITY, LISTS };
static const char *const names[LISTS] = {
    "coordsets.coords.values.x", "coordsets.coords.values.y",
    "coordsets.coords.values.z", "topologies.mesh.elements.connectivity",
    "fields.height.values",      "fields.density.values",
};

/* Which point is at a corner, counted within this rank. */
static int32_t point(int z, int y, int x)
{
    return (int32_t)((z * (side + 1) + y) * (side + 1) + x);
}

/* A cube is six tetrahedra around the diagonal from its low to its high corner: each goes along the edges of the cube in
 * another order of the axes. Half of the orders turn the other way, so two points change places there. */
static void cut(int32_t *to, int z, int y, int x)
{
    static const int orders[TETRAHEDRA][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    for (int t = 0; t < TETRAHEDRA; t++, to += 4) {
        int at[3] = {x, y, z};
        for (int corner = 0; corner < 4; corner++) {
            const int place = t < 3 || corner == 0 || corner == 3 ? corner : 3 - corner;
            to[place] = point(at[2], at[1], at[0]);
            if (corner < 3)
                at[orders[t][corner]]++;
        }
    }
}

/* Hills one behind the other, which come nearer from step to step: 0 between them, 1 at the top. */
static double wave(double x, double y, double z, uint64_t step)
{
    const double turns = 0.5 * x + 0.25 * y + 0.125 * z + 0.03 * (double)step;
    const double part = turns - (double)(uint64_t)turns;
    return 4 * part * (1 - part);
}

/* The mesh: cubes of the ranks stand in a row along x. */
static void make_mesh(double *const lists[LISTS], int32_t *connectivity)
{
    for (int z = 0; z <= side; z++)
        for (int y = 0; y <= side; y++)
            for (int x = 0; x <= side; x++) {
                const int32_t at = point(z, y, x);
                lists[X][at] = rank + (double)x / side;
                lists[Y][at] = (double)y / side;
                lists[Z][at] = (double)z / side;
                if (x < side && y < side && z < side)
                    cut(connectivity + ((z * side + y) * side + x) * TETRAHEDRA * 4, z, y, x);
            }
}

/* Values of points, and of elements where their middle is. */
static void move(double *const lists[LISTS], const int32_t *connectivity, const uint64_t len[LISTS], uint64_t step)
{
    for (uint64_t at = 0; at < len[HEIGHT]; at++)
        lists[HEIGHT][at] = wave(lists[X][at], lists[Y][at], lists[Z][at], step);
    for (uint64_t element = 0; element < len[DENSITY]; element++) {
        double middle[3] = {0, 0, 0};
        for (int corner = 0; corner < 4; corner++)
            for (int axis = 0; axis < 3; axis++)
                middle[axis] += lists[axis][connectivity[element * 4 + (uint64_t)corner]] / 4;
        lists[DENSITY][element] = 2 + wave(middle[0], middle[1], middle[2], step);
    }
}

static flexpath_publisher *open_stream(const char *subscribers)
{
    flexpath_options *options;
    flexpath_publisher *opened;
    must(flexpath_options_create(&options));
    must(flexpath_options_set_cohort_mpi(options, MPI_COMM_WORLD));
    must(flexpath_options_set(options, "RendezvousReaderCount", subscribers));
    must(flexpath_publisher_open("tetrahedra", options, &opened));
    must(flexpath_options_free(options));
    return opened;
}

static void publish(flexpath_publisher *publisher, uint64_t steps, double *const lists[LISTS],
                    const int32_t *connectivity, const uint64_t len[LISTS])
{
    flexpath_variable *of_text[TEXTS], *of_list[LISTS];
    for (int i = 0; i < TEXTS; i++)
        must(flexpath_variable_scalar(texts[i][0], FLEXPATH_DTYPE_STRING, &of_text[i]));
    for (int i = 0; i < LISTS; i++)
        must(flexpath_variable_local(names[i], i == CONNECTIVITY ? FLEXPATH_DTYPE_I32 : FLEXPATH_DTYPE_F64, 1,
                                     &of_list[i]));
    for (uint64_t step = 0; step < steps; step++) {
        move(lists, connectivity, len, step);
        must(flexpath_publisher_begin_step(publisher, NULL));
        for (int i = 0; i < TEXTS; i++)
            must(flexpath_publisher_put_text(publisher, of_text[i], texts[i][1]));
        for (int i = 0; i < LISTS; i++)
            must(flexpath_publisher_put(publisher, of_list[i], NULL, &len[i],
                                        i == CONNECTIVITY ? (const void *)connectivity : lists[i]));
        must(flexpath_publisher_end_step(publisher));
    }
    for (int i = 0; i < TEXTS; i++)
        must(flexpath_variable_free(of_text[i]));
    for (int i = 0; i < LISTS; i++)
        must(flexpath_variable_free(of_list[i]));
}

int main(int argc, char **argv)
{
    const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    double *lists[LISTS] = {NULL};
    int32_t *connectivity;
    uint64_t len[LISTS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    side = argc > 3 ? atoi(argv[3]) : side;
    if (side < 1 || side > LIMIT_SIDE) {
        fprintf(stderr, "tetrahedra: %d cells along a side; 1 to %d are possible\n", side, LIMIT_SIDE);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const uint64_t points = (uint64_t)(side + 1) * (uint64_t)(side + 1) * (uint64_t)(side + 1);
    const uint64_t elements = (uint64_t)side * (uint64_t)side * (uint64_t)side * TETRAHEDRA;
    for (int i = 0; i < LISTS; i++) {
        len[i] = i == CONNECTIVITY ? 4 * elements : i == DENSITY ? elements : points;
        if (i != CONNECTIVITY && !(lists[i] = malloc(len[i] * sizeof(double))))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!(connectivity = malloc(len[CONNECTIVITY] * sizeof *connectivity)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    make_mesh(lists, connectivity);
    flexpath_publisher *publisher = open_stream(argc > 2 ? argv[2] : "0");
    publish(publisher, steps, lists, connectivity, len);
    must(flexpath_publisher_close(publisher));
    for (int i = 0; i < LISTS; i++)
        free(lists[i]);
    free(connectivity);
    MPI_Finalize();
    return 0;
}
