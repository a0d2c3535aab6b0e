//! Streams into files and back: what is replayed is what was published.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Live, Run, rows_of_step};
use fp_core::record::{Field, RecordSchema, RecordType, encode_with};
use fp_core::rendezvous::Rendezvous;
use fp_core::{
    Cohort, Dtype, MemoryOrder, NextStep, Publisher, PublisherOptions, RecordBlock, Region, Selection,
    StepReader, StepWriter, Subscriber, SubscriberOptions, Variable,
};
use rustix::process::{Pid, Signal, kill_process};

const PATIENCE: Duration = Duration::from_secs(60);
const STEPS: u64 = 3;

/// Records with a text, which lies behind their fixed parts.
fn atom() -> RecordSchema {
    let record =
        RecordType::new("Atom").field(Field::new("id", Dtype::U32)).field(Field::new("name", Dtype::String));
    record.build().unwrap()
}

/// What every kind of variable of a step holds, as far as order of blocks does not matter to it.
#[derive(Debug, PartialEq)]
struct Values {
    step: u64,
    time: f64,
    title: String,
    grid: Vec<f64>,
    columns: Vec<f32>,
    rows: Vec<i32>,
    local: Vec<u8>,
    own: Vec<u8>,
    of_rank_1: Vec<u8>,
    both: Vec<u16>,
    atoms: Vec<(Option<i128>, Option<String>)>,
    unit: Option<String>,
}

/// Waits until it is so.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "not within {PATIENCE:?}: {what}");
        thread::yield_now();
    }
}

fn at(folder: &Path) -> Rendezvous {
    Rendezvous::at(folder).expect("a directory")
}

fn region(start: &[u64], count: &[u64]) -> Region {
    Region::new(fp_core::Dims::from_slice(start).unwrap(), fp_core::Dims::from_slice(count).unwrap()).unwrap()
}

/// What one of two ranks puts into a step.
fn put(writer: &mut StepWriter, rank: u64) {
    let step = writer.step().0;
    let from = step * 100 + rank * 10;
    let numbers = |count: u64| (from..from + count).map(|number| number as f64);
    let grid = Variable::global::<f64>("grid", &[4, 3]).unwrap().with_unit("K").with_attribute("scale", 2.5);
    writer.put(&grid, &region(&[2 * rank, 0], &[2, 3]), numbers(6).collect()).unwrap();
    let columns = Variable::global::<f32>("columns", &[3, 2]).unwrap().with_order(MemoryOrder::ColumnMajor);
    writer
        .put(&columns, &region(&[0, rank], &[3, 1]), numbers(3).map(|number| number as f32).collect())
        .unwrap();
    let rows = Variable::joined::<i32>("rows", &[2]).unwrap();
    writer.put_joined(&rows, vec![from as i32; 2 * (rank as usize + 1)]).unwrap();
    let local = Variable::local::<u8>("local", 1).unwrap();
    writer.put(&local, &region(&[0], &[3]), vec![from as u8; 3]).unwrap();
    writer.put_scalar(&Variable::local_scalar::<u8>("own").unwrap(), from as u8).unwrap();
    // Each rank puts all of it: the higher one's counts.
    let both = Variable::global::<u16>("both", &[2]).unwrap();
    writer.put(&both, &region(&[0], &[2]), vec![from as u16; 2]).unwrap();
    writer.put(&both, &region(&[1], &[0]), Vec::<u16>::new()).unwrap();
    let schema = atom();
    let atoms = Variable::global_records("atoms", &schema, &[2]).unwrap();
    let encoded = encode_with(&schema, 1, |_, atom| {
        atom.put(0, &(from as u32))?;
        atom.put(1, &"é".repeat(rank as usize + 1))
    });
    let one = RecordBlock::encoded(&schema, 1, encoded.unwrap()).unwrap();
    writer.put_records(&atoms, &region(&[rank], &[1]), one).unwrap();
    writer.put_scalar(&Variable::scalar::<f64>("time").unwrap(), step as f64 / 2.0).unwrap();
    writer.put_text(&Variable::text("title").unwrap(), &format!("step {step}")).unwrap();
}

/// Two ranks, as threads, which publish steps from number 5 on to whoever comes first.
fn publish(folder: PathBuf) -> Vec<thread::JoinHandle<()>> {
    let rank = |rank: u32| {
        let options = PublisherOptions::default().with_rendezvous(at(&folder)).with_min_subscribers(1);
        let options = options.with_cohort(Cohort::of(rank, 2).unwrap()).with_first_step(5);
        thread::spawn(move || {
            let mut publisher = Publisher::open("run", options).expect("opened");
            for _ in 0..STEPS {
                let mut writer = publisher.begin_step().expect("a step");
                put(&mut writer, rank.into());
                writer.end().expect("ended");
            }
            publisher.close().expect("closed");
        })
    };
    (0..2).map(rank).collect()
}

