#!/bin/sh
# Installs rsync where it is missing: a stream into a stager is measured beside it.
#
# Exit status: 0 it is there; 3 this user or this machine may not install it (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-rsync: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"
has rsync || install_packages rsync
say "there: $(rsync --version | head -1)"
