# Read by scripts that run parts one after the other, all of them though one fails, and sum up at the end.
# shellcheck shell=bash

# shellcheck source=scripts/exceptions.sh
. "$(dirname "${BASH_SOURCE[0]}")/exceptions.sh"
log=$(mktemp)
running=
summary=()
last_words=()
failed_parts=0
trap '[[ -z $running ]] || kill "$running" 2>/dev/null || true; rm -f "$log" "$log".part' EXIT

# outcome NAME STATUS: the words for how a part ended. What was skipped has not passed, unless it is excepted; and what
# is excepted must not be able to run.
outcome() {
    local reason
    reason=$(exception "$1") || reason=
    case $2:${reason:+excepted} in
        0:) echo "ok" ;;
        0:excepted) echo "FAILED: it ran, so its line in scripts/exceptions.txt must go" ;;
        77:excepted) echo "excepted: $reason" ;;
        77:) echo "FAILED: skipped (status 77)" ;;
        124:* | 137:*) echo "FAILED: out of time" ;;
        *) echo "FAILED: status $2" ;;
    esac
}

# conclude NAME SECONDS WORDS: the part's line in the summary. Of a part that failed outside its tests the last lines are
# kept, to be shown at the end.
conclude() {
    if [[ $3 == FAILED* ]]; then
        failed_parts=$((failed_parts + 1))
        if ! grep -q '^failures:$' "$log.part"; then
            last_words+=("$(printf '\n=== failed: %s, its last lines' "$1" && echo && tail -n 40 "$log.part" | cut -c1-300)")
        fi
    fi
    summary+=("$(printf '%-16s %5s s  %s' "$@")")
    printf '=== %s\n' "${summary[-1]}"
}

# part NAME LIMIT COMMAND...: runs it for at most so many seconds (0: as long as it takes), shows what it prints and
# keeps it. A file and `tail` stand between, not a pipe: whatever a failed test leaves behind may hold a pipe open for
# ever.
part() {
    local name=$1 limit=$2 from=$SECONDS status=0
    shift 2
    printf '\n=== %s\n' "$name"
    : >"$log.part"
    timeout --kill-after=30 "$limit" "$@" </dev/null >"$log.part" 2>&1 &
    running=$!
    tail --quiet --lines=+1 --follow --pid="$running" "$log.part"
    wait "$running" || status=$?
    running=
    { cat "$log.part" && echo; } >>"$log"
    conclude "$name" $((SECONDS - from)) "$(outcome "$name" "$status")"
}

# sum_up: what became of each part, what is excepted, what else was said to be skipped, and why tests failed.
sum_up() {
    printf '\n=== parts, %d s together\n' "$SECONDS"
    printf '%s\n' "${summary[@]}"
    local name
    for name in $(excepted_parts); do printf 'exception        %s: %s\n' "$name" "$(exception "$name")"; done
    grep '^skipped: ' "$log" | sort -u || true
    what_failed
    ((${#last_words[@]} == 0)) || printf '%s\n' "${last_words[@]}"
}

# what_failed: what each failed test printed, the first lines of it: who reads only the end of a log sees the reason.
what_failed() {
    awk -v most=40 '
        /^---- .* ----$/ { shown = 1; lines = 0; print "\n=== failed: " $2; next }
        /^failures:$/ { shown = 0 }
        shown && ++lines <= most { print substr($0, 1, 300) }
    ' "$log"
}

# count WORD: the sum over all lines in which a test binary reports its results.
count() {
    sed -n "s/^test result:.* \([0-9][0-9]*\) $1.*/\1/p" "$log" | awk '{ sum += $1 } END { print sum + 0 }'
}
