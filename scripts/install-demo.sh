#!/bin/sh
# Installs what `make demo` needs beside Rust: the molecular dynamics code LAMMPS with its C library, and Open MPI's
# mpirun. Debian and Ubuntu only. Safe to run again: what is there already is left alone.
#
# Exit status: 0 everything is there; 3 something is missing and this user may not install it (what to install is
# printed; the demo then runs its own small molecular dynamics source and exits with 77); 1 the installation failed.
set -u

packages="lammps openmpi-bin"

say() { printf 'install-demo: %s\n' "$*"; }

has_library() {
    ldconfig=$(command -v ldconfig || echo /sbin/ldconfig)
    "$ldconfig" -p 2>/dev/null | grep -q 'liblammps\.so'
}

# The library is what the demo opens, mpirun is what starts its four ranks: these two decide, not package names,
# so a LAMMPS that came from elsewhere counts as well.
is_complete() { has_library && command -v mpirun >/dev/null 2>&1; }

if is_complete; then
    say "LAMMPS's library and mpirun are installed: nothing to do"
    exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
    say "this is no Debian or Ubuntu (no apt-get). Install LAMMPS as a shared library (liblammps.so) and an MPI with mpirun"
    exit 3
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n env"
else
    say "LAMMPS is missing and this user is not root. Ask for:"
    say "    sudo apt-get update && sudo apt-get install --no-install-recommends $packages"
    exit 3
fi

say "installing with apt-get: $packages"
# A stale package list is the usual reason of a failed download, so it is refreshed first; if that fails (offline),
# the list at hand may still do.
$as_root DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null 2>&1 || say "apt-get update failed: going on with the package lists at hand"
# shellcheck disable=SC2086 # a list of words on purpose
if ! $as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages; then
    say "apt-get could not install: $packages"
    exit 1
fi
if ! is_complete; then
    say "the packages are installed, but liblammps.so or mpirun is still not found"
    exit 1
fi
say "done: LAMMPS's library and mpirun are installed"
