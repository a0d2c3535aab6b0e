#!/bin/sh
# Installs HDF5's library and headers where they are missing: the demo's feature `files` links it.
#
# Exit status: 0 it is there; 3 this user or this machine may not install it (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-hdf5: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"
has_hdf5() { has pkg-config && { pkg-config --exists hdf5-serial || pkg-config --exists hdf5; }; }
has_hdf5 || install_packages libhdf5-dev pkg-config
say "there: HDF5 $(pkg-config --modversion hdf5-serial 2>/dev/null || pkg-config --modversion hdf5)"
