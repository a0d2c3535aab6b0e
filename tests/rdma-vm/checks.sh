# Read by test.sh and guest-checks.sh: a check is a line, `PASS ...`, `FAIL ...` and what was printed, or `skipped: ...`.
# Wants $folder, for what the last command printed; sets $failed.
# shellcheck shell=sh disable=SC2034,SC2154
failed=0

# fail TEXT FILE...: says so, and shows the files.
fail() {
    printf 'FAIL %s\n' "$1"
    shift
    sed 's/^/    /' "$@"
    failed=1
}
# check NAME STATUS COMMAND...: runs a command, whose output goes to files, and compares its exit status.
check() {
    name=$1 expected=$2 from=$(date +%s) status=0
    shift 2
    "$@" >"$folder/out" 2>"$folder/err" || status=$?
    if [ "$status" -eq "$expected" ]; then
        printf 'PASS %s (%s s)\n' "$name" "$(($(date +%s) - from))"
    else
        fail "$name: exit status $status instead of $expected" "$folder/out" "$folder/err"
    fi
}
# holds NAME FILE TEXT: what the last command printed holds a text.
holds() {
    if grep -qF -- "$3" "$folder/$2"; then
        printf 'PASS %s\n' "$1"
    else
        fail "$1: no \"$3\" in" "$folder/$2"
    fi
}
# matches NAME out|err PATTERN: as `holds`, for a pattern of grep.
matches() {
    if grep -q -- "$3" "$folder/$2"; then
        printf 'PASS %s\n' "$1"
    else
        fail "$1: nothing like \"$3\" in" "$folder/$2"
    fi
}
# suite NAME COMMAND...: a test program of the project. Tests that it passed over have not passed.
suite() {
    name=$1 from=$(date +%s) status=0
    shift
    "$@" >"$folder/out" 2>"$folder/err" || status=$?
    summary=$(tail -n 1 "$folder/out")
    if [ "$status" -ne 0 ]; then
        fail "$name: exit status $status" "$folder/out" "$folder/err"
    elif grep -q '^skipped' "$folder/out"; then
        grep '^skipped' "$folder/out"
        printf 'FAIL %s: what was skipped has not passed\n' "$name"
        failed=1
    else
        printf 'PASS %s: %s (%s s)\n' "$name" "${summary%;*}" "$(($(date +%s) - from))"
    fi
}
