#!/bin/sh
# Installs cargo-deny where it is missing, without optimization: it runs for a second, and is built in minutes.
#
# Exit status: 0 it is there; 3 it could not be installed (what to do is printed).
set -eu

say() { printf 'install-cargo-deny: %s\n' "$*"; }

cd "$(dirname "$0")/.."
version=0.20.2
if ! cargo deny --version >/dev/null 2>&1; then
    say "building cargo-deny $version"
    # A folder of its own, as features of crates in target/ are others.
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    CARGO_TARGET_DIR=$folder CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_DEV_INCREMENTAL=false \
        cargo install --quiet --locked --debug cargo-deny --version "$version" || {
        say "cargo-deny could not be installed. By hand: cargo install cargo-deny --locked"
        exit 3
    }
fi
say "there: $(cargo deny --version)"
