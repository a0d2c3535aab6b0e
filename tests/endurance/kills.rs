//! Very many kills, of publishers and of subscribers, at any point: while they open, between steps, in the middle of
//! one. The survivor at the other end goes on, and in the end has what it had before.

use crate::audit::{expect_as_before, settled_belongings};
use crate::cast::{Actor, PATIENCE, Stage, publisher_options, subscriber_options, tell};
use crate::dice::Dice;
use crate::{alone, scale};
use flexpath::{
    NextStep, Publisher, PublisherOptions, QueuePolicy, Region, Selection, Subscriber, SubscriberOptions,
    TransportPolicy, Variable,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const LEN: u64 = 2000;
/// Who has not read a step by then is given up, so that nobody waits for the dead.
const MAX_WAIT: Duration = Duration::from_millis(5000);

fn values(step: u64) -> Vec<u64> {
    (0..LEN).map(|index| (step << 32) | index).collect()
}

fn publish_step(publisher: &mut Publisher) {
    let array = Variable::global::<u64>("array", &[LEN]).expect("a shape");
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    writer.put(&array, &Region::new([0], [LEN]).expect("inside"), values(step)).expect("put");
    writer.end().expect("ended");
}

fn every_step(options: SubscriberOptions) -> SubscriberOptions {
    options.with_policy(QueuePolicy::EveryStep { max_wait: MAX_WAIT })
}

/// Publishes until it is killed.
pub(crate) fn publish() {
    let mut publisher = Publisher::open("lost", publisher_options()).expect("the stream opens");
    tell("open");
    loop {
        publish_step(&mut publisher);
    }
}

/// Takes steps until it is killed.
pub(crate) fn subscribe() {
    let mut subscriber = Subscriber::open("kept", every_step(subscriber_options())).expect("attached");
    loop {
        if let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step") {
            let number = step.step().0;
            assert!(step.get::<u64>("array", Selection::All).expect("got") == values(number));
        }
    }
}

/// The survivor, which has a handle for each kind of victim, and the seed's dice.
struct Survivor {
    stage: Stage,
    dice: Dice,
    kept: Publisher,
    killed_publishers: usize,
}

impl Survivor {
    fn transports(&mut self) -> String {
        ["shm", "tcp"][self.dice.below(2) as usize].to_owned()
    }

    /// A subscriber is killed after some steps were published, whether it has attached by then or not.
    fn kill_a_subscriber(&mut self) {
        let settings = [("transports", self.transports())];
        let mut victim = self.stage.start("mortal-subscriber", &settings);
        if self.dice.below(4) > 0 {
            self.publish_until(|kept| kept.has_subscribers());
        }
        for _ in 0..self.dice.below(20) {
            publish_step(&mut self.kept);
        }
        victim.kill();
        self.publish_until(|kept| !kept.has_subscribers());
    }

    fn publish_until(&mut self, is_so: impl Fn(&Publisher) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(&self.kept) {
            assert!(Instant::now() < deadline, "nothing changes");
            publish_step(&mut self.kept);
            std::thread::yield_now();
        }
    }

    /// A publisher is killed after some of its steps were taken, or while it opens. What was taken is right.
    fn kill_a_publisher(&mut self) {
        let transports = self.transports();
        let settings = [("transports", transports.clone())];
        let mut victim = self.stage.start("mortal-publisher", &settings);
        if self.dice.below(4) == 0 {
            return self.kill_an_opening(&mut victim);
        }
        victim.hear("open");
        let options = self.subscriber_options(&transports);
        let mut subscriber = Subscriber::open("lost", every_step(options)).expect("attached");
        for _ in 0..self.dice.below(20) {
            let next = subscriber.next_step(PATIENCE).expect("a step");
            let NextStep::Step(step) = next else { panic!("no step: {next:?}") };
            let number = step.step().0;
            assert!(step.get::<u64>("array", Selection::All).expect("got") == values(number));
        }
        victim.kill();
        self.killed_publishers += 1;
        expect_the_end(&mut subscriber);
    }

    /// Waits a drawn number of turns, and kills.
    fn kill_an_opening(&mut self, victim: &mut Actor) {
        for _ in 0..self.dice.below(200) {
            publish_step(&mut self.kept);
        }
        victim.kill();
        self.killed_publishers += 1;
    }

    fn subscriber_options(&self, transports: &str) -> SubscriberOptions {
        let policy: TransportPolicy = transports.parse().expect("transports");
        let options = SubscriberOptions::default().with_rendezvous(self.stage.rendezvous());
        options.with_transports(policy).with_open_timeout(PATIENCE).with_fetch_timeout(PATIENCE)
    }
}

/// Steps that were on their way come, or are lost with their owner. Then the stream is over.
fn expect_the_end(subscriber: &mut Subscriber) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "the stream does not end");
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(step) => {
                let number = step.step().0;
                let got = step.get::<u64>("array", Selection::All);
                assert!(got.is_err() || got.is_ok_and(|got| got == values(number)));
            }
            NextStep::NotYet => {}
            NextStep::Ended(ending) => {
                let reason = ending.reason.to_string();
                return assert!(reason.contains("is lost"), "{reason}");
            }
        }
    }
}

/// Names of shared memory, which no kill may leave behind.
fn shared_memory() -> BTreeSet<String> {
    let files = std::fs::read_dir("/dev/shm").expect("it is there").flatten();
    files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("flexpath"))
        .collect()
}

/// Processes that this one started and that are still there.
fn children() -> String {
    let tasks = std::fs::read_dir("/proc/self/task").expect("proc is there").flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok()).collect()
}

/// The stream that the survivor publishes.
fn kept(stage: &Stage) -> Publisher {
    let options =
        PublisherOptions::default().with_rendezvous(stage.rendezvous()).with_close_timeout(PATIENCE);
    Publisher::open("kept", options).expect("the stream opens")
}

#[test]
fn very_many_kills_leave_nothing_behind() {
    let _alone = alone();
    let stage = Stage::new();
    // The library's own thread stays after the first handle.
    kept(&stage).close().expect("closed");
    let (before, shared_before) = (settled_belongings(), shared_memory());
    let (kills, seed) = (scale("KILLS", 40), scale("SEED", 1));
    let publisher = kept(&stage);
    let mut survivor = Survivor { stage, dice: Dice(seed), kept: publisher, killed_publishers: 0 };
    for _ in 0..kills {
        if survivor.dice.below(2) == 0 { survivor.kill_a_subscriber() } else { survivor.kill_a_publisher() }
    }
    println!("{kills} kills with seed {seed}, {} of them of publishers", survivor.killed_publishers);
    let Survivor { stage, kept, killed_publishers, .. } = survivor;
    kept.close().expect("closed");
    expect_as_before(&before);
    assert_eq!(shared_memory(), shared_before);
    assert_eq!(children().trim(), "", "processes that are still there");
    // A publisher that was killed cannot withdraw its entry. The next one of its name on this host does.
    let entries = stage.entries();
    let of_killed = entries.iter().filter(|name| name.starts_with("lost.")).count();
    assert!(of_killed == entries.len() && of_killed <= killed_publishers, "{entries:?}");
    let options = PublisherOptions::default().with_rendezvous(stage.rendezvous());
    Publisher::open("lost", options).expect("the name is free").close().expect("closed");
    assert_eq!(stage.entries(), Vec::<String>::new(), "entries of the dead");
    expect_as_before(&before);
}
