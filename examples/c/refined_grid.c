/* A block-structured code with two levels of refinement, under MPI: a blob drifts through a periodic cube, and boxes of
 * finer cells follow it. Every box has 32 x 32 x 32 cells of 10 components. Ranks have unequal numbers of boxes, and
 * the fine ones come and go as the grid is refined anew. Each level is one global array of Flexpath, [component, z, y,
 * x]. Every rank puts the boxes that it has, and the fine array has gaps.
 *
 *     mpirun -n 4 refined_grid [steps [subscribers to wait for]]
 *
 * Nine components are advected by the upwind scheme, with one layer of ghost cells on the low sides. Fluxes are not
 * corrected where levels meet, as this is an example of publishing. The last component says where and when a cell is,
 * so that whoever takes it can tell whether it is the right one: see refined_analysis.c. */
#include "refined_grid.h"
#include <flexpath_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = BOX + 1, CELLS = COMPONENTS * SIDE * SIDE * SIDE, FACE = COMPONENTS * BOX * BOX, HALF = BOX / 2 };
enum { EIGHTH = COMPONENTS * HALF * HALF * HALF, WHOLE = COMPONENTS * BOX * BOX * BOX, REGRID_STEPS = 2 };

/* A box: which one along z, y and x, whose it is, and its cells where it is our own. */
typedef struct {
    int at[3], owner;
    double *cells;
} box;

/* All boxes of a level, of all ranks, and which of them covers a place: -1 where none does. */
typedef struct {
    int per_side, count, of_place[FINE_BOXES * FINE_BOXES * FINE_BOXES];
    box boxes[FINE_BOXES * FINE_BOXES * FINE_BOXES];
} level;

static int rank, size;
static const double drift[3] = {0.225, 0.15, 0.075}; /* coarse cells in a turn along z, y, x; in sum below a half */
static double parcel[WHOLE];                         /* what is on its way from one box to another */

