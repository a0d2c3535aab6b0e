//! Which steps are written: those that a condition asks for, those of a number, and both. All ranks write the same ones.

use std::thread;

use fp_core::{StepWriter, Variable};

use crate::hdf5::region;
use crate::support::{Stage, publish, python};

/// Elements of a row: enough for a slab of each rank that writes.
const COLUMNS: u64 = 50_000;

/// How many steps there are.
const STEPS: u64 = 12;

/// A row of each of two ranks. That of rank 1 is as hot as the step's number is modulo 5, the other is colder than all.
fn put_heat(rank: u32, writer: &mut StepWriter) {
    let heat = Variable::global::<f64>("heat", &[2, COLUMNS]).expect("a variable");
    let number = if rank == 0 { -1.0 } else { (writer.step().0 % 5) as f64 };
    let row = region(&[rank.into(), 0], &[1, COLUMNS]);
    writer.put(&heat, &row, vec![number; COLUMNS as usize]).expect("put");
    if rank == 0 {
        writer
            .put_scalar(&Variable::scalar::<u64>("number").expect("a variable"), writer.step().0)
            .expect("put");
    }
}

/// Writes the stream with these arguments more, and looks for exactly these steps.
fn written(target: &str, name: &str, arguments: &[&str], steps: &[u64]) -> String {
    let stage = Stage::new();
    let to = format!("{target}:{}", stage.path(name));
    let ended = stage.run((2, STEPS), put_heat, &[&["--to", &to], arguments].concat());
    let said = ended.stderr.clone();
    ended.well();
    looked_at(&stage, target, name, steps);
    said
}

/// Reads what was written: it has these steps and no others.
fn looked_at(stage: &Stage, target: &str, name: &str, steps: &[u64]) {
    let steps: Vec<String> = steps.iter().map(u64::to_string).collect();
    let place = stage.path(name);
    let steps = steps.iter().map(String::as_str);
    python("conditions.py", &[target, &place].into_iter().chain(steps).collect::<Vec<_>>());
}

#[test]
fn steps_that_are_so_are_written_and_no_others() {
    let hot = ["--when", "max(heat) > 2", "--ranks", "2"];
    let said = written("zarr", "hot.zarr", &hot, &[3, 4, 8, 9]);
    assert!(said.contains("4 steps of") && said.contains(" 0 skipped"), "{said}");
    written("hdf5", "hot_%T.h5", &[&hot[..], &["--variables", "heat"]].concat(), &[3, 4, 8, 9]);
    // What is looked at need not be written.
    written("hdf5", "hot_%T.h5", &[&hot[..], &["--variables", "number"]].concat(), &[3, 4, 8, 9]);
    written("hdf5", "hot_%T.h5", &["--when", "rises(max(heat) > 2)", "--ranks", "3"], &[3, 8]);
}

#[test]
fn a_condition_and_a_number_are_both_true_of_what_is_written() {
    let both = ["--when", "max(heat) > 2", "--every", "2", "--ranks", "2"];
    written("zarr", "both.zarr", &both, &[4, 8]);
    written("hdf5", "both_%T.h5", &both, &[4, 8]);
    written("hdf5", "both_%T.h5", &[&both[..], &["--steps", "1"]].concat(), &[4]);
}

#[test]
fn a_checkpoint_and_the_hot_steps_are_of_one_run() {
    let stage = Stage::new();
    let to = [format!("zarr:{}", stage.path("all.zarr")), format!("hdf5:{}", stage.path("hot_%T.h5"))];
    thread::scope(|scope| {
        for rank in 0..2 {
            let options = stage.options(rank, 2).with_min_subscribers(2);
            scope.spawn(move || publish(options, STEPS, |writer| put_heat(rank, writer)));
        }
        let checkpoint = stage.start(&["--to", &to[0], "--every", "4", "--ranks", "2"]);
        let hot = ["--to", &to[1], "--when", "max(heat) >= 4", "--ranks", "2", "--cast", "f32"];
        let hot = stage.start(&hot);
        checkpoint.ended().well();
        hot.ended().well();
    });
    looked_at(&stage, "zarr", "all.zarr", &[0, 4, 8]);
    looked_at(&stage, "hdf5", "hot_%T.h5", &[4, 9]);
}

#[test]
fn a_step_that_cannot_be_judged_is_written_and_told_of() {
    let said = written("hdf5", "run_%T.h5", &["--when", "max(heat[0:1]) > 2", "--steps", "2"], &[0, 1]);
    let told = "flexpath: stream \"sim\", step 1: written, though it could not be judged: ";
    assert!(said.contains(told) && said.contains("shape [2, 50000]"), "{said}");
}

#[test]
fn what_is_no_condition_is_refused_with_its_place() {
    let stage = Stage::new();
    let refused = |condition: &str, words: &[&str]| {
        let to = format!("zarr:{}", stage.path("none.zarr"));
        stage.start(&["--to", &to, "--when", condition]).ended().refused(2, words);
        assert!(!stage.folder.path().join("none.zarr").exists(), "nothing was made");
    };
    refused("max(heat", &["--when", "character 9", "is expected here"]);
    refused("max(heat) > hot", &["--when", "character 13"]);
    refused("top(heat) > 2", &["--when", "character 1", "no condition \"top\"", "hysteresis"]);
    refused("", &["--when", "character 1"]);
    refused("max(module(speed, heat)) > 2", &["module(speed, heat)", "`flexpath watch --module`"]);
}
