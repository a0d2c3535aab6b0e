//! Stagers that are one on each host: what they publish together is what the ranks put, with fewer ranks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

use crate::kinds::{PATIENCE, atom, eventually, region};
use crate::staging::{attach, awaiting, kill, publisher_options};
use crate::support::{Ended, Run};
use fp_core::record::encode_with;
use fp_core::{
    ArrayKind, Cohort, MemoryOrder, NextStep, Publisher, Rank, ReadError, RecordBlock, Region, Select,
    Selection, StartAt, StepId, StepReader, StepWriter, Subscriber, Variable,
};

/// Ranks of the publisher.
pub(crate) const RANKS: u32 = 4;

/// Elements of `large` that a rank puts: some 80 KiB, so that they are no small block.
pub(crate) const LEN: u64 = 10_000;

fn grid_element(step: u64, row: u64, column: u64) -> f64 {
    (step * 1000 + row * 10 + column) as f64 / 8.0
}

/// Global arrays: rows one by one, with gaps, over one another, with the columns first.
pub(crate) fn put_global(writer: &mut StepWriter, rank: u64) {
    let step = writer.step().0;
    let grid = Variable::global::<f64>("grid", &[8, 3]).unwrap().with_unit("K").with_attribute("scale", 2.5);
    for row in [2 * rank + 1, 2 * rank] {
        let elements = (0..3).map(|column| grid_element(step, row, column)).collect();
        writer.put(&grid, &region(&[row, 0], &[1, 3]), elements).unwrap();
    }
    let large = Variable::global::<u64>("large", &[LEN * u64::from(RANKS)]).unwrap();
    let elements = (0..LEN).map(|at| step << 40 | (rank * LEN + at)).collect();
    writer.put(&large, &region(&[rank * LEN], &[LEN]), elements).unwrap();
    let sparse = Variable::global::<f64>("sparse", &[10]).unwrap();
    writer.put(&sparse, &region(&[2 * rank], &[1]), vec![rank as f64]).unwrap();
    let over = Variable::global::<u16>("over", &[4]).unwrap();
    // The highest rank that puts is another one in each step.
    if rank <= step % 4 {
        writer.put(&over, &region(&[0], &[4]), vec![rank as u16; 4]).unwrap();
        writer.put(&over, &region(&[rank], &[1]), vec![100 + rank as u16]).unwrap();
    }
    let columns = Variable::global::<f32>("columns", &[3, 4]).unwrap().with_order(MemoryOrder::ColumnMajor);
    let elements = (0..3).map(|row| (step * 100 + row * 10 + rank) as f32).collect();
    writer.put(&columns, &region(&[0, rank], &[3, 1]), elements).unwrap();
}

/// What has its place by its rank: rows, local arrays, values, and records with a text.
pub(crate) fn put_ranked(writer: &mut StepWriter, rank: u64) {
    let from = writer.step().0 * 10 + rank;
    let rows = Variable::joined::<i32>("rows", &[2]).unwrap();
    writer.put_joined(&rows, vec![from as i32; 2 * (rank as usize + 1)]).unwrap();
    writer.put_joined(&rows, vec![-(from as i32); 2]).unwrap();
    let local = Variable::local::<u8>("local", 1).unwrap();
    (0..rank).for_each(|nth| {
        writer
            .put(&local, &region(&[0], &[nth + 1]), vec![(from * 7 + nth) as u8; nth as usize + 1])
            .unwrap();
    });
    writer.put_scalar(&Variable::local_scalar::<u64>("own").unwrap(), from).unwrap();
    let schema = atom();
    let atoms = Variable::global_records("atoms", &schema, &[RANKS.into()]).unwrap();
    let encoded = encode_with(&schema, 1, |_, atom| {
        atom.put(0, &(from as u32))?;
        atom.put(1, &"é".repeat(rank as usize))
    });
    let one = RecordBlock::encoded(&schema, 1, encoded.unwrap()).unwrap();
    writer.put_records(&atoms, &region(&[rank], &[1]), one).unwrap();
    writer.put_scalar(&Variable::scalar::<f64>("time").unwrap(), writer.step().0 as f64 / 2.0).unwrap();
    let title = format!("step {}", writer.step().0);
    writer.put_text(&Variable::text("title").unwrap(), &title).unwrap();
}

/// Publishes steps by four ranks, as threads. They close when `is_taken` says so.
fn publish(
    folder: PathBuf,
    steps: u64,
    is_taken: impl Fn() -> bool + Sync + Send + 'static,
) -> Vec<JoinHandle<()>> {
    let is_taken = Arc::new(is_taken);
    let all_there = Arc::new(Barrier::new(RANKS as usize));
    let rank = |rank: u32| {
        let options = publisher_options(&folder).with_first_step(5).with_reserve_steps(100);
        let options = options.with_cohort(Cohort::of(rank, RANKS).unwrap());
        let (is_taken, all_there) = (is_taken.clone(), all_there.clone());
        thread::spawn(move || {
            let mut publisher = Publisher::open("run", options).expect("opened");
            for _ in 0..steps {
                let mut writer = publisher.begin_step().expect("a step");
                put_global(&mut writer, rank.into());
                put_ranked(&mut writer, rank.into());
                writer.end().expect("ended");
            }
            eventually("all is taken", || is_taken());
            all_there.wait();
            publisher.close().expect("closed");
        })
    };
    (0..RANKS).map(rank).collect()
}

