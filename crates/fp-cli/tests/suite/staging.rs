//! Streams through a stager: what is staged is what was published, whoever is slow, late, gone or killed.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::kinds::{PATIENCE, Values, at, eventually, files, publish, region, values};
use crate::support::{Ended, Run};
use fp_core::{
    NextStep, OnLoss, Publisher, PublisherOptions, ReadError, Selection, StartAt, StepId, Subscriber,
    SubscriberOptions, TransportPolicy, Variable,
};
use rustix::process::{Pid, Signal, kill_process};

/// Elements of a step: some 64 KiB, so that they are no small block.
pub(crate) const LEN: u64 = 8192;

pub(crate) fn element(step: u64, at: u64) -> f64 {
    (step * LEN + at) as f64 / 4.0
}

pub(crate) fn publisher_options(folder: &Path) -> PublisherOptions {
    PublisherOptions::default()
        .with_rendezvous(at(folder))
        .with_min_subscribers(1)
        .with_open_timeout(PATIENCE)
}

/// Publishes these steps of a field, as a lone rank.
pub(crate) fn put_steps(publisher: &mut Publisher, count: u64) {
    let field = Variable::global::<f64>("field", &[LEN]).unwrap().with_unit("K");
    for _ in 0..count {
        let mut writer = publisher.begin_step().expect("a step");
        let elements = (0..LEN).map(|at| element(writer.step().0, at)).collect();
        writer.put(&field, &region(&[0], &[LEN]), elements).unwrap();
        writer.end().expect("ended");
    }
}

pub(crate) fn attach(
    folder: &Path,
    stream: &str,
    set: impl FnOnce(SubscriberOptions) -> SubscriberOptions,
) -> Subscriber {
    let options = SubscriberOptions::default().with_rendezvous(at(folder)).with_open_timeout(PATIENCE);
    Subscriber::open(stream, set(options.with_start_at(StartAt::OldestReserved))).expect("attached")
}

/// Takes the next step of a field, and checks all of it: its number, and why it could not be read if it could not.
pub(crate) fn try_take(subscriber: &mut Subscriber) -> Option<(u64, Result<(), ReadError>)> {
    match subscriber.next_step(PATIENCE).expect("a step or the end") {
        NextStep::Step(step) => {
            let number = step.step().0;
            let checked = step.get::<f64>("field", Selection::All).map(|elements| {
                let is_right = |(at, found): (u64, &f64)| *found == element(number, at);
                assert!((0..LEN).zip(&elements).all(is_right), "step {number}");
            });
            Some((number, checked))
        }
        NextStep::NotYet => panic!("neither a step nor the end"),
        NextStep::Ended(_) => None,
    }
}

/// The same where nobody is killed.
pub(crate) fn take(subscriber: &mut Subscriber) -> Option<u64> {
    try_take(subscriber).map(|(number, read)| {
        read.expect("the field");
        number
    })
}

pub(crate) fn interrupt(run: Run) -> Ended {
    kill_process(Pid::from_child(&run.child), Signal::INT).unwrap();
    run.finish()
}

pub(crate) fn kill(mut run: Run) {
    kill_process(Pid::from_child(&run.child), Signal::KILL).unwrap();
    run.child.wait().unwrap();
}

pub(crate) fn is_open(folder: &Path, stream: &str) -> bool {
    at(folder).entries().iter().any(|entry| entry.name == stream)
}

/// What a subscriber of both ranks takes.
pub(crate) fn all_of(
    folder: &Path,
    stream: &str,
    count: u64,
    set: impl FnOnce(SubscriberOptions) -> SubscriberOptions,
) -> Vec<Values> {
    let mut subscriber = attach(folder, stream, set);
    let step = |_| match subscriber.next_step(PATIENCE).expect("a step") {
        NextStep::Step(step) => values(&step),
        other @ (NextStep::NotYet | NextStep::Ended(_)) => panic!("no step: {other:?}"),
    };
    (0..count).map(step).collect()
}

