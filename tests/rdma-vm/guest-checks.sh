#!/bin/sh
# What test.sh runs in the guest. Alone: the verbs programs of rdma-core and perftest over the device, `flexpath doctor`
# with each reason provoked, the project's suites of verbs. As the first or the second of two machines: rping,
# `flexpath doctor` and a stream from the first to the second.
#
# usage: guest-checks.sh alone|first|second
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d /run/checks.XXXXXX)
# shellcheck source=tests/rdma-vm/checks.sh
. "$here/checks.sh"

# Tries a command again until it succeeds: its other end may not listen yet.
again() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        if [ "$tries" -ge 30 ]; then
            echo "gave up after $tries tries: $*" >&2
            return 1
        fi
        sleep 0.5
    done
}
# both ONE OTHER: two commands, the second again until the first answers.
# shellcheck disable=SC2317 # `check` calls it
both() {
    sh -c "$1" &
    answering=$!
    # shellcheck disable=SC2086 # a command and its arguments
    again $2
    wait "$answering"
}
# The same user's limit of locked memory does not hold for root.
# shellcheck disable=SC2317 # `check` calls it
limited() {
    (
        # shellcheck disable=SC3045 # every shell here has it
        ulimit -l 64
        setpriv --reuid 1000 --clear-groups "$@"
    )
}
doctor_says() {
    name=$1 text=$2
    shift 2
    check "flexpath doctor $name" 0 "$@" "$FLEXPATH" doctor
    holds "... and says: $text" out "$text"
}

alone() {
    check "the device is there and its port is up" 0 ibv_devinfo -d rxe0
    holds "... active" out PORT_ACTIVE
    address=$RDMA_VM_ADDRESS
    check "rping" 0 both "rping -s -a $address -C 5" "rping -c -a $address -C 5"
    for program in ib_read_bw ib_write_bw; do
        over="$program -d rxe0 -x 1 -s 65536 -n 64"
        check "$program" 0 both "$over" "$over $address"
    done
    doctor_says "where there is a device" "  verbs          ok " env
    holds "... with the link it has" out "(transport=verbs rxe0 $address:"
    doctor_says "for a device that does not exist" "the device nosuch0 was asked for, and this machine has rxe0" \
        env FLEXPATH_VERBS_DEVICE=nosuch0
    doctor_says "with too low a limit of locked memory" "and 65536 is the limit: raise it (\`ulimit -l unlimited\`" limited
    check "flexpath bench over verbs" 0 "$FLEXPATH" bench --transport verbs --publishers 2 --subscribers 2 \
        --shape 64x4096 --steps 5 --json
    holds "... and over nothing else" out '"verbs (inproc refused: not allowed by the policy; shm refused: not allowed by the policy)": 4'
    # A block that is asked for before its memory is registered is sent instead: that may be one of the first.
    matches "... with one copy, from memory of the stream's" out '"copied_per_delivered": \(1\.0\|0\.9[0-9]*\),'
    check "the crate ibverbs exchanges memory through the device of our listener" 0 "$FLEXPATH_WITNESS"
    holds "... and so does our link, in turns" out "by ibverbs and by a link of ours in turns"
    # Tests that take the network link down do so here alone.
    export RDMAVM=1 FLEXPATH_REQUIRE_VERBS=1 RUST_BACKTRACE=0
    suite "streams over verbs" "$FLEXPATH_STREAMS"
    # Its last test takes the link down and up, after which soft-RoCE answers no new connections for a while.
    suite "links over verbs" "$FLEXPATH_LINKS"
    ip link set alone down
    doctor_says "with its port down" "rxe0 port 1: DOWN" env
    check "flexpath bench with its port down" 1 "$FLEXPATH" bench --transport verbs
    holds "... says so" err "bench: no RDMA here: port 1 of rxe0 is not active"
    ip link set alone up
    # What the guest removes is gone from its own layer alone.
    rm -f /usr/lib/*/libibverbs.so.1* /usr/lib/*/librdmacm.so.1*
    ldconfig
    doctor_says "without RDMA's libraries" "not installed: libibverbs.so.1, librdmacm.so.1" env
    holds "... and works by tcp" out "  tcp            ok "
    check "a program starts without them" 0 env -u FLEXPATH_REQUIRE_VERBS "$FLEXPATH_STREAMS"
    holds "... and says which is missing" out "libibverbs.so.1"
}

# Ports of the first machine.
doctor=7000 contact=7001 stream=7003

case ${1:-} in
alone) alone ;;
first)
    printf '5a%062d\n' 0 >"$folder/token"
    "$FLEXPATH" doctor --listen "$RDMA_VM_ADDRESS:$doctor" --token-file "$folder/token" >"$folder/contact" &
    listening=$!
    again test -s "$folder/contact"
    /bin/busybox nc -l -p "$contact" <"$folder/contact"
    # Ends when the other side has had enough.
    rping -s -a "$RDMA_VM_ADDRESS" -C 5
    kill -INT "$listening"
    wait "$listening" || true
    export FLEXPATH_TEST_ROLE="publishes far" FLEXPATH_TEST_PORT=$stream
    check "publishes to the other machine" 0 "$FLEXPATH_STREAMS"
    ;;
second)
    printf '5a%062d\n' 0 >"$folder/token"
    again sh -c "/bin/busybox nc $RDMA_VM_PEER $contact </dev/null >'$folder/contact' && test -s '$folder/contact'"
    check "flexpath doctor to the other machine" 0 \
        "$FLEXPATH" doctor "$(cat "$folder/contact")" --token-file "$folder/token" --timeout 60
    holds "... over verbs" out "  verbs          ok "
    holds "... to its device" out "(transport=verbs rxe0 $RDMA_VM_PEER:"
    holds "... and over tcp" out "  tcp            ok "
    check "rping to the other machine" 0 again rping -c -a "$RDMA_VM_PEER" -C 5
    export FLEXPATH_TEST_ROLE="subscribes far" FLEXPATH_TEST_PUBLISHER="$RDMA_VM_PEER:$stream"
    check "a stream from the other machine, over verbs alone" 0 again "$FLEXPATH_STREAMS"
    holds "... with every element right" out "every element came from the other machine"
    ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
exit "$failed"
