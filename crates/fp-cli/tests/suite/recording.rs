//! Streams into files and back: what is replayed is what was published.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::kinds::{PATIENCE, Values, at, eventually, publish, values};
use crate::support::{Live, Run, rows_of_step};
use fp_core::{NextStep, Selection, Subscriber, SubscriberOptions};
use fp_spool::Spool;
use rustix::process::{Pid, Signal, kill_process};

const STEPS: u64 = 3;

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
    let ranks = publish(folder.path().to_owned(), STEPS);
    let expected = taken(folder.path(), "run");
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(expected.len() as u64, STEPS);

    let ranks = publish(folder.path().to_owned(), STEPS);
    let recorded = Run::at(folder.path(), &["record", "run", "--out", out, "--durable"]).finish();
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    assert!(
        recorded.stderr.contains("stream \"run\": 3 steps, ") && recorded.stderr.contains(", 0 skipped"),
        "{}",
        recorded.stderr
    );

    let listed = Run::at(folder.path(), &["ls", out]).finish();
    assert!(listed.stdout.starts_with("step 5 of \"run\": 18 blocks of 2 ranks, "), "{}", listed.stdout);
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
fn a_file_is_described_as_its_stream_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fpsr");
    let out = file.to_str().unwrap();
    let described = |what: &str| {
        let run = Run::at(folder.path(), &["describe", what, "--json"]).finish();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()
    };
    let ranks = publish(folder.path().to_owned(), STEPS);
    let stream = described("run");
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
    let ranks = publish(folder.path().to_owned(), STEPS);
    let recorded = Run::at(folder.path(), &["record", "run", "--out", out]).finish();
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    let of_file = described(out);
    for fact in ["stream", "step", "variables"] {
        assert_eq!(of_file[fact], stream[fact], "{fact}");
    }
    let last = Run::at(folder.path(), &["describe", out, "--step", "7"]).finish();
    assert!(last.stdout.contains(", step 7\n  atoms Atom"), "{}", last.stdout);
    let none = Run::at(folder.path(), &["describe", out, "--step", "9"]).finish();
    assert!(none.stderr.contains("run.fpsr: no such step: it has 5 to 7"), "{}", none.stderr);
    let steps = Run::at(folder.path(), &["ls", out, out, "--json"]).finish();
    let steps: serde_json::Value = serde_json::from_str(&steps.stdout).unwrap();
    let numbers: Vec<u64> =
        steps.as_array().unwrap().iter().filter_map(|step| step["step"].as_u64()).collect();
    assert_eq!(numbers, [5, 6, 7, 5, 6, 7]);
    let absent = Run::at(folder.path(), &["ls", "absent.fpsr"]).finish();
    assert_eq!(absent.code, Some(1));
    assert!(absent.stderr.contains("absent.fpsr: it cannot be opened: No such file"), "{}", absent.stderr);
    let some = Run::at(folder.path(), &["ls", "absent.fpsr", out]).finish();
    assert_eq!((some.code, some.stdout.lines().count()), (Some(1), 3), "{}", some.stderr);
    let stream = Run::at(folder.path(), &["ls", "run"]).finish();
    assert!(
        stream.stderr.contains("there is no file run; of a stream `flexpath describe run`"),
        "{}",
        stream.stderr
    );
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
    let run = Run::at(folder, &["ls", file]).finish();
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
        run.code == Some(1) && run.stderr.contains("/nowhere/at.all: it cannot be opened: No such file"),
        "{}",
        run.stderr
    );
    let full = Run::at(folder.path(), &["record", "heat", "--out", "/dev/full"]).finish();
    assert!(full.code == Some(2) && full.stderr.contains("is there already"), "{}", full.stderr);
}

/// A newer command wrote it: this one says so, and leaves it as it is.
#[test]
fn a_file_of_a_newer_version_is_named_and_left_as_it_is() {
    let live = Live::start("heat");
    let file = live.path().join("heat.fpsr");
    let out = file.to_str().unwrap();
    let run = Run::of(&live, &["record", "heat", "--out", out, "--steps", "2"]).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut bytes = fs::read(&file).unwrap();
    // The version, and the checksum of the header that has it.
    bytes[4] += 1;
    let sum = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&sum.to_le_bytes());
    fs::write(&file, &bytes).unwrap();
    let commands = [
        &["replay", out, "--as", "again"][..],
        &["record", "heat", "--out", out, "--append"],
        &["ls", out],
        &["describe", out],
    ];
    for arguments in commands {
        let run = Run::of(&live, arguments).finish();
        assert_eq!(run.code, Some(1), "{arguments:?}: {}", run.stderr);
        for words in ["heat.fpsr", "of version 2 of the format", "reads version 1"] {
            assert!(run.stderr.contains(words), "{arguments:?}: {words}: {}", run.stderr);
        }
        assert_eq!(fs::read(&file).unwrap(), bytes, "{arguments:?}");
    }
    live.stop();
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

/// Where a block of rank 1 has its data in a step of a file.
fn data_of_rank_1(bytes: &[u8], spool: &Spool, place: usize) -> usize {
    let entry = spool.entries()[place];
    let (first, last) = (entry.offset as usize, (entry.offset + entry.len_bytes) as usize);
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    // The magic, the kind, the bytes of data, and behind the header the variable and the rank.
    let is_one =
        |at: &usize| bytes[*at..at + 6] == *b"FPSR\x01\x02" && number(at + 12) > 0 && number(at + 36) == 1;
    let at = (first..last).step_by(64).find(is_one).expect("it has one");
    at + (32 + number(at + 8) as usize).next_multiple_of(64)
}

/// One rank comes upon it, and the other may be ahead of it.
#[test]
fn the_steps_before_a_damaged_block_are_replayed_to_who_is_slow() {
    const BEFORE: usize = 2;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fpsr");
    let out = file.to_str().unwrap();
    let ranks = publish(folder.path().to_owned(), 20);
    let recorded = Run::at(folder.path(), &["record", "run", "--out", out]).finish();
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    let part = format!("5:{}", 5 + BEFORE);
    let whole = Run::at(folder.path(), &["replay", out, "--as", "whole", "--steps", &part]);
    let expected = taken(folder.path(), "whole");
    assert_eq!((expected.len(), whole.finish().code), (BEFORE, Some(0)));
    let mut bytes = fs::read(&file).unwrap();
    let at = data_of_rank_1(&bytes, &Spool::open(&file).unwrap(), BEFORE);
    bytes[at] ^= 1;
    fs::write(&file, bytes).unwrap();

    let replaying = Run::at(folder.path(), &["replay", out, "--as", "broken", "--speed", "full"]);
    let options = SubscriberOptions::default()
        .with_rendezvous(crate::kinds::at(folder.path()))
        .with_open_timeout(PATIENCE);
    let mut slow = Subscriber::open("broken", options).expect("attached");
    // Longer than a publisher that is dropped waits.
    let (_never, nothing) = mpsc::channel::<()>();
    assert_eq!(nothing.recv_timeout(Duration::from_secs(2)), Err(RecvTimeoutError::Timeout));
    let mut steps = Vec::new();
    while let NextStep::Step(step) = slow.next_step(PATIENCE).expect("a step or the end") {
        steps.push(values(&step));
    }
    assert_eq!(steps, expected);
    drop(slow);
    let replayed = replaying.finish();
    assert_eq!(replayed.code, Some(1), "{}", replayed.stderr);
    assert!(
        replayed.stderr.contains("the checksum of the data of a block is another one"),
        "{}",
        replayed.stderr
    );
    assert!(replayed.stderr.contains("stream \"broken\": 2 steps of "), "{}", replayed.stderr);
}
