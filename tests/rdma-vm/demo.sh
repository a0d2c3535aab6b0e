#!/bin/sh
# The spine's demo in the virtual machine, its smallest form, over verbs. Every rank reaches every other by the address
# of the RDMA device, and no transport but verbs carries payload. What it computes is held against LAMMPS's own results.
#
# usage: demo.sh
#
# FLEXPATH_DEMO: the program, with flexpath beside it. Default: both are built first.
# Exit status: 0 every check of the demo held and every link is verbs; 1 not so. 77 nothing was tested, or LAMMPS is not
# here, so that results were compared with nothing: it is said as `skipped: ...`.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ "${1:-}" = --help ]; then
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
fi
cd "$root"
status=0
"$here/prepare.sh" >/dev/null || status=$?
if [ "$status" -eq 77 ]; then echo "skipped: there is no virtual machine, as said above: no demo ran over verbs"; fi
[ "$status" -eq 0 ] || exit "$status"
if [ -z "${FLEXPATH_DEMO:-}" ]; then
    cargo build --quiet --profile ci -p flexpath-demo -p flexpath-cli
    FLEXPATH_DEMO=${CARGO_TARGET_DIR:-$root/target}/ci/demo
fi
export FLEXPATH_DEMO FLEXPATH_TRANSPORTS=verbs,tcp

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2016 # the guest's variables
"$here/vm.sh" --timeout 600 --memory 3072 -- sh -c \
    '"$FLEXPATH_DEMO" --tiny --problem notch --address "$RDMA_VM_ADDRESS" --deadline-s 500 --output /run/demo' \
    >"$log" || status=$?
sed -n '/^== summary/,$p' "$log"
case $status in
0 | 77) ;;
*)
    echo "FAIL the demo over verbs: exit status $status"
    exit 1
    ;;
esac
if ! grep -q 'edge: .*: transport=verbs rxe0 ' "$log" || grep 'edge: ' "$log" | grep -vq ': transport=verbs rxe0 '; then
    echo 'FAIL the demo over verbs: a link is none of verbs'
    exit 1
fi
if [ "$status" -eq 77 ]; then
    echo 'skipped: LAMMPS is not here: the demo ran over verbs, and its results were compared with nothing'
    exit 77
fi
echo "PASS the demo over verbs: $(grep -c 'edge: ' "$log") links, all of verbs"
