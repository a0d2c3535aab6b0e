//! Compiling Fortran programs as a stranger would, against a staged installation, and running them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

const FLAGS: [&str; 7] = ["-std=f2018", "-Wall", "-Wextra", "-Werror", "-fcheck=all", "-g", "-O0"];

/// The library and the module installed, once for all tests of this process. Beside that of the C programs: the two may
/// be installed at the same time.
pub(crate) static STAGED: LazyLock<PathBuf> = LazyLock::new(|| {
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("staged-fortran");
    let test = std::env::current_exe().expect("this test knows where it is");
    let mut install = Command::new(root().join("scripts/install-library.sh"));
    install.arg(test.parent().expect("tests lie in deps")).arg(&prefix).env("FFLAGS", "-O0 -g -fcheck=all");
    assert!(install.status().expect("the script runs").success());
    assert!(prefix.join("lib/libflexpath_fortran.a").exists(), "there is no gfortran: make tools");
    prefix
});

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory can be made")
}

/// The flags that pkg-config gives.
fn pkg_config() -> Vec<String> {
    let mut asked = Command::new("pkg-config");
    asked.args(["--cflags", "--libs", "flexpath-fortran"]);
    asked.env("PKG_CONFIG_PATH", STAGED.join("lib/pkgconfig"));
    let output = asked.output().expect("pkg-config runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text").split_whitespace().map(str::to_owned).collect()
}

/// Compiles a program by a compiler and flags.
pub(crate) fn compile_by(compiler: &str, flags: &[&str], source: &Path) -> PathBuf {
    let folder = tempfile::Builder::new().prefix("fortran").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.expect("a directory").keep().join(source.file_stem().expect("a name"));
    let mut command = Command::new(compiler);
    command.args(flags).arg(source).args(pkg_config());
    command.arg(format!("-Wl,-rpath,{}", STAGED.join("lib").display())).arg("-o").arg(&program);
    let output = command.output().expect("the compiler runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile: {complaint}", source.display());
    program
}

/// Compiles a program of the repository.
pub(crate) fn compile(source: &str) -> PathBuf {
    compile_by("gfortran", &FLAGS, &root().join(source))
}

/// Compiles a program from its text.
pub(crate) fn compile_text(name: &str, text: &str) -> PathBuf {
    let folder = place();
    let source = folder.path().join(name).with_extension("f90");
    std::fs::write(&source, text).expect("written");
    // The text is put together, so its lines are as long as they happen to be.
    let flags: Vec<&str> =
        FLAGS.into_iter().chain(["-ffree-line-length-none", "-Wno-compare-reals"]).collect();
    compile_by("gfortran", &flags, &source)
}

pub(crate) fn start(
    program: &Path,
    arguments: &[&str],
    place: &Path,
    (rank, size): (u32, u32),
    transports: &str,
) -> Child {
    let mut command = Command::new(program);
    command.args(arguments).env("FLEXPATH_RENDEZVOUS", place).env("FLEXPATH_TRANSPORTS", transports);
    command.env("FLEXPATH_RANK", rank.to_string()).env("FLEXPATH_SIZE", size.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Every wait inside the programs has its own deadline: they end by themselves.
pub(crate) fn finish(child: Child) -> String {
    let output = child.wait_with_output().expect("it ends");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout).expect("a text")
}
