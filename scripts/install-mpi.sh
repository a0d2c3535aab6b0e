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

has() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root: directly, or by sudo where that asks for no password. 3 where neither is possible.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif has sudo && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 3
    fi
}

install_packages() {
    if ! has apt-get; then
        say "missing: $* (by their names on Debian; this machine has no apt-get). Install them and run this again"
        exit 3
    fi
    if ! as_root true; then
        say "missing, and this user is not root: $*. Ask for:"
        say "    sudo apt-get update && sudo apt-get install --no-install-recommends $*"
        exit 3
    fi
    say "installing with apt-get: $*"
    as_root apt-get update -q >/dev/null 2>&1 || say "apt-get update failed: going on with the package lists at hand"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" || {
        say "apt-get could not install: $*"
        exit 1
    }
}

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
