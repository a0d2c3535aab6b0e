//! The stream that outlives its network and its analyses, as a user starts it.

use std::process::Command;

#[test]
fn a_stream_outlives_cuts_and_an_analysis() {
    let output = tempfile::tempdir().expect("a folder");
    let mut staging = Command::new(env!("CARGO_BIN_EXE_staging"));
    staging.args(["--steps", "120", "--reading-ms", "30", "--output"]).arg(output.path());
    // Where `flexpath tee` was built, and something that reads what it writes, a store is written and checked too.
    let others = std::env::var_os("FLEXPATH_TEE").zip(std::env::var_os("FLEXPATH_SINKS_PYTHON"));
    let checks = if others.is_some() { 6 } else { 5 };
    if let Some((tee, python)) = others {
        staging.arg("--tee").arg(tee).arg("--python").arg(python);
    }
    // What a killed supervisor leaves goes with the folder.
    let done = staging.env("TMPDIR", output.path()).output().expect("starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("  PASS  ").count(), checks, "{said}");
    assert!(said.contains("every step arrived once, in order, as it was published: 120 steps"), "{said}");
}
