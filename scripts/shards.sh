#!/usr/bin/env bash
# What takes long, in shards: each has a name, ends within 20 minutes on two quiet cores, and runs though others fail.
#
# usage: shards.sh list            name, seconds on two quiet cores after `make test`, and what is installed for it
#        shards.sh run [NAME...]   runs these, or all, one after the other, and sums up; fails if one failed, or was
#                                  skipped without a line in scripts/exceptions.txt
#        shards.sh one NAME        runs one as it is; status 77: skipped
#        shards.sh check           whether the names here and in scripts/exceptions.txt are those of parts
# SIM_SEEDS: how many seeds the simulator draws. PROPERTY_CASES: how many cases each property test. FUZZ_SECONDS: how long
# each target of the fuzzer runs. ENDURANCE_STEPS, ENDURANCE_KILLS: how many steps and kills the tests of endurance.
# STAGER_KILLS: how often a stager is killed. FORWARD_FAULTS: how often a forward, a gate and the way between them are
# killed or cut. STEERING_REQUESTS: how many requests to a simulation are answered, over each transport. SINK_KILLS: how
# often `flexpath tee` is killed while it writes a Zarr store, and HDF5 files.
set -euo pipefail
cd "$(dirname "$0")/.."

# rustup installs here, and a shell that was open before does not know it.
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
seeds=${SIM_SEEDS:-20000}
cases=${PROPERTY_CASES:-512}
profile=(--profile ci)

# NAME           SECONDS NEEDS
table='
simulator            340 nothing
properties            90 nothing
fuzz                 360 cargo-fuzz c++
miri                 120 rustup rust-nightly
endurance            300 nothing
c-checkers           180 valgrind
mpich                100 mpich
rsmpi-openmpi        240 openmpi libclang
rsmpi-mpich          240 mpich libclang
science              120 lammps openmpi
lammps-plugin        150 python3-venv pypi
wasm                 480 rust-wasm32
files                120 libhdf5-dev
sinks                640 libhdf5-dev python3-venv pypi openmpi
quickstart           100 nothing
rdma                 420 qemu rdma-core linux-image-amd64 libclang cmake
licences             120 cargo-deny
python               480 python3-venv pypi
python-wheel         180 python3-venv pypi
'

# Which tests a shard runs: names of test programs stand here and nowhere else. Always of the whole workspace, as with
# other packages dependencies have other features, and all that `make test` has built would be built again. Only the
# demo with `files` stands alone: its dependencies change features of procedural macros, so all is built again anyway.
# A single change to the protocol's machines is to be noticed by their shard: by their own tests, or in the simulator.
machine_units=(--lib)
machines=(--test suite -- conditions:: contacts:: endings:: gathered:: insiders:: losses:: machines:: meeting:: refused::
    returning:: status:: turns:: wire::)
simulator=(--test suite simulation::)
crowd=(--test scale every_subscription_of_a_crowd)
property_units=(--lib --test properties)
property_suites=(--test suite -- orders:: rings:: segments:: tls:: conformance:: wire:: derivations:: called::)
c_programs=(--test suite -- programs:: refined:: conventions::)
under_mpi=(--test suite -- mpi:: fortran:: refined:: conventions::)
failures=(--test failures)
endurance=(--test endurance -- --nocapture)
stager=(--test suite -- staging::a_killed_stager)
# They wait for one another's processes more than they compute.
forwarding=(--test suite -- forwarding:: forwarding_anew:: forwarding_hops:: forwarding_selections:: --nocapture
    --test-threads 6)
steering=(--test processes -- steering::)
outliving=(--test suite -- staging::a_stream_outlives)
seen_by_vtk=(--test cells)
sink_kills=(zarr::a_kill hdf5::a_kill)
science=(--test lammps_science)
files=(-p flexpath-demo --features files)
file_suites=(--test suite file_exchange::)
# shellcheck disable=SC2054 # the comma is of cargo
wasm=(--features flexpath/wasm,flexpath-ffi/wasm,flexpath-cli/wasm)

tests() { cargo test "${profile[@]}" --workspace --no-fail-fast "$@"; }
lints() { cargo clippy "${profile[@]}" --workspace "$@" --all-targets -- -D warnings; }

# install NAME [WORD...]: what scripts/install-NAME.sh installs. Status 3, it cannot be had here, is that of a skip.
install() {
    local status=0 name=$1
    shift
    "scripts/install-$name.sh" "$@" || status=$?
    case $status in
        0) ;;
        3)
            echo "skipped: $name is not here, as said above"
            exit 77
            ;;
        *) exit "$status" ;;
    esac
}

