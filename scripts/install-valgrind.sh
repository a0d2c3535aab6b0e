#!/bin/sh
# Installs valgrind where it is missing: by its callgrind tests count the instructions of hot paths.
#
# Exit status: 0 it is there; 3 this user or this machine may not install it (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-valgrind: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"
has valgrind || install_packages valgrind
say "there: $(valgrind --version)"
