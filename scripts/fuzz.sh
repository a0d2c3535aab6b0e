#!/usr/bin/env bash
# Fuzzes everything that reads bytes or texts from outside: the targets of fuzz/, two at a time.
#
# usage: fuzz.sh SECONDS [TARGET...]   each target, or these, for so long
#        fuzz.sh keep                  writes fuzz/seeds anew
# What a target finds lies in fuzz/artifacts, and the last lines say how to run it again. A finding becomes a test of the
# crate that read it. Inputs that reached something new stay in fuzz/corpus, for the next run. Each run tries others;
# runs with the same FUZZ_SEED and the same corpus try the same.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: fuzz.sh SECONDS [TARGET...] | fuzz.sh keep}
shift
# Options that instrument are of no stable toolchain; this lets the pinned one take them.
export RUSTC_BOOTSTRAP=1
target_dir=${CARGO_TARGET_DIR:-target}/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
programs=$target_dir/$host/release

cargo fuzz build --fuzz-dir fuzz --target-dir "$target_dir" --codegen-units 16
if [[ $seconds == keep ]]; then exec "$programs/seeds" keep fuzz/seeds; fi
"$programs/seeds" unfold fuzz/corpus fuzz/seeds
if (($# == 0)); then mapfile -t targets < <(cd fuzz/fuzz_targets && ls -- *.rs | sed 's/\.rs$//'); else targets=("$@"); fi

# A message of the data plane has at most 64 MiB: nothing that is read may ask for more at once.
fuzz() {
    mkdir -p "fuzz/artifacts/$1"
    "$programs/$1" "fuzz/corpus/$1" -artifact_prefix="fuzz/artifacts/$1/" -max_total_time="$seconds" -seed="${FUZZ_SEED:-0}" \
        -max_len=16384 -len_control=20 -timeout=10 -malloc_limit_mb=65 -rss_limit_mb=1024 -print_final_stats=1 \
        >"fuzz/artifacts/$1/log" 2>&1
}

# judge TARGET STATUS: one line of what it did, or all that it said last.
failed=0
judge() {
    local log=fuzz/artifacts/$1/log
    if (($2 == 0)); then
        echo "fuzz $1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, none objected to"
    else
        failed=1
        echo "fuzz $1: FAILED, again with $programs/$1 FILE"
        tail -n 40 "$log"
    fi
}

while ((${#targets[@]})); do
    pair=("${targets[@]:0:2}")
    targets=("${targets[@]:2}")
    jobs=()
    for name in "${pair[@]}"; do
        fuzz "$name" &
        jobs+=($!)
    done
    for at in "${!jobs[@]}"; do
        status=0
        wait "${jobs[at]}" || status=$?
        judge "${pair[at]}" "$status"
    done
done
exit "$failed"
