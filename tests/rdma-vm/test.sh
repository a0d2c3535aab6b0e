#!/bin/sh
# The tests of this folder: the machine does what it promises, RDMA works in it, and `flexpath doctor` gives the right
# reason on this machine, in one with an RDMA device, in one without, and between two.
#
# usage: test.sh
#
# FLEXPATH: the program to test. Default: target/ci/flexpath, built first.
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
export FLEXPATH

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# check NAME STATUS COMMAND...: runs a command, whose output goes to a file, and compares its exit status.
check() {
    name=$1 expected=$2 from=$(date +%s) status=0
    shift 2
    "$@" >"$folder/out" 2>"$folder/err" || status=$?
    if [ "$status" -eq "$expected" ]; then
        printf 'PASS %s (%s s)\n' "$name" "$(($(date +%s) - from))"
    else
        printf 'FAIL %s: exit status %s instead of %s\n' "$name" "$status" "$expected"
        sed 's/^/    /' "$folder/out" "$folder/err"
        failed=1
    fi
}
# holds NAME FILE TEXT: what the last command printed holds a text.
holds() {
    if grep -qF -- "$3" "$folder/$2"; then
        printf 'PASS %s\n' "$1"
    else
        printf 'FAIL %s: no "%s" in\n' "$1" "$3"
        sed 's/^/    /' "$folder/$2"
        failed=1
    fi
}

HANDED="it's handed on"
export HANDED
# shellcheck disable=SC2016 # the guest's variables
check "the command's exit status comes back" 7 "$here/vm.sh" --env HANDED -- \
    sh -c 'echo "$HANDED in $PWD"; echo apart >&2; echo lost >"$0.lost"; exit 7' "$folder/file"
holds "a variable and the working directory go there" out "it's handed on in $root"
holds "the standard error is kept apart" err apart
if [ -e "$folder/file.lost" ]; then
    printf 'FAIL what the guest writes stays in the guest\n'
    failed=1
fi
check "a machine that takes too long is stopped" 124 "$here/vm.sh" --timeout 2 -- sleep 1000

check "verbs and perftest over one device" 0 "$here/vm.sh" -- "$here/guest-checks.sh"
check "flexpath doctor where there is a device" 0 "$here/vm.sh" -- "$FLEXPATH" doctor
holds "it sees the device" out "rxe0 port 1: ACTIVE (Ethernet)"
check "flexpath doctor where there is none" 0 "$here/vm.sh" --device none -- "$FLEXPATH" doctor
holds "it says so" out "the kernel has verbs, but no device"
check "flexpath doctor on this machine" 0 "$FLEXPATH" doctor
if [ -d /sys/class/infiniband_verbs ]; then
    printf 'skipped: what it says of a kernel without verbs, as this one has them\n'
else
    holds "it says that the kernel has no verbs" out "the kernel has no verbs"
fi

check "two machines" 0 "$here/pair.sh" --env FLEXPATH --cpus 1 --memory 1024 -- \
    "$here/guest-checks.sh first" "$here/guest-checks.sh second"
holds "RDMA between them" out "2: rping: both ends agree"
holds "flexpath doctor between them" out "2:   tcp            ok"
exit "$failed"
