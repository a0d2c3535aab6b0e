//! The stream that outlives its network and its analyses, as a user starts it.

use std::process::Command;

#[test]
fn a_stream_outlives_cuts_and_an_analysis() {
    let output = tempfile::tempdir().expect("a folder");
    let mut staging = Command::new(env!("CARGO_BIN_EXE_staging"));
    staging.args(["--steps", "120", "--reading-ms", "30", "--output"]).arg(output.path());
    // What a killed supervisor leaves goes with the folder.
    let done = staging.env("TMPDIR", output.path()).output().expect("starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("  PASS  ").count(), 5, "{said}");
    assert!(said.contains("every step arrived once, in order, as it was published: 120 steps"), "{said}");
}
