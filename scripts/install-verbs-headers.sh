#!/bin/sh
# Installs the C headers of rdma-core where they are missing: a test compares our structures with theirs.
#
# Exit status: 0 they are there; 3 this user or this machine may not install them (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-verbs-headers: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"
headers=/usr/include
{ [ -e "$headers/infiniband/verbs.h" ] && [ -e "$headers/rdma/rdma_cma.h" ]; } || install_packages libibverbs-dev librdmacm-dev
say "there: infiniband/verbs.h, rdma/rdma_cma.h"
