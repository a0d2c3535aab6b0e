//! A simulation of four ranks is asked for values. Who asks is killed meanwhile, ranks are stopped for a while, and one is
//! killed in the end. What one rank sees all see, at the same step.

use crate::cast::{Actor, PATIENCE, Stage, number, publisher_options, subscriber_options, tell};
use crate::grid::Dice;
use flexpath::{
    BeginError, ParameterKind, Publisher, QueuePolicy, Real, RequestError, SteeringRefusal, Subscriber,
    TransportKind,
};

const STREAM: &str = "steered";
const LEVEL: &str = "level";
const RANKS: u32 = 4;
/// How many answers a cohort gives before it ends.
const ANSWERS: u64 = 25;
/// How many requests are answered, unless `FLEXPATH_STEERING_REQUESTS` says it.
const REQUESTS: u64 = 75;

/// One rank: it says what it sees, until it is asked to stop or its cohort is lost.
pub(crate) fn publish() {
    let most = ParameterKind::Real { least: Real(0.0), greatest: Real(1e12) };
    let options = publisher_options()
        .with_min_subscribers(1)
        .with_parameter(LEVEL, most)
        .with_parameter("stop", ParameterKind::Signal);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    loop {
        let mut writer = match publisher.begin_step() {
            Ok(writer) => writer,
            Err(BeginError::Lost { .. }) => return tell("lost"),
            Err(other) => panic!("{other}"),
        };
        let step = writer.step();
        for request in writer.requests().to_vec() {
            let Some(value) = request.as_f64() else { continue };
            tell(format!("saw {step} {value}"));
            if value as u64 % 7 == 0 {
                writer.decline(&request, "it is a multiple of seven").expect("it is open");
            }
        }
        let stops = writer.is_asked("stop");
        writer.end().expect("ended");
        if stops {
            tell("stopped");
            return publisher.close().expect("closed");
        }
        std::thread::yield_now();
    }
}

/// Asks for one number after another, and says at which step each was seen.
pub(crate) fn ask() {
    let options =
        subscriber_options().with_variables(Vec::<String>::new()).with_policy(QueuePolicy::DropOldest);
    let mut asker = Subscriber::open(STREAM, options).expect("attached");
    for value in number("first").. {
        tell(format!("asks {value}"));
        let asked = match value % 3 {
            0 => asker.request_now(LEVEL, value as f64, PATIENCE),
            _ => asker.request(LEVEL, value as f64, PATIENCE),
        };
        match asked {
            Ok(step) => tell(format!("told {step} {value}")),
            Err(RequestError::Declined { step, .. }) => tell(format!("told {step} {value}")),
            Err(RequestError::Over { .. } | RequestError::Misuse { .. }) => return tell("over"),
            Err(RequestError::Refused { refusal: SteeringRefusal::Closing, .. }) => return tell("over"),
            Err(other) => panic!("{value}: {other}"),
        }
    }
}

/// Who asks; each by numbers that no other has.
struct Askers<'a> {
    stage: &'a Stage,
    transports: &'a str,
    all: Vec<Actor>,
    started: u64,
}

impl Askers<'_> {
    fn start(&mut self) {
        self.started += 1;
        let first = self.started * 1_000_000;
        let settings = [("first", first.to_string()), ("transports", self.transports.to_owned())];
        let asker = self.stage.start("asker", &settings);
        asker.hear("asks");
        self.all.push(asker);
    }

    /// Kills one while it asks, and starts another.
    fn replace(&mut self, which: usize) {
        self.all.remove(which).kill();
        self.start();
    }
}

/// Has so many requests answered by a new cohort, and disturbs it meanwhile. Gives what was told.
fn disturb(ranks: &[Actor], askers: &mut Askers<'_>, dice: &mut Dice) -> Vec<String> {
    let mut told = Vec::new();
    for answer in 0..ANSWERS {
        let which = answer as usize % askers.all.len();
        told.push(askers.all[which].hear("told"));
        match dice.below(8) {
            0 => askers.replace(dice.below(2) as usize),
            1 => {
                let stopped = &ranks[dice.below(u64::from(RANKS)) as usize];
                stopped.stop();
                // Nobody new comes in while a rank is stopped, but who asks may go.
                askers.all.remove(dice.below(2) as usize).kill();
                stopped.resume();
                askers.start();
            }
            _ => {}
        }
    }
    told
}

/// All that a rank saw, when it has ended.
fn seen(rank: &Actor) -> Vec<String> {
    let lines = rank.rest();
    lines.iter().filter_map(|line| line.strip_prefix("saw ")).map(str::to_owned).collect()
}

fn round(transports: &str, dice: &mut Dice, is_killed: bool) {
    let stage = Stage::new();
    let settings = [("transports", transports.to_owned())];
    let mut ranks = stage.cohort("steered-publisher", RANKS, &settings);
    let mut askers = Askers { stage: &stage, transports, all: Vec::new(), started: 0 };
    (0..2).for_each(|_| askers.start());
    let told = disturb(&ranks, &mut askers, dice);
    if is_killed {
        ranks[dice.below(u64::from(RANKS)) as usize].kill();
    } else {
        let options = flexpath::SubscriberOptions::default()
            .with_rendezvous(stage.rendezvous())
            .with_variables(Vec::<String>::new())
            .with_policy(QueuePolicy::DropOldest);
        let mut asker = Subscriber::open(STREAM, options).expect("attached");
        asker.request("stop", true, PATIENCE).expect("it stops");
    }
    let seen: Vec<Vec<String>> = ranks.iter().map(seen).collect();
    let most = seen.iter().max_by_key(|seen| seen.len()).expect("there are ranks");
    for (rank, seen) in seen.iter().enumerate() {
        // One that was killed, or whose cohort was lost, may not have come so far.
        assert!(most.starts_with(seen), "rank {rank} saw {seen:?}, another {most:?}");
        assert!(is_killed || most.len() == seen.len(), "rank {rank} saw {seen:?}, another {most:?}");
        let missing = told.iter().find(|told| !seen.contains(told));
        assert_eq!(missing, None, "rank {rank} did not see it: {seen:?}");
    }
}

fn requests(transports: TransportKind) {
    let wanted = setting_of_test("FLEXPATH_STEERING_REQUESTS").unwrap_or(REQUESTS);
    let mut dice = Dice::new(0x57ee);
    for number in 0..wanted.div_ceil(ANSWERS) {
        round(&transports.to_string(), &mut dice, number % 2 == 1);
    }
}

fn setting_of_test(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|number| number.parse().expect("a number"))
}

#[test]
fn what_one_rank_sees_all_see_over_shared_memory() {
    requests(TransportKind::Shm);
}

#[test]
fn what_one_rank_sees_all_see_over_tcp() {
    requests(TransportKind::Tcp);
}
