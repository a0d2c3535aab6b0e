#!/bin/sh
# Measures Flexpath beside its peers, in turns within one run, and writes docs/performance/peers.{json,md,svg}. Installs what
# is missing: packages by apt, adios2 and h5py by pip into a folder of their own (target/peers/venv), crates by cargo. What
# cannot be had is not measured, and its rows say why.
#
# usage: [ADIOS2_DIR=/prefix] peers.sh [--quick] [--rounds N] [--only WORD]... [--folder FOLDER]
#
# ADIOS2_DIR: an ADIOS2 built with MPI, for the rows with several ranks; MPICXX and MPIRUN name its MPI (mpicxx.openmpi,
# mpirun.openmpi).
set -eu

say() { printf 'bench-peers: %s\n' "$*"; }

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
cd "$root"
built=$root/target/peers
source=$root/benches/peers
mkdir -p "$built"

# Says why a part is not there, and goes on without it.
or_without() { say "without $1: the command before failed"; }

has python3 || install_packages python3 python3-venv
(has ucx_perftest || install_packages ucx-utils) || or_without "ucx_perftest"
[ -x "$built/venv/bin/python" ] || python3 -m venv "$built/venv" || (install_packages python3-venv && python3 -m venv "$built/venv")
"$built/venv/bin/pip" install -q 'adios2>=2.12,<2.13' h5py numpy || or_without "adios2 and h5py"

cc -O2 -shared -fPIC "$source/nodelay.c" -o "$built/nodelay.so" -ldl || or_without "nodelay.so"
adios2=$("$built/venv/bin/python" -c 'import adios2, os; print(os.path.dirname(adios2.__file__))') || adios2=
if [ -n "$adios2" ]; then
    # The wheel's libraries find what they were built with by themselves when the program runs, but not when it is linked.
    c++ -O2 -std=c++17 -I"$adios2/include" "$source/sst.cpp" -o "$built/sst" -L"$adios2" -Wl,-rpath,"$adios2" \
        -Wl,--allow-shlib-undefined -Wl,--unresolved-symbols=ignore-in-shared-libs -ladios2_cxx -ladios2_core \
        2>"$built/sst.log" || or_without "SST (see target/peers/sst.log)"
fi
rm -f "$built/sst-mpi"
if [ -n "${ADIOS2_DIR:-}" ]; then
    # shellcheck disable=SC2046 # lists of flags
    "${MPICXX:-mpicxx.openmpi}" -O2 -std=c++17 -DWITH_MPI $("$ADIOS2_DIR/bin/adios2-config" -m --cxx-flags) "$source/sst.cpp" \
        -o "$built/sst-mpi" $("$ADIOS2_DIR/bin/adios2-config" -m --cxx-libs) || or_without "SST with MPI"
fi
for mpi in openmpi mpich; do
    { "$root/scripts/install-mpi.sh" "$mpi" && "mpicc.$mpi" -O2 "$source/mpi.c" -o "$built/mpi-$mpi"; } || or_without "$mpi"
done
CARGO_TARGET_DIR=$built cargo build --release --manifest-path "$source/Cargo.toml" || or_without "iceoryx2 and Zenoh"

cargo build --release -p flexpath-cli
cargo bench -p flexpath --bench spine --no-run
exec "$built/venv/bin/python" -B "$root/scripts/bench/peers.py" "$@"
