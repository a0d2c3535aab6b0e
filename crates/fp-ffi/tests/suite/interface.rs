//! What a C program is compiled against does not change unnoticed. The header is what the sources say, and the library
//! exports what the list says.

use std::fs;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// The header as the sources make it.
fn generated() -> String {
    let folder = Path::new(FOLDER);
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("the settings are right");
    // It follows the modules from there: the files by themselves would declare every function a second time.
    let builder = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs"));
    let mut text = Vec::new();
    builder.generate().expect("the sources can be read").write(&mut text);
    String::from_utf8(text).expect("a text")
}

fn assert_same(path: &Path, now: &str) {
    if std::env::var_os("FLEXPATH_WRITE_HEADER").is_some() {
        fs::write(path, now).expect("it can be written");
    }
    let then = fs::read_to_string(path).unwrap_or_default();
    let how = "FLEXPATH_WRITE_HEADER=1 cargo test --profile ci -p flexpath-ffi --test suite interface::";
    assert!(then == now, "{} is not what the sources make; if that is meant: {how}", path.display());
}

#[test]
fn the_header_is_what_the_sources_say() {
    assert_same(&Path::new(FOLDER).join("../../include/flexpath.h"), &generated());
}

#[test]
fn the_library_exports_what_the_list_says() {
    let test = std::env::current_exe().expect("this test knows where it is");
    let library = test.with_file_name("libfp_ffi.so");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output().expect("nm runs");
    assert!(output.status.success(), "{}: {}", library.display(), String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).expect("a text");
    let mut names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next_back()).collect();
    names.sort_unstable();
    assert_same(&Path::new(FOLDER).join("tests/symbols.txt"), &(names.join("\n") + "\n"));
    let output = Command::new("objdump").arg("-p").arg(&library).output().expect("objdump runs");
    let headers = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(headers.contains("SONAME               libflexpath.so.0"), "{headers}");
}

#[test]
fn every_function_is_declared_once() {
    let header = generated();
    let declared: Vec<&str> = header
        .lines()
        .filter(|line| !line.starts_with([' ', '#', '/', '}']) && !line.starts_with("typedef"))
        .filter_map(|line| line.split_once('(').map(|(before, _)| before))
        .collect();
    let mut once = declared.clone();
    once.sort_unstable();
    once.dedup();
    assert!(declared.len() > 40, "the declarations are found: {declared:?}");
    assert_eq!(declared.len(), once.len(), "some are declared twice: {declared:?}");
}

#[test]
fn every_function_says_from_which_threads_it_may_be_called() {
    let header = generated();
    let commented = header.split("/*\n").skip(1).filter_map(|part| part.split_once("*/"));
    let functions = commented.filter(|(_, rest)| {
        let rest = rest.trim_start();
        rest.starts_with("flexpath_status flexpath_") || rest.starts_with("const char *flexpath_")
    });
    let words = |comment: &str| comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let (said, silent): (Vec<_>, Vec<_>) =
        functions.partition(|(comment, _)| words(comment).contains("Any thread"));
    let names = include_str!("../symbols.txt").lines().count();
    assert_eq!((said.len(), silent), (names, Vec::new()));
}
