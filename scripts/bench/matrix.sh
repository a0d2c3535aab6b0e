#!/bin/sh
# Measures streams by size, shape of the cohorts and transport beside the floors of the machine, and writes the figures to
# docs/performance (JSON, a table, plots). Words are handed on to matrix.py: --quick, --folder FOLDER.
set -eu

say() { printf 'bench: %s\n' "$*"; }

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
has python3 || install_packages python3
cd "$root"
cargo build --release -p flexpath-cli
cargo bench -p flexpath --bench spine --no-run
exec python3 -B "$root/scripts/bench/matrix.py" "$@"
