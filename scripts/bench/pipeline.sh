#!/bin/sh
# Measures the demo's pipeline coupled through streams and through HDF5 files, in turns, by ranks of LAMMPS: figures 4 and 5
# of the Flexpath paper. Writes docs/performance/pipeline.{json,md} and two plots. Installs what is missing by apt: LAMMPS,
# Open MPI, libhdf5-dev. Words are handed on to pipeline.py: --quick, --rounds N, --ranks N..., --problem NAME, --folder FOLDER.
#
# Exit status: 0 measured, and both couplings gave the same results; 1 they did not, or a run failed; 3 something is missing
# and cannot be installed.
set -eu

say() { printf 'bench-pipeline: %s\n' "$*"; }

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
has python3 || install_packages python3
cd "$root"
scripts/install-demo.sh
scripts/install-hdf5.sh
cargo build --release -p flexpath-demo --features files
exec python3 -B "$root/scripts/bench/pipeline.py" "$@"
