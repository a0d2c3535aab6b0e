#!/bin/sh
# Checks and tests crates/fp-mpi (Rust under MPI, by rsmpi) against one MPI, in a target directory of its own: what was
# built against another MPI would be taken for this one's.
#
# usage: test-rsmpi.sh openmpi|mpich
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
mpi=$1
"$root/scripts/install-mpi.sh" "$mpi" rust
export MPICC="mpicc.$mpi" FLEXPATH_MPI="$mpi" CARGO_TARGET_DIR="$root/target/mpi-$mpi"
cd "$root/crates/fp-mpi"
cargo fmt --check
cargo clippy --locked --profile ci --all-targets -- -D warnings
cargo test --locked --profile ci