shard_simulator() {
    tests "${machine_units[@]}"
    tests "${machines[@]}"
    FLEXPATH_SIM_SEEDS=$seeds tests "${simulator[@]}"
    FLEXPATH_SIM_CROWD=1024 tests "${crowd[@]}"
}
shard_properties() {
    PROPTEST_CASES=$cases tests "${property_units[@]}"
    PROPTEST_CASES=$cases tests "${property_suites[@]}"
}
# What is fuzzed is built anew, with the instruments of the fuzzer.
shard_fuzz() {
    install fuzz
    # A commit is not judged by inputs that no run before had: new ones are what `make fuzz` is for.
    FUZZ_SEED=${FUZZ_SEED:-1} scripts/fuzz.sh "${FUZZ_SECONDS:-60}"
}
# Built by a toolchain of its own, in a folder of its own.
shard_miri() {
    install miri
    scripts/miri.sh
}
# A million steps and a thousand kills.
shard_endurance() {
    FLEXPATH_ENDURANCE_STEPS=${ENDURANCE_STEPS:-1000000} FLEXPATH_ENDURANCE_KILLS=${ENDURANCE_KILLS:-1000} \
        tests "${endurance[@]}"
    FLEXPATH_STAGER_KILLS=${STAGER_KILLS:-100} tests "${stager[@]}"
    FLEXPATH_FORWARD_FAULTS=${FORWARD_FAULTS:-50} tests "${forwarding[@]}"
    FLEXPATH_STEERING_REQUESTS=${STEERING_REQUESTS:-2500} tests "${steering[@]}"
}
shard_c-checkers() {
    install valgrind
    FLEXPATH_C_CHECKER=address tests "${c_programs[@]}"
    FLEXPATH_C_CHECKER=memcheck tests "${c_programs[@]}"
}
shard_mpich() {
    install mpi mpich
    FLEXPATH_MPI=mpich tests "${under_mpi[@]}"
    FLEXPATH_MPI=mpich tests "${failures[@]}"
}
shard_rsmpi-openmpi() {
    install mpi openmpi rust
    scripts/test-rsmpi.sh openmpi
}
shard_rsmpi-mpich() {
    install mpi mpich rust
    scripts/test-rsmpi.sh mpich
}
shard_science() {
    install demo
    FLEXPATH_DEMO_TEST_FULL=1 tests "${science[@]}"
}
shard_lammps-plugin() { scripts/check-lammps.sh; }
shard_wasm() {
    install wasm32
    tests "${wasm[@]}" --test deployed
    tests "${wasm[@]}" --test processes deployed
    tests "${wasm[@]}" --doc guide
    lints "${wasm[@]}"
}
shard_files() {
    install hdf5
    cargo clippy "${profile[@]}" "${files[@]}" --all-targets -- -D warnings
    cargo test "${profile[@]}" --no-fail-fast "${files[@]}" --lib
    cargo test "${profile[@]}" --no-fail-fast "${files[@]}" "${file_suites[@]}"
}
# `flexpath tee`, in a target folder of its own, and what others read of what it wrote.
shard_sinks() {
    install hdf5
    install sinks
    install mpi openmpi
    # With all that it can have. What `make test-sinks` builds lacks buckets of S3.
    export SINK_FEATURES=s3
    scripts/sinks.sh lint
    scripts/sinks.sh test
    # The default build has no buckets, and says so.
    SINK_FEATURES=default scripts/sinks.sh build
    local said
    said=$(target/sinks/ci/flexpath-tee none --to zarr:s3://bucket/store 2>&1 || true)
    grep 'built without the feature s3' <<<"$said"
    # Those of the other formats take four seconds a kill where others work too: eight of each are above.
    SINK_KILLS=${SINK_KILLS:-50} scripts/sinks.sh test -- "${sink_kills[@]}"
    scripts/sinks.sh build
    export FLEXPATH_TEE=$PWD/target/sinks/ci/flexpath-tee FLEXPATH_SINKS_PYTHON=$PWD/target/sinks-venv/bin/python
    tests "${outliving[@]}"
    tests "${seen_by_vtk[@]}"
}
# With the command as users build it: without the features of tests.
shard_quickstart() {
    cargo build "${profile[@]}" -p flexpath-cli
    scripts/check-quickstart.sh
}
shard_rdma() { tests/rdma-vm/test.sh; }
shard_python() {
    install python
    scripts/python.sh wheel
    scripts/python.sh lint
    scripts/python.sh test
}
# The same wheel, where there is nothing else.
shard_python-wheel() { scripts/check-wheel.sh; }
shard_licences() { scripts/check-licences.sh; }

names() { awk 'NF { print $1 }' <<<"$table"; }

# Every line of the table has its function, and every exception is of a part that there is.
check() {
    local name known
    # shellcheck source=scripts/exceptions.sh
    . scripts/exceptions.sh
    for name in $(names); do declare -F "shard_$name" >/dev/null || { echo "no shard_$name here" && exit 1; }; done
    known=" $(names | tr '\n' ' ') demo $(scripts/required.sh list) "
    for name in $(excepted_parts); do
        [[ $known == *" $name "* ]] || { echo "scripts/exceptions.txt: there is no part $name" && exit 1; }
    done
}

one() {
    declare -F "shard_$1" >/dev/null || { echo "there is no shard $1; there are: $(names | tr '\n' ' ')" && exit 2; }
    "shard_$1"
}

run() {
    # shellcheck source=scripts/parts.sh
    . scripts/parts.sh
    check
    local name all
    [[ $# -gt 0 ]] || mapfile -t all < <(names)
    for name in "${@:-${all[@]}}"; do part "$name" 0 scripts/required.sh run scripts/shards.sh one "$name"; done
    sum_up
    ((failed_parts == 0))
}

case ${1:-} in
    list) sed '/^$/d' <<<"$table" ;;
    run) run "${@:2}" ;;
    one) one "${2:-}" ;;
    check) check ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | sed '$d'
        exit 2
        ;;
esac