#[test]
fn what_is_staged_is_what_was_published() {
    const STEPS: u64 = 3;
    let folder = tempfile::tempdir().unwrap();
    let direct = publish(folder.path().to_owned(), STEPS);
    let expected = all_of(folder.path(), "run", STEPS, |options| options.with_start_at(StartAt::Next));
    direct.into_iter().for_each(|rank| rank.join().unwrap());

    let disk = folder.path().join("disk");
    let disk = disk.to_str().unwrap();
    let over_tcp: TransportPolicy = "tcp".parse().unwrap();
    for options in [
        &["--memory", "1G"][..],
        // Too little memory for anything.
        &["--memory", "1", "--disk", disk],
        &["--memory", "1G", "--disk", disk, "--durable"],
    ] {
        let arguments = [&["stage", "run", "--as", "{}-kept", "--reserve", "all"], options].concat();
        let stager = Run::at(folder.path(), &arguments);
        let direct = publish(folder.path().to_owned(), STEPS);
        for policy in [None, Some(&over_tcp)] {
            let set = |options: SubscriberOptions| match policy {
                Some(policy) => options.with_transports(policy.clone()),
                None => options,
            };
            let found = all_of(folder.path(), "run-kept", STEPS, set);
            assert_eq!(found, expected, "{options:?} {policy:?}");
        }
        direct.into_iter().for_each(|rank| rank.join().unwrap());
        let ended = interrupt(stager);
        assert_eq!(ended.status.signal(), Some(Signal::INT.as_raw()), "{}", ended.stderr);
        let said = "stream \"run\" is staged as \"run-kept\" by 2 ranks";
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        assert!(ended.stderr.contains("stream \"run\": 3 steps, "), "{}", ended.stderr);
        if options.contains(&"--durable") {
            assert_eq!(
                files(folder.path()),
                2 * STEPS as usize,
                "what is durable is there for the next stager"
            );
            std::fs::remove_dir_all(disk).unwrap();
        }
        assert_eq!(files(folder.path()), 0);
    }
}

#[test]
fn a_publisher_waits_for_no_slow_subscriber_and_no_step_is_lost() {
    const STEPS: u64 = 60;
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    let arguments = ["stage", "sim", "--memory", "256K", "--disk", disk.to_str().unwrap(), "--once"];
    let stager = Run::at(folder.path(), &arguments);
    let mut publisher = Publisher::open("sim", publisher_options(folder.path())).expect("opened");
    eventually("it is staged", || is_open(folder.path(), "sim-staged"));
    let (mut slow, mut fast) =
        (attach(folder.path(), "sim-staged", |one| one), attach(folder.path(), "sim-staged", |one| one));
    put_steps(&mut publisher, STEPS);
    let mut seen: Vec<u64> = (0..STEPS).map_while(|_| take(&mut fast)).collect();
    assert_eq!(seen, (0..STEPS).collect::<Vec<_>>());
    publisher.close().expect("all of it is the stager's now");
    assert!(files(&disk) > 40, "most are on disk");
    seen = std::iter::from_fn(|| take(&mut slow)).collect();
    assert_eq!(seen, (0..STEPS).collect::<Vec<_>>());
    assert_eq!(take(&mut fast), None);
    drop((slow, fast));
    let ended = stager.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("60 steps, 3.8 MiB, 5") && ended.stderr.contains(", 0 skipped"),
        "{}",
        ended.stderr
    );
    assert_eq!(files(&disk), 0, "nobody needs them any more");
}

/// How often the stager is killed. More often where tests may take long.
fn kills() -> u64 {
    std::env::var("FLEXPATH_STAGER_KILLS").map_or(8, |kills| kills.parse().expect("a number"))
}

/// Publishes until it is told to stop, some steps ahead of the subscriber: how many it published.
pub(crate) fn publish_ahead(folder: &Path, taken: &AtomicU64, is_enough: &AtomicBool, published: &AtomicU64) {
    // What the stager had not made its own is the publisher's to keep.
    let mut publisher = Publisher::open("sim", publisher_options(folder).with_reserve_steps(100)).unwrap();
    eventually("somebody takes what is staged", || is_open(folder, "attached"));
    let mut count = 0;
    while !is_enough.load(Ordering::Relaxed) {
        eventually("the subscriber follows", || taken.load(Ordering::Relaxed) + 15 > count);
        put_steps(&mut publisher, 1);
        count += 1;
    }
    published.store(count, Ordering::Relaxed);
    eventually("all is taken", || taken.load(Ordering::Relaxed) == count);
    publisher.close().expect("closed");
}

/// Kills a stager as often as that, each time at another moment, and starts the next: the last one.
fn kill_often(mut stager: Run, start: impl Fn() -> Run, is_enough: &AtomicBool) -> Run {
    let (_never, nothing) = mpsc::channel::<()>();
    for kill_number in 0..kills() {
        let moment = Duration::from_micros(20_000 + (kill_number * 7_919) % 251 * 1_000);
        assert_eq!(nothing.recv_timeout(moment), Err(RecvTimeoutError::Timeout));
        kill(stager);
        stager = start();
    }
    is_enough.store(true, Ordering::Relaxed);
    stager
}

