//! What benches make of their figures, without any timing. A run fails where it misses a target that was met before. A
//! machine is called quiet by a number. Rows are kept for programs.

#[path = "../benches/rows/mod.rs"]
mod rows;
#[path = "../benches/spine/targets.rs"]
mod targets;

use rows::Figure;
use serde_json::{Value, json};
use std::process::Command;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/performance/targets.json");

fn rows(verdicts: &[(&str, Option<bool>)]) -> Vec<Value> {
    verdicts.iter().map(|(case, met)| json!({ "case": case, "met": met })).collect()
}

#[test]
fn a_target_that_was_met_and_is_missed_is_named() {
    let file = r#"{"spine": ["kept", "fallen", "left out"]}"#;
    let rows = rows(&[
        ("kept", Some(true)),
        ("fallen", Some(false)),
        ("missed before", Some(false)),
        ("a time", None),
    ]);
    let judged = targets::judge(file, "spine", &rows).expect("a list");
    assert_eq!((judged.fallen, judged.risen), (vec!["fallen".to_owned()], vec![]));
}

#[test]
fn a_target_that_is_met_for_the_first_time_is_named() {
    let rows = rows(&[("kept", Some(true)), ("risen", Some(true))]);
    let judged = targets::judge(r#"{"spine": ["kept"]}"#, "spine", &rows).expect("a list");
    assert_eq!((judged.fallen, judged.risen), (vec![], vec!["risen".to_owned()]));
    assert!(targets::judge("{}", "spine", &rows).is_err(), "no list");
}

/// What a program of scripts/bench prints, or nothing where there is no Python.
fn python(arguments: &[&str]) -> Option<String> {
    let run = Command::new("python3").arg("-B").args(arguments).output();
    let Ok(run) = run else {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_ALL").is_none(), "python3 is not installed");
        eprintln!("skipped: python3 is not installed");
        return None;
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8_lossy(&run.stdout).trim().to_owned())
}

#[test]
fn quiet_is_a_number() {
    let script = "import sys; sys.path.insert(0, sys.argv[1]); from figures import quietness; print(quietness(10), quietness(10.6))";
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/bench");
    let Some(said) = python(&["-c", script, scripts]) else { return };
    assert_eq!(said, "quiet (10 % in use) not quiet (11 % in use)");
}

#[test]
fn a_row_that_failed_keeps_what_its_program_printed() {
    let script = "import sys; sys.path.insert(0, sys.argv[1])
from peers import Results, run
found = Results()
found.take('SST', 8, lambda _: run(['sh', '-c', 'echo begun; echo first >&2; echo last >&2; exit 2'], 10))
print(found.failed['SST', 8], repr(found.printed['SST', 8]))";
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/bench");
    let Some(said) = python(&["-c", script, scripts]) else { return };
    assert_eq!(said, r"sh ended with 2: last 'begun\nfirst\nlast\n'");
}

#[test]
fn rows_of_a_bench_are_json_and_a_table() {
    let row = [
        ("case", Figure::Text("8 \"MiB\"")),
        ("ours", Figure::Number(1.5)),
        ("ratio", Figure::Number(f64::NAN)),
        ("verdict", Figure::Met(true)),
    ];
    rows::keep(&row); // nobody wants it here
    let line = rows::line(&row);
    let read: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(read, json!({ "case": "8 \"MiB\"", "ours": 1.5, "ratio": null, "verdict": true }));
    let folder = tempfile::tempdir().expect("a directory");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/bench/record.py");
    let mut command = Command::new("python3");
    command.args([
        "-B",
        script,
        "wan",
        "sh",
        "-c",
        "printf '%s\\n' \"$ROW\" >>\"$FLEXPATH_BENCH_ROWS\"; exit 3",
    ]);
    command.env("ROW", &line).env("FLEXPATH_BENCH_FOLDER", folder.path());
    let Ok(run) = command.output() else { return };
    assert_eq!(run.status.code(), Some(3), "as the bench ended: {}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(folder.path().join("others.md")).expect("the report");
    assert!(
        text.contains("| case | ours | ratio | verdict |") && text.contains("| 8 \"MiB\" | 1.5 | - | met |"),
        "{text}"
    );
    let kept = std::fs::read_to_string(folder.path().join("wan.json")).expect("the rows");
    assert!(serde_json::from_str::<Value>(&kept).expect("JSON")["machine"]["load"].is_string(), "{kept}");
    let mut silent = Command::new("python3");
    silent.args(["-B", script, "wan", "true"]).env("FLEXPATH_BENCH_FOLDER", folder.path());
    assert_eq!(silent.status().expect("Python, as before").code(), Some(77), "nothing measured is skipped");
}

#[test]
fn the_peers_are_judged_alike() {
    let verdicts = json!([
        ["kept", "fallen"],
        [["kept", "met"], ["fallen", "missed"], ["risen", "met"], ["other", "not measured: no MPI"]]
    ]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/bench/targets.py");
    let Some(said) = python(&[script, &verdicts.to_string()]) else { return };
    assert_eq!(said, r#"[["fallen"], ["risen"]]"#);
}

/// A case that was renamed would be guarded no more: the last full runs have every case of the list.
#[test]
fn every_target_of_the_list_is_one_of_the_last_run() {
    let read = |path: &str| -> Value {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let listed = read(FILE);
    for (bench, rows, name) in
        [("spine", "rows", "case"), ("peers", "targets", "what"), ("python", "rows", "what")]
    {
        let last = read(&FILE.replace("targets.json", &format!("{bench}.json")));
        let known: Vec<&Value> = last[rows].as_array().expect("rows").iter().map(|row| &row[name]).collect();
        for case in listed[bench].as_array().expect("a list") {
            assert!(known.contains(&case), "{bench}: {case} is no case of its last run");
        }
    }
    for bench in WITH_TARGETS {
        let last = read(&FILE.replace("targets.json", &format!("{bench}.json")));
        let rows = last["rows"].as_array().expect("rows");
        let cases: Vec<&str> = listed[bench]
            .as_array()
            .expect("a list")
            .iter()
            .map(|case| case.as_str().expect("a text"))
            .collect();
        for case in &cases {
            assert!(rows.iter().any(|row| is_of(row, case)), "{bench}: {case} is no case of its last run");
        }
        // What the list does not have is guarded by nothing.
        for row in rows.iter().filter(|row| row["verdict"] == true) {
            assert!(cases.iter().any(|case| is_of(row, case)), "{bench}: {row} was met, and is not listed");
        }
    }
}

/// The benches that scripts/bench/record.py keeps, each of whose targets that is met is to be met again.
const WITH_TARGETS: [&str; 9] =
    ["wan", "calls", "lammps", "opening", "staging", "boxes", "sinks", "forwarding", "watches"];

/// Whether a row of a bench is that of a case, whose name is all its texts but those about the figures.
fn is_of(row: &Value, case: &str) -> bool {
    let texts =
        row.as_object().into_iter().flatten().filter(|(key, _)| !matches!(key.as_str(), "unit" | "target"));
    let mut parts: Vec<&str> =
        texts.filter_map(|(_, text)| text.as_str()).flat_map(|text| text.split(", ")).collect();
    let mut wanted: Vec<&str> = case.split(", ").collect();
    // A row of JSON has its keys in any order.
    parts.sort_unstable();
    wanted.sort_unstable();
    parts == wanted
}

/// The name of one case may be a part of another's, and of a unit.
#[test]
fn a_case_is_its_own_row_alone() {
    let row = json!({"case": "tcp, boxes of 16^3", "size": "64 B", "unit": "GB/s", "target": "ratio >= 0.8", "ours": 1});
    assert!(is_of(&row, "tcp, boxes of 16^3, 64 B"));
    for other in [
        "tcp, boxes of 16^3",
        "tcp, boxes of 16^3, 4 B",
        "tcp, boxes, 64 B",
        "tcp, boxes of 16^3, 64 B, GB/s",
    ] {
        assert!(!is_of(&row, other), "{other}");
    }
}
