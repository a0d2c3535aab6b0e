#!/bin/sh
# Installs what guests are compiled to WebAssembly with, and only what is missing: Rust's target wasm32. (The clang and
# the linker for guests in C come by scripts/install-build-tools.sh.)
#
# Exit status: 0 it is there; 3 this machine cannot have it (what to do is printed).
set -eu

say() { printf 'install-wasm32: %s\n' "$*"; }

cd "$(dirname "$0")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
target=wasm32-unknown-unknown
is_there() { [ -d "$(rustc --print target-libdir --target "$target")" ]; }

if ! is_there && has rustup; then
    say "installing by rustup: $target"
    rustup target add "$target" || true
fi
if ! is_there; then
    say "missing: Rust's target $target. With rustup: rustup target add $target"
    exit 3
fi
say "there: $target of $(rustc --version)"
