#!/bin/sh
# A simulation on two hosts, each a network namespace of its own with a cable between them, and a stager on each host.
# Both see one rendezvous directory. The subscriber is on the first host, and the blocks of the second come over tcp.
#
# usage: unshare -Urn sh staging_namespaces.sh FOLDER TEST...   with the command in $FLEXPATH; TEST plays $FLEXPATH_TEST_ROLE
set -eu
folder=$1
shift

unshare -n sleep 600 &
far=$!
started=
cleanup() {
    for process in $started $far; do kill "$process" 2>/dev/null || true; done
    # Each had a file of its own, so that their lines are not mixed.
    cat "$folder"/stager.? >&2 || true
}
trap cleanup EXIT

own=$(readlink /proc/self/ns/net)
tries=0
until [ "$(readlink "/proc/$far/ns/net")" != "$own" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || { echo "never: the other namespace" && exit 1; }
    sleep 0.05
done
ip link add near type veth peer name far netns "$far"
ip address add 10.78.0.1/24 dev near
ip link set near up
ip link set lo up
there() { nsenter -t "$far" -n env FLEXPATH_LISTEN=10.78.0.2:0 "$@"; }
here() { env FLEXPATH_LISTEN=10.78.0.1:0 "$@"; }
there ip address add 10.78.0.2/24 dev far
there ip link set far up
there ip link set lo up

"$FLEXPATH" token --out "$folder/run.token"
export FLEXPATH_TOKEN_FILE="$folder/run.token" FLEXPATH_RENDEZVOUS="$folder"
stage="stage run --per-host 1 --once --subscribers 1 --hosts 2"
here "$FLEXPATH" $stage --host-index 0 2>"$folder/stager.0" &
stagers=$!
there "$FLEXPATH" $stage --host-index 1 2>"$folder/stager.1" &
stagers="$stagers $!" started=$stagers
FLEXPATH_TEST_ROLE=0-1 here "$@" &
ranks=$!
FLEXPATH_TEST_ROLE=2-3 there "$@" &
ranks="$ranks $!" started="$stagers $ranks"
FLEXPATH_TEST_ROLE=subscriber here "$@"
for process in $ranks $stagers; do wait "$process"; done
started=
echo "two hosts: staged by two ranks"
