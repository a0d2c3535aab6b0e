#!/bin/sh
# Runs a command in a virtual machine that has an RDMA device: Debian's kernel with soft-RoCE, over the files of this
# machine. The command runs in the same working directory, as root. What the command writes to files is lost but under
# /run/rdma-vm.
#
# usage: vm.sh [OPTION]... [--] COMMAND [ARGUMENT]...
#   --device rxe|none   the RDMA device: soft-RoCE (default), or none though the kernel has verbs
#   --env NAME          hands this variable on; may be given again. FLEXPATH_*, RUST_*, CARGO_* and PROPTEST_* always go
#   --cpus N            processors (default 2)
#   --memory MIB        memory (default 2048)
#   --timeout SECONDS   the longest that booting and running may take (default 300)
#   --count             the clock counts instructions: each is a nanosecond, of all processors together
#   --pair N OWN OTHER  is number N (1 or 2) of two that share a network; OWN and OTHER are udp ports on loopback
#   --help              this text
#
# In the guest RDMA_VM_ADDRESS is the address of the device, and RDMA_VM_PEER that of the other machine of a pair.
# Exit status: that of the command; 124 time ran out; 125 the machine failed; 77 skipped, as prepare.sh says why.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
device=rxe cpus=2 memory=2048 timeout=300 clock='-accel tcg,thread=multi' names='' number=0 own='' other=''

say() { printf 'rdma-vm: %s\n' "$*" >&2; }
usage() {
    say "$*; see $0 --help"
    exit 2
}
# A word as a shell reads it.
quote() { printf "'%s' " "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

while [ $# -gt 0 ]; do
    case $1 in
    --help)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --device | --env | --cpus | --memory | --timeout)
        [ $# -gt 1 ] || usage "$1 wants a value"
        case $1 in
        --device) device=$2 ;;
        --env) names="$names $2" ;;
        --cpus) cpus=$2 ;;
        --memory) memory=$2 ;;
        --timeout) timeout=$2 ;;
        esac
        shift 2
        ;;
    --count)
        clock='-accel tcg,thread=single -icount shift=0'
        shift
        ;;
    --pair)
        [ $# -gt 3 ] || usage "--pair wants a number and two ports"
        number=$2 own=$3 other=$4
        shift 4
        ;;
    --)
        shift
        break
        ;;
    -*) usage "unknown option $1" ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || usage "no command"
case $device in rxe | none) ;; *) usage "no device $device" ;; esac

cache=$("$here/prepare.sh") || exit $?
task=$(mktemp -d "${TMPDIR:-/tmp}/rdma-vm.XXXXXX")
machine=
# Nothing is left running and nothing lying about, however this ends.
# shellcheck disable=SC2317 # the trap calls it
clean() {
    if [ -n "$machine" ]; then
        kill "$machine" 2>/dev/null || true
        wait "$machine" 2>/dev/null || true
    fi
    rm -rf "$task"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# What the guest runs: variables, the device, the command.
inherited=$(env | sed -n 's/^\(\(FLEXPATH\|RUST\|CARGO\|PROPTEST\)_[A-Za-z0-9_]*\)=.*/\1/p')
{
    for name in PATH HOME $inherited $names; do
        value=
        eval "value=\${$name-}"
        eval "[ -z \"\${$name+set}\" ]" || printf 'export %s=%s\n' "$name" "$(quote "$value")"
    done
    # shellcheck disable=SC2016 # the guest's variables
    printf 'set -- %s %s; . %s; set --\n' "$device" "$number" "$(quote "$here/guest-network.sh")"
    printf 'cd %s || exit 125\nulimit -l unlimited\nexec ' "$(quote "$PWD")"
    for word in "$@"; do quote "$word"; done
} >"$task/command"

network=
if [ "$number" != 0 ]; then
    network="-netdev dgram,id=pair,local.type=inet,local.host=127.0.0.1,local.port=$own"
    network="$network,remote.type=inet,remote.host=127.0.0.1,remote.port=$other"
    network="$network -device virtio-net-pci,netdev=pair,mac=52:54:00:70:00:0$number"
fi

# The guest's output comes through pipes; held open here, so that their readers end when the machine has, however.
mkfifo "$task/out" "$task/err"
exec 3<>"$task/out" 4<>"$task/err"
cat <"$task/out" 3>&- 4>&- &
reader_out=$!
cat <"$task/err" >&2 3>&- 4>&- &
reader_err=$!

# Ended at its time limit, with this script, and even where that is killed.
# shellcheck disable=SC2086 # options of the clock and of the network are words
setpriv --pdeathsig TERM timeout --kill-after=10 "$timeout" qemu-system-x86_64 \
    -nodefaults -no-user-config -display none -no-reboot \
    -machine q35 $clock -cpu max -smp "$cpus" -m "$memory" \
    -kernel "$cache/kernel" -initrd "$cache/initramfs" \
    -append "console=ttyS0 quiet panic=-1 no_timer_check mitigations=off random.trust_cpu=on" \
    -serial "file:$task/console" \
    -device virtio-rng-pci -device virtio-serial-pci \
    -chardev "file,id=out,path=$task/out" -device virtserialport,chardev=out,nr=1,name=out \
    -chardev "file,id=err,path=$task/err" -device virtserialport,chardev=err,nr=2,name=err \
    -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev "local,id=task,path=$task,security_model=none" -device virtio-9p-pci,fsdev=task,mount_tag=task \
    $network </dev/null >"$task/qemu" 2>&1 3>&- 4>&- &
machine=$!
ended=0
wait "$machine" || ended=$?
machine=
exec 3>&- 4>&-
wait "$reader_out" "$reader_err" || true

if [ -s "$task/status" ]; then exit "$(cat "$task/status")"; fi
case $ended in
124 | 137) say "no end after $timeout s: the machine was stopped" ;;
*) say "the machine ended without an exit status of the command (qemu: $ended)" ;;
esac
tail -n 30 "$task/qemu" "$task/console" >&2 2>/dev/null || true
case $ended in 124 | 137) exit 124 ;; *) exit 125 ;; esac
