#!/usr/bin/env bash
# Runs under Miri what has unsafe code and needs no other process: an interpreter that knows of each byte whose it is.
# It sees a slice of memory that somebody writes to, a pointer to memory that is gone, an end that lies outside, a value
# that is none of its type, and two threads at one place.
#
# usage: miri.sh
# It runs the memory that blocks are lent from (fp-transport), in mappings of this process alone, and the generated code
# that reads tables (fp-wire), on tables that came back, were changed at every fifth byte, or are noise.
#
# Left out, as Miri has no such call: memory that processes share, sockets, epoll, and libibverbs. Left out, as Miri is
# too slow for them: tables with thousands of blocks, at the limit of their length, or changed by chance. Property tests
# have four cases. The crates without unsafe code are left out as well.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTUP_TOOLCHAIN=$(scripts/install-miri.sh name)
export RUSTUP_TOOLCHAIN
# Tests ask for the time and for chance.
export MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4

# tests PACKAGE FILTER...: unit tests of those names, of which there must be some.
tests() {
    local package=$1 status=0 said
    shift
    said=$(cargo miri test --locked -p "$package" --lib -- "$@" 2>&1) || status=$?
    printf '%s\n' "$said"
    grep -q '^test result: ok. [1-9]' <<<"$said" || { echo "miri.sh: $package failed, or has no tests of $*" && exit 1; }
    return "$status"
}

slow=(--skip blocks_one_after --skip bytes_that_unfold --skip what_is_too_large --skip what_an_encoding)
slow+=(--skip origins_come_back --skip changed_)
tests flexpath-transport memory::arena:: memory::memory_map:: memory::payload::
tests flexpath-proto --skip meeting:: "${slow[@]}" table::
