#!/bin/sh
# Installs cargo-fuzz where it is missing, without optimization. It needs no second toolchain: scripts/fuzz.sh lets that
# of rust-toolchain.toml take the options that instrument.
#
# Exit status: 0 it is there; 3 it could not be installed (what to do is printed).
set -eu

say() { printf 'install-fuzz: %s\n' "$*"; }

cd "$(dirname "$0")/.."
version=0.13.2
if ! cargo fuzz --version >/dev/null 2>&1; then
    say "building cargo-fuzz $version"
    # A folder of its own, as features of crates in target/ are others.
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    CARGO_TARGET_DIR=$folder CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_DEV_INCREMENTAL=false \
        cargo install --quiet --locked --debug cargo-fuzz --version "$version" || {
        say "cargo-fuzz could not be installed. By hand: cargo install cargo-fuzz --locked"
        exit 3
    }
fi
c++ --version >/dev/null 2>&1 || {
    say "no C++ compiler, which libFuzzer is built with: scripts/install-build-tools.sh installs one"
    exit 3
}
say "there: $(cargo fuzz --version)"
