#!/bin/sh
# Installs what the virtual machine of tests/rdma-vm is made with and what is run in it, and only what is missing: qemu
# and a static busybox, the programs of rdma-core and perftest, and the C headers of rdma-core. No kernel is installed, and none is touched.
#
# usage: install-rdma-vm.sh
#
# Exit status: 0 everything is there; 3 something is missing that this user or this machine may not install (what to
# do is printed); 1 an installation failed.
set -eu

say() { printf 'install-rdma-vm: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"

case ${1:-} in
'') ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    [ "$1" = --help ] && exit 0 || exit 2
    ;;
esac

# Administrators' programs are not on everybody's path.
PATH=$PATH:/usr/sbin:/sbin
missing=
while read -r program package; do
    has "$program" || missing="$missing $package"
done <<END
qemu-system-x86_64 qemu-system-x86
busybox busybox-static
cpio cpio
depmod kmod
xz xz-utils
ip iproute2
rdma iproute2
ibv_devinfo ibverbs-utils
rping rdmacm-utils
ib_read_bw perftest
END
# What is needed of these is a file, no program: the drivers of devices, the firmware, a busybox that needs nothing, and
# the headers that our structures are compared with.
ls /usr/lib/*/libibverbs/librxe-rdmav*.so >/dev/null 2>&1 || missing="$missing ibverbs-providers"
[ -e /usr/share/seabios/bios-256k.bin ] || missing="$missing seabios"
if has busybox && ldd "$(command -v busybox)" >/dev/null 2>&1; then missing="$missing busybox-static"; fi
if [ -z "${FLEXPATH_VERBS_HEADERS:-}" ]; then
    [ -e /usr/include/infiniband/verbs.h ] || missing="$missing libibverbs-dev"
    [ -e /usr/include/rdma/rdma_cma.h ] || missing="$missing librdmacm-dev"
fi
# shellcheck disable=SC2086 # a list of packages
if [ -n "$missing" ]; then install_packages $missing; fi
say "there: $(qemu-system-x86_64 --version | head -n 1)"