/// For one who goes on when what it subscribes to was killed and is back.
pub(crate) fn awaiting(options: SubscriberOptions) -> SubscriberOptions {
    options.with_on_loss(OnLoss::AwaitRestart(PATIENCE))
}

/// Takes all that is published, while what it subscribes to is harmed.
pub(crate) fn take_all(
    mut subscriber: Subscriber,
    (folder, stream): (&Path, &str),
    (taken, published): (&AtomicU64, &AtomicU64),
) {
    while taken.load(Ordering::Relaxed) < published.load(Ordering::Relaxed) {
        let expected = taken.load(Ordering::Relaxed);
        let Some((number, read)) = try_take(&mut subscriber) else {
            assert_eq!(expected, published.load(Ordering::Relaxed), "it goes on until all is taken");
            return;
        };
        assert_eq!(number, expected, "none is lost, and none comes twice");
        match read {
            Ok(()) => taken.store(expected + 1, Ordering::Relaxed),
            // It was killed between a step and its field: who needs that step takes it once more.
            Err(error) => {
                assert!(matches!(error, ReadError::Lost { .. }), "{error}");
                let again = expected
                    .checked_sub(1)
                    .map_or(StartAt::OldestReserved, |last| StartAt::After(StepId(last)));
                subscriber = attach(folder, stream, |one| awaiting(one).with_start_at(again));
            }
        }
    }
}

#[test]
fn a_killed_stager_loses_nothing_and_gives_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    // The reserve has what a subscriber takes again, as it had it in hand.
    let options = ["--durable", "--memory", "512K", "--reserve", "20"];
    let arguments = [&["stage", "sim", "--disk", disk.to_str().unwrap()], &options[..]].concat();
    let start = || Run::at(folder, &arguments);
    let stager = start();
    let [taken, published] = [AtomicU64::new(0), AtomicU64::new(u64::MAX)];
    let is_enough = AtomicBool::new(false);
    let stager = thread::scope(|scope| {
        scope.spawn(|| publish_ahead(folder, &taken, &is_enough, &published));
        let subscriber = attach(folder, "sim-staged", awaiting);
        let options = PublisherOptions::default().with_rendezvous(at(folder));
        let _sign = Publisher::open("attached", options).unwrap();
        let killing = scope.spawn(|| kill_often(stager, start, &is_enough));
        take_all(subscriber, (folder, "sim-staged"), (&taken, &published));
        killing.join().unwrap()
    });
    println!("{} steps, {} kills", published.into_inner(), kills());
    interrupt(stager);
}

#[test]
fn a_publisher_that_is_killed_and_comes_back_goes_on_and_so_does_the_next_stager() {
    const STEPS: u64 = 60;
    let folder = tempfile::tempdir().unwrap();
    let (file, disk) = (folder.path().join("run.fpsr"), folder.path().join("disk"));
    let recorder =
        Run::at(folder.path(), &["record", "sim", "--out", file.to_str().unwrap(), "--timeout", "60"]);
    let mut publisher = Publisher::open("sim", publisher_options(folder.path())).unwrap();
    put_steps(&mut publisher, STEPS);
    publisher.close().expect("closed");
    assert_eq!(recorder.finish().code, Some(0));

    let replay = |steps: &str| {
        let arguments = ["replay", file.to_str().unwrap(), "--speed", "100", "--steps", steps];
        Run::at(folder.path(), &arguments)
    };
    let stage = || {
        let options = ["--durable", "--reserve", "100", "--memory", "300K"];
        Run::at(folder.path(), &[&["stage", "sim", "--disk", disk.to_str().unwrap()], &options[..]].concat())
    };
    let (publisher, stager) = (replay("1:"), stage());
    let mut subscriber = attach(folder.path(), "sim-staged", awaiting);
    let first: Vec<u64> = (0..10).map(|_| take(&mut subscriber).expect("a step")).collect();
    kill(publisher);
    // It says with which number it goes on, and so all numbers do.
    let publisher = replay("1:");
    let more: Vec<u64> = (0..20).map(|_| take(&mut subscriber).expect("a step")).collect();
    kill(stager);
    let stager = stage();
    let mut seen = [first, more].concat();
    while seen.last() != Some(&(STEPS - 1)) {
        match try_take(&mut subscriber).expect("the stream goes on") {
            (number, Ok(())) => seen.push(number),
            (_, Err(_)) => {
                let again = StartAt::After(StepId(*seen.last().unwrap()));
                subscriber = attach(folder.path(), "sim-staged", |one| awaiting(one).with_start_at(again));
            }
        }
    }
    assert!(seen.is_sorted_by(|one, other| one < other), "none comes twice: {seen:?}");
    // What was in the hands of a publisher that is killed is lost with it, and nothing else.
    assert!(seen.len() as u64 > STEPS - 12, "{seen:?}");
    assert_eq!(publisher.finish().code, Some(0));
    drop(subscriber);
    interrupt(stager);
}

