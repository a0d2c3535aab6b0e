#!/bin/sh
# Installs what the crates of tests/rdma-crates are built with, and only what is missing: rdma-core's C headers and those
# of libnl, clang and libclang, cmake and pkg-config.
#
# Exit status: 0 they are there; 3 this user or this machine may not install them (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-rdma-crates: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"
missing=
for program in clang cmake pkg-config; do
    has "$program" || missing="$missing $program"
done
ls /usr/lib/llvm-*/lib/libclang*.so* /usr/lib/*/libclang*.so* >/dev/null 2>&1 || missing="$missing libclang-dev"
[ -e /usr/include/infiniband/verbs.h ] || missing="$missing libibverbs-dev"
[ -e /usr/include/rdma/rdma_cma.h ] || missing="$missing librdmacm-dev"
[ -e /usr/include/libnl3/netlink/route/link.h ] || missing="$missing libnl-route-3-dev"
# shellcheck disable=SC2086 # a list of packages
if [ -n "$missing" ]; then install_packages $missing; fi
say "there: rdma-core's headers, clang, cmake"
