//! A publisher that comes back with more ranks, or with fewer, while what it had published is on disk.

use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::Instant;

use crate::kinds::{PATIENCE, region};
use crate::staging::{LEN, attach, element, interrupt, kill, publisher_options, put_steps, take};
use crate::staging_bounds::{BEFORE, publisher_to_be_killed, ranks_to_be_killed};
use crate::support::Run;
use fp_core::{Cohort, Publisher, PublisherOptions, Subscriber, Variable};
use rustix::process::{Pid, Signal, kill_process};

/// Publishes these steps of a field, of which each rank has its part.
pub(crate) fn publish(options: &PublisherOptions, ranks: u32, steps: u64) -> Vec<Publisher> {
    let publish = |rank: u32| {
        let options = options.clone().with_cohort(Cohort::of(rank, ranks).unwrap());
        let mut publisher = Publisher::open("sim", options).unwrap();
        let field = Variable::global::<f64>("field", &[LEN]).unwrap().with_unit("K");
        let len = LEN / u64::from(ranks);
        let first = len * u64::from(rank);
        for _ in 0..steps {
            let mut writer = publisher.begin_step().expect("a step");
            let elements = (first..first + len).map(|at| element(writer.step().0, at)).collect();
            writer.put(&field, &region(&[first], &[len]), elements).unwrap();
            writer.end().expect("ended");
        }
        publisher
    };
    thread::scope(|scope| {
        let ranks: Vec<_> = (0..ranks).map(|rank| scope.spawn(move || publish(rank))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn keeper(folder: &Path, disk: &Path) -> Run {
    let words = ["stage", "sim", "--reserve", "all", "--durable", "--disk", disk.to_str().unwrap()];
    Run::at(folder, &words)
}

/// Takes what it publishes, and kills it.
fn take_and_kill(folder: &Path, mut publisher: Child) -> Subscriber {
    let mut subscriber = attach(folder, "sim-staged", |one| one);
    (0..BEFORE).for_each(|number| assert_eq!(take(&mut subscriber), Some(number)));
    kill_process(Pid::from_child(&publisher), Signal::KILL).unwrap();
    publisher.wait().unwrap();
    subscriber
}

#[test]
fn a_publisher_that_is_back_with_more_ranks_is_staged_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let stager = keeper(folder, &disk);
    let first = take_and_kill(folder, publisher_to_be_killed(folder));
    let options = publisher_options(folder).with_first_step(BEFORE).with_reserve_steps(100);
    let ranks = publish(&options, 2, 4);
    drop(first);
    let began = Instant::now();
    let mut again = loop {
        assert!(began.elapsed() < PATIENCE, "it is staged anew");
        let mut one = attach(folder, "sim-staged", |one| one);
        if take(&mut one) == Some(BEFORE) {
            break one;
        }
    };
    (1..4).for_each(|more| assert_eq!(take(&mut again), Some(BEFORE + more)));
    drop((again, ranks));
    let told = interrupt(stager).stderr;
    assert!(told.contains("it came back with more ranks than 1, and is staged anew"), "{told}");
    assert!(!told.contains("name another --disk"), "{told}");
}

#[test]
fn what_a_publisher_had_staged_with_more_ranks_is_gone_on_with_by_the_next_stager() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, disk) = (folder.path(), folder.path().join("disk"));
    let stager = keeper(folder, &disk);
    let mut first = take_and_kill(folder, ranks_to_be_killed(folder, 2));
    let options = publisher_options(folder).with_first_step(BEFORE);
    let mut publisher = Publisher::open("sim", options).unwrap();
    put_steps(&mut publisher, 2);
    assert_eq!([take(&mut first), take(&mut first)], [Some(BEFORE), Some(BEFORE + 1)]);
    kill(stager);
    drop(first);

    let stager = keeper(folder, &disk);
    let mut late = attach(folder, "sim-staged", |one| one);
    (0..BEFORE + 2).for_each(|number| assert_eq!(take(&mut late), Some(number)));
    put_steps(&mut publisher, 1);
    assert_eq!(take(&mut late), Some(BEFORE + 2));
    drop(late);
    publisher.close().expect("all of it is the stager's now");
    interrupt(stager);
}
