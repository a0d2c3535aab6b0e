#!/bin/sh
# Installs iperf3 where it is missing: a stream over a long wire is measured beside it.
#
# Exit status: 0 it is there; 3 this user or this machine may not install it (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-iperf3: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"
has iperf3 || install_packages iperf3
say "there: $(iperf3 --version | head -1)"
