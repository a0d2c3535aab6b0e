#!/usr/bin/env bash
# `flexpath tee`, crates/fp-sinks: a workspace of its own, with a target folder of its own. Needs HDF5
# (scripts/install-hdf5.sh), and for tests what scripts/install-sinks.sh installs.
#
# usage: sinks.sh build           builds the program, target/sinks/ci/flexpath-tee
#        sinks.sh lint            format and lints
#        sinks.sh test [WORD...]  all tests, or those of these words
#        sinks.sh bench [WORD...] writes through streams, beside the same array written by one process
# SINK_FEATURES: features of crates/fp-sinks, as s3 for buckets of S3; none unless set.
# SINK_KILLS: how often a program that writes is killed, in each test of that.
set -euo pipefail
cd "$(dirname "$0")/.."

# rustup installs here, and a shell that was open before does not know it.
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
root=$PWD
export CARGO_TARGET_DIR=$root/target/sinks FLEXPATH_SINK_KILLS=${SINK_KILLS:-8}
export FLEXPATH_SINKS_PYTHON=$root/target/sinks-venv/bin/python
# Beside the sources nothing is left.
export PYTHONDONTWRITEBYTECODE=1
cd crates/fp-sinks
cargo_options=(--profile ci --locked --features "${SINK_FEATURES:-default}")

case ${1:-} in
    build) cargo build "${cargo_options[@]}" ;;
    lint)
        cargo fmt --check
        cargo clippy "${cargo_options[@]}" --all-targets -- -D warnings
        ;;
    test) cargo test "${cargo_options[@]}" --no-fail-fast "${@:2}" ;;
    bench) cargo bench --locked "${@:2}" ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$root/scripts/sinks.sh" | sed '$d'
        exit 2
        ;;
esac
