#!/bin/sh
# Builds the command and the C library, once and together, and installs both; or removes what was installed. It is what
# `make install` and `make uninstall` run.
#
# usage: install.sh install|uninstall PREFIX [DESTDIR]
# DEPLOY=yes: with WebAssembly, so that publishers can run code that subscribers send. The default is without.
# SINKS=yes: with `flexpath tee`, which writes Zarr, HDF5, VTKHDF and Parquet. It needs HDF5, and minutes to build.
# SINKS=s3: the same, and Zarr stores in buckets of S3 too.
# Exit status: 0 done; 2 wrong usage; otherwise that of what failed.
set -eu

scripts=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/prefix.sh
. "$scripts/prefix.sh"
prefix=$(absolute PREFIX "${2:-}")
destdir=${3:-}
[ -z "$destdir" ] || destdir=$(absolute DESTDIR "$destdir")
destination=$destdir$prefix
cd "$scripts/.."

install_both() {
    # Found out before the build, which takes minutes.
    mkdir -p "$destination"
    messages=$(mktemp)
    trap 'rm -f "$messages"' EXIT
    # One call: what both are made of is built once. So the command has the runtime of deployed code too, and no use for
    # it.
    set -- -p flexpath-cli -p flexpath-ffi
    if [ "${DEPLOY:-no}" = yes ]; then set -- "$@" --features flexpath-ffi/wasm; fi
    cargo build --release "$@" --message-format json-render-diagnostics >"$messages"
    # Cargo says where, whatever its configuration and the environment do with the target folder.
    command=$(sed -n 's|.*"executable":"\([^"]*/flexpath\)".*|\1|p' "$messages" | tail -n 1)
    library=$(sed -n 's|.*"\([^"]*/libfp_ffi\.so\)".*|\1|p' "$messages" | tail -n 1)
    if [ -z "$command" ] || [ -z "$library" ]; then
        echo "install: cargo does not say where it built the command and the library" >&2
        return 1
    fi
    tee=
    case ${SINKS:-no} in
        no | yes | s3) ;;
        *)
            echo "install: SINKS is $SINKS: say yes, s3 or no" >&2
            return 2
            ;;
    esac
    if [ "${SINKS:-no}" != no ]; then
        scripts/install-hdf5.sh
        formats=$([ "$SINKS" = s3 ] && echo s3 || echo default)
        (cd crates/fp-sinks && CARGO_TARGET_DIR=../../target/sinks cargo build --release --locked --features "$formats" --message-format json-render-diagnostics) >"$messages"
        tee=$(sed -n 's|.*"executable":"\([^"]*/flexpath-tee\)".*|\1|p' "$messages" | tail -n 1)
        if [ -z "$tee" ]; then
            echo "install: cargo does not say where it built flexpath-tee" >&2
            return 1
        fi
    fi
    scripts/install-library.sh "$(dirname "$library")" "$prefix" "$destdir" "$command" "$tee"
    echo "install: bin/flexpath, lib/libflexpath.so and what belongs to them are in $destination"
}

uninstall() {
    list=$destination/share/flexpath/installed
    if ! [ -e "$list" ]; then
        echo "install: nothing to remove from $destination: there is no $list"
        return
    fi
    while IFS= read -r file; do rm -f "$destination/$file"; done <"$list"
    rm -f "$list"
    # Folders into which nobody else puts anything.
    for folder in lib/cmake/Flexpath lib/flexpath/fortran lib/flexpath share/flexpath/fortran share/flexpath; do
        rmdir "$destination/$folder" 2>/dev/null || true
    done
    echo "install: removed from $destination"
}

case $1 in
install) install_both ;;
uninstall) uninstall ;;
*)
    sed -n 's/^# usage: /usage: /p' "$scripts/install.sh" >&2
    exit 2
    ;;
esac
