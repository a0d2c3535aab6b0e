#!/bin/sh
# Makes the virtual environment in which the Python package is built and tested, target/python/venv, and installs into it
# what python/requirements-test.txt pins. Python itself comes from apt (Debian, Ubuntu) where it is missing, the packages
# come by pip. Safe to run again: without a change of that file nothing is done.
#
# PYTHON: the interpreter, where it is not to be the first of python3, python3.14 and so on that is new enough.
# Exit status: 0 everything is there; 3 this user or this machine cannot have it (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-python: %s\n' "$*"; }

cd "$(dirname "$0")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
folder=target/python/venv
list=python/requirements-test.txt
oldest='3, 11'

# Whether an interpreter is there, new enough, and can make environments: Debian keeps that part in a package of its own.
is_fit() { "$1" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < ($oldest))" >/dev/null 2>&1; }

# The name of the first interpreter that is fit.
interpreter() {
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if is_fit "$name"; then
            echo "$name"
            return
        fi
    done
    return 1
}

# What an environment is made of: it is made anew when the interpreter or the list is another.
made_of() { "$python" -c 'import sys; print(sys.executable, sys.version)' && cat "$list"; }

if ! python=$(interpreter); then
    install_packages python3 python3-venv
    python=$(interpreter) || {
        say "missing: Python 3.11 or later with its module venv; PYTHON=... names one that is elsewhere"
        exit 3
    }
fi
wanted=$(made_of)
if [ "$wanted" = "$(cat "$folder/made-of" 2>/dev/null)" ]; then
    say "there: $("$folder/bin/python" --version) in $folder"
    exit 0
fi
say "installing into $folder what $list names"
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$list" || {
    # One that is offline and one that knows no such version look alike.
    say "pip could not install what $list names: is its registry within reach?"
    exit 3
}
printf '%s\n' "$wanted" >"$folder/made-of"
say "there: $("$folder/bin/python" --version) in $folder"