/// A variable of a step: what it is, each block where it lies with its bytes, and all of it if that has no gaps.
pub(crate) type Found = (String, Vec<(Region, Vec<u8>)>, Option<Vec<u8>>);

/// Everything that can be read of a step, and the highest rank that has a block.
pub(crate) fn read(step: &StepReader) -> (BTreeMap<String, Found>, Rank) {
    let (mut all, mut last) = (BTreeMap::new(), Rank(0));
    for info in step.variables().unwrap() {
        let name = info.def.name.clone();
        let bytes = |select: Select| step.get_bytes(&name, select).map(|(_, _, bytes)| bytes);
        let mut blocks = Vec::new();
        if info.def.kind != ArrayKind::Scalar {
            for (block, region) in step.blocks(&name).unwrap() {
                last = last.max(block.rank);
                blocks.push((region, bytes(block.into()).expect("a block")));
            }
        }
        let what = format!("{:?} {:?}", info.def, info.shape);
        all.insert(name.clone(), (what, blocks, bytes(Selection::All.into()).ok()));
    }
    (all, last)
}

pub(crate) fn next(subscriber: &mut Subscriber) -> Option<StepReader> {
    match subscriber.next_step(PATIENCE).expect("a step or the end") {
        NextStep::Step(step) => Some(step),
        NextStep::NotYet => panic!("neither a step nor the end"),
        NextStep::Ended(_) => None,
    }
}

pub(crate) fn check_grid(step: &StepReader) {
    let number = step.step().0;
    let expected = (0..8).flat_map(|row| (0..3).map(move |column| grid_element(number, row, column)));
    assert!(expected.eq(step.get::<f64>("grid", Selection::All).unwrap()), "step {number}");
}

/// What a subscriber gets of each step.
fn all_of(mut subscriber: Subscriber) -> Vec<(u64, BTreeMap<String, Found>, Rank)> {
    let step = |step: StepReader| {
        check_grid(&step);
        let (all, last) = read(&step);
        (step.step().0, all, last)
    };
    std::iter::from_fn(|| next(&mut subscriber)).map(step).collect()
}

/// The stager of one of two hosts, each of which is said to have two ranks.
fn stager(folder: &Path, host: &str, options: &[&str]) -> Run {
    let words = ["stage", "run", "--hosts", "2", "--host-index", host, "--ranks-per-host", "2"];
    Run::at(folder, &[&words, options].concat())
}

#[test]
fn stagers_of_two_hosts_publish_together_what_the_ranks_put() {
    const STEPS: u64 = 6;
    let folder = tempfile::tempdir().unwrap();
    let direct = publish(folder.path().to_owned(), STEPS, || true);
    let expected = all_of(attach(folder.path(), "run", |one| one));
    direct.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(
        expected.iter().map(|(step, ..)| *step).collect::<Vec<_>>(),
        (5..5 + STEPS).collect::<Vec<_>>()
    );
    assert!(expected.iter().all(|(_, all, last)| all["sparse"].2.is_none() && *last == Rank(3)));

    for (per_host, ranks) in [("1", 2), ("2", 4), ("9", 4), ("auto", 2)] {
        let options = ["--per-host", per_host, "--once", "--subscribers", "1"];
        let stagers = ["0", "1"].map(|host| stager(folder.path(), host, &options));
        let direct = publish(folder.path().to_owned(), STEPS, || true);
        let found = all_of(attach(folder.path(), "run-staged", |one| one));
        direct.into_iter().for_each(|rank| rank.join().unwrap());
        for ((step, all, _), (number, one, last)) in expected.iter().zip(&found) {
            assert_eq!((step, all), (number, one), "--per-host {per_host}");
            assert_eq!(*last, Rank(ranks - 1), "--per-host {per_host}");
        }
        assert_eq!(found.len() as u64, STEPS);
        for (host, stager) in stagers.into_iter().enumerate() {
            let ended = stager.finish();
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            let own = ["publisher ranks 0 to 1", "publisher ranks 2 to 3"][host];
            let said = format!("as \"run-staged\" by {ranks} ranks on 2 hosts; this is host {host}: {own}, ");
            assert!(ended.stderr.contains(&said) && ended.stderr.contains("6 steps, "), "{}", ended.stderr);
        }
    }
}

