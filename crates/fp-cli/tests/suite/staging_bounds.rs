//! A stager that has no room: what it drops, and what it waits for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::kinds::{PATIENCE, eventually, files, region};
use crate::staging::{attach, is_open, publisher_options, put_steps, take};
use crate::staging_ranks;
use crate::support::Run;
use fp_core::{NextStep, Publisher, Variable};
use rustix::process::{Pid, Signal, kill_process};

/// Set for a process that publishes until it is killed: the rendezvous, and by how many ranks.
const PLACE: &str = "FLEXPATH_TEST_PLACE";
const RANKS: &str = "FLEXPATH_TEST_RANKS";

/// Steps that such a process publishes.
pub(crate) const BEFORE: u64 = 3;

/// Steps of 4 MiB.
fn put_large_steps(publisher: &mut Publisher, count: u64) {
    const LEN: u64 = 4 << 20;
    let field = Variable::global::<u8>("large", &[LEN]).unwrap();
    for _ in 0..count {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&field, &region(&[0], &[LEN]), vec![7u8; LEN as usize]).unwrap();
        writer.end().expect("ended");
    }
}

#[test]
fn a_lossy_stager_lets_nobody_wait_and_says_what_it_dropped() {
    const STEPS: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    // Of steps of 4 MiB it has room for 16.
    let stager = Run::at(folder.path(), &["stage", "sim", "--memory", "64M", "--lossy", "--once"]);
    let mut publisher = Publisher::open("sim", publisher_options(folder.path())).unwrap();
    eventually("it is staged", || is_open(folder.path(), "sim-staged"));
    let mut subscriber = attach(folder.path(), "sim-staged", |one| one);
    // Nobody takes any of these meanwhile: a publisher that waits would wait for ever.
    put_large_steps(&mut publisher, STEPS);
    publisher.close().expect("closed");
    let (mut seen, mut skipped) = (Vec::new(), 0);
    let last = loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(step) => {
                seen.push(step.step().0);
                skipped += step.skipped();
            }
            NextStep::Ended(ended) => break ended.skipped,
            NextStep::NotYet => panic!("neither a step nor the end"),
        }
    };
    assert!(seen.is_sorted_by(|one, other| one < other) && seen.len() < 30, "{seen:?}");
    assert_eq!(seen.len() as u64 + skipped + last, STEPS, "{seen:?}, {skipped} and {last} skipped");
    drop(subscriber);
    let ended = stager.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains(", 0 skipped"), "{}", ended.stderr);
}

/// The folder of the only opening that is on disk.
fn opening(disk: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(disk.join("sim")).ok()?;
    entries.filter_map(|entry| Some(entry.ok()?.path())).find(|path| path.is_dir())
}

#[test]
fn what_has_to_be_on_a_disk_that_fails_waits_for_it() {
    const STEPS: u64 = 30;
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let arguments = ["stage", "sim", "--once", "--durable", "--disk", disk.to_str().unwrap()];
    let stager = Run::at(folder, &arguments);
    let mut publisher = Publisher::open("sim", publisher_options(folder)).unwrap();
    eventually("it is staged", || is_open(folder, "sim-staged"));
    let mut subscriber = attach(folder, "sim-staged", |one| one);
    put_steps(&mut publisher, 1);
    assert_eq!(take(&mut subscriber), Some(0));
    eventually("its file is gone", || files(&disk) == 0);
    let place = opening(&disk).expect("the folder of steps");
    let noted = || fs::read_to_string(place.join("subscribers")).is_ok_and(|count| count == "1");
    eventually("the subscriber is noted there", noted);
    fs::remove_dir_all(&place).unwrap();
    let published = AtomicU64::new(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 1..STEPS {
                put_steps(&mut publisher, 1);
                published.fetch_add(1, Ordering::Relaxed);
            }
            publisher.close().expect("closed");
        });
        // As many as the publisher keeps for a subscriber that does not go on.
        eventually("it waits", || published.load(Ordering::Relaxed) > 3);
        let next = subscriber.next_step(Duration::from_millis(100));
        assert!(matches!(next, Ok(NextStep::NotYet)), "nothing is staged that is not on disk: {next:?}");
        assert!(published.load(Ordering::Relaxed) < STEPS);
        fs::create_dir(&place).unwrap();
        for expected in 1..STEPS {
            assert_eq!(take(&mut subscriber), Some(expected));
        }
        assert_eq!(take(&mut subscriber), None);
    });
    drop(subscriber);
    let ended = stager.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("The publisher waits until it can be written"), "{}", ended.stderr);
}

