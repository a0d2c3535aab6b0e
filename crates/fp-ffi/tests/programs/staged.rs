//! The library installed as a stranger installs it, and programs compiled against that.

use crate::checker::Checker;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::LazyLock;

pub(crate) const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
const FLAGS: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-O1", "-pthread"];

/// The library installed, once for all tests of this process.
pub(crate) static STAGED: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("this test knows where it is");
    // Two test binaries may run at one time.
    let name = test.file_stem().expect("a name").to_string_lossy().into_owned();
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("staged").join(name);
    let mut install = Command::new(Path::new(FOLDER).join("../../scripts/install-library.sh"));
    install.arg(test.parent().expect("tests lie in deps")).arg(&prefix);
    // The module for Fortran is not used here, so it need not be fast.
    install.env("FFLAGS", "-O0");
    assert!(install.status().expect("the script runs").success());
    prefix
});

/// Compiles a program as a stranger would: by the flags of pkg-config's file, written out.
pub(crate) fn compile(source: &str) -> PathBuf {
    let is_cpp = source.ends_with(".cpp");
    let (compiler, standard) = if is_cpp { ("c++", "-std=c++17") } else { ("cc", "-std=c11") };
    compile_with(compiler, &[&[standard], &FLAGS[..], Checker::chosen().flags()].concat(), source)
}

/// The same by another compiler.
pub(crate) fn compile_with(compiler: &str, flags: &[&str], source: &str) -> PathBuf {
    let prefix = &*STAGED;
    let source = Path::new(FOLDER).join(source);
    let folder = source.parent().and_then(Path::file_name).expect("it lies in a folder");
    let name = format!("{}-{}", folder.display(), source.file_stem().expect("a name").display());
    let program = tempfile::Builder::new().prefix(&name).tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    let program = program.expect("a directory").keep().join(name);
    let mut cc = Command::new(compiler);
    cc.args(flags).arg(format!("-I{}", prefix.join("include").display())).arg(&source);
    cc.arg(format!("-L{}", prefix.join("lib").display())).arg("-lflexpath");
    cc.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())).arg("-o").arg(&program);
    assert!(cc.status().expect("the compiler runs").success(), "{} does not compile", source.display());
    program
}

/// Every wait inside the programs has its own deadline: they end by themselves.
pub(crate) fn finish(child: Child) -> String {
    let output = child.wait_with_output().expect("it ends");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout).expect("a text")
}

pub(crate) fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory can be made")
}