#[test]
fn a_lone_host_is_found_by_where_the_ranks_run() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["stage", "run", "--per-host", "2", "--once", "--subscribers", "1"];
    let stager = Run::at(folder.path(), &words);
    let direct = publish(folder.path().to_owned(), 2, || true);
    let found = all_of(attach(folder.path(), "run-staged", |one| one));
    direct.into_iter().for_each(|rank| rank.join().unwrap());
    assert_eq!(
        found.iter().map(|(step, _, last)| (*step, *last)).collect::<Vec<_>>(),
        [(5, Rank(1)), (6, Rank(1))]
    );
    let ended = stager.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said = "by 2 ranks on 1 host; this is host 0: publisher ranks 0 to 3, ";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn stagers_go_on_when_one_of_them_was_killed_and_is_back() {
    go_on_without("1", "0");
    // This one is the lead of both cohorts.
    go_on_without("0", "1");
}

/// Takes that step whole. A stager may be killed between a step and its elements: then it is taken once more.
fn take(subscriber: &mut Subscriber, folder: &Path, number: u64) {
    loop {
        let step = next(subscriber).expect("the stream goes on");
        assert_eq!(step.step().0, number, "none is lost, and none comes twice");
        match step.get::<f64>("grid", Selection::All) {
            Ok(_) => return check_grid(&step),
            Err(error) => assert!(matches!(error, ReadError::Lost { .. }), "{error}"),
        }
        drop(step);
        let again = StartAt::After(StepId(number - 1));
        *subscriber = attach(folder, "run-staged", |one| awaiting(one).with_start_at(again));
    }
}

fn go_on_without(host: &str, other: &str) {
    const STEPS: u64 = 12;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let taken = Arc::new(AtomicU64::new(0));
    let options = ["--per-host", "1", "--once", "--subscribers", "1"];
    let [stays, killed] = [other, host].map(|host| stager(folder, host, &options));
    let direct = publish(folder.to_owned(), STEPS, {
        let taken = taken.clone();
        move || taken.load(Ordering::Relaxed) == STEPS
    });
    let mut subscriber = attach(folder, "run-staged", awaiting);
    take(&mut subscriber, folder, 5);
    kill(killed);
    let back = stager(folder, host, &options);
    (6..5 + STEPS).for_each(|number| take(&mut subscriber, folder, number));
    taken.store(STEPS, Ordering::Relaxed);
    direct.into_iter().for_each(|rank| rank.join().unwrap());
    assert!(next(&mut subscriber).is_none());
    drop(subscriber);
    let [stays, back] = [stays, back].map(Run::finish);
    assert_eq!((stays.code, back.code), (Some(0), Some(0)), "{}{}", stays.stderr, back.stderr);
    assert!(stays.stderr.contains("the stager of another host is gone"), "{}", stays.stderr);
}

#[test]
fn hosts_that_do_not_fit_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        Run::at(folder.path(), &[&["stage", "run", "--once", "--await", "2"], words].concat())
    };
    for (words, said) in [
        (&["--per-host", "0"][..], "\"0\" is no number of ranks from 1 on, nor `auto`"),
        (&["--per-host", "1", "--hosts", "2"], "--host-index <I>"),
        (&["--per-host", "1", "--hosts", "2", "--host-index", "2"], "--host-index 2 is no host of --hosts 2"),
        (&["--per-host", "1", "--disk", "somewhere"], "cannot be used with"),
        (&["--hosts", "2", "--host-index", "0"], "--per-host <K|auto>"),
        (&["--subscribers", "1"], "--subscribers needs --disk, where steps wait, or --per-host"),
    ] {
        let ended = run(words).finish();
        assert!(ended.code == Some(2) && ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
    }
    let taken = Arc::new(AtomicU64::new(0));
    let is_over = taken.clone();
    let direct = publish(folder.path().to_owned(), 1, move || is_over.load(Ordering::Relaxed) > 0);
    let fails = |words: &[&str], said: &str| {
        let ended = run(words).finish();
        assert!(ended.code == Some(1) && ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
        ended
    };
    // One of two did not come.
    fails(&["--per-host", "1", "--hosts", "2", "--host-index", "0"], "One stager is awaited on each host");
    fails(&["--per-host", "1", "--hosts", "2", "--host-index", "1"], "One stager is awaited on each host");
    // All ranks run here.
    let two = ["0", "1"].map(|host| run(&["--per-host", "1", "--hosts", "2", "--host-index", host]));
    for Ended { code, stderr, .. } in two.map(Run::finish) {
        let said = "stream \"run\": its 4 ranks run on 1 host, and there are stagers for 2";
        assert!(code == Some(1) && stderr.contains(said), "{stderr}");
    }
    let said = "its 4 ranks run on 2 hosts, and there are stagers for 1";
    fails(&["--per-host", "1", "--ranks-per-host", "3"], said);
    taken.fetch_add(1, Ordering::Relaxed);
    direct.into_iter().for_each(|rank| rank.join().unwrap());
}
