#!/bin/sh
# Generates crates/fp-wire/src/generated/ from crates/fp-wire/schemas/. Needed only after a change of the schemas:
# what it writes is checked in. With --check it writes nothing, and fails if what is checked in is out of date.
#
# It takes flatc of the very version of the flatbuffers crate (flatc's output and the crate belong together; the one
# that Debian packages is too old). Build that from the source of the flatbuffers project at the tag of the same
# version, its `flatc` target alone, and name the program in FLATC or put it on the PATH.
set -eu
cd "$(dirname "$0")/.."

wanted=$(sed -n 's/^flatbuffers = .*version = "=\([0-9.]*\)".*/\1/p' Cargo.toml)
flatc=${FLATC:-flatc}
found=$("$flatc" --version 2>/dev/null | sed 's/^flatc version //') || true
if [ "$found" != "$wanted" ]; then
    echo "flatc $wanted is needed (FLATC=/path/to/flatc); $flatc is ${found:-not there}" >&2
    exit 1
fi

checked_in=crates/fp-wire/src/generated
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$flatc" --rust --gen-all --filename-suffix "" -o "$made" crates/fp-wire/schemas/envelope.fbs
# The compiler leaves white space at the ends of lines.
sed -i 's/[[:space:]]*$//' "$made/envelope.rs"

if [ "${1:-}" = "--check" ]; then
    diff -r "$made" "$checked_in"
    echo "$checked_in is up to date"
else
    rm -rf "$checked_in"
    mkdir -p "$checked_in"
    cp "$made/envelope.rs" "$checked_in/"
    echo "wrote $checked_in/envelope.rs with flatc $wanted"
fi
