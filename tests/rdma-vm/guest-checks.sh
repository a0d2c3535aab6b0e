#!/bin/sh
# What the self-test runs in the guest: the verbs programs of rdma-core and perftest over the device, and as the first
# or the second of two machines rping and `flexpath doctor` from the second to the first.
#
# usage: guest-checks.sh [first|second]
set -eu

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

token=/run/token
printf '5a%062d\n' 0 >"$token"
case ${1:-} in
first)
    "$FLEXPATH" doctor --listen "$RDMA_VM_ADDRESS:7000" --token-file "$token" &
    doctor=$!
    # Ends when the other side has had enough.
    rping -s -a "$RDMA_VM_ADDRESS" -C 5
    kill -INT "$doctor"
    wait "$doctor" || true
    ;;
second)
    again "$FLEXPATH" doctor "$RDMA_VM_PEER:7000" --token-file "$token" --timeout 60
    again rping -c -a "$RDMA_VM_PEER" -C 5
    echo "rping: both ends agree"
    ;;
'')
    ibv_devinfo | grep -q PORT_ACTIVE
    ibv_devinfo -d rxe0
    rping -s -a "$RDMA_VM_ADDRESS" -C 5 &
    answering=$!
    again rping -c -v -a "$RDMA_VM_ADDRESS" -C 5
    wait "$answering"
    for program in ib_read_bw ib_write_bw; do
        "$program" -d rxe0 -x 1 -s 65536 -n 64 &
        answering=$!
        again "$program" -d rxe0 -x 1 -s 65536 -n 64 "$RDMA_VM_ADDRESS"
        wait "$answering"
    done
    ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
