#!/bin/busybox sh
# shellcheck shell=dash
# The first process of the guest. It loads modules and puts the files of the host under a layer of its own memory. It
# runs the command in them, leaves its exit status in the folder it shares with the host, and switches the machine off.

busybox=/bin/busybox
say() { echo "guest: $*"; }
off() {
    $busybox sync
    $busybox poweroff -f
}
give_up() {
    say "$*"
    off
}

$busybox mount -t proc none /proc
$busybox mount -t sysfs none /sys
$busybox mount -t devtmpfs none /dev
while read -r module; do
    $busybox insmod "/modules/$module" || say "module $module cannot be loaded"
done </modules/order

# The host's files are read only; what is written goes to memory, and away with the guest.
nine=trans=virtio,version=9p2000.L,msize=512000
$busybox mount -t 9p -o "$nine,ro,cache=loose" host /host || give_up "the host's files cannot be mounted"
$busybox mount -t tmpfs none /own
$busybox mkdir /own/upper /own/work
$busybox mount -t overlay -o lowerdir=/host,upperdir=/own/upper,workdir=/own/work none /root || give_up "no overlay"
for folder in proc sys dev; do
    $busybox mount -o move "/$folder" "/root/$folder"
    $busybox rm -rf "/${folder:?}"
    $busybox ln -s "root/$folder" "/$folder"
done
$busybox ln -s /proc/self/fd /dev/fd
for at in 0:stdin 1:stdout 2:stderr; do $busybox ln -s "/proc/self/fd/${at%:*}" "/dev/${at#*:}"; done
for folder in dev/pts dev/shm run; do $busybox mkdir -p "/root/$folder"; done
$busybox mount -t devpts none /root/dev/pts
$busybox mount -t tmpfs -o mode=1777 none /root/dev/shm
$busybox mount -t tmpfs -o mode=755 none /root/run
# The one folder in which files of the guest stay.
$busybox mkdir -p /root/run/rdma-vm
$busybox mount -t 9p -o "$nine,rw,cache=none,access=any" task /root/run/rdma-vm || give_up "no shared folder"
$busybox ip link set lo up

say "running the command after $($busybox cut -d ' ' -f 1 /proc/uptime) s"
# Ports of the host's choice: one for the standard output, one for the errors. A port can be opened once only, while
# programs open /dev/stderr as they please: pipes are between.
$busybox mkfifo /out /err
$busybox cat /out >/dev/vport1p1 &
out=$!
$busybox cat /err >/dev/vport1p2 &
err=$!
$busybox chroot /root /bin/sh /run/rdma-vm/command </dev/null >/out 2>/err
status=$?
# What a process that was left behind may still say is not waited for.
($busybox sleep 5; kill $out $err) 2>/dev/null &
wait $out $err
echo "$status" >/root/run/rdma-vm/status
say "the command ended with $status after $($busybox cut -d ' ' -f 1 /proc/uptime) s"
off
