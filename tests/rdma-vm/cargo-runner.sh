#!/bin/sh
# A runner for cargo: test binaries run in the virtual machine, in the folder cargo gives them.
#
# usage: CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$PWD/tests/rdma-vm/cargo-runner.sh" cargo test ...
#
# FLEXPATH_RDMA_VM_OPTIONS: options of vm.sh, such as `--env SEED --timeout 600 --memory 4096`.
# Where the machine cannot be had it says `skipped: ...` and ends with 77, which cargo counts as a failure.
set -eu

if [ "${1:-}" = --help ]; then
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
fi
# shellcheck disable=SC2086 # a list of options
exec "$(dirname "$0")/vm.sh" ${FLEXPATH_RDMA_VM_OPTIONS-} --env LD_LIBRARY_PATH -- "$@"