fn values(step: &StepReader) -> Values {
    let infos = step.variables().unwrap();
    let unit = infos.iter().find(|info| info.def.name == "grid").and_then(|info| info.def.unit.clone());
    let set = step.records("atoms", Selection::All).unwrap();
    let atom = |record: fp_core::record::RecordRef<'_>| {
        let name = record.value("name").unwrap().as_text().map(str::to_owned);
        (record.value("id").unwrap().as_integer(), name)
    };
    Values {
        step: step.step().0,
        time: step.scalar("time").unwrap(),
        title: step.text("title").unwrap(),
        grid: step.get("grid", Selection::All).unwrap(),
        columns: step.get("columns", Selection::All).unwrap(),
        rows: step.get("rows", Selection::All).unwrap(),
        local: step.get("local", Selection::All).unwrap(),
        own: step.get("own", Selection::All).unwrap(),
        of_rank_1: step.get("local", "[rank 1]").unwrap(),
        both: step.get("both", Selection::All).unwrap(),
        atoms: set.records().unwrap().iter().map(atom).collect(),
        unit,
    }
}

fn taken(folder: &Path, stream: &str) -> Vec<Values> {
    let options = SubscriberOptions::default().with_rendezvous(at(folder)).with_open_timeout(PATIENCE);
    let mut subscriber = Subscriber::open(stream, options).expect("attached");
    let mut steps = Vec::new();
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(step) => steps.push(values(&step)),
            NextStep::NotYet => panic!("neither a step nor the end"),
            NextStep::Ended(_) => return steps,
        }
    }
}

#[test]
fn what_is_replayed_is_what_was_published() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fpsr");
    let out = file.to_str().unwrap();
    let ranks = publish(folder.path().to_owned());
    let expected = taken(folder.path(), "run");
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(expected.len() as u64, STEPS);

    let ranks = publish(folder.path().to_owned());
    let recorded = Run::at(folder.path(), &["record", "run", "--out", out, "--durable"]).finish();
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    assert!(
        recorded.stderr.contains("stream \"run\": 3 steps, ") && recorded.stderr.contains(", 0 skipped"),
        "{}",
        recorded.stderr
    );

    let listed = Run::at(folder.path(), &["replay", out, "--list"]).finish();
    assert!(listed.stdout.starts_with("step 5 of \"run\": 18 blocks, "), "{}", listed.stdout);
    assert!(
        listed.stdout.contains(": atoms, both, columns, grid, local, own, rows, time, title\nstep 6 of"),
        "{}",
        listed.stdout
    );

    let replaying = Run::at(folder.path(), &["replay", out, "--as", "again", "--speed", "full"]);
    assert_eq!(taken(folder.path(), "again"), expected);
    let replayed = replaying.finish();
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    assert!(replayed.stderr.contains("stream \"again\": 3 steps of "), "{}", replayed.stderr);
}

#[test]
fn parts_are_recorded_and_replayed() {
    let (live, place) = (Live::start("heat"), tempfile::tempdir().unwrap());
    let file = place.path().join("heat.fpsr");
    let out = file.to_str().unwrap();
    let arguments = ["record", "heat", "--out", out, "--steps", "4", "--variables", "temperature"];
    let run = Run::of(&live, &arguments).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    // A file is not overwritten by mistake; it grows where that is asked for.
    let again = Run::of(&live, &arguments).finish();
    assert_eq!(again.code, Some(2));
    assert!(
        again.stderr.contains("is there already: name another file, or say --append"),
        "{}",
        again.stderr
    );
    let more =
        Run::of(&live, &["record", "heat", "--out", out, "--steps", "2", "--append", "--lossy"]).finish();
    assert_eq!(more.code, Some(0), "{}", more.stderr);
    live.stop();

    let folder = place.path();
    let steps = listed(folder, out);
    assert_eq!(steps.len(), 6);
    let (first, last) = (steps[1], steps[3]);
    let part = format!("{first}:{last}");
    let replaying = Run::at(folder, &["replay", out, "--steps", &part, "--speed", "200"]);
    let options = SubscriberOptions::default().with_rendezvous(at(folder)).with_open_timeout(PATIENCE);
    let mut subscriber = Subscriber::open("heat", options).expect("attached");
    let mut seen = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step or the end") {
        assert_eq!(
            step.get::<f64>("temperature", Selection::All).unwrap(),
            rows_of_step(steps[1 + seen.len()]).concat()
        );
        assert_eq!(step.variables().unwrap().len(), 1);
        seen.push(step.step().0);
    }
    assert_eq!(seen, [first, first + 1]);
    assert_eq!(replaying.finish().code, Some(0));
    let none = Run::at(folder, &["replay", out, "--steps", "999999:"]).finish();
    assert_eq!(none.code, Some(2));
    assert!(
        none.stderr.contains(&format!("no such step: it has {} to {}", steps[0], steps[5])),
        "{}",
        none.stderr
    );
}

