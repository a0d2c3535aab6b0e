#!/usr/bin/env bash
# Builds the wheel and uses it as others do: in an empty virtual environment where there is no libibverbs, with the oldest
# numpy that it may meet. Looks into it: it must load wherever there is glibc 2.28 or later.
#
# usage: check-wheel.sh
# Exit status: 0 it is as it should be; 1 it is not; 77 skipped, with the reason.
set -euo pipefail
cd "$(dirname "$0")/.."

# rustup installs here, and a shell that was open before does not know it.
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
limit_bytes=$((15 * 1000 * 1000))
platform=manylinux_2_28
root=$PWD
built=$root/target/python
wheels=$built/wheels
empty=$built/empty

fail() { echo "check-wheel: $*" && exit 1; }

status=0
scripts/install-python.sh || status=$?
case $status in
    0) ;;
    3) echo "skipped: the virtual environment cannot be had here, as said above" && exit 77 ;;
    *) exit "$status" ;;
esac
python=$built/venv/bin/python

scripts/python.sh wheel
wheel=$(echo "$wheels"/flexpath-*.whl)
[[ -f $wheel ]] || fail "one wheel should lie in $wheels"

size_bytes=$(stat --format %s "$wheel")
((size_bytes < limit_bytes)) || fail "$wheel has $size_bytes bytes, $limit_bytes or more"

# What it asks of the system, as its symbols say: no newer glibc, and no library that is not in every system.
"$python" -m auditwheel show --json "$wheel" | "$python" -c '
import json, sys
said = json.load(sys.stdin)
wanted = sys.argv[1].rpartition("_")[2]
glibc = said["overall_tag"].split("_")
assert glibc[:2] == ["manylinux", "2"] and int(glibc[2]) <= int(wanted), said
assert not said["external_libs"], said
# Whoever unwinds must be the one that glibc has: see scripts/python.sh.
assert "libgcc_s.so.1" in said["versioned_symbols"], said' "$platform" || fail "auditwheel says so"

listed=$("$python" -m zipfile --list "$wheel")
for name in flexpath/py.typed flexpath/_native.pyi licenses/LICENSE-MIT licenses/LICENSE-APACHE entry_points.txt; do
    grep -q "$name" <<<"$listed" || fail "the wheel has no $name: $listed"
done

echo "check-wheel: installing into an empty virtual environment"
rm -rf "$empty"
"$python" -m venv "$empty"
# Newer versions of Python have no wheels of the oldest.
oldest=$(sed -n 's/^dependencies = \["numpy>=\(.*\)"\]/\1/p' python/pyproject.toml)
"$python" -c 'import sys; sys.exit(sys.version_info >= (3, 13))' || oldest=
env -u PYTHONPATH "$empty/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    "$wheel" "numpy${oldest:+==$oldest.*}"

# Where there is a libibverbs, nothing started by this finds it.
mapfile -t verbs < <(PATH=$PATH:/sbin ldconfig -p | sed -n 's/.*libibverbs.* => //p')
# shellcheck disable=SC2016 # what is expanded there
without_verbs=(unshare --map-root-user --mount sh -c
    'for library; do shift; [ "$library" = -- ] && break; mount --bind /dev/null "$library"; done; exec "$@"' sh "${verbs[@]}" --)
((${#verbs[@]})) || without_verbs=()

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
export FLEXPATH_RENDEZVOUS=$place
# run COMMAND...: with the new environment first in PATH, and a deadline.
run() { env -u PYTHONPATH PATH="$empty/bin:$PATH" timeout 120 "${without_verbs[@]}" "$@"; }

run python - <<'END' || fail "it does not load as it should"
import ctypes
import importlib.metadata
import flexpath

try:
    ctypes.CDLL("libibverbs.so.1")
except OSError:
    pass
else:
    raise SystemExit("libibverbs is here: nothing was shown")
assert flexpath.__version__ == importlib.metadata.version("flexpath"), flexpath.__version__
END
run flexpath --help | grep -q '^Usage: flexpath' || fail "flexpath --help"
run flexpath --version | grep -q '^flexpath [0-9]' || fail "flexpath --version"
run python -m flexpath ls --json | grep -q '^\[\]$' || fail "python -m flexpath ls"
status=0
run flexpath --no-such-option 2>/dev/null || status=$?
((status == 2)) || fail "wrong usage ends with status $status"
# It starts itself anew.
run flexpath bench --shape 1000 --steps 5 --publishers 2 --subscribers 1 >figures || fail "flexpath bench"
run flexpath doctor --transports shm,tcp >report || fail "flexpath doctor: $(cat report)"

# block N: the N-th program of the package's README.
block() {
    awk -v wanted="$1" '/^```python/ { inside = ++count == wanted; next } /^```/ { inside = 0 } inside' "$root/python/README.md"
}
block 1 >publisher.py
block 2 >subscriber.py
run python publisher.py &
publisher=$!
run python subscriber.py >out || fail "the subscriber of README: $(cat out)"
wait "$publisher" || fail "the publisher of README"
grep -q '^9 \[' out || fail "the last step did not arrive: $(cat out)"
echo "check-wheel: $(basename "$wheel") is as it should be: $size_bytes bytes, numpy ${oldest:-of any version}, libibverbs hidden: ${#verbs[@]}"