#[test]
fn the_first_step_awaits_as_many_subscribers_as_are_asked_for() {
    const STEPS: u64 = 10;
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    let words = ["stage", "sim", "--subscribers", "2", "--once", "--disk", disk.to_str().unwrap()];
    let stager = Run::at(folder.path(), &words);
    let options = publisher_options(folder.path());
    let publishing = thread::spawn(move || {
        let mut publisher = Publisher::open("sim", options).unwrap();
        put_steps(&mut publisher, STEPS);
        publisher.close().expect("all of it was taken");
    });
    let mut first = attach(folder.path(), "sim-staged", |one| one);
    eventually("steps are on disk", || files(&disk) as u64 == STEPS);
    let early = first.next_step(Duration::from_millis(300)).expect("it is open");
    assert!(matches!(early, NextStep::NotYet), "one is there, and two are awaited: {early:?}");
    let mut second = attach(folder.path(), "sim-staged", |one| one);
    for number in 0..STEPS {
        assert_eq!([take(&mut first), take(&mut second)], [Some(number); 2]);
    }
    publishing.join().unwrap();
    assert_eq!([take(&mut first), take(&mut second)], [None; 2]);
    let ended = stager.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// Publishes some steps, and nothing more until it is killed.
#[test]
fn child_entry() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let ranks = std::env::var(RANKS).unwrap().parse().unwrap();
    let _ranks = staging_ranks::publish(&publisher_options(Path::new(&place)), ranks, BEFORE);
    // It ends with the test that started it.
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

pub(crate) fn publisher_to_be_killed(folder: &Path) -> Child {
    ranks_to_be_killed(folder, 1)
}

pub(crate) fn ranks_to_be_killed(folder: &Path, ranks: u32) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["staging_bounds::child_entry", "--exact", "--nocapture"]);
    command.env(PLACE, folder).env(RANKS, ranks.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts")
}

#[test]
fn a_stream_that_opens_anew_awaits_as_many_subscribers_again() {
    const STEPS: u64 = 5;
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let words = ["stage", "sim", "--subscribers", "2", "--once", "--disk", disk.to_str().unwrap()];
    let stager = Run::at(folder, &words);
    let mut killed = publisher_to_be_killed(folder);
    let [mut first, mut second] = [(); 2].map(|()| attach(folder, "sim-staged", |one| one));
    for number in 0..BEFORE {
        assert_eq!([take(&mut first), take(&mut second)], [Some(number); 2]);
    }
    kill_process(Pid::from_child(&killed), Signal::KILL).unwrap();
    killed.wait().unwrap();
    // Its numbers do not go on: they begin again with 0.
    let mut publisher = Publisher::open("sim", publisher_options(folder)).unwrap();
    put_steps(&mut publisher, STEPS);
    publisher.close().expect("all of it is the stager's now");
    assert_eq!([take(&mut first), take(&mut second)], [None; 2], "that stream is over");
    drop((first, second));
    let mut third = attach(folder, "sim-staged", |one| one);
    eventually("steps are on disk", || files(&disk) as u64 == STEPS);
    let early = third.next_step(Duration::from_millis(300)).expect("it is open");
    assert!(matches!(early, NextStep::NotYet), "one is there, and two are awaited: {early:?}");
    let mut fourth = attach(folder, "sim-staged", |one| one);
    for number in 0..STEPS {
        assert_eq!([take(&mut third), take(&mut fourth)], [Some(number); 2]);
    }
    assert_eq!([take(&mut third), take(&mut fourth)], [None; 2]);
    let ended = stager.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}