#[test]
fn what_is_on_disk_outlives_publisher_and_stager() {
    const STEPS: u64 = 10;
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    let arguments = [
        "stage",
        "sim",
        "--disk",
        disk.to_str().unwrap(),
        "--durable",
        "--memory",
        "100K",
        "--reserve",
        "all",
    ];
    let stager = Run::at(folder.path(), &arguments);
    let mut publisher = Publisher::open("sim", publisher_options(folder.path()).with_first_step(7)).unwrap();
    put_steps(&mut publisher, STEPS);
    publisher.close().expect("closed");
    eventually("all are on disk", || files(&disk) == STEPS as usize);
    kill(stager);

    let stager = Run::at(folder.path(), &arguments);
    let mut all = attach(folder.path(), "sim-staged", |one| one);
    assert_eq!((0..STEPS).map(|_| take(&mut all).unwrap()).collect::<Vec<_>>(), (7..17).collect::<Vec<_>>());
    // Somebody else wants one region of one step of the past.
    let mut one = attach(folder.path(), "sim-staged", |one| one.with_start_at(StartAt::After(StepId(11))));
    let NextStep::Step(step) = one.next_step(PATIENCE).unwrap() else { panic!("no step") };
    assert_eq!(
        (step.step(), step.get::<f64>("field", "[5:7]").unwrap()),
        (StepId(12), vec![element(12, 5), element(12, 6)])
    );
    drop((step, one, all));
    // A new run of the simulation makes the old one give way.
    let mut publisher = Publisher::open("sim", publisher_options(folder.path())).unwrap();
    put_steps(&mut publisher, 2);
    publisher.close().expect("closed");
    let mut anew = attach(folder.path(), "sim-staged", |one| one);
    assert_eq!([take(&mut anew), take(&mut anew)], [Some(0), Some(1)]);
    drop(anew);
    let ended = interrupt(stager);
    assert!(
        ended.stderr.contains("10 steps of stream \"sim\" are on disk, and published as \"sim-staged\""),
        "{}",
        ended.stderr
    );
}

#[test]
fn streams_are_staged_by_pattern_as_they_come_and_their_last_steps_are_kept() {
    let on_disk = ["--reserve", "140K", "--memory", "1", "--disk"];
    stage_by_pattern(|_| vec!["--reserve".into(), "2".into()]);
    stage_by_pattern(|_| vec!["--reserve".into(), "140K".into()]);
    stage_by_pattern(|folder| on_disk.map(PathBuf::from).into_iter().chain([folder.join("disk")]).collect());
}

/// With a reserve that has room for two steps.
fn stage_by_pattern(options: impl Fn(&Path) -> Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let stager = Run::with(folder.path(), &["stage", "sim*", "--as", "{}-kept"], |run| _ = run.args(options));
    let mut kept = BTreeMap::new();
    for name in ["sim1", "other", "sim2"] {
        let options = PublisherOptions::default().with_rendezvous(at(folder.path()));
        let mut publisher = Publisher::open(name, options).expect("opened");
        if name.starts_with("sim") {
            assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1, "it is staged");
            put_steps(&mut publisher, 5);
            publisher.close().expect("closed");
            kept.insert(name, attach(folder.path(), &format!("{name}-kept"), |one| one));
        }
    }
    for subscriber in kept.values_mut() {
        assert_eq!([take(subscriber), take(subscriber)], [Some(3), Some(4)], "the last two are in reserve");
    }
    let names: Vec<String> = at(folder.path()).entries().into_iter().map(|entry| entry.name).collect();
    assert!(names.iter().all(|name| name.matches("-kept").count() < 2), "{names:?}");
    assert!(!names.contains(&"other-kept".to_owned()), "{names:?}");
    drop(kept);
    interrupt(stager);
}

