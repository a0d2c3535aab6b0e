#!/bin/sh
# Runs two commands in two virtual machines that share a network, each with an RDMA device on it. Both are there when
# the commands begin. In each RDMA_VM_ADDRESS is its own address and RDMA_VM_PEER that of the other.
#
# usage: pair.sh [OPTION OF vm.sh]... -- 'FIRST SHELL COMMAND' 'SECOND SHELL COMMAND'
#
# What they print comes with `1: ` and `2: ` before each line. Exit status: 0 both ended well; else that of the second
# if it is not 0, else that of the first.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --help ]; then
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
fi
options=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options="$options $1"
    shift
done
if [ $# -ne 3 ]; then
    printf 'rdma-vm: two commands are wanted after --; see %s --help\n' "$0" >&2
    exit 2
fi
"$here/prepare.sh" >/dev/null || exit $?

# A udp port on loopback that nobody has, as /proc/net/udp shows, and that another pair is unlikely to choose.
free_port() {
    port=$((20000 + $(od -A n -t u2 -N 2 /dev/urandom) % 20000))
    while grep -qi ":$(printf %04x "$port") " /proc/net/udp; do port=$((port + 1)); done
    echo "$port"
}
first_port=$(free_port)
second_port=$(free_port)
while [ "$second_port" = "$first_port" ]; do second_port=$(free_port); done

folder=$(mktemp -d "${TMPDIR:-/tmp}/rdma-pair.XXXXXX")
first=
second=
# shellcheck disable=SC2317 # the trap calls it
clean() {
    for machine in $first $second; do kill "$machine" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# shellcheck disable=SC2086 # options are words
"$here/vm.sh" $options --pair 1 "$first_port" "$second_port" -- sh -c "$2" >"$folder/1" 2>&1 &
first=$!
# shellcheck disable=SC2086
"$here/vm.sh" $options --pair 2 "$second_port" "$first_port" -- sh -c "$3" >"$folder/2" 2>&1 &
second=$!
second_status=0
wait "$second" || second_status=$?
second=
first_status=0
wait "$first" || first_status=$?
first=
sed 's/^/1: /' "$folder/1"
sed 's/^/2: /' "$folder/2"
printf 'rdma-vm: the first machine ended with %s, the second with %s\n' "$first_status" "$second_status"
if [ "$second_status" -ne 0 ]; then exit "$second_status"; fi
exit "$first_status"
