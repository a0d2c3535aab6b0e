/*
 * Ranks that write without a stream: POSIX and MPI-IO to /dev/null, and a file of each rank on a disk.
 *
 * usage: mpirun -n RANKS null posix|collective|files BYTES STEPS FOLDER      prints MiB/s of all ranks together
 *
 * As the baselines of GLEAN's figures 6 to 13: to /dev/null shows what the calls and the collective's own aggregation
 * cost. Files are on the device by the end.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what)
{
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Writes all of it to a descriptor. */
static void write_all(int file, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t written = write(file, bytes, len);
        if (written <= 0) fail("write");
        bytes += written;
        len -= (size_t)written;
    }
}

static void posix(const char *path, const char *bytes, size_t len, int steps, int syncs)
{
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    if (file < 0) fail("open");
    for (int step = 0; step < steps; ++step) write_all(file, bytes, len);
    if (syncs && fdatasync(file) != 0) fail("fdatasync");
    close(file);
}

/* All ranks write each step together. */
static void collective(const char *bytes, size_t len, int steps, int rank, int ranks)
{
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        fail("MPI_File_open");
    for (int step = 0; step < steps; ++step) {
        MPI_Offset at = ((MPI_Offset)step * ranks + rank) * (MPI_Offset)len;
        if (MPI_File_write_at_all(file, at, bytes, (int)len, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            fail("MPI_File_write_at_all");
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) fail("usage: null posix|collective|files BYTES STEPS FOLDER");
    size_t len = strtoull(argv[2], NULL, 10);
    int steps = atoi(argv[3]);
    char *bytes = malloc(len);
    if (bytes == NULL) fail("malloc");
    memset(bytes, rank + 1, len);
    char path[4096];
    snprintf(path, sizeof path, "%s/rank-%d", argv[4], rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (strcmp(argv[1], "collective") == 0) collective(bytes, len, steps, rank, ranks);
    else if (strcmp(argv[1], "files") == 0) posix(path, bytes, len, steps, 1);
    else posix("/dev/null", bytes, len, steps, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - began;
    if (rank == 0) printf("%.3f\n", (double)len * steps * ranks / seconds / (1 << 20));
    free(bytes);
    MPI_Finalize();
    return 0;
}
