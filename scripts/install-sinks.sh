#!/bin/sh
# Makes the virtual environment whose programs read what flexpath tee wrote, target/sinks-venv, and installs into it what
# crates/fp-sinks/requirements-test.txt pins. Without a change of that file nothing is done. Tests find its interpreter
# by FLEXPATH_SINKS_PYTHON, whose line is printed at the end.
#
# PYTHON: the interpreter, where it is not to be python3.
# Exit status: 0 everything is there; 3 this user or this machine cannot have it (what to do is printed); 1 it failed.
set -eu

say() { printf 'install-sinks: %s\n' "$*"; }

cd "$(dirname "$0")/.."
folder=target/sinks-venv
list=crates/fp-sinks/requirements-test.txt
python=${PYTHON:-python3}

"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || {
    say "missing: Python 3.11 or later with its module venv; PYTHON=... names one that is elsewhere"
    exit 3
}
wanted=$("$python" -c 'import sys; print(sys.executable, sys.version)' && cat "$list")
if [ "$wanted" != "$(cat "$folder/made-of" 2>/dev/null)" ]; then
    say "installing into $folder what $list names"
    rm -rf "$folder"
    mkdir -p target
    "$python" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$list" || {
        say "pip could not install what $list names: is its registry within reach?"
        exit 3
    }
    printf '%s\n' "$wanted" >"$folder/made-of"
fi
say "there; tell the tests: export FLEXPATH_SINKS_PYTHON=$PWD/$folder/bin/python"
