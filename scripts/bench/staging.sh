#!/usr/bin/env bash
# All figures of staging in docs/performance.md in one go: each part says how far it is, none keeps the others from being
# measured, and at the end are the tables of all of them.
#
# usage: staging.sh [--quick] [PART...]     all parts unless some are named
#   stager       a stream through a stager: its disk beside dd, a slow subscriber, its memory      (20 min)
#   forwarding   a stream from one network to another, beside scp and iperf3; a long wire           (3 min)
#   figures      figures 3 to 6 of the paper on SAVIME's staging, beside scp, rsync and ssh -L     (10 min)
#   emulated     figure 3 over RDMA, in a virtual machine whose device is emulated                 (5 min)
#   aggregation  figures 6 to 13 of the paper on GLEAN: aggregators, ranks, staging nodes           (5 min)
#   boxes        an array in many small boxes, beside one box a rank                                (2 min)
#   sinks        streams into Zarr and HDF5, beside one process that writes the same array          (2 min)
#   wire         any stream over a long wire, beside iperf3                                         (5 min)
# --quick: few rounds of few bytes with the profile of tests, to see that all of it works. Its figures mean nothing, and go
# to a folder that is removed. What is not there is installed where that is possible; a part without it is skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."

# rustup installs here, and a shell that was open before does not know it.
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
parts=(stager forwarding figures emulated aggregation boxes sinks wire)
quick=${FLEXPATH_BENCH_QUICK:-}
profile=$([[ $quick ]] && echo ci || echo release)

# record NAME COMMAND...: runs a bench and keeps what it found.
record() { scripts/bench/record.py "$@"; }
# bench NAME BENCH [WORD...]: one of the root package.
bench() { record "$1" cargo bench --profile "$profile" -p flexpath --bench "$2" -- "${@:3}"; }
# needs NAME: what scripts/install-NAME.sh installs; a part is skipped without it.
needs() { "scripts/install-$1.sh" "${@:2}" || exit 77; }

bench_stager() { bench staging staging; }
bench_forwarding() {
    needs iperf3
    needs sshd
    bench forwarding forwarding
}
# Without rsync its rows are left out. FIGURES=--full for data sets of 5 GiB.
bench_figures() {
    needs sshd
    scripts/install-rsync.sh || [ $? -eq 3 ] || exit 1
    # shellcheck disable=SC2086 # words
    bench figures figures ${FIGURES:-}
}
# Skipped where there can be no such machine.
bench_emulated() { CARGO_PROFILE=$profile record emulated tests/rdma-vm/figures.sh; }
# Without an MPI its columns are left out.
bench_aggregation() {
    scripts/install-mpi.sh openmpi || [ $? -eq 3 ] || exit 1
    bench aggregation aggregation
}
bench_boxes() { bench boxes boxes; }
bench_sinks() {
    needs hdf5
    if [[ $quick ]]; then record sinks scripts/sinks.sh bench --profile ci; else record sinks scripts/sinks.sh bench; fi
}
bench_wire() {
    needs iperf3
    bench wan wan
}

# What this script runs itself by, for each part.
if [[ ${1:-} == one ]]; then
    "bench_$2"
    exit
fi
case ${1:-} in
    --quick)
        shift
        quick=1 profile=ci
        export FLEXPATH_BENCH_QUICK=1
        ;;
    -*)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | sed '$d'
        exit 2
        ;;
esac

# What means nothing does not take the place of what does.
folder=
if [[ $quick && -z ${FLEXPATH_BENCH_FOLDER:-} ]]; then
    folder=$(mktemp -d)
    export FLEXPATH_BENCH_FOLDER=$folder
fi

export FLEXPATH_EXCEPTIONS=${FLEXPATH_EXCEPTIONS:-$PWD/scripts/exceptions.txt}
# shellcheck source=scripts/parts.sh
. scripts/parts.sh
names=("${@:-${parts[@]}}")
for name in "${names[@]}"; do
    declare -F "bench_$name" >/dev/null || { echo "there is no part $name; there are: ${parts[*]}" && exit 2; }
done
cargo build --profile "$profile" -p flexpath-cli
[[ $quick ]] || echo "this takes three quarters of an hour; figures count on a quiet machine alone"
for name in "${names[@]}"; do part "$name" 0 scripts/bench/staging.sh one "$name"; done
printf '\n=== what was found\n'
shown=("${names[@]/#stager/staging}")
scripts/bench/record.py --show "${shown[@]/#wire/wan}"
sum_up
[[ -z $folder ]] || rm -rf "$folder"
((failed_parts == 0))
