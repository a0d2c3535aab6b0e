//! Files as streams: joined in order, complete or not there, and given up at a deadline.

use std::fs;
use std::thread;
use std::time::Duration;

use flexpath::Variable;

use super::*;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
/// What nobody should have to wait for.
const SHORT: Duration = Duration::from_millis(30);

fn position() -> Variable {
    Variable::joined::<f64>("position", &[3]).expect("a variable")
}

/// One rank puts a step: rank 0 the time step, and each so many rows.
fn put(outlet: &mut FilesOutlet, time_step: Option<i64>, rows: &[[f64; 3]]) {
    let mut step = outlet.begin().expect("begun");
    if let Some(time_step) = time_step {
        step.put(&Variable::scalar::<i64>("time_step").expect("a name"), &[time_step]).expect("put");
        let numbers = Variable::global::<i32>("numbers", &[2]).expect("a variable");
        step.put(&numbers, &[7, 8]).expect("put");
    }
    step.put(&position(), rows.as_flattened()).expect("put");
    outlet.end(step).expect("ended");
}

#[test]
fn parts_of_all_ranks_come_joined_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ranks: Vec<FilesOutlet> =
        (0..3).map(|rank| FilesOutlet::open(folder.path(), rank, 3).expect("opened")).collect();
    put(&mut ranks[2], None, &[[7.0, 8.0, 9.0]]);
    put(&mut ranks[1], None, &[]);
    put(&mut ranks[0], Some(50), &[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let mut inlet = FilesInlet::open(folder.path()).expect("opened");
    let step = inlet.step(PATIENCE).expect("a step").expect("not the end");
    assert_eq!(step.scalar::<i64>("time_step").expect("there"), 50);
    assert_eq!(step.bytes(), 8);
    assert_eq!(step.list::<i32>("numbers").expect("there"), [7, 8]);
    let all: Vec<f64> = (1..=9).map(f64::from).collect();
    assert_eq!(step.list::<f64>("position").expect("there"), all);
    assert_eq!(step.list_of_rank::<f64>("position", 2).expect("there"), [7.0, 8.0, 9.0]);
    assert_eq!(step.list_of_rank::<f64>("position", 1).expect("there"), [0.0; 0]);
    assert_eq!(step.bytes(), 8 + 8 + 72 + 24);
    let missing = step.list::<f64>("velocity").expect_err("nobody put it");
    assert!(matches!(missing, FilesError::NoVariable { step: 0, .. }), "{missing}");
}

#[test]
fn a_file_that_is_not_complete_is_not_taken_and_the_deadline_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut outlet = FilesOutlet::open(folder.path(), 0, 1).expect("opened");
    put(&mut outlet, Some(0), &[]);
    let mut inlet = FilesInlet::open(folder.path()).expect("opened");
    assert!(inlet.step(SHORT).expect("a step").is_some());
    let begun = outlet.begin().expect("begun");
    let error = inlet.step(SHORT).map(drop).expect_err("not complete");
    assert!(error.to_string().contains("step-000001.0-of-1.h5 did not appear within 30ms"), "{error}");
    outlet.end(begun).expect("ended");
    assert!(inlet.step(SHORT).expect("a step").is_some());
    outlet.close().expect("closed");
    assert!(inlet.step(SHORT).expect("the end").is_none());
}

#[test]
fn who_waits_is_woken_by_each_rank_and_by_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("not there yet");
    let mut inlet = FilesInlet::open(&path).expect("opened");
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            for rank in [1, 0] {
                let mut outlet = FilesOutlet::open(&path, rank, 2).expect("opened");
                put(&mut outlet, (rank == 0).then_some(3), &[]);
                sender.send(outlet).expect("heard");
            }
        });
        let step = inlet.step(PATIENCE).expect("a step").expect("not the end");
        assert_eq!(step.scalar::<i64>("time_step").expect("there"), 3);
        scope.spawn(move || receiver.iter().take(2).for_each(|outlet| outlet.close().expect("closed")));
        assert!(inlet.step(PATIENCE).expect("the end").is_none());
    });
}

#[test]
fn a_stream_of_no_steps_ends_and_a_spoilt_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    FilesOutlet::open(folder.path(), 0, 1).expect("opened").close().expect("closed");
    let mut inlet = FilesInlet::open(folder.path()).expect("opened");
    assert!(inlet.step(SHORT).expect("the end").is_none());
    fs::write(end_file(folder.path(), 0, 1), "many").expect("written");
    let error = inlet.step(SHORT).map(drop).expect_err("no number");
    assert!(matches!(&error, FilesError::NoNumber { text, .. } if text == "many"), "{error}");
}

#[test]
fn no_two_ranks_write_under_one_name() {
    let folder = Path::new("folder");
    let names =
        |rank| [step_file(folder, 0, rank, 2), end_file(folder, rank, 2)].map(|path| unfinished(&path));
    let (ours, theirs) = (names(0), names(1));
    assert!(ours.iter().all(|name| !theirs.contains(name)) && ours[0] != ours[1], "{ours:?} {theirs:?}");
    assert!(ours.iter().all(|name| !name.to_string_lossy().ends_with(".h5")));
}
