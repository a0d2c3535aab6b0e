#!/bin/sh
# Installs the C library that cargo built: shared and static library, header, pkg-config file and CMake package. Where
# there is a Fortran compiler (gfortran, or what FC says), its module is built and installed too; its source always.
# With COMMAND, the command that cargo built as well, and with TEE that of `flexpath tee`. What an earlier run installed and this one does not is removed.
#
# usage: install-library.sh FOLDER-OF-CARGO PREFIX [DESTDIR [COMMAND [TEE]]]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/prefix.sh
. "$root/scripts/prefix.sh"
built=$1
prefix=$(absolute PREFIX "$2")
destination=${3:-}$prefix
command=${4:-}
tee=${5:-}
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
list=$work/installed

# put MODE FILE NAME: installs a file under that name, from the prefix, and notes the name.
put() {
    install -D -m "$1" "$2" "$destination/$3"
    printf '%s\n' "$3" >>"$list"
}

# point NAME TARGET: the same of a link.
point() {
    ln -sf "$2" "$destination/$1"
    printf '%s\n' "$1" >>"$list"
}

# put_stripped MODE FILE NAME: without what only debuggers read, which is the greater part; names stay, for backtraces.
put_stripped() {
    if command -v strip >/dev/null; then
        strip --strip-debug -o "$work/stripped" "$2"
        put "$1" "$work/stripped" "$3"
        rm "$work/stripped"
    else
        put "$1" "$2" "$3"
    fi
}

for header in "$root"/include/flexpath*; do put 644 "$header" "include/${header##*/}"; done
put_stripped 755 "$built/libfp_ffi.so" "lib/libflexpath.so.$version"
point lib/libflexpath.so.0 "libflexpath.so.$version"
point lib/libflexpath.so libflexpath.so.0
if [ -e "$built/libfp_ffi.a" ]; then put_stripped 644 "$built/libfp_ffi.a" lib/libflexpath.a; fi
if [ -n "$command" ]; then put_stripped 755 "$command" bin/flexpath; fi
if [ -n "$tee" ]; then put_stripped 755 "$tee" bin/flexpath-tee; fi

# A module file is readable by the compiler that wrote it alone: others compile the source.
modules=lib/flexpath/fortran
for source in "$root"/fortran/*.f90; do put 644 "$source" "share/flexpath/fortran/${source##*/}"; done
fortran=${FC:-gfortran}
if command -v "$fortran" >/dev/null 2>&1; then
    mkdir "$work/fortran"
    # shellcheck disable=SC2086 # flags are a list of words
    (cd "$work/fortran" && "$fortran" ${FFLAGS:--O2} -fPIC -c "$root/fortran/flexpath.f90" && ar rcs libflexpath_fortran.a flexpath.o)
    put 644 "$work/fortran/libflexpath_fortran.a" lib/libflexpath_fortran.a
    for module in "$work"/fortran/*.mod; do put 644 "$module" "$modules/${module##*/}"; done
    cat >"$work/flexpath-fortran.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib

Name: flexpath-fortran
Description: Typed publish/subscribe for parallel science, from Fortran
Version: $version
Requires: flexpath
Libs: -L\${libdir} -lflexpath_fortran
Cflags: -I\${prefix}/$modules
END
    put 644 "$work/flexpath-fortran.pc" lib/pkgconfig/flexpath-fortran.pc
else
    echo "install-library: no $fortran: the module for Fortran is installed as source alone, in share/flexpath/fortran"
fi

cat >"$work/flexpath.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: flexpath
Description: Typed publish/subscribe for parallel science
Version: $version
Libs: -L\${libdir} -lflexpath
Libs.private: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
Cflags: -I\${includedir}
END

cat >"$work/FlexpathConfig.cmake" <<'END'
# Defines the target Flexpath::flexpath, and Flexpath::fortran where the module for Fortran was built.
get_filename_component(_flexpath_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Flexpath::flexpath)
  add_library(Flexpath::flexpath SHARED IMPORTED)
  set_target_properties(Flexpath::flexpath PROPERTIES
    IMPORTED_LOCATION "${_flexpath_prefix}/lib/libflexpath.so.0"
    IMPORTED_SONAME "libflexpath.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_flexpath_prefix}/include")
endif()
if(EXISTS "${_flexpath_prefix}/lib/libflexpath_fortran.a")
  set(Flexpath_fortran_FOUND TRUE)
  if(NOT TARGET Flexpath::fortran)
    add_library(Flexpath::fortran STATIC IMPORTED)
    set_target_properties(Flexpath::fortran PROPERTIES
      IMPORTED_LOCATION "${_flexpath_prefix}/lib/libflexpath_fortran.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_flexpath_prefix}/lib/flexpath/fortran"
      INTERFACE_LINK_LIBRARIES Flexpath::flexpath)
  endif()
endif()
foreach(_flexpath_component IN LISTS Flexpath_FIND_COMPONENTS)
  if(Flexpath_FIND_REQUIRED_${_flexpath_component} AND NOT Flexpath_${_flexpath_component}_FOUND)
    set(Flexpath_FOUND FALSE)
    set(Flexpath_NOT_FOUND_MESSAGE "Flexpath was installed without ${_flexpath_component}")
  endif()
endforeach()
unset(_flexpath_prefix)
END
cat >"$work/FlexpathConfigVersion.cmake" <<END
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
END
put 644 "$work/flexpath.pc" lib/pkgconfig/flexpath.pc
for file in FlexpathConfig.cmake FlexpathConfigVersion.cmake; do put 644 "$work/$file" "lib/cmake/Flexpath/$file"; done

# Read by `make uninstall`, and by the next installation: what that does not have would be found beside it.
before=$destination/share/flexpath/installed
if [ -e "$before" ]; then
    grep -vxF -f "$list" "$before" | while IFS= read -r file; do rm -f "$destination/$file"; done
fi
install -D -m 644 "$list" "$before"
