#!/bin/sh
# A data set into a stager over RDMA, beside tcp, in the virtual machine: figure 3 of the paper on staging for SAVIME. Every
# instruction of the guest is translated, so only the ratio says anything, and that little of hardware.
#
# usage: figures.sh
#
# FLEXPATH_BENCH_ROWS: a file to which rows are appended, as any bench does.
# CARGO_PROFILE: with which it is built. Default: release.
# Exit status: 0 measured, whatever came out; 77 skipped, which is said.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case ${1:-} in
--help)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
in-guest)
    export FLEXPATH_LISTEN="$RDMA_VM_ADDRESS:0" FLEXPATH_TOKEN_FILE=/tmp/token FLEXPATH_BENCH_ROWS=/tmp/rows
    "$(dirname "$FLEXPATH_FIGURES")/../flexpath" token --out "$FLEXPATH_TOKEN_FILE" >/dev/null
    "$FLEXPATH_FIGURES" --bench --emulated
    sed 's/^/row /' /tmp/rows
    exit 0
    ;;
esac
cd "$root"
status=0
"$here/prepare.sh" >/dev/null || status=$?
if [ "$status" -eq 77 ]; then echo "skipped: there is no virtual machine, as said above: nothing was measured"; fi
[ "$status" -eq 0 ] || exit "$status"
profile=${CARGO_PROFILE:-release}
cargo build --quiet --profile "$profile" -p flexpath-cli
FLEXPATH_FIGURES=$(cargo bench --quiet --profile "$profile" -p flexpath --bench figures --no-run --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
export FLEXPATH_FIGURES
found=$("$here/vm.sh" --timeout 900 --memory 5120 -- "$here/figures.sh" in-guest) || status=$?
echo "$found" | grep -v '^row ' || true
[ "$status" -eq 0 ] || exit "$status"
if [ -n "${FLEXPATH_BENCH_ROWS:-}" ]; then echo "$found" | sed -n 's/^row //p' >>"$FLEXPATH_BENCH_ROWS"; fi
