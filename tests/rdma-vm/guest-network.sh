# Read in the guest before the command, with the kind of RDMA device and the machine's number in a pair (0: alone).
# Sets up the link that the device lies on: a dummy one, or the network of the pair.
# shellcheck shell=sh

# Launchers of MPI want a name.
echo "rdma-vm-$2" >/proc/sys/kernel/hostname
if [ "$2" = 0 ]; then
    link=alone RDMA_VM_ADDRESS=10.77.0.1 RDMA_VM_PEER=
    ip link add "$link" type dummy
    # Room for packets of 4096 bytes and their headers, the largest that RoCE knows.
    ip link set "$link" mtu 4200
else
    # The one link with a device behind it.
    for link in /sys/class/net/*/device; do link=$(basename "$(dirname "$link")"); done
    RDMA_VM_ADDRESS=10.77.0.$2 RDMA_VM_PEER=10.77.0.$((3 - $2))
    # The wire is a socket of the host, which loses what does not fit its buffer; a lossless fabric it is not. A READ is
    # answered by all of its packets at once, and what is lost of them is asked for again only after a while.
    tc qdisc add dev "$link" root tbf rate 64mbit burst 32kb latency 10s
fi
export RDMA_VM_ADDRESS RDMA_VM_PEER
# Addresses of version 6 are used at once, without asking first whether another has them.
echo 0 >"/proc/sys/net/ipv6/conf/$link/accept_dad"
ip addr add "$RDMA_VM_ADDRESS/24" dev "$link"
ip link set "$link" up
if [ "$1" = rxe ]; then rdma link add rxe0 type rxe netdev "$link"; fi
# Both of a pair are there before either runs its command.
if [ -n "$RDMA_VM_PEER" ]; then
    tries=0
    until /bin/busybox ping -c 1 -W 1 "$RDMA_VM_PEER" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -ge 120 ]; then
            echo "rdma-vm: the other machine, $RDMA_VM_PEER, does not answer" >&2
            exit 125
        fi
    done
fi
