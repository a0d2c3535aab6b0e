//! Names the shared library for the loader: programs ask for `libflexpath.so.0`, under which it is installed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libflexpath.so.0");
}
