//! Workers that share the steps of a stream, and one that awaits its publisher, where a process of theirs is killed.

use crate::cast::{
    Actor, PATIENCE, Stage, heed, number, publisher_options, setting, subscriber_options, tell,
};
use flexpath::{
    NextStep, OnLoss, Publisher, PublisherOptions, Share, ShareMode, Subscriber, SubscriberOptions, Variable,
};

const STEPS: u64 = 12;

fn publish_steps(publisher: &mut Publisher, steps: u64) {
    let number = Variable::scalar::<u64>("number").expect("a name");
    for _ in 0..steps {
        let mut step = publisher.begin_step().expect("begun");
        step.put_scalar(&number, 7_u64).expect("put");
        step.end().expect("ended");
    }
}

/// A publisher of some steps, which then waits to be killed, or closes.
pub(crate) fn publish() {
    let options = publisher_options().with_min_subscribers(1);
    let mut publisher = Publisher::open("shared", options).expect("opened");
    publish_steps(&mut publisher, STEPS);
    if setting("stays").is_some() {
        tell("stays");
        heed();
    }
    publisher.close().expect("closed");
    tell("closed");
}

fn options() -> SubscriberOptions {
    let options = subscriber_options().with_limit_steps(STEPS as u32);
    if setting("awaits").is_some() {
        return options.with_on_loss(OnLoss::AwaitRestart(PATIENCE));
    }
    let share = Share { set: "workers".to_owned(), mode: ShareMode::RoundRobin, redeliver: true };
    options.with_share(share).with_credit_steps(number("credit") as u32)
}

/// Says each step that it gets. It does as it is told with the first, and then whatever comes.
pub(crate) fn work() {
    let mut worker = Subscriber::open("shared", options()).expect("attached");
    tell("joined");
    let mut is_told = setting("awaits").is_none();
    loop {
        match worker.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(step) => {
                let again = if step.is_redelivered() { " again" } else { "" };
                tell(format!("step {}{again}", step.step()));
                if std::mem::take(&mut is_told) && heed() == "back" {
                    step.give_back().expect("the set redelivers");
                } else {
                    step.done();
                }
            }
            NextStep::NotYet => panic!("neither a step nor the end"),
            NextStep::Ended(ending) => break tell(format!("ended {}", ending.reason)),
        }
    }
    worker.close().expect("closed");
}

fn worker(stage: &Stage, credit: u64) -> Actor {
    let worker = stage.start("worker", &[("credit", credit.to_string())]);
    worker.hear("joined");
    worker
}

/// The steps that a worker says until the stream ends.
fn steps_of(worker: &Actor) -> Vec<String> {
    let mut steps = Vec::new();
    loop {
        let said = worker.hear("");
        match said.strip_prefix("step ") {
            Some(step) => steps.push(step.to_owned()),
            None => return steps,
        }
    }
}

/// The killed one holds a step and has one more; another gives its first step back.
#[test]
fn what_a_killed_worker_has_goes_to_the_others_though_the_stream_is_over() {
    let stage = Stage::new();
    let rendezvous = PublisherOptions::default().with_rendezvous(stage.rendezvous());
    let mut publisher = Publisher::open("shared", rendezvous).expect("opened");
    let [mut first, mut second, mut killed] = [1, 1, 2].map(|credit| worker(&stage, credit));
    publish_steps(&mut publisher, STEPS);
    let closing = std::thread::spawn(move || publisher.close());
    assert_eq!([&first, &second, &killed].map(|worker| worker.hear("step ")), ["0", "1", "2"]);
    killed.kill();
    first.say("done");
    second.say("back");
    let mut steps: Vec<String> = [&first, &second].into_iter().flat_map(steps_of).collect();
    closing.join().expect("no panic").expect("all of it was done");
    steps.sort_by_key(|step| step.trim_end_matches(" again").parse::<u64>().expect("a number"));
    // Whether it had been given step 5 as well depends on who was quicker.
    let rest = steps.iter().map(|step| step.replace("5 again", "5"));
    let expected = (1..STEPS).map(|step| if step < 3 { format!("{step} again") } else { step.to_string() });
    assert!(rest.eq(expected), "{steps:?}");
    first.finish();
    second.finish();
}

#[test]
fn a_killed_publisher_is_awaited() {
    let stage = Stage::new();
    let awaits = stage.start("worker", &[("awaits", "yes".to_owned())]);
    let mut killed = stage.start("shared-publisher", &[("stays", "yes".to_owned())]);
    let expect_steps = || {
        for step in 0..STEPS {
            assert_eq!(awaits.hear("step "), step.to_string());
        }
    };
    expect_steps();
    killed.hear("stays");
    killed.kill();
    let closes = stage.start("shared-publisher", &[]);
    expect_steps();
    assert!(awaits.hear("").contains("closed the stream"), "it ends with the second one");
    closes.hear("closed");
    awaits.finish();
}
