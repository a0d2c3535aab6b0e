#!/bin/sh
# Runs the demonstration: installs what it needs, builds it and starts it. Arguments go to the demo.
#
# Exit status: that of the demo. 0: every check held. 77: LAMMPS is not there and could not be installed, so the
# pipeline ran on a small source of our own, and its results were not held against LAMMPS. Or Python is not there, and
# the analysis that is written in it did not run. Anything else: it failed.
# (make itself turns every failure, 77 included, into 2; this script does not.)
set -u
cd "$(dirname "$0")/.." || exit 1

say() { printf '== demo: %s\n' "$*"; }

from=$(date +%s)
scripts/install-demo.sh || say "going on without LAMMPS"
without=LAMMPS
if scripts/install-python.sh && scripts/python.sh wheel; then
    cargo build --profile ci -p flexpath-cli -p flexpath-demo &&
        cargo run --profile ci -p flexpath-demo -- --python target/python/venv/bin/python "$@"
    status=$?
else
    say "going on without Python"
    cargo build --profile ci -p flexpath-cli -p flexpath-demo && cargo run --profile ci -p flexpath-demo -- "$@"
    status=$?
    [ "$status" -ne 0 ] || without=Python status=77
fi
took=$(($(date +%s) - from))
case $status in
    0) say "every check held, $took s" ;;
    77) say "ran without $without, so not all was held against LAMMPS: exit status 77, $took s" ;;
    *) say "FAILED with status $status, $took s" ;;
esac
exit "$status"
