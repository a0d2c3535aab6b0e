#!/bin/sh
# Checks licences, bans and sources of all dependencies with cargo-deny, which is installed first. (Advisories need a
# database that a build machine may not reach: they are checked by hand before a release.)
#
# Exit status: 0 all is as deny.toml wants it; 77 skipped, as cargo-deny cannot be had here; anything else: it is not.
set -eu
cd "$(dirname "$0")/.."
if ! scripts/install-cargo-deny.sh; then
    echo "skipped: no cargo-deny here, so licences and sources were not checked"
    exit 77
fi
for manifest in Cargo.toml python/Cargo.toml crates/fp-sinks/Cargo.toml; do
    cargo deny --manifest-path "$manifest" check licenses bans sources
done
