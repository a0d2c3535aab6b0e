#!/bin/sh
# The tests of RDMA. Our structures and numbers are those of rdma-core's C headers, and of other crates. The machine does what it promises.
# `flexpath doctor` gives the right reason on this machine, in one with an RDMA device, in one without, and between two.
# Links and streams go over verbs, with contents, and with ranks that are killed, stopped and expelled. One stream goes
# between two machines.
#
# usage: test.sh
#
# FLEXPATH, FLEXPATH_LINKS, FLEXPATH_STREAMS, FLEXPATH_BINDINGS: the program to test, the test programs `verbs` of
# fp-transport and of fp-core, and `suite` of fp-transport. Default: built first.
# Exit status: 0 every line says PASS; 1 one says FAIL; 77 nothing was tested, which is said as `skipped: ...`.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ "${1:-}" = --help ]; then
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
fi
cd "$root"
skip() {
    echo "skipped: $*. Nothing of RDMA was tested here, and none of it counts as passed"
    exit 77
}
status=0
"$here/prepare.sh" >/dev/null || status=$?
[ "$status" -ne 77 ] || skip "there is no virtual machine, as said above"
[ "$status" -eq 0 ] || exit "$status"
"$root/scripts/install-rdma-vm.sh" || skip "the programs of rdma-core and perftest are not installed"
if [ -z "${FLEXPATH:-}" ]; then
    cargo build --quiet --profile ci -p flexpath-cli
    FLEXPATH=${CARGO_TARGET_DIR:-$root/target}/ci/flexpath
fi
# test_program PACKAGE NAME: the path of a test program, built first.
test_program() {
    cargo test --quiet --profile ci -p "$1" --test "$2" --no-run --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}
FLEXPATH_LINKS=${FLEXPATH_LINKS:-$(test_program flexpath-transport verbs)}
FLEXPATH_STREAMS=${FLEXPATH_STREAMS:-$(test_program flexpath-core verbs)}
FLEXPATH_BINDINGS=${FLEXPATH_BINDINGS:-$(test_program flexpath-transport suite)}
# Other crates of RDMA are built in a workspace of their own.
"$root/scripts/install-rdma-crates.sh" || skip "what other crates of RDMA are built with is not installed"
others="--manifest-path tests/rdma-crates/Cargo.toml --target-dir ${CARGO_TARGET_DIR:-$root/target}/rdma-crates --locked"
# shellcheck disable=SC2086 # a list of options
cargo build --quiet $others
FLEXPATH_WITNESS=${CARGO_TARGET_DIR:-$root/target}/rdma-crates/debug/rdma-witness
export FLEXPATH FLEXPATH_LINKS FLEXPATH_STREAMS FLEXPATH_WITNESS

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck source=tests/rdma-vm/checks.sh
. "$here/checks.sh"

# in_guest NAME COMMAND...: the checks that a machine makes itself, each a line of its own.
in_guest() {
    name=$1 status=0
    shift
    "$@" >"$folder/out" 2>"$folder/err" || status=$?
    cat "$folder/out"
    if [ "$status" -ne 0 ]; then fail "$name: exit status $status" "$folder/err"; fi
}

check "structures and numbers are those of rdma-core's C headers" 0 \
    env FLEXPATH_REQUIRE_VERBS_HEADERS=1 "$FLEXPATH_BINDINGS" verbs_bindings::

# shellcheck disable=SC2086 # a list of options
check "structures, numbers and calls are those of rdma-sys and rdma-mummy-sys" 0 cargo test --quiet $others
holds "... all three comparisons" out "3 passed"
check "other crates' sources are formatted" 0 cargo fmt --all --check --manifest-path tests/rdma-crates/Cargo.toml

HANDED="it's handed on"
export HANDED
# shellcheck disable=SC2016 # the guest's variables
check "the command's exit status comes back" 7 "$here/vm.sh" --env HANDED --env FLEXPATH --device none -- \
    sh -c 'echo "$HANDED in $PWD"; "$FLEXPATH" doctor; echo apart >&2; echo lost >"$0.lost"; exit 7' "$folder/file"
holds "a variable and the working directory go there" out "it's handed on in $root"
holds "the standard error is kept apart" err apart
holds "flexpath doctor where there is no device" out "the kernel has verbs, but no device"
if [ -e "$folder/file.lost" ]; then
    printf 'FAIL what the guest writes stays in the guest\n'
    failed=1
fi
check "a machine that takes too long is stopped" 124 "$here/vm.sh" --timeout 2 -- sleep 1000

check "flexpath doctor on this machine" 0 "$FLEXPATH" doctor
if [ -d /sys/class/infiniband_verbs ]; then
    printf 'skipped: what it says of a kernel without verbs, as this one has them\n'
else
    holds "it says that the kernel has no verbs" out "verbs          no       the kernel has no verbs"
fi

in_guest "one machine" "$here/vm.sh" --timeout 900 --env FLEXPATH -- "$here/guest-checks.sh" alone
in_guest "two machines" "$here/pair.sh" --env FLEXPATH --cpus 1 --memory 1024 -- \
    "$here/guest-checks.sh first" "$here/guest-checks.sh second"
exit "$failed"
