//! Instruction counts of hot paths against values that are checked in. What costs more than it did is seen the day it
//! is made, whatever else the machine is doing. Counted by callgrind in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};

/// Set for the process that callgrind watches.
const WATCHED: &str = "FLEXPATH_WATCHED_BY_CALLGRIND";
/// Set where the counts must be taken: then a machine without valgrind fails instead of passing over.
const REQUIRED: &str = "FLEXPATH_REQUIRE_VALGRIND";

/// A hot path: the function `watched_<name>` of the test binary.
pub(crate) struct HotPath {
    /// The end of the function's name.
    pub(crate) name: &'static str,
    /// How often it is called.
    pub(crate) calls: u64,
    /// Instructions of each call, with everything that it calls.
    pub(crate) instructions: u64,
    /// How far the count may be off, in percent.
    pub(crate) tolerance_percent: u64,
}

/// Whether this is the process that is watched: then it does its work and nothing else.
pub(crate) fn is_watched() -> bool {
    std::env::var_os(WATCHED).is_some()
}

/// Why there is nothing to compare with here; none if there is.
fn why_not() -> Option<String> {
    let program = std::env::current_exe().expect("the path of this binary");
    if !program.components().any(|part| part.as_os_str() == "ci") {
        return Some("the values are those of the profile ci".to_owned());
    }
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Some("the values are those of x86-64".to_owned());
    }
    let found =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let reason = found.map_or(Some("valgrind is not installed".to_owned()), |_| None);
    assert!(
        reason.is_none() || std::env::var_os(REQUIRED).is_none(),
        "{REQUIRED} is set, but valgrind is not installed"
    );
    reason
}

/// Runs the test `work` of this binary under callgrind and compares.
pub(crate) fn compare(work: &str, paths: &[HotPath]) {
    if let Some(reason) = why_not() {
        println!("instructions are not counted: {reason}");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("callgrind.out");
    watch(work, &file);
    let listing = listing(&file);
    let complaints: Vec<String> = paths.iter().filter_map(|path| complaint(path, &listing)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Runs the work under callgrind.
fn watch(work: &str, file: &Path) {
    let program = std::env::current_exe().expect("the path of this binary");
    let mut command = Command::new("valgrind");
    command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(program).args([work, "--exact", "--nocapture", "--test-threads=1"]);
    let output = command.env(WATCHED, "1").stdin(Stdio::null()).output().expect("valgrind runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
}

/// Inclusive counts, a function a line.
fn listing(file: &Path) -> String {
    let mut command = Command::new("callgrind_annotate");
    command.args(["--inclusive=yes", "--threshold=100"]).arg(file);
    let output = command.output().expect("callgrind_annotate runs, which comes with valgrind");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What is wrong with a hot path, if anything is.
fn complaint(path: &HotPath, listing: &str) -> Option<String> {
    let HotPath { name, calls, instructions, tolerance_percent } = path;
    let Some(all) = counted(name, listing) else {
        return Some(format!("{name}: no function watched_{name} was called"));
    };
    let each = all / calls;
    println!("{name}: {each} instructions, {instructions} checked in");
    let tolerated = instructions * tolerance_percent / 100;
    if each > instructions + tolerated {
        return Some(format!(
            "{name}: {each} instructions, more than {instructions} and {tolerance_percent} %. Find out why; if it must be, check the new value in"
        ));
    }
    (each + tolerated < *instructions).then(|| {
        format!("{name}: {each} instructions, fewer than {instructions} by more than {tolerance_percent} %: check the new value in")
    })
}

/// The first number of the line of that function.
fn counted(name: &str, listing: &str) -> Option<u64> {
    let function = format!("watched_{name}");
    let ends = |line: &&str| line.split([' ', ':', '[']).any(|word| word == function);
    let line = listing.lines().find(ends)?;
    line.split_whitespace().next()?.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
 5,000,000 (99.0%)  ???:instructions::work [/t/instructions]
 1,200,300 (24.0%)  src/a.rs:instructions::watched_plan [/t/instructions]
   100,000 ( 2.0%)  src/a.rs:instructions::watched_plan_more [/t/instructions]
";

    fn judged(instructions: u64) -> Option<String> {
        complaint(&HotPath { name: "plan", calls: 100, instructions, tolerance_percent: 10 }, LISTING)
    }

    #[test]
    fn counts_are_read_and_judged() {
        assert_eq!((counted("plan", LISTING), counted("run", LISTING)), (Some(1_200_300), None));
        assert_eq!([12_003, 11_500, 13_200].map(judged), [None, None, None]);
        assert!(judged(10_000).unwrap().contains("12003 instructions, more than 10000"));
        assert!(judged(20_000).unwrap().contains("fewer than 20000"));
        let unknown = HotPath { name: "run", calls: 1, instructions: 1, tolerance_percent: 1 };
        assert!(complaint(&unknown, LISTING).unwrap().contains("watched_run"));
    }
}
