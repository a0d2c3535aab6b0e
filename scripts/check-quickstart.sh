#!/bin/sh
# Does what README tells a newcomer to do, word for word: a new project outside the clone, the clone as a path
# dependency, the publisher and the subscriber of README; then runs both and looks at what arrives.
set -eu
clone=$(cd "$(dirname "$0")/.." && pwd)
project=$(mktemp -d)
publisher=
cleanup() {
    [ -z "$publisher" ] || kill "$publisher" 2>/dev/null || true
    rm -rf "$project"
}
trap cleanup EXIT

# Prints the n-th block of Rust in README.
block() { awk -v wanted="$1" '/^```rust/ { inside = ++count == wanted; next } /^```/ { inside = 0 } inside' "$clone/README.md"; }

cd "$project"
# The pinned toolchain, as inside the clone; the same target folder, so that nothing is built twice.
cp "$clone/rust-toolchain.toml" .
export CARGO_TARGET_DIR="$clone/target" FLEXPATH_RENDEZVOUS="$project/rendezvous"
cargo new --quiet --vcs none heat
cd heat
cp "$clone/Cargo.lock" .
cargo add --quiet --path "$clone" flexpath
mkdir src/bin "$FLEXPATH_RENDEZVOUS"
rm src/main.rs
block 1 >src/bin/publisher.rs
block 2 >src/bin/subscriber.rs
cargo build --bins
"$CARGO_TARGET_DIR/debug/publisher" &
publisher=$!
timeout 60 "$CARGO_TARGET_DIR/debug/subscriber" | tee "$project/out"
wait "$publisher"
publisher=
grep -q 'step 9' "$project/out" || { echo "the last step did not arrive"; exit 1; }
echo "quickstart outside the clone: it works"
