#!/bin/sh
# Installs what `make test` needs, and only what is missing: a C compiler (Rust links with it), what the tests of the C
# interface build with (compilers of C++ and Fortran, pkg-config, CMake, MPI), and the Rust toolchain that
# rust-toolchain.toml names. The compilers come from apt (Debian, Ubuntu), the toolchain from rustup.
#
# Exit status: 0 everything is there; 3 something is missing that this user or this machine may not install (what to
# do is printed); 1 an installation failed.
set -eu

say() { printf 'install-build-tools: %s\n' "$*"; }

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
channel=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' "$root/rust-toolchain.toml")
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
export PATH

# Whether apt could install a package.
is_offered() { has apt-cache && apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'; }

# Installs rustup for this user: needs no root unless the distribution's own package is taken.
install_rustup() {
    if is_offered rustup && as_root true; then
        install_packages rustup
        return
    fi
    has curl || install_packages curl ca-certificates
    say "installing rustup into ${CARGO_HOME:-$HOME/.cargo} (from https://rustup.rs)"
    init=$(mktemp)
    if ! curl --proto '=https' --tlsv1.2 -sSf --retry 3 --max-time 300 -o "$init" https://sh.rustup.rs; then
        rm -f "$init"
        say "rustup could not be downloaded. Install Rust $channel or later by other means and run this again"
        exit 3
    fi
    sh "$init" -y --no-modify-path --profile minimal --default-toolchain none </dev/null
    rm -f "$init"
}

# Whether the toolchain has all three of compiler, formatter and linter.
is_complete() {
    rustup run "$channel" cargo --version && rustup run "$channel" cargo fmt --version \
        && rustup run "$channel" cargo clippy --version
}

# A cargo that did not come by rustup is taken as it is, if it is new enough and has its companions.
take_other_cargo() {
    version=$(cd / && cargo --version | cut -d ' ' -f 2)
    oldest=$(printf '%s\n%s\n' "$version" "$channel" | sort -V | head -n 1)
    if [ "$oldest" = "$channel" ] && cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; then
        say "there: cargo $version (without rustup, so the pinned $channel is not enforced)"
    else
        say "cargo $version came without rustup, and $channel with rustfmt and clippy is needed."
        say "    Install rustup (https://rustup.rs), or a newer Rust with both"
        exit 3
    fi
}

# Whether a C program can be compiled and linked: a compiler without the C library's files is of no use.
links() {
    has cc || return 1
    object=$(mktemp)
    if echo 'int main(void) { return 0; }' | cc -x c - -o "$object" 2>/dev/null; then found=0; else found=1; fi
    rm -f "$object"
    return "$found"
}

if links; then
    say "there: a C compiler ($(cc --version 2>/dev/null | head -n 1))"
else
    install_packages gcc libc6-dev
fi
# The C interface is tested as its users build: in C++ and Fortran too, by pkg-config and by CMake, under mpirun.
missing=
has c++ || missing="$missing g++"
has pkg-config || missing="$missing pkg-config"
has cmake || missing="$missing cmake"
has gfortran || missing="$missing gfortran"
# Transforms that are deployed at run time are tested with guests in C, compiled to WebAssembly.
{ has clang && has wasm-ld; } || missing="$missing clang lld"
# Some of its examples run under MPI.
{ has mpicc && has mpifort && has mpirun; } || missing="$missing openmpi-bin libopenmpi-dev"
# shellcheck disable=SC2086 # a list of packages
if [ -n "$missing" ]; then install_packages $missing; else say "there: compilers of C++ and Fortran, pkg-config, CMake, MPI"; fi

if has cargo && ! has rustup; then
    take_other_cargo
    exit 0
fi
has rustup || install_rustup
if is_complete >/dev/null 2>&1; then
    say "there: Rust $channel with rustfmt and clippy"
else
    say "installing by rustup: Rust $channel with rustfmt and clippy"
    rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy --no-self-update || {
        say "rustup could not install Rust $channel: is the network there?"
        exit 1
    }
fi
