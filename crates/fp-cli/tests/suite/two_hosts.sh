#!/bin/sh
# Two hosts with nothing in common but a network: namespaces of their own, a cable between them, and no directory that
# both know. The meeting place and the command run on the one, the simulation on the other.
#
# usage: unshare -Urn sh two_hosts.sh FOLDER PUBLISHER...   with the command in $FLEXPATH
set -eu
folder=$1
shift

unshare -n sleep 600 &
far=$!
place= publisher=
cleanup() {
    for process in $place $publisher $far; do kill "$process" 2>/dev/null || true; done
}
trap cleanup EXIT

# await WHAT COMMAND...: until it succeeds.
await() {
    what=$1 tries=0
    shift
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || { echo "never: $what" && exit 1; }
        sleep 0.05
    done
}
own=$(readlink /proc/self/ns/net)
elsewhere() { [ "$(readlink "/proc/$far/ns/net")" != "$own" ]; }
await "the other namespace" elsewhere
ip link add near type veth peer name far netns "$far"
ip address add 10.77.0.1/24 dev near
ip link set near up
ip link set lo up
there() { nsenter -t "$far" -n env XDG_RUNTIME_DIR="$folder/far" "$@"; }
there ip address add 10.77.0.2/24 dev far
there ip link set far up
there ip link set lo up
mkdir "$folder/near" "$folder/far"

"$FLEXPATH" token --out "$folder/run.token"
export FLEXPATH_TOKEN_FILE="$folder/run.token"
nsenter -t "$far" -n "$FLEXPATH" meet --listen 10.77.0.2:0 >"$folder/address" &
place=$!
await "an address" test -s "$folder/address"
FLEXPATH_RENDEZVOUS=$(cat "$folder/address")
export FLEXPATH_RENDEZVOUS
XDG_RUNTIME_DIR="$folder/near" FLEXPATH_LISTEN=10.77.0.1:0 "$@" &
publisher=$!
listed() { there "$FLEXPATH" ls | grep -q '^heat '; }
await "the stream in the list" listed
there "$FLEXPATH" tail heat count --steps 3
echo "two hosts: a stream crossed"