/// The numbers of the steps of a file.
fn listed(folder: &Path, file: &str) -> Vec<u64> {
    let run = Run::at(folder, &["replay", file, "--list"]).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let number = |line: &str| line.strip_prefix("step ")?.split(' ').next()?.parse().ok();
    run.stdout.lines().map(|line| number(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

#[test]
fn what_a_killed_recorder_wrote_is_whole() {
    let live = Live::start("heat");
    let file = live.path().join("heat.fpsr");
    let out = file.to_str().unwrap();
    let mut last = Vec::new();
    for round in 0..5 {
        let mut run = Run::of(&live, &["record", "heat", "--out", out, "--append"]);
        let is_long = || std::fs::metadata(&file).map_or(0, |file| file.len()) >= 20_000 * (round + 1);
        eventually("the file grows", is_long);
        // Only one may write.
        if round == 0 {
            let other = Run::of(&live, &["record", "heat", "--out", out, "--append"]).finish();
            assert_eq!(other.code, Some(1));
            assert!(other.stderr.ends_with("heat.fpsr: another process writes to it\n"), "{}", other.stderr);
        }
        kill_process(Pid::from_child(&run.child), Signal::KILL).unwrap();
        run.child.wait().unwrap();
        let steps = listed(live.path(), out);
        assert!(steps.len() > last.len() && steps[..last.len()] == last, "{steps:?} after {last:?}");
        last = steps;
    }
    live.stop();
}

#[test]
fn a_file_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter.txt");
    std::fs::write(&file, "Dear reader, this is no step record at all, and long enough.").unwrap();
    let path = file.to_str().unwrap();
    for arguments in [&["replay", path][..], &["record", "heat", "--out", path, "--append"]] {
        let run = Run::at(folder.path(), arguments).finish();
        assert!(run.code != Some(0) && run.stderr.contains("letter.txt"), "{}", run.stderr);
        assert!(run.stderr.contains("no step record begins here"), "{}", run.stderr);
    }
    let run = Run::at(folder.path(), &["replay", "/nowhere/at.all"]).finish();
    assert!(
        run.code == Some(1) && run.stderr.contains("/nowhere/at.all cannot be opened: No such file"),
        "{}",
        run.stderr
    );
    let full = Run::at(folder.path(), &["record", "heat", "--out", "/dev/full"]).finish();
    assert!(full.code == Some(2) && full.stderr.contains("is there already"), "{}", full.stderr);
}

#[test]
fn who_waits_to_replay_is_ended_by_ctrl_c_and_who_records_nothing_leaves_no_file() {
    let (live, place) = (Live::start("heat"), tempfile::tempdir().unwrap());
    let file = place.path().join("heat.fpsr");
    let out = file.to_str().unwrap();
    let missing = Run::of(&live, &["record", "cold", "--out", out, "--timeout", "0.2"]).finish();
    assert!(missing.code == Some(1) && missing.stderr.contains("cold"), "{}", missing.stderr);
    assert!(!file.exists(), "nothing was recorded");
    let run = Run::of(&live, &["record", "heat", "--out", out, "--steps", "1"]).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    live.stop();

    let replaying = Run::at(place.path(), &["replay", out, "--as", "waits"]);
    let is_open = || {
        std::fs::read_dir(place.path())
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("waits."))
    };
    eventually("the replay waits", is_open);
    kill_process(Pid::from_child(&replaying.child), Signal::INT).unwrap();
    let ended = replaying.finish();
    assert_eq!(ended.status.signal(), Some(Signal::INT.as_raw()), "{}", ended.stderr);
    assert!(ended.stderr.contains("stream \"waits\": 0 steps of "), "{}", ended.stderr);
    let slow = Run::at(place.path(), &["replay", out, "--speed", "0"]).finish();
    assert!(
        slow.code == Some(2) && slow.stderr.contains("recorded, full or steps a second"),
        "{}",
        slow.stderr
    );
}
