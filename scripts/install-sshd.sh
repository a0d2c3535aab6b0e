#!/bin/sh
# Installs sshd where it is missing: a stream over a connection is measured beside scp. It is not started.
#
# Exit status: 0 it is there; 3 this user or this machine may not install it (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-sshd: %s\n' "$*"; }

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"
[ -x /usr/sbin/sshd ] || install_packages openssh-server openssh-client
say "there: $(/usr/sbin/sshd -V 2>&1 | head -1)"
