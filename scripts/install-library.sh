#!/bin/sh
# Installs the C library that cargo built: shared and static library, header, pkg-config file and CMake package. Where
# there is a Fortran compiler (gfortran, or what FC says), its module is built and installed too; its source always.
#
# usage: install-library.sh FOLDER-OF-CARGO PREFIX [DESTDIR]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
built=$1
prefix=$2
destination=${3:-}$prefix
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)

mkdir -p "$destination/include" "$destination/lib/pkgconfig" "$destination/lib/cmake/Flexpath"
install -m 644 "$root"/include/flexpath* "$destination/include/"
install -D -m 644 "$root"/fortran/flexpath_mpi.f90 "$destination/share/flexpath/fortran/flexpath_mpi.f90"
install -m 755 "$built/libfp_ffi.so" "$destination/lib/libflexpath.so.$version"
ln -sf "libflexpath.so.$version" "$destination/lib/libflexpath.so.0"
ln -sf libflexpath.so.0 "$destination/lib/libflexpath.so"
if [ -e "$built/libfp_ffi.a" ]; then install -m 644 "$built/libfp_ffi.a" "$destination/lib/libflexpath.a"; fi

# What only debuggers read is the greater part of both; names stay, for backtraces.
if command -v strip >/dev/null; then
    strip --strip-debug "$destination/lib/libflexpath.so.$version"
    if [ -e "$destination/lib/libflexpath.a" ]; then strip --strip-debug "$destination/lib/libflexpath.a"; fi
fi

# A module file is readable by the compiler that wrote it alone: others compile the source.
modules=lib/flexpath/fortran
mkdir -p "$destination/share/flexpath/fortran"
install -m 644 "$root"/fortran/*.f90 "$destination/share/flexpath/fortran/"
fortran=${FC:-gfortran}
if command -v "$fortran" >/dev/null 2>&1; then
    mkdir -p "$destination/$modules"
    object=$(mktemp -d)
    trap 'rm -rf "$object"' EXIT
    # shellcheck disable=SC2086 # flags are a list of words
    (cd "$object" && "$fortran" ${FFLAGS:--O2} -fPIC -c "$root/fortran/flexpath.f90" && ar rcs libflexpath_fortran.a flexpath.o)
    install -m 644 "$object/libflexpath_fortran.a" "$destination/lib/"
    install -m 644 "$object"/*.mod "$destination/$modules/"
    cat >"$destination/lib/pkgconfig/flexpath-fortran.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib

Name: flexpath-fortran
Description: Typed publish/subscribe for parallel science, from Fortran
Version: $version
Requires: flexpath
Libs: -L\${libdir} -lflexpath_fortran
Cflags: -I\${prefix}/$modules
END
else
    echo "install-library: no $fortran: the module for Fortran is installed as source alone, in share/flexpath/fortran"
fi

cat >"$destination/lib/pkgconfig/flexpath.pc" <<END
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

cat >"$destination/lib/cmake/Flexpath/FlexpathConfig.cmake" <<'END'
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
cat >"$destination/lib/cmake/Flexpath/FlexpathConfigVersion.cmake" <<END
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
