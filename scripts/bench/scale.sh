#!/bin/sh
# Measures scale: 256 publisher processes and 16 subscribers on this machine, for real; and up to 131,072 x 8,192 ranks
# of the real machines in the simulator. Writes docs/performance/scale.{json,md}, processes.json and three plots. Words are
# handed on to scale.py: --quick, --only real|simulated, --folder FOLDER.
#
# Exit status: 0 every bound was kept and every target met; 1 one was not, or a run failed.
set -eu

say() { printf 'bench-scale: %s\n' "$*"; }

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
has python3 || install_packages python3
cd "$root"
cargo build --release -p flexpath-cli
cargo build --release -p flexpath-sim --example scale
exec python3 -B "$root/scripts/bench/scale.py" "$@"
