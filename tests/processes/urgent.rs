//! An urgent request holds up the next step of every rank until all have answered. One that does not answer is waited for
//! as long as one that lags, and what is waited for is said.

use crate::cast::{Actor, PATIENCE, Stage, heed, publisher_options, tell};
use flexpath::{
    BeginError, ParameterKind, Publisher, QueuePolicy, Real, Subscriber, SubscriberOptions, TransportKind,
    TransportPolicy,
};
use std::time::{Duration, Instant};

const STREAM: &str = "urgent";
const LEVEL: &str = "level";
const RANKS: u32 = 3;
/// The one that is stopped.
const STOPPED: usize = 1;
/// How long a rank waits for others of its cohort.
const SKEW_TIMEOUT: Duration = Duration::from_millis(300);

/// One rank, which begins a step when it is told to.
pub(crate) fn publish() {
    let range = ParameterKind::Real { least: Real(0.0), greatest: Real(10.0) };
    let options = publisher_options()
        .with_min_subscribers(1)
        .with_skew_timeout(SKEW_TIMEOUT)
        // So many that nobody waits for a rank that lags.
        .with_skew_steps(10_000)
        .with_parameter(LEVEL, range);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    while heed() == "begin" {
        tell(begin(&mut publisher));
    }
    publisher.close().expect("closed");
}

fn begin(publisher: &mut Publisher) -> String {
    let began = Instant::now();
    let writer = match publisher.begin_step() {
        Ok(writer) => writer,
        Err(error @ BeginError::TimedOut { .. }) => {
            assert!(began.elapsed() >= SKEW_TIMEOUT, "it waited for {:?} only", began.elapsed());
            return format!("waited: {error}");
        }
        Err(other) => panic!("{other}"),
    };
    let step = writer.step();
    let seen = writer.requests().iter().filter_map(|request| request.as_f64()).next();
    writer.end().expect("ended");
    match seen {
        Some(value) => format!("saw {step} {value}"),
        None => format!("began {step}"),
    }
}

/// Has a rank begin steps until it says of one what begins so. It says that.
fn begin_until(rank: &mut Actor, word: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        rank.say("begin");
        let said = rank.hear("");
        if said.starts_with(word) {
            return said;
        }
        assert!(Instant::now() < deadline, "nothing but {said:?}");
    }
}

#[test]
fn a_wait_for_the_step_of_an_urgent_request_ends_and_says_what_it_was_for() {
    let stage = Stage::new();
    let mut ranks = stage.cohort("urgent-publisher", RANKS, &[]);
    let options = SubscriberOptions::default()
        .with_rendezvous(stage.rendezvous())
        .with_transports(TransportPolicy::only(TransportKind::Shm))
        .with_name("asker")
        .with_open_timeout(PATIENCE)
        .with_variables(Vec::<String>::new())
        .with_policy(QueuePolicy::DropOldest);
    let mut asker = Subscriber::open(STREAM, options).expect("attached");
    ranks[STOPPED].stop();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| asker.request_now(LEVEL, 2.0, PATIENCE));
        for rank in (0..RANKS as usize).filter(|rank| *rank != STOPPED) {
            // It may begin some before it hears of the request.
            let said = begin_until(&mut ranks[rank], "waited");
            let expected = "for all ranks to agree at which step they see that \"asker\" asks for \"level\"";
            assert!(said.ends_with(expected), "rank {rank}: {said}");
        }
        ranks[STOPPED].resume();
        let seen: Vec<String> = ranks.iter_mut().map(|rank| begin_until(rank, "saw")).collect();
        let step = asking.join().expect("no panic").expect("applied");
        assert_eq!(seen, vec![format!("saw {step} 2"); RANKS as usize]);
    });
    drop(asker);
    ranks.iter_mut().for_each(|rank| rank.say("close"));
    ranks.into_iter().for_each(Actor::finish);
}