#[test]
fn what_cannot_be_staged_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| Run::at(folder.path(), &[&["stage"], arguments].concat()).finish();
    for (arguments, said) in [
        (&["sim", "--as", "{}"][..], "a stream is staged under another name: see --as"),
        (&["sim*", "--as", "all"], "\"sim*\" may be many streams: {} in --as \"all\" would tell them apart"),
        (&["sim", "--memory", "4X"], "\"4X\" is no number of bytes, such as 512M or 4G"),
        (&["sim", "--memory", "0"], "\"0\" is no number of bytes"),
        (
            &["sim", "--reserve", "some"],
            "\"some\" is no number of steps, nor of bytes such as 10G, nor `all`",
        ),
        (&["sim", "--durable"], "--disk <FOLDER>"),
    ] {
        let ended = run(arguments);
        assert!(ended.code == Some(2) && ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
    }
    // Two stagers of one name, and of one folder.
    let mut publisher =
        Publisher::open("sim", PublisherOptions::default().with_rendezvous(at(folder.path()))).unwrap();
    let disk = folder.path().join("disk");
    let disk = disk.to_str().unwrap();
    let stager = Run::at(folder.path(), &["stage", "sim", "--disk", disk]);
    eventually("it is staged", || is_open(folder.path(), "sim-staged"));
    let same_name = run(&["sim", "--once"]);
    assert!(same_name.code == Some(1) && same_name.stderr.contains("sim-staged"), "{}", same_name.stderr);
    let same_folder = run(&["sim", "--as", "other", "--once", "--disk", disk]);
    assert!(same_folder.stderr.contains("disk/sim: another stager uses it"), "{}", same_folder.stderr);
    put_steps(&mut publisher, 1);
    interrupt(stager);
    let no_folder = folder.path().join("file");
    std::fs::write(&no_folder, "").unwrap();
    let wrong = run(&["sim", "--once", "--disk", no_folder.to_str().unwrap()]);
    assert!(wrong.code == Some(1) && wrong.stderr.contains("/file: it cannot be read"), "{}", wrong.stderr);
}

#[test]
fn a_full_disk_is_told_and_steps_wait_for_memory() {
    const STEPS: u64 = 20;
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = "mount -t tmpfs -o size=300k none \"$DISK\" && exec \"$@\"";
    let namespace = |command: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", mounted, "sh"]).args(command);
        unshare.env("DISK", &disk).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        unshare
    };
    if !namespace(&["true"]).output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_NAMESPACES").is_none(), "no namespaces can be made here");
        println!("skipped: no file system can be mounted here (unshare)");
        return;
    }
    let path = disk.to_str().unwrap();
    let mut command = namespace(&[
        env!("CARGO_BIN_EXE_flexpath"),
        "stage",
        "sim",
        "--once",
        "--memory",
        "300K",
        "--disk",
        path,
    ]);
    command.env("FLEXPATH_RENDEZVOUS", folder.path());
    let stager = Run { child: command.spawn().unwrap() };
    let published = Arc::new(AtomicU64::new(0));
    let publishing = thread::spawn({
        let (place, published) = (folder.path().to_owned(), published.clone());
        move || {
            let mut publisher = Publisher::open("sim", publisher_options(&place)).unwrap();
            eventually("somebody takes what is staged", || is_open(&place, "attached"));
            for step in 0..STEPS {
                put_steps(&mut publisher, 1);
                published.store(step + 1, Ordering::Relaxed);
            }
            publisher.close()
        }
    });
    let mut subscriber = attach(folder.path(), "sim-staged", |one| one);
    let sign =
        Publisher::open("attached", PublisherOptions::default().with_rendezvous(at(folder.path()))).unwrap();
    // Memory and disk take four each, and four wait in the publisher.
    eventually("the disk is full", || published.load(Ordering::Relaxed) > 9);
    assert_eq!(
        std::iter::from_fn(|| take(&mut subscriber)).collect::<Vec<_>>(),
        (0..STEPS).collect::<Vec<_>>()
    );
    publishing.join().unwrap().expect("closed");
    drop((subscriber, sign));
    let ended = stager.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("No space left on device"), "{}", ended.stderr);
    assert!(ended.stderr.contains("Its steps wait for memory meanwhile"), "{}", ended.stderr);
}
