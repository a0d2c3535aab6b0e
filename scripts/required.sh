#!/bin/sh
# What tests need beside Rust, each with the variable that makes its absence a failure, FLEXPATH_REQUIRE_<NAME>. Without
# it such a test says `skipped` and passes.
#
# usage: required.sh run COMMAND...    runs it with all these variables set, but those of parts in exceptions.txt
#        required.sh part NAME COMMAND...   runs what installs a part or looks for it. Status 3 or 77, it cannot be had
#                                      here: that is said, and no failure unless FLEXPATH_REQUIRE_ALL is set and
#                                      exceptions.txt has no line for it. A part that can be had and has a line fails too.
#        required.sh list              the names
set -eu

# shellcheck source=scripts/exceptions.sh
. "$(dirname "$0")/exceptions.sh"
# What tests look for: mpi, the MPI that FLEXPATH_MPI names; lammps, LAMMPS as a library; clang and wasm32, guests in C
# and in Rust; valgrind, counts of instructions; verbs, an RDMA device; verbs-headers, C headers of rdma-core;
# namespaces, two hosts in one machine by unshare and ip.
names="mpi lammps clang wasm32 valgrind verbs verbs-headers namespaces"

say() { printf '%s: %s\n' "$1" "$2"; }

run() {
    for name in $names; do
        exception "$name" >/dev/null && continue
        export "FLEXPATH_REQUIRE_$(printf '%s' "$name" | tr 'a-z-' 'A-Z_')=1"
    done
    exec "$@"
}

part() {
    name=$1 status=0
    shift
    "$@" || status=$?
    case $status in 3) status=77 ;; esac
    reason=$(exception "$name") || reason=
    case ${FLEXPATH_REQUIRE_ALL:+all}:$status:${reason:+excepted} in
    *:77:excepted) say "$name" "skipped: $reason" ;;
    all:77:) say "$name" "it is missing, and what needs it would be skipped: that is a failure here" && exit 1 ;;
    :77:) say "$name" "skipped: it is not here" ;;
    all:0:excepted) say "$name" "it is here: its line in scripts/exceptions.txt must go" && exit 1 ;;
    *) exit "$status" ;;
    esac
}

case ${1:-} in
run | part)
    what=$1
    shift
    "$what" "$@"
    ;;
list) echo "$names" ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | sed '$d'
    exit 2
    ;;
esac
