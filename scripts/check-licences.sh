#!/bin/sh
# Checks licences, bans and sources of all dependencies with cargo-deny, where that is installed. (Advisories need a
# database that a build machine may not reach: they are checked by hand before a release.)
set -eu
cd "$(dirname "$0")/.."
if ! cargo deny --version >/dev/null 2>&1; then
    echo "passed over: cargo-deny is not installed (cargo install cargo-deny --locked)"
    exit 0
fi
cargo deny check licenses bans sources
