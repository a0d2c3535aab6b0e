//! The pipeline coupled through files finds what it finds through streams, and a file that never comes ends the wait.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn measure(coupling: &str, problem: &str, output: &Path, bonds: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
    command.args(["measure", "--coupling", coupling, "--problem", problem, "--size", "tiny"]);
    command.args(["--source", "built-in", "--ranks", "3", "--deadline-s", "60", "--output"]).arg(output);
    command.args(bonds.into_iter().flat_map(|way| ["--bonds", way]));
    command.env("TMPDIR", output).output().expect("starts")
}

fn measured(coupling: &str, problem: &str) -> Value {
    measured_by(coupling, problem, None)
}

fn measured_by(coupling: &str, problem: &str, bonds: Option<&str>) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let output = measure(coupling, problem, folder.path(), bonds);
    assert!(output.status.success(), "{coupling}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.path().join("exchange").exists(), "files are removed");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn number(of: &Value, path: &str) -> f64 {
    of.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {of}"))
}

/// A run through streams tells what was found, what moved, and what did not.
fn check_streams(report: &Value) {
    assert_eq!(number(report, "/found/classified_steps"), 6.0);
    assert!(number(report, "/found/torn_at") > 0.0, "{report}");
    assert_eq!(number(report, "/parts/simulation/ranks"), 3.0);
    // Velocities are put by all and kept for nobody; CNA takes nothing before the verdict.
    assert!(number(report, "/streams/atoms/kept") < 0.7 * number(report, "/streams/atoms/put"));
    let bonds = number(report, "/streams/bonds/put");
    let (taken, rest) =
        (number(report, "/streams/bonds/taken/cna"), number(report, "/streams/bonds/not_moved/cna"));
    assert!(taken > 0.0 && taken < 0.5 * bonds && taken + rest == bonds, "{report}");
    for part in ["simulation", "helper", "bonds", "csym", "cna"] {
        let spent = number(report, &format!("/parts/{part}/io_s"));
        assert!(spent > 0.0 && spent < number(report, "/total_s"), "{part}: {report}");
    }
}

#[test]
fn both_couplings_find_the_same() {
    let streams = measured("streams", "notch");
    check_streams(&streams);
    if cfg!(not(feature = "files")) {
        println!("skipped: files are not compared with streams: built without the feature `files`");
        return;
    }
    let files = measured("files", "notch");
    assert_eq!(streams["found"], files["found"]);
    assert_eq!(number(&files, "/streams/atoms/kept"), number(&files, "/streams/atoms/put"));
    assert!(number(&files, "/streams/bonds/taken/cna") < 0.5 * number(&files, "/streams/bonds/put"));
    // The other problem finds something else, and again both ways.
    let crack = ["streams", "files"].map(|coupling| measured(coupling, "crack"));
    assert_eq!(crack[0]["found"], crack[1]["found"]);
    assert_ne!(crack[0]["found"]["digest"], streams["found"]["digest"]);
}

#[test]
fn every_way_to_the_bonds_finds_the_same_and_says_what_it_took() {
    let by = |way| measured_by("streams", "notch", Some(way));
    let (hand, here, there, turns) = (by("hand"), by("subscriber"), by("publisher"), by("turns"));
    let steps = number(&hand, "/found/steps");
    for (way, report) in [("hand", &hand), ("subscriber", &here), ("publisher", &there)] {
        assert_eq!(report["found"], hand["found"], "{way}");
        assert_eq!(report["bonds"].as_object().map(|ways| ways.len()), Some(1), "{report}");
        assert_eq!(number(report, &format!("/bonds/{way}/steps")), steps);
        assert!(number(report, &format!("/bonds/{way}/millis")) > 0.0);
    }
    assert_eq!(turns["found"], hand["found"]);
    assert_eq!(turns["bonds"].as_object().map(|ways| ways.len()), Some(3), "{turns}");
    let calls = |report, way| number(report, &format!("/bonds/{way}/transformed/calls"));
    assert_eq!((calls(&here, "subscriber"), calls(&hand, "hand")), (steps, 0.0));
    assert_eq!(calls(&there, "publisher"), 2.0 * steps, "once on each rank of Bonds");
    // Pairs are the same bytes either way; lists are pairs both ways round, with an atom and a place each.
    let bytes = |report, way| number(report, &format!("/bonds/{way}/bytes"));
    assert_eq!(bytes(&here, "subscriber"), bytes(&hand, "hand"));
    assert!(bytes(&there, "publisher") > bytes(&hand, "hand"), "{there}");
    let taken = |report| number(report, "/streams/bonds/taken/csym");
    assert!(taken(&there) > taken(&here));
}

#[test]
fn without_the_feature_files_are_refused_in_words() {
    if cfg!(feature = "files") {
        println!("skipped: built with the feature `files`");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let output = measure("files", "notch", folder.path(), None);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("built without the feature `files`"), "{said}");
}

/// One part alone, rank 0 of 1, coupled through files in this folder.
fn part(name: &str, output: &Path, patience_ms: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
    command.args([
        "part",
        name,
        "--problem",
        "notch",
        "--size",
        "short",
        "--source",
        "built-in",
        "--ranks",
        "1",
    ]);
    command.args(["--max-wait-ms", "1000", "--coupling", "files", "--measured", "--patience-ms"]);
    command.arg(patience_ms.to_string()).arg("--output").arg(output);
    command.env("FLEXPATH_RANK", "0").env("FLEXPATH_SIZE", "1").stdin(Stdio::piped());
    command
}

#[test]
fn a_part_whose_writer_died_ends_with_a_clear_error_at_its_deadline() {
    if cfg!(not(feature = "files")) {
        println!("skipped: nobody waits for a file: built without the feature `files`");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer =
        part("simulation", folder.path(), 60_000).stdout(Stdio::piped()).spawn().expect("starts");
    let mut lines = BufReader::new(writer.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("published")), "the writer ended before its first step");
    writer.kill().expect("alive");
    writer.wait().expect("ends");
    let began = Instant::now();
    let mut reader = part("helper", folder.path(), 700);
    let mut reader = reader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // Held open: a part whose supervisor is gone would end by itself.
    let held = reader.stdin.take();
    let output = reader.wait_with_output().expect("ends");
    drop(held);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("atoms/step-") && said.contains("did not appear within 700ms"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(20), "the deadline is 0.7 s: {said}");
}
