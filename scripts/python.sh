#!/usr/bin/env bash
# The Python package, in the virtual environment that scripts/install-python.sh makes.
#
# usage: python.sh wheel           builds the wheel, target/python/wheels, and installs it into that environment
#        python.sh lint            format and lints of its Rust, types of its Python; what the stubs say is compared
#                                  with what there is
#        python.sh test [WORD...]  tests what is installed: pytest, with words such as -k slices; without them the
#                                  examples of docstrings too
#        python.sh bench [WORD...] measures what is installed
# FLEXPATH_REQUIRE_ALL: a test that skips itself is then a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

# rustup installs here, and a shell that was open before does not know it.
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
root=$PWD
built=$root/target/python
# No test takes longer, on a machine with much else to do.
limit_s=300
export CARGO_TARGET_DIR=$built/cargo PYO3_PYTHON=$built/venv/bin/python
# Beside the sources nothing is left.
export PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=$built/hypothesis
[[ -x $PYO3_PYTHON ]] || { echo "python.sh: no virtual environment: run scripts/install-python.sh" && exit 1; }
# What is started by name, a notebook's kernel or a worker, comes from there too.
export PATH="$built/venv/bin:$PATH" VIRTUAL_ENV=$built/venv

# The wheel that others get, for systems with glibc 2.28 or later: so what is tested is what they have. zig links it, as
# the linker of this system would ask for this system's glibc. By itself it would put an unwinder of its own into the
# wheel: glibc unwinds a thread that ends with the interpreter by libgcc's, and one cannot read what the other keeps.
wheel() {
    local unwinder
    unwinder=$(cc -print-file-name=libgcc_s.so.1)
    rm -rf "$built/wheels"
    maturin build --release --locked --zig --compatibility manylinux_2_28 --manifest-path python/Cargo.toml \
        --out "$built/wheels" -- -C link-arg="$unwinder"
    python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$built"/wheels/*.whl
}

# In a release's profile, so that nothing is built twice.
lint() {
    cargo fmt --manifest-path python/Cargo.toml --check
    cargo clippy --release --locked --manifest-path python/Cargo.toml --all-targets -- -D warnings
    cd python
    mypy flexpath
    cd "$built"
    python -m mypy.stubtest --mypy-config-file "$root/python/pyproject.toml" \
        --allowlist "$root/python/stubtest-allowlist.txt" --ignore-unused-allowlist flexpath._native
}

# tested WORD...: pytest, away from the sources, so that what is installed is what is tested. FLEXPATH_RENDEZVOUS is of
# this run alone. A line of the same form as those of Rust's tests says how many passed
# and how many failed.
tested() {
    local status=0 said=$built/tested
    python -m pytest --config-file "$root/python/pyproject.toml" -o cache_dir="$built/pytest" --timeout "$limit_s" -rfEs \
        "$@" 2>&1 | tee "$said" || status=$?
    echo "test result: $(tail -n 1 "$said" | grep -o '[0-9]* \(passed\|failed\|error\)' | sed 's/error/failed/' | paste -sd ' ')"
    if [[ -n ${FLEXPATH_REQUIRE_ALL:-} ]] && grep '^SKIPPED' "$said"; then
        echo "python.sh: what was not tested has not passed"
        status=1
    fi
    return "$status"
}

tests() {
    local place
    place=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder is known now
    trap "rm -rf '$place'" EXIT
    export FLEXPATH_RENDEZVOUS=$place
    # The programs of the guide run with it in an empty environment.
    FLEXPATH_WHEEL=$(echo "$built"/wheels/*.whl)
    export FLEXPATH_WHEEL
    cd "$built"
    local status=0
    tested --rootdir "$root/python" "$root/python/tests" "$@" || status=$?
    # Somebody who asked for some tests did not ask for these.
    (($#)) || tested --rootdir "$place" --doctest-modules --pyargs flexpath || status=$?
    return "$status"
}

case ${1:-} in
    wheel) wheel ;;
    lint) lint ;;
    test) tests "${@:2}" ;;
    bench) cd "$built" && exec python "$root/python/benches/bench.py" "${@:2}" ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | sed '$d'
        exit 2
        ;;
esac
