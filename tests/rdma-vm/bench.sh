#!/bin/sh
# Links over verbs next to perftest, in one run of the virtual machine, in turns: medians of five, and their ratios.
# Every instruction of the guest is translated, so ratios alone say anything, and those little of hardware. Then what
# READs and gathered blocks cost, by the length of blocks and runs. Last come the instructions of the same frames and
# steps, READs and gathered blocks, in a machine whose clock counts instructions.
#
# usage: bench.sh
#
# FLEXPATH_BENCH_ROUNDS: how many turns. Default: 5.
# FLEXPATH_LINKS, FLEXPATH_STREAMS: the test programs `verbs` of fp-transport and of fp-core. Default: built first.
# Exit status: 0 measured, whatever came out; 77 skipped, which is said.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# Gives the word of a row that begins with so many bytes: perftest's tables.
row() { awk -v bytes="$1" -v at="$2" '$1 == bytes { print $at }'; }
# against NAME COLUMN BYTES COMMAND...: one of perftest's programs with itself, in the guest.
against() {
    name=$1 column=$2 bytes=$3
    shift 3
    "$@" -d rxe0 -x 1 -s "$bytes" >/dev/null 2>&1 &
    answering=$!
    found='' tries=0
    while [ -z "$found" ] && [ "$tries" -lt 20 ]; do
        found=$("$@" -d rxe0 -x 1 -s "$bytes" "$RDMA_VM_ADDRESS" 2>/dev/null | row "$bytes" "$column") || true
        tries=$((tries + 1))
        [ -n "$found" ] || sleep 0.3
    done
    # It has ended by itself, or never will.
    if [ -z "$found" ]; then kill "$answering" 2>/dev/null || true; fi
    wait "$answering" || true
    echo "perftest $name $bytes $found"
}
case ${1:-} in
--help)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
in-guest)
    # shellcheck disable=SC2034 # counted, not used
    for round in $(seq "${FLEXPATH_BENCH_ROUNDS:-5}"); do
        for bytes in 65536 1048576; do
            against read 4 "$bytes" ib_read_bw -n 300
            against write 4 "$bytes" ib_write_bw -n 300
        done
        # In between: so that both find the machine equally busy.
        FLEXPATH_TEST_ROLE=bench "$FLEXPATH_LINKS" | sed 's/^/ours /'
        against wake 5 8 ib_send_lat -e -n 300
        against poll 5 8 ib_send_lat -n 300
        FLEXPATH_TEST_ROLE=bench "$FLEXPATH_STREAMS" | sed 's/^/ours /'
    done
    FLEXPATH_TEST_ROLE=sweeps "$FLEXPATH_LINKS"
    exit 0
    ;;
counting)
    FLEXPATH_TEST_ROLE=counts "$FLEXPATH_LINKS" | sed 's/^/ours /'
    FLEXPATH_TEST_ROLE=counts "$FLEXPATH_STREAMS" | sed 's/^/ours /'
    against wake 5 8 ib_send_lat -F -e -n 300
    FLEXPATH_TEST_ROLE=sweeps "$FLEXPATH_LINKS"
    exit 0
    ;;
esac
cd "$root"
status=0
"$here/prepare.sh" >/dev/null || status=$?
if [ "$status" -eq 77 ]; then echo "skipped: there is no virtual machine, as said above: nothing was measured"; fi
[ "$status" -eq 0 ] || exit "$status"
# The path of a package's test program, built first.
test_program() {
    cargo test --quiet --profile ci -p "$1" --test verbs --no-run --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}
FLEXPATH_LINKS=${FLEXPATH_LINKS:-$(test_program flexpath-transport)}
FLEXPATH_STREAMS=${FLEXPATH_STREAMS:-$(test_program flexpath-core)}
export FLEXPATH_LINKS FLEXPATH_STREAMS
found=$("$here/vm.sh" --timeout 1500 -- "$here/bench.sh" in-guest)
counted=$("$here/vm.sh" --timeout 600 --count --cpus 1 -- "$here/bench.sh" counting)
echo "load of this machine: $(cut -d ' ' -f 1-3 /proc/loadavg)"
# median WHOSE WHAT BYTES
median() { echo "$found" | awk -v key="$1 $2 $3" '$1 " " $2 " " $3 == key { print $4 }' | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# ratio NAME UNIT OURS THEIRS TARGET most|least
ratio() {
    awk -v name="$1" -v unit="$2" -v ours="$3" -v theirs="$4" -v target="$5" -v kind="$6" 'BEGIN {
        if (ours == "" || theirs <= 0) { printf "%-34s not measured (%s, %s)\n", name, ours, theirs; exit }
        ratio = ours / theirs; met = kind == "least" ? ratio >= target : ratio <= target
        printf "%-34s ours %9.1f %-6s perftest %9.1f %-6s ratio %5.2f, at %s %s: %s\n", name, ours, unit, theirs, unit,
            ratio, kind, target, met ? "met" : "MISSED" }'
}
for bytes in 65536 1048576; do
    for kind in read write; do
        ratio "READ of $bytes to ib_${kind}_bw" MiB/s "$(median ours read $bytes)" "$(median perftest $kind $bytes)" 0.8 least
    done
done
for kind in frame step; do
    case $kind in frame) of='' ;; step) of=step_ ;; esac
    ratio "$kind of 8 to ib_send_lat -e" us "$(median ours "${of}wake" 8)" "$(median perftest wake 8)" 3 most
    ratio "$kind of 8, busy, to ib_send_lat" us "$(median ours "${of}poll" 8)" "$(median perftest poll 8)" 5 most
done
# Without a target: the same step over other transports, and what a choice costs.
for over in verbs_step tcp_step shm_step; do
    for kind in wake poll; do
        printf '%-34s ours %9.1f us\n' "${over%_*} alone, step of 8, $kind" "$(median ours "${over}_$kind" 8)"
    done
done
for bytes in 65536 1048576; do
    for kind in read_poll through frames; do
        printf '%-34s ours %9.1f MiB/s\n' "$kind of $bytes" "$(median ours $kind $bytes)"
    done
done
echo 'instructions, of all of the machine, for one way of 8 bytes, asleep until they come:'
echo "$counted" | awk '$1 != "sweep" { printf "%-34s %9.0f\n", $1 " " $2, $4 * 1000 }'
# sweep WHAT LINES: the table, and which way is the cheapest.
sweep() {
    echo "$1 for a part of a block, by its bytes and those of its runs: READ straight, READ through memory of the stream, gathered"
    echo "$2" | awk '$1 == "sweep" { printf "%8d %6d %9d %9d %9d  %s\n", $2, $3, $4, $5, $6, $5 <= $6 ? "READ" : $4 <= $6 ? "READ if straight" : "gathered" }'
}
sweep us "$found"
sweep 'thousands of instructions' "$counted"
