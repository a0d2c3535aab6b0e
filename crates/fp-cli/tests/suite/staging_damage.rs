//! A stager that keeps: steps still to come, and steps whose files are not what they were.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::kinds::eventually;
use crate::staging::{
    attach, awaiting, interrupt, is_open, kill, publisher_options, put_steps, take, try_take,
};
use crate::staging_bounds::{BEFORE, publisher_to_be_killed};
use crate::support::Run;
use fp_core::{NextStep, Publisher, StartAt, StepId};
use fp_spool::Spool;
use rustix::process::{Pid, Signal, kill_process};

fn keeper(folder: &Path, disk: &Path, more: &[&str]) -> Run {
    let words = ["stage", "sim", "--reserve", "all", "--disk", disk.to_str().unwrap()];
    Run::at(folder, &[&words[..], more].concat())
}

#[test]
fn a_step_still_to_come_is_awaited_though_the_publisher_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let stager = keeper(folder, &disk, &["--durable", "--await", "60"]);
    let mut killed = publisher_to_be_killed(folder);
    let mut first = attach(folder, "sim-staged", |one| one);
    let taken: Vec<u64> = (0..BEFORE).map_while(|_| take(&mut first)).collect();
    assert_eq!(taken, (0..BEFORE).collect::<Vec<_>>());
    drop(first);
    kill_process(Pid::from_child(&killed), Signal::KILL).unwrap();
    killed.wait().unwrap();

    // Not even its number is known to anybody yet.
    let wanted = StepId(BEFORE + 1);
    let mut early = attach(folder, "sim-staged", |one| awaiting(one).with_start_at(StartAt::After(wanted)));
    let nothing = early.next_step(Duration::from_millis(200));
    assert!(matches!(nothing, Ok(NextStep::NotYet)), "{nothing:?}");
    let options = publisher_options(folder).with_first_step(BEFORE);
    let mut publisher = Publisher::open("sim", options).unwrap();
    put_steps(&mut publisher, 4);
    assert_eq!([take(&mut early), take(&mut early)], [Some(wanted.0 + 1), Some(wanted.0 + 2)]);
    publisher.close().expect("all of it is the stager's now");
    // And who comes late has all of both.
    let mut late = attach(folder, "sim-staged", |one| one);
    let all: Vec<u64> = (0..BEFORE + 4).map_while(|_| take(&mut late)).collect();
    assert_eq!(all, (0..BEFORE + 4).collect::<Vec<_>>());
    drop((early, late));
    interrupt(stager);
}

/// Waits until so many steps are on disk, whole.
fn await_files(disk: &Path, count: u64) {
    eventually("they are on disk", || {
        let is_whole = |step| file_of(disk, step).is_some_and(|path| Spool::open(path).is_ok_and(is_one));
        (0..count).all(is_whole)
    });
}

/// Whether it is a whole step, and nothing else.
fn is_one(spool: Spool) -> bool {
    spool.entries().len() == 1 && spool.torn().is_none()
}

/// The file of a step.
fn file_of(disk: &Path, step: u64) -> Option<PathBuf> {
    file_named(disk, &format!("{step:020}.0-of-1.fpsr"))
}

fn file_named(disk: &Path, name: &str) -> Option<PathBuf> {
    let openings = fs::read_dir(disk.join("sim")).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    openings.map(|opening| opening.join(name)).find(|path| path.is_file())
}

/// Turns one bit of a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

/// In the magic, in the lengths, and in the description of the first frame.
const IN_HEADERS: [(u64, usize); 3] = [(2, 0), (3, 12), (4, 70)];

/// In the midst of what the field has.
const IN_DATA: (u64, usize) = (6, 40_000);

/// A step behind which others were written to their end: no kill leaves it so.
const CUT: u64 = 1;