static void must(flexpath_status status)
{
    if (status < 0) {
        fprintf(stderr, "refined_grid, rank %d: %s\n", rank, flexpath_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Cell 0 is the ghost, the box's own are 1 to 32. */
static double *cell(const box *of, int component, int z, int y, int x)
{
    return &of->cells[((component * SIDE + z) * SIDE + y) * SIDE + x];
}

/* Which box of a level covers a place, counted in boxes; the cube is periodic. Null: none. */
static box *covering(level *of, int z, int y, int x)
{
    const int n = of->per_side;
    const int found = of->of_place[((z + n) % n * n + (y + n) % n) * n + (x + n) % n];
    return found < 0 ? NULL : &of->boxes[found];
}

/* The parcel goes from its sender to its receiver. All ranks walk through all parcels in the same order, so somebody
 * can always go on. */
static void carry(int from, int to, int len)
{
    if (from == to)
        return;
    if (rank == from)
        MPI_Send(parcel, len, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    if (rank == to)
        MPI_Recv(parcel, len, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Cell (layer, i, j) of a box, where the layers lie across a dimension. */
static double *across(const box *of, int dimension, int component, int layer, int i, int j)
{
    return dimension == 0   ? cell(of, component, layer, i, j)
           : dimension == 1 ? cell(of, component, i, layer, j)
                            : cell(of, component, i, j, layer);
}

static void pack_face(const box *from, int dimension)
{
    double *to = parcel;
    for (int c = 0; c < COMPONENTS; c++)
        for (int i = 1; i <= BOX; i++)
            for (int j = 1; j <= BOX; j++)
                *to++ = *across(from, dimension, c, BOX, i, j);
}

static void unpack_face(const box *to, int dimension)
{
    const double *from = parcel;
    for (int c = 0; c < COMPONENTS; c++)
        for (int i = 1; i <= BOX; i++)
            for (int j = 1; j <= BOX; j++)
                *across(to, dimension, c, 0, i, j) = *from++;
}

/* The cells of a coarse box under the fine box at `at` that would follow it along `dimension` (3: under that box
 * itself). Each value stands for 2 x 2 (x 2) fine cells. */
static void pack_coarse_face(const box *from, const int at[3], int dimension)
{
    const int z = at[0] % 2 * HALF, y = at[1] % 2 * HALF, x = at[2] % 2 * HALF;
    double *to = parcel;
    for (int c = 0; c < COMPONENTS; c++)
        for (int i = 0; i < BOX; i++)
            for (int j = 0; j < BOX; j++) {
                const int low = 1 + i / 2, right = 1 + j / 2;
                *to++ = dimension == 0   ? *cell(from, c, z + HALF, y + low, x + right)
                        : dimension == 1 ? *cell(from, c, z + low, y + HALF, x + right)
                                         : *cell(from, c, z + low, y + right, x + HALF);
            }
}

/* The low ghost cells of every box: from the neighbour of its level, or else from the coarse cells there. */
static void fill_ghosts(level *of, level *coarse)
{
    for (int i = 0; i < of->count; i++)
        for (int dimension = 0; dimension < 3; dimension++) {
            const box *to = &of->boxes[i];
            int at[3] = {to->at[0], to->at[1], to->at[2]};
            at[dimension] = (at[dimension] + of->per_side - 1) % of->per_side;
            const box *next = covering(of, at[0], at[1], at[2]);
            const box *from = next ? next : covering(coarse, at[0] / 2, at[1] / 2, at[2] / 2);
            if (rank == from->owner && next)
                pack_face(from, dimension);
            else if (rank == from->owner)
                pack_coarse_face(from, at, dimension);
            carry(from->owner, to->owner, FACE);
            if (rank == to->owner)
                unpack_face(to, dimension);
        }
}

/* One step of the upwind scheme in place: from the high corner down, what is read was not written yet. The last
 * component is no quantity and stays. */
static void advance(const level *of, double refinement)
{
    const double cz = drift[0] * refinement, cy = drift[1] * refinement, cx = drift[2] * refinement;
    for (int i = 0; i < of->count; i++)
        for (int c = 0; of->boxes[i].owner == rank && c < COMPONENTS - 1; c++)
            for (int z = BOX; z > 0; z--)
                for (int y = BOX; y > 0; y--) {
                    double *row = cell(&of->boxes[i], c, z, y, 0);
                    const double *below = cell(&of->boxes[i], c, z - 1, y, 0);
                    const double *before = cell(&of->boxes[i], c, z, y - 1, 0);
                    for (int x = BOX; x > 0; x--)
                        row[x] -= cz * (row[x] - below[x]) + cy * (row[x] - before[x]) + cx * (row[x] - row[x - 1]);
                }
}

/* Coarse cells under fine boxes become the mean of the eight fine cells there. */
static void average_down(level *fine, level *coarse)
{
    for (int i = 0; i < fine->count; i++) {
        const box *from = &fine->boxes[i];
        const box *to = covering(coarse, from->at[0] / 2, from->at[1] / 2, from->at[2] / 2);
        const int corner[3] = {from->at[0] % 2 * HALF, from->at[1] % 2 * HALF, from->at[2] % 2 * HALF};
        for (int k = 0; rank == from->owner && k < EIGHTH; k++) {
            const int c = k / (HALF * HALF * HALF);
            const int z = 1 + k / (HALF * HALF) % HALF * 2, y = 1 + k / HALF % HALF * 2, x = 1 + k % HALF * 2;
            parcel[k] = 0;
            for (int of_eight = 0; of_eight < 8; of_eight++)
                parcel[k] += *cell(from, c, z + of_eight / 4, y + of_eight / 2 % 2, x + of_eight % 2) / 8;
        }
        carry(from->owner, to->owner, EIGHTH);
        for (int k = 0; rank == to->owner && k < EIGHTH; k++)
            *cell(to, k / (HALF * HALF * HALF), corner[0] + 1 + k / (HALF * HALF) % HALF,
                  corner[1] + 1 + k / HALF % HALF, corner[2] + 1 + k % HALF) = parcel[k];
    }
}

/* A level of the boxes that are wanted. Rank r gets a part of them in proportion to r + 1: unequal numbers. */
static void lay_out(level *made, int per_side, const int *is_wanted)
{
    int owner = 0;
    made->per_side = per_side;
    made->count = 0;
    for (int place = 0; place < per_side * per_side * per_side; place++) {
        made->of_place[place] = is_wanted[place] ? made->count : -1;
        if (is_wanted[place]) {
            const int at[3] = {place / per_side / per_side, place / per_side % per_side, place % per_side};
            made->boxes[made->count++] = (box){{at[0], at[1], at[2]}, 0, NULL};
        }
    }
    for (int i = 0; i < made->count; i++) {
        while (i * size * (size + 1) >= made->count * (owner + 1) * (owner + 2))
            owner++;
        made->boxes[i].owner = owner;
        if (owner == rank && !(made->boxes[i].cells = calloc(CELLS, sizeof(double))))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void let_go(level *gone)
{
    for (int i = 0; i < gone->count; i++)
        free(gone->boxes[i].cells);
    gone->count = 0;
}

/* Fine boxes are wanted where the first component is more than a tenth. */
static void find_wanted(level *coarse, int *is_wanted)
{
    int mine[FINE_BOXES * FINE_BOXES * FINE_BOXES] = {0};
    for (int place = 0; place < FINE_BOXES * FINE_BOXES * FINE_BOXES; place++) {
        const int at[3] = {place / FINE_BOXES / FINE_BOXES, place / FINE_BOXES % FINE_BOXES, place % FINE_BOXES};
        const box *under = covering(coarse, at[0] / 2, at[1] / 2, at[2] / 2);
        const int z = at[0] % 2 * HALF + 1, y = at[1] % 2 * HALF + 1, x = at[2] % 2 * HALF + 1;
        for (int k = 0; under->owner == rank && k < HALF * HALF * HALF; k++)
            if (*cell(under, 0, z + k / (HALF * HALF), y + k / HALF % HALF, x + k % HALF) > 0.1)
                mine[place] = 1;
    }
    MPI_Allreduce(mine, is_wanted, FINE_BOXES * FINE_BOXES * FINE_BOXES, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

/* What a new fine box begins with: the old one at the same place, or else the coarse cells under it. */
static void pack_box(const box *from, const int at[3], int is_fine)
{
    const int low[3] = {at[0] % 2 * HALF + 1, at[1] % 2 * HALF + 1, at[2] % 2 * HALF + 1};
    for (int k = 0; k < WHOLE; k++) {
        const int c = k / (BOX * BOX * BOX), z = k / (BOX * BOX) % BOX, y = k / BOX % BOX, x = k % BOX;
        parcel[k] = is_fine ? *cell(from, c, z + 1, y + 1, x + 1)
                            : *cell(from, c, low[0] + z / 2, low[1] + y / 2, low[2] + x / 2);
    }
}

static void refine(level *fine, level *coarse)
{
    static level made;
    int is_wanted[FINE_BOXES * FINE_BOXES * FINE_BOXES];
    find_wanted(coarse, is_wanted);
    lay_out(&made, FINE_BOXES, is_wanted);
    for (int i = 0; i < made.count; i++) {
        const box *to = &made.boxes[i], *old = covering(fine, to->at[0], to->at[1], to->at[2]);
        const box *from = old ? old : covering(coarse, to->at[0] / 2, to->at[1] / 2, to->at[2] / 2);
        if (rank == from->owner)
            pack_box(from, to->at, old != NULL);
        carry(from->owner, to->owner, WHOLE);
        for (int k = 0; rank == to->owner && k < WHOLE; k++)
            *cell(to, k / (BOX * BOX * BOX), k / (BOX * BOX) % BOX + 1, k / BOX % BOX + 1, k % BOX + 1) = parcel[k];
    }
    let_go(fine);
    *fine = made;
}

/* A round hill near a corner of the cube, 1 + c high in component c. */
static void set_out(level *coarse)
{
    for (int i = 0; i < coarse->count; i++)
        for (int k = 0; coarse->boxes[i].owner == rank && k < (COMPONENTS - 1) * BOX * BOX * BOX; k++) {
            const box *of = &coarse->boxes[i];
            const int c = k / (BOX * BOX * BOX), at[3] = {k / (BOX * BOX) % BOX, k / BOX % BOX, k % BOX};
            double height = 1;
            for (int d = 0; d < 3; d++) {
                const double away = (of->at[d] * BOX + at[d] - 19) / 9.0;
                height -= away * away;
            }
            *cell(of, c, at[0] + 1, at[1] + 1, at[2] + 1) = height > 0 ? (1 + c) * height : 0;
        }
}

/* Each of our boxes is a block: filled in memory that Flexpath lends, so that nothing is copied after that. */
static void put(flexpath_publisher *publisher, const flexpath_variable *variable, const level *of, int number,
                uint64_t step)
{
    const uint64_t count[4] = {COMPONENTS, BOX, BOX, BOX};
    for (int i = 0; i < of->count; i++) {
        const box *own = &of->boxes[i];
        const uint64_t z0 = (uint64_t)own->at[0] * BOX, y0 = (uint64_t)own->at[1] * BOX, x0 = (uint64_t)own->at[2] * BOX;
        const uint64_t start[4] = {0, z0, y0, x0};
        flexpath_loan *loan;
        void *memory;
        if (own->owner != rank)
            continue;
        must(flexpath_publisher_loan(publisher, variable, start, count, &loan, &memory));
        double *to = memory;
        for (int k = 0; k < WHOLE; k++) {
            const int c = k / (BOX * BOX * BOX), z = k / (BOX * BOX) % BOX, y = k / BOX % BOX, x = k % BOX;
            to[k] = c < COMPONENTS - 1
                        ? *cell(own, c, z + 1, y + 1, x + 1)
                        : marker(step, number, z0 + (uint64_t)z, y0 + (uint64_t)y, x0 + (uint64_t)x);
        }
        must(flexpath_publisher_put_loan(publisher, loan));
    }
}

/* Says of a level what docs/conventions.md asks for: `flexpath check refined`. The cube has sides of 1. */
static void follow_convention(flexpath_variable *level, uint64_t boxes)
{
    const double cell = 1.0 / (double)(boxes * BOX), spacing[3] = {cell, cell, cell}, offset[3] = {0, 0, 0};
    const int64_t ratio[3] = {2, 2, 2};
    must(flexpath_variable_set_attribute_reals(level, "gridSpacing", spacing, 3));
    must(flexpath_variable_set_attribute_reals(level, "gridGlobalOffset", offset, 3));
    must(flexpath_variable_set_attribute_integer(level, "ghosts", 0));
    if (boxes > COARSE_BOXES)
        must(flexpath_variable_set_attribute_integers(level, "refinementRatio", ratio, 3));
}

static flexpath_variable *define(const char *name, uint64_t boxes)
{
    const uint64_t shape[4] = {COMPONENTS, boxes * BOX, boxes * BOX, boxes * BOX};
    const char *dimensions[4] = {"component", "z", "y", "x"};
    flexpath_variable *made;
    must(flexpath_variable_global(name, FLEXPATH_DTYPE_F64, 4, shape, &made));
    must(flexpath_variable_set_dimensions(made, dimensions, 4));
    must(flexpath_variable_set_attribute_integer(made, "box", BOX));
    follow_convention(made, boxes);
    return made;
}

static flexpath_publisher *open_stream(const char *subscribers)
{
    flexpath_options *options;
    flexpath_publisher *opened;
    must(flexpath_options_create(&options));
    must(flexpath_options_set_cohort_mpi(options, MPI_COMM_WORLD));
    must(flexpath_options_set(options, "RendezvousReaderCount", subscribers));
    must(flexpath_publisher_open("refined", options, &opened));
    must(flexpath_options_free(options));
    return opened;
}

int main(int argc, char **argv)
{
    static level coarse, fine = {.per_side = FINE_BOXES};
    const int steps = argc > 1 ? atoi(argv[1]) : 8;
    int all[COARSE_BOXES * COARSE_BOXES * COARSE_BOXES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COARSE_BOXES * COARSE_BOXES * COARSE_BOXES; i++)
        all[i] = 1;
    memset(fine.of_place, 0xff, sizeof fine.of_place); /* -1: there is none */
    lay_out(&coarse, COARSE_BOXES, all);
    set_out(&coarse);

    flexpath_variable *of_coarse = define(COARSE, COARSE_BOXES), *of_fine = define(FINE, FINE_BOXES);
    flexpath_publisher *publisher = open_stream(argc > 2 ? argv[2] : "0");
    for (int step = 0; step < steps; step++) {
        uint64_t number;
        if (step % REGRID_STEPS == 0)
            refine(&fine, &coarse);
        must(flexpath_publisher_begin_step(publisher, &number));
        put(publisher, of_coarse, &coarse, 0, number);
        put(publisher, of_fine, &fine, 1, number);
        must(flexpath_publisher_end_step(publisher));
        for (int turn = 0; turn < 8; turn++) {
            fill_ghosts(&coarse, NULL);
            fill_ghosts(&fine, &coarse);
            advance(&coarse, 1);
            advance(&fine, 2);
            average_down(&fine, &coarse);
        }
    }
    must(flexpath_publisher_close(publisher));
    must(flexpath_variable_free(of_coarse));
    must(flexpath_variable_free(of_fine));
    let_go(&coarse);
    let_go(&fine);
    MPI_Finalize();
    return 0;
}
