//! Queries of users that are passed through to an array database, and its answers to them.

use fp_core::{Region, StepWriter, Variable};
use serde_json::{Value, json};

use crate::savime_double::{Double, Fault};
use crate::support::Stage;

/// A structure that a user makes before there are data.
const MAKE: &str = "create_tar(\"mine\", \"*\", \"implicit, x, int, 0, 9, 1\", \"y, double\")";

/// Puts an array, and in the second step the queries of the simulation.
fn put(writer: &mut StepWriter) {
    let step = writer.step().0;
    let rho = Variable::global::<f64>("rho", &[3]).unwrap();
    let elements = (0..3).map(|at| (step * 10 + at) as f64).collect();
    writer.put(&rho, &Region::new([0], [3]).unwrap(), elements).unwrap();
    let asked = if step == 1 { "scan(sim_steps)\n\nscan(sim_rho);\n" } else { "" };
    writer.put_text(&Variable::text("asked").unwrap(), asked).unwrap();
}

/// The lines that were printed.
fn answers(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn queries_go_to_the_database_in_order_and_answers_come_back() {
    let (stage, double) = (Stage::new(), Double::start(Fault::None));
    let to = format!("savime:{}", double.place);
    let asked = ["--before", MAKE, "--after", "scan(sim_rho)", "--queries", "asked"];
    let arguments = [&["--to", &to, "--variables", "rho"], &asked[..]].concat();
    let printed = answers(&stage.run((1, 2), |_, writer| put(writer), &arguments).well());
    let done = "Query executed successfully";
    let rho = |step: Option<u64>, values: &[f64]| {
        json!({"step": step, "query": "scan(sim_rho);", "answer": "#step,d,int32|rho,a,double:1",
               "values": {"rho": values}})
    };
    let both = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0];
    assert_eq!(
        printed,
        [
            json!({"step": null, "query": format!("{MAKE};"), "answer": done}),
            rho(Some(0), &both[..3]),
            json!({"step": 1, "query": "scan(sim_steps);", "answer": "#step,d,int32|number,a,long:1",
                   "values": {"number": [0, 1]}}),
            rho(Some(1), &both),
            rho(Some(1), &both),
        ]
    );
    let database = double.database();
    assert_eq!(database.wrong, [""; 0]);
    assert_eq!(database.asked[0], format!("{MAKE};"), "structure comes before data");
    assert!(!database.tars.contains_key("sim_asked"), "queries are no data");
    drop(database);
    // What is there already need not be made again, and then only if the stream is gone on with.
    let again = |more: &[&str]| stage.start(&[&["--to", &to, "--before", MAKE], more].concat()).ended();
    again(&[]).refused(1, &["create_tar(\"mine\"", "mine TAR already exists", &double.place]);
    stage.run((1, 3), |_, writer| put(writer), &[&arguments[..], &["--append"]].concat()).well();
}

#[test]
fn the_number_of_a_step_is_told_to_the_database() {
    let (stage, double) = (Stage::new(), Double::start(Fault::None));
    let to = format!("savime:{}", double.place);
    let make = MAKE.replace("mine", "at_%T");
    let only = ["--to", &to, "--variables", "rho", "--after", &make];
    stage.run((1, 2), |_, writer| put(writer), &only).well();
    let database = double.database();
    assert!(["at_0", "at_1"].iter().all(|name| database.tars.contains_key(*name)), "{:?}", database.asked);
}

#[test]
fn a_query_that_fails_ends_the_program_and_is_named() {
    let said = "Error during operation execution: no such operator.";
    for (fault, words) in [
        (Fault::Stall("scan(sim_rho"), ["scan(sim_rho);", "it says nothing within 1s", "--timeout"]),
        (Fault::Babble("scan(sim_rho"), ["scan(sim_rho);", "no message of SAVIME", "7"]),
        (Fault::Drip("scan(sim_rho"), ["scan(sim_rho);", "within 1s", "--timeout"]),
        (Fault::Hollow("scan(sim_rho"), ["scan(sim_rho);", "empty block", "\"rho\""]),
        (
            Fault::Flood("scan(sim_rho", (16 << 20) + 1),
            ["scan(sim_rho);", "longer than 16777216 bytes", "fewer"],
        ),
        (Fault::Say("scan(sim_rho", said), ["scan(sim_rho);", "the database says", said]),
        (Fault::Say("scan(sim_rho", "#rho"), ["scan(sim_rho);", "makes no sense", "#rho"]),
    ] {
        let (stage, double) = (Stage::new(), Double::start(fault.clone()));
        let to = format!("savime:{}", double.place);
        let arguments =
            ["--to", &to, "--variables", "rho", "--after", "scan(sim_rho)", "--timeout", "1", "--ranks", "2"];
        let ended = stage.run((1, 2), |_, writer| put(writer), &arguments);
        ended.refused(1, &[&words[..], &[double.place.as_str()]].concat());
        // The step before it is whole.
        assert_eq!(double.database().tars["sim_steps"].subtars.len(), 1, "{fault:?}");
    }
}

#[test]
fn queries_that_nobody_could_be_asked_are_refused() {
    let stage = Stage::new();
    let to = format!("zarr:{}", stage.path("x.zarr"));
    for option in ["--before", "--after", "--queries"] {
        let ended = stage.start(&["--to", &to, option, "scan(a)"]).ended();
        ended.refused(2, &["no database that could be asked", "savime:HOST:PORT"]);
    }
    let double = Double::start(Fault::None);
    let to = format!("savime:{}", double.place);
    stage.start(&["--to", &to, "--after", " ; "]).ended().refused(2, &["is no query"]);
    let arguments = ["--to", &to, "--variables", "rho", "--queries", "rho"];
    let ended = stage.run((1, 1), |_, writer| put(writer), &arguments);
    ended.refused(1, &["step 0, variable \"rho\"", "no text", "--queries"]);
}
