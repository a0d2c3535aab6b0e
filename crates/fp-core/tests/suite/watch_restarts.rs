//! A publisher that is killed and comes again under watches whose conditions remember: what they remember ends with it.

use crate::numbers::restarted;
use crate::process::Process;
use crate::support::{PATIENCE, Place, STREAM, nothing, take};
use fp_core::{OnLoss, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, TransportKind, Variable};

/// Where a process of its own publishes, for how many subscribers, and from which step on.
const PLACE: &str = "FLEXPATH_TEST_RESTARTS";

/// The greatest element of each step, before the publisher is killed and after it came again.
const BEFORE: [f64; 6] = [0.0, 6.0, 3.0, 0.0, 6.0, 3.0];
const AFTER: [f64; 6] = [3.0, 4.0, 6.0, 0.0, 2.0, 6.0];

/// A condition, and whether it fires in the last of these steps if it remembers nothing of earlier ones.
type Known = (&'static str, fn(&[f64]) -> bool);

const CONDITIONS: [Known; 5] = [
    ("rises(max(x) > 2)", |all| all[all.len() - 1] > 2.0 && (all.len() < 2 || all[all.len() - 2] <= 2.0)),
    ("held(max(x) > 2, 2, 3)", |all| all.iter().rev().take(3).filter(|x| **x > 2.0).count() >= 2),
    ("hysteresis(max(x) > 5, max(x) < 1)", |all| {
        all.iter().fold(false, |is_on, x| *x > 5.0 || (is_on && *x >= 1.0))
    }),
    ("change(max(x)) >= 0", |all| all.len() > 1 && all[all.len() - 1] >= all[all.len() - 2]),
    ("window(max(x), 3, max) > 5", |all| all.len() > 2 && all[all.len() - 3..].iter().any(|x| *x > 5.0)),
];

/// The places of the steps at which it fires.
fn fires(is_met: fn(&[f64]) -> bool, steps: &[f64]) -> Vec<u64> {
    (0..steps.len()).filter(|at| is_met(&steps[..=*at])).map(|at| at as u64).collect()
}

/// The role of a process that publishes until it is killed: a step for each number that it reads.
#[test]
fn publishes_in_a_process_of_its_own() {
    let Ok(said) = std::env::var(PLACE) else { return };
    let (first, path) = said.split_once(' ').expect("a first step and a place");
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(path).expect("a rendezvous"))
        .with_min_subscribers(CONDITIONS.len() as u32)
        .with_derive_budget(PATIENCE)
        .with_open_timeout(PATIENCE);
    let options = match first {
        "none" => options,
        first => options.with_first_step(first.parse().expect("a number")),
    };
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let variable = Variable::global::<f64>("x", &[3]).expect("a shape");
    for line in std::io::stdin().lines() {
        let greatest: f64 = line.expect("a line").parse().expect("a number");
        let mut writer = publisher.begin_step().expect("a step");
        let number = writer.step();
        writer.put(&variable, &Region::whole(variable.shape()), vec![-1.0, greatest, -2.0]).expect("put");
        writer.end().expect("ended");
        println!("published {number}");
    }
}

/// Such a process.
fn start(place: &Place, first: &str) -> Process {
    let what = format!("{first} {}", place.path().display());
    Process::start("watch_restarts::publishes_in_a_process_of_its_own", PLACE, &what)
}

fn watching(place: &Place, condition: &str) -> Subscriber {
    let options = place.over(TransportKind::Shm).with_on_loss(OnLoss::AwaitRestart(PATIENCE));
    let options = options.with_condition(condition).expect(condition).with_limit_steps(20);
    Subscriber::open(STREAM, options.with_open_timeout(PATIENCE)).expect("attached")
}

/// Publishes these, and has each watcher take what it is told of.
fn run(publisher: &mut Process, watchers: &mut [Subscriber], steps: &[f64], first: u64) {
    for greatest in steps {
        publisher.publish(&greatest.to_string());
    }
    for (watcher, (condition, is_met)) in watchers.iter_mut().zip(CONDITIONS) {
        for at in fires(is_met, steps) {
            let step = take(watcher);
            let judgement = step.judgement().expect("it is told why");
            assert_eq!((step.step().0, &judgement.unjudged), (first + at, &None), "{condition}");
        }
        nothing(watcher);
    }
}

/// Every condition begins anew with the new publisher, whether its numbers go on or count from 0 again.
#[test]
fn what_a_condition_remembers_ends_with_the_epoch() {
    let both = [BEFORE, AFTER].concat();
    let later = |steps: Vec<u64>| steps.into_iter().filter_map(|at| at.checked_sub(6)).collect::<Vec<_>>();
    for (condition, is_met) in CONDITIONS {
        assert_ne!(
            later(fires(is_met, &both)),
            fires(is_met, &AFTER),
            "{condition}: memory makes no difference"
        );
    }
    for (again, first) in [("6", 6), ("none", 0)] {
        let place = &Place::new();
        std::thread::scope(|scope| {
            let opened = CONDITIONS.map(|(condition, _)| scope.spawn(move || watching(place, condition)));
            let mut publisher = start(place, "0");
            let mut watchers = opened.map(|opened| opened.join().expect("it opens"));
            run(&mut publisher, &mut watchers, &BEFORE, 0);
            drop(publisher);
            let mut publisher = start(place, again);
            for watcher in &mut watchers {
                assert_eq!(restarted(watcher), first == 6);
            }
            run(&mut publisher, &mut watchers, &AFTER, first);
        });
    }
}
