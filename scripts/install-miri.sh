#!/bin/sh
# Installs what scripts/miri.sh interprets tests with, and only what is missing: a nightly toolchain of one day, with its
# components miri and rust-src. No other build uses that toolchain.
#
# usage: install-miri.sh         installs it
#        install-miri.sh name    prints the toolchain's name
# Exit status: 0 it is there; 3 this machine cannot have it (what to do is printed).
set -eu

say() { printf 'install-miri: %s\n' "$*"; }

toolchain=nightly-2026-05-20
case ${1:-} in
name) echo "$toolchain" && exit 0 ;;
'') ;;
*) say "what is $1?" && exit 2 ;;
esac
command -v rustup >/dev/null 2>&1 || {
    say "missing: rustup, by which alone toolchains of one day are had"
    exit 3
}
sources=lib/rustlib/src/rust/library
is_there() {
    cargo "+$toolchain" miri --version >/dev/null 2>&1 && [ -d "$(rustc "+$toolchain" --print sysroot)/$sources" ]
}
is_there || {
    say "installing by rustup: $toolchain with miri and rust-src"
    rustup toolchain install "$toolchain" --profile minimal --component miri --component rust-src || true
}
is_there || {
    say "missing: rustup toolchain install $toolchain --profile minimal --component miri --component rust-src"
    exit 3
}
say "there: $(cargo "+$toolchain" miri --version) of $toolchain"