#[test]
fn a_bit_that_was_flipped_on_disk_is_said_and_never_handed_out() {
    const STEPS: u64 = 10;
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let stager = keeper(folder, &disk, &["--memory", "1"]);
    let mut publisher = Publisher::open("sim", publisher_options(folder)).unwrap();
    put_steps(&mut publisher, STEPS + 1);
    publisher.close().expect("all of it is the stager's now");
    await_files(&disk, STEPS + 1);
    kill(stager);
    for (step, at) in IN_HEADERS.into_iter().chain([IN_DATA]) {
        flip(&file_of(&disk, step).unwrap(), at);
    }
    let cut = fs::OpenOptions::new().write(true).open(file_of(&disk, CUT).unwrap()).unwrap();
    cut.set_len(1000).unwrap();
    // The last one: a kill leaves that so.
    let last = fs::OpenOptions::new().write(true).open(file_of(&disk, STEPS).unwrap()).unwrap();
    last.set_len(1000).unwrap();

    let stager = keeper(folder, &disk, &["--memory", "1"]);
    let mut subscriber = attach(folder, "sim-staged", |one| one);
    let (mut whole, mut broken) = (Vec::new(), Vec::new());
    while whole.last() != Some(&(STEPS - 1)) {
        match try_take(&mut subscriber).expect("the stream goes on") {
            (number, Ok(())) => whole.push(number),
            (number, Err(error)) => broken.push((number, error)),
        }
    }
    assert_eq!(whole, [0, 5, 7, 8, 9]);
    let [(step, error)] = &broken[..] else { panic!("{broken:?}") };
    assert_eq!(*step, IN_DATA.0);
    assert!(error.to_string().contains("its bytes are in a file that could not be read"), "{error}");
    drop(subscriber);
    let ended = interrupt(stager);
    for step in IN_HEADERS.map(|(step, _)| step).into_iter().chain([CUT]) {
        let told = format!("{step:020}.0-of-1.fpsr");
        let lines: Vec<&str> = ended.stderr.lines().filter(|line| line.contains(&told)).collect();
        let is_told = |line: &str| line.ends_with(&format!("step {step} is left out"));
        assert!(matches!(lines[..], [line] if is_told(line)), "it is told of once: {lines:?}");
        let file = file_named(&disk, &format!("{told}.damaged"));
        assert!(file_of(&disk, step).is_none() && file.is_some(), "it is kept, and in nobody's way");
    }
    let removed = format!("stream \"sim\", step {STEPS}: not written to the end");
    assert_eq!(ended.stderr.matches(&removed).count(), 1, "{}", ended.stderr);
    assert!(file_of(&disk, STEPS).is_none());
    let told =
        |line: &&str| line.contains(&format!("{:020}.0-of-1.fpsr", IN_DATA.0)) && line.contains("checksum");
    assert_eq!(ended.stderr.lines().filter(told).count(), 1, "{}", ended.stderr);
}

/// An older stager on the same disk: the newer one finds all as it left it.
#[test]
fn a_stager_leaves_files_of_a_newer_version_as_they_are_and_does_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let stager = keeper(folder, &disk, &["--durable"]);
    let mut publisher = Publisher::open("sim", publisher_options(folder)).unwrap();
    put_steps(&mut publisher, 3);
    publisher.close().expect("all of it is the stager's now");
    await_files(&disk, 3);
    kill(stager);
    let file = file_of(&disk, 1).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    // The version, and the checksum of the header that has it.
    bytes[4] += 1;
    let sum = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&sum.to_le_bytes());
    fs::write(&file, bytes).unwrap();

    let ended = keeper(folder, &disk, &["--durable"]).finish();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for words in [file.to_str().unwrap(), "of version 2 of the format", "reads version 1", "another --disk"] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    assert!((0..3).all(|step| file_of(&disk, step).is_some()));
}

/// The publisher has it still: it is taken once more, and what is damaged is in nobody's way.
#[test]
fn what_was_damaged_on_disk_is_taken_again_from_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let stager = keeper(folder, &disk, &["--durable"]);
    let options = publisher_options(folder).with_reserve_steps(100);
    let mut publisher = Publisher::open("sim", options).unwrap();
    eventually("it is staged", || is_open(folder, "sim-staged"));
    put_steps(&mut publisher, 5);
    await_files(&disk, 5);
    kill(stager);
    flip(&file_of(&disk, 4).unwrap(), 70);

    let stager = keeper(folder, &disk, &["--durable"]);
    let mut subscriber = attach(folder, "sim-staged", |one| one);
    put_steps(&mut publisher, 2);
    let seen: Vec<u64> = (0..7).map_while(|_| take(&mut subscriber)).collect();
    assert_eq!(seen, (0..7).collect::<Vec<_>>());
    drop(subscriber);
    publisher.close().expect("all of it is the stager's now");
    let ended = interrupt(stager);
    assert!(!ended.stderr.contains("The publisher waits until it can be written"), "{}", ended.stderr);
}
