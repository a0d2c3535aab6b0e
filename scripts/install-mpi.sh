#!/bin/sh
# Installs what programs under MPI are built and run with, and only what is missing: one of the MPIs of Debian, and its
# compilers for C and Fortran; with `rust` as a second word also what rsmpi (the Rust crate `mpi`) is built with.
#
# usage: install-mpi.sh openmpi|mpich [rust]
#
# Exit status: 0 everything is there; 3 something is missing that this user or this machine may not install (what to
# do is printed); 1 an installation failed; 2 called wrongly.
set -eu

say() { printf 'install-mpi: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"

# libclang, which bindgen reads the MPI's header with, and clang for the headers of the compiler itself.
has_libclang() { has clang && ls /usr/lib/llvm-*/lib/libclang*.so* /usr/lib/*/libclang*.so* >/dev/null 2>&1; }

name=${1:-}
missing=
case $name in
openmpi) { has mpicc.openmpi && has mpirun.openmpi; } || missing="openmpi-bin libopenmpi-dev" ;;
mpich) { has mpicc.mpich && has mpirun.mpich; } || missing="mpich libmpich-dev" ;;
*)
    say "usage: install-mpi.sh openmpi|mpich [rust]"
    exit 2
    ;;
esac
has cc || missing="$missing gcc libc6-dev"
has gfortran || missing="$missing gfortran"
if [ "${2:-}" = rust ] && ! has_libclang; then missing="$missing clang libclang-dev"; fi
# shellcheck disable=SC2086 # a list of packages
if [ -n "$missing" ]; then install_packages $missing; fi
say "there: $("mpirun.$name" --version 2>/dev/null | grep -m 1 -i 'version\|mpirun' | tr -s ' ')"
