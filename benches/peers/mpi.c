/* MPI itself, as those who couple by hand have it. Prints one JSON object.
 *
 * usage: mpi pair bytes=N steps=N       two ranks: half of a round trip, and bandwidth with every step filled afresh
 *        mpi alltoallw steps=N          six ranks: 256 x 256 x 128 doubles from four, cut 2 x 2 x 1, to two, cut 1 x 1 x 2
 */
#include <mpi.h>

#include "measuring.h"

static int rank, size;

static void pair(int argc, char **argv) {
    size_t bytes = (size_t)number(argc, argv, "bytes", 8), elements = bytes / 8;
    long steps = number(argc, argv, "steps", 1000), warm = 8 + (bytes < 4096 ? 100 : 0);
    int64_t *memory[2] = {malloc(bytes), malloc(bytes)};
    memset(memory[0], 1, bytes), memset(memory[1], 1, bytes);
    double *times = malloc(sizeof(double) * (size_t)steps);
    for (long step = 0; step < warm + steps; step++) {
        uint64_t started = now_ns();
        if (rank == 0) {
            MPI_Send(memory[0], (int)elements, MPI_INT64_T, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(memory[1], (int)elements, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(memory[1], (int)elements, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(memory[1], (int)elements, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
        }
        if (step >= warm) times[step - warm] = (double)(now_ns() - started) / 2e3;
    }
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    uint64_t started = 0;
    for (long step = 0; step < warm + steps; step++) {
        if (step == warm) started = now_ns();
        if (rank == 0) {
            /* Two buffers, so that one is filled while the other is on its way. */
            MPI_Wait(&request[step % 2], MPI_STATUS_IGNORE);
            fill(memory[step % 2], elements, step);
            MPI_Isend(memory[step % 2], (int)elements, MPI_INT64_T, 1, 1, MPI_COMM_WORLD, &request[step % 2]);
        } else {
            MPI_Recv(memory[0], (int)elements, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(memory[0], elements, step);
        }
    }
    for (int i = 0; i < 2; i++) MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    double seconds = (double)(now_ns() - started) / 1e9;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    MPI_Get_library_version(version, &len);
    version[strcspn(version, ",\n")] = 0;
    for (char *tab = version; (tab = strchr(tab, '\t'));) *tab = ' ';
    if (rank == 1)
        printf("{\"gb_per_s\": %g, \"p50_us\": %g, \"p99_us\": %g, \"version\": \"%s\"}\n",
               (double)bytes * (double)steps / seconds / 1e9, quantile(times, (size_t)steps, 0.5),
               quantile(times, (size_t)steps, 0.99), version);
}

enum { X = 256, Y = 256, Z = 128, SENDERS = 4 };

static MPI_Datatype part(const int whole[3], const int count[3], const int start[3]) {
    MPI_Datatype type;
    MPI_Type_create_subarray(3, whole, count, start, MPI_ORDER_C, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    return type;
}

static void alltoallw(int argc, char **argv) {
    long steps = number(argc, argv, "steps", 24), warm = 8;
    if (size != 6) {
        fprintf(stderr, "alltoallw wants 6 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int send_counts[6] = {0}, receive_counts[6] = {0}, zeros[6] = {0};
    MPI_Datatype send_types[6], receive_types[6];
    for (int i = 0; i < 6; i++) send_types[i] = receive_types[i] = MPI_INT64_T;
    const int block[3] = {X / 2, Y / 2, Z}, half[3] = {X, Y, Z / 2}, common[3] = {X / 2, Y / 2, Z / 2};
    for (int other = 0; other < 6; other++) {
        if (rank < SENDERS && other >= SENDERS) {
            int start[3] = {0, 0, (other - SENDERS) * (Z / 2)};
            send_types[other] = part(block, common, start);
            send_counts[other] = 1;
        } else if (rank >= SENDERS && other < SENDERS) {
            int start[3] = {other / 2 * (X / 2), other % 2 * (Y / 2), 0};
            receive_types[other] = part(half, common, start);
            receive_counts[other] = 1;
        }
    }
    size_t sent = rank < SENDERS ? (size_t)X / 2 * Y / 2 * Z : 1, received = rank < SENDERS ? 1 : (size_t)X * Y * Z / 2;
    int64_t *out = malloc(sent * 8), *in = malloc(received * 8);
    memset(in, 1, received * 8);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t started = 0;
    for (long step = 0; step < warm + steps; step++) {
        if (step == warm) started = now_ns();
        if (rank < SENDERS) fill(out, sent, step * SENDERS + rank);
        MPI_Alltoallw(out, send_counts, zeros, send_types, in, receive_counts, zeros, receive_types, MPI_COMM_WORLD);
        /* The first element is that of sender 0, the last one that of sender 3. */
        int64_t first = (rank - SENDERS) * (Z / 2), last = (int64_t)X / 2 * Y / 2 * Z - Z + first + Z / 2 - 1;
        if (rank >= SENDERS && (in[0] != step * SENDERS * 1000003 + first ||
                                in[received - 1] != (step * SENDERS + 3) * 1000003 + last)) {
            fprintf(stderr, "WRONG DATA in step %ld\n", step);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
    double seconds = (double)(now_ns() - started) / 1e9, longest;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("{\"gb_per_s\": %g}\n", (double)X * Y * Z * 8 * (double)steps / longest / 1e9);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "alltoallw") == 0) alltoallw(argc, argv);
    else pair(argc, argv);
    MPI_Finalize();
    return 0;
}
