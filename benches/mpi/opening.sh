#!/bin/sh
# Opens a stream over many ranks of one machine and compares with what the MPI itself needs to bring them together.
# Open MPI yields when idle, as its ranks share cores; MPICH, whose ranks spin, is reported and not judged.
#
# usage: opening.sh PREFIX-OF-FLEXPATH [RANKS [openmpi|mpich]...]
#
# Exit status: 1 where Open MPI misses the bound (twice the collectives and half a second).
set -eu

prefix=$1
ranks=${2:-64}
[ $# -ge 2 ] && shift
shift
[ $# -gt 0 ] || set -- openmpi mpich

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FLEXPATH_RENDEZVOUS="$folder/rendezvous"
mkdir "$FLEXPATH_RENDEZVOUS"
status=0

# Appends a row to the file that scripts/bench/record.py names.
keep() {
    [ -n "${FLEXPATH_BENCH_ROWS:-}" ] || return 0
    figures=$(printf '%s\n' "$3" | sed -nE 's/^ranks ([0-9]+), .* barrier ([0-9.]+) ms, opening ([0-9.]+) ms \(fastest to slowest: ([0-9.]+) to ([0-9.]+)\), ratio ([0-9.]+), bound ([0-9.]+) ms: (.*)$/"ranks": \1, "allgather and barrier, ms": \2, "opening, ms": \3, "fastest": \4, "slowest": \5, "ratio": \6, "bound, ms": \7, "verdict": "\8"/p')
    figures=$(printf '%s' "$figures" | sed 's/"kept"/true/; s/"MISSED"/false/')
    printf '{"MPI": "%s", "load": %s, %s}\n' "$1" "$2" "$figures" >>"$FLEXPATH_BENCH_ROWS"
}

for mpi in "$@"; do
    "$root/scripts/install-mpi.sh" "$mpi"
    "mpicc.$mpi" -O2 -std=gnu11 -I"$prefix/include" "$root/benches/mpi/opening.c" -o "$folder/opening-$mpi" \
        -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lflexpath
    case $mpi in
    openmpi) options="--oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader --mca btl_vader_single_copy_mechanism none" ;;
    *) options= ;;
    esac
    # shellcheck disable=SC2086 # a list of options
    found=$("mpirun.$mpi" $options -n "$ranks" "$folder/opening-$mpi")
    load=$(cut -d ' ' -f 1 /proc/loadavg)
    printf '%s, load %s: %s\n' "$mpi" "$load" "$found"
    keep "$mpi" "$load" "$found"
    case $mpi,$found in
    openmpi,*MISSED*) status=1 ;;
    esac
done
exit $status
