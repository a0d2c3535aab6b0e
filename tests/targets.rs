//! Whether a run of the benches fails where it misses a target that was met before: the logic of both benches, without
//! any timing.

#[path = "../benches/spine/targets.rs"]
mod targets;

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

#[test]
fn the_peers_are_judged_alike() {
    let verdicts = json!([
        ["kept", "fallen"],
        [["kept", "met"], ["fallen", "missed"], ["risen", "met"], ["other", "not measured: no MPI"]]
    ]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/bench/targets.py");
    let run = Command::new("python3").args(["-B", script, &verdicts.to_string()]).output();
    let Ok(run) = run else {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_ALL").is_none(), "python3 is not installed");
        return eprintln!("skipped: python3 is not installed");
    };
    let said = String::from_utf8_lossy(&run.stdout);
    assert_eq!(said.trim(), r#"[["fallen"], ["risen"]]"#, "{}", String::from_utf8_lossy(&run.stderr));
}

/// A case that was renamed would be guarded no more: the last full runs have every case of the list.
#[test]
fn every_target_of_the_list_is_one_of_the_last_run() {
    let read = |path: &str| -> Value {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let listed = read(FILE);
    for (bench, rows, name) in [("spine", "rows", "case"), ("peers", "targets", "what")] {
        let last = read(&FILE.replace("targets.json", &format!("{bench}.json")));
        let known: Vec<&Value> = last[rows].as_array().expect("rows").iter().map(|row| &row[name]).collect();
        for case in listed[bench].as_array().expect("a list") {
            assert!(known.contains(&case), "{bench}: {case} is no case of its last run");
        }
    }
}
