#!/bin/sh
# Installs the C library that cargo built: shared and static library, header, pkg-config file and CMake package.
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
# Defines the target Flexpath::flexpath.
get_filename_component(_flexpath_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Flexpath::flexpath)
  add_library(Flexpath::flexpath SHARED IMPORTED)
  set_target_properties(Flexpath::flexpath PROPERTIES
    IMPORTED_LOCATION "${_flexpath_prefix}/lib/libflexpath.so.0"
    IMPORTED_SONAME "libflexpath.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_flexpath_prefix}/include")
endif()
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
