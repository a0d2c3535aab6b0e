//! A simulation of four ranks is asked for values. Who asks is killed meanwhile, ranks are stopped for a while, and in every
//! second round one is killed in the end. What one rank sees at a step all see that begin it.

use crate::cast::{Actor, PATIENCE, Stage, number, publisher_options, subscriber_options, tell};
use crate::grid::Dice;
use flexpath::{
    BeginError, ParameterKind, Publisher, PutError, QueuePolicy, Real, RequestError, SteeringRefusal,
    Subscriber, SubscriberOptions, TransportKind, TransportPolicy,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const STREAM: &str = "steered";
const LEVEL: &str = "level";
const RANKS: usize = 4;
const SKEW: u64 = 4;
/// How many answers a cohort gives before it ends.
const ANSWERS: u64 = 50;
/// How many requests are answered, unless `FLEXPATH_STEERING_REQUESTS` says it.
const REQUESTS: u64 = 500;
/// After so long a rank that says nothing is lost. Its heartbeat is a tenth of that.
const SILENCE: Duration = Duration::from_secs(5);
/// Longer than a heartbeat, so that ranks miss some of whoever is stopped. So far below the silence that a slow machine
/// does not make it that.
const LONG_STOP: Duration = Duration::from_millis(700);
/// Within which ranks that run answer the first pass, as a rule: nothing says it to anybody outside.
const ANSWERING: Duration = Duration::from_millis(10);
/// Within which ranks that run see what has started, as a rule.
const SEEING: Duration = Duration::from_millis(200);
/// The numbers that the test itself asks for.
const OWN: u64 = 900_000_000;
const WHY_NOT: &str = "it is a multiple of seven";

fn is_declined(value: u64) -> bool {
    value.is_multiple_of(7)
}

/// One rank: it says what it sees, until it is asked to stop or its cohort is lost.
pub(crate) fn publish() {
    let most = ParameterKind::Real { least: Real(0.0), greatest: Real(1e12) };
    let options = publisher_options()
        .with_min_subscribers(1)
        .with_silence(SILENCE)
        .with_skew_steps(SKEW as u32)
        .with_limit_requests_per_second(1_000_000)
        .with_parameter(LEVEL, most)
        .with_parameter("stop", ParameterKind::Signal);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let mut next = 0;
    loop {
        match publish_step(&mut publisher, &mut next) {
            None => return tell(format!("lost {next}")),
            Some(false) => std::thread::yield_now(),
            Some(true) => {
                tell(format!("stopped {next}"));
                return publisher.close().expect("closed");
            }
        }
    }
}

/// Whether it was asked to stop; none if the cohort is lost. `next` is the step that it begins next.
fn publish_step(publisher: &mut Publisher, next: &mut u64) -> Option<bool> {
    let mut writer = match publisher.begin_step() {
        Ok(writer) => writer,
        Err(BeginError::Lost { .. }) => return None,
        Err(other) => panic!("{other}"),
    };
    let step = writer.step().0;
    *next = step + 1;
    for request in writer.requests().to_vec() {
        let Some(value) = request.as_f64() else { continue };
        tell(format!("saw {step} {value}"));
        if !is_declined(value as u64) {
            continue;
        }
        if let Err(error) = writer.decline(&request, WHY_NOT) {
            // The cohort was lost in this moment.
            assert!(matches!(error, PutError::Lost { .. }), "{error}");
            return None;
        }
    }
    let stops = writer.is_asked("stop");
    match writer.end() {
        Ok(()) => Some(stops),
        Err(PutError::Lost { .. }) => None,
        Err(other) => panic!("{other}"),
    }
}

/// Asks for one number after another, and says at which step each was seen.
pub(crate) fn ask() {
    let options =
        subscriber_options().with_variables(Vec::<String>::new()).with_policy(QueuePolicy::DropOldest);
    let mut asker = Subscriber::open(STREAM, options).expect("attached");
    for value in number("first").. {
        tell(format!("asks {value}"));
        match ask_for(&mut asker, value, value.is_multiple_of(3)) {
            Some(step) => tell(format!("told {step} {value}")),
            None => return tell("over"),
        }
    }
}

/// The step at which all ranks saw it; none if the stream is over.
fn ask_for(asker: &mut Subscriber, value: u64, is_urgent: bool) -> Option<u64> {
    let asked = match is_urgent {
        true => asker.request_now(LEVEL, value as f64, PATIENCE),
        false => asker.request(LEVEL, value as f64, PATIENCE),
    };
    match asked {
        Ok(step) => {
            assert!(!is_declined(value), "{value} was taken");
            Some(step.0)
        }
        Err(RequestError::Declined { step, reason, .. }) if reason == WHY_NOT => {
            assert!(is_declined(value), "{value} was declined");
            Some(step.0)
        }
        // A rank that never came to that step, as another is lost.
        Err(RequestError::Declined { reason, .. }) if reason.contains("lost another of its cohort") => None,
        Err(RequestError::Over { .. } | RequestError::Misuse { .. }) => None,
        Err(RequestError::Refused { refusal: SteeringRefusal::Closing, .. }) => None,
        Err(other) => panic!("{value}: {other}"),
    }
}

/// A process, and all that it said.
struct Witness {
    actor: Actor,
    said: Vec<String>,
}

impl Witness {
    fn new(actor: Actor) -> Self {
        Self { actor, said: Vec::new() }
    }

    /// Waits until it says a line that begins so.
    fn wait_for(&mut self, word: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.actor.line(left).expect("it speaks").expect("it lives");
            let is_it = line.starts_with(word);
            self.said.push(line);
            if is_it {
                return;
            }
        }
    }

    /// Hears what it says within so long.
    fn listen(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while let Ok(Some(line)) = self.actor.line(deadline.saturating_duration_since(Instant::now())) {
            self.said.push(line);
        }
    }

    /// Hears all until it has ended.
    fn hear_out(&mut self) {
        self.said.extend(self.actor.rest());
    }

    /// The numbers of all lines that begin so.
    fn numbers(&self, word: &str) -> Vec<Vec<u64>> {
        let of = |line: &String| {
            let words = line.strip_prefix(word)?.strip_prefix(' ')?.split(' ');
            Some(words.map(|word| word.parse().expect("a number")).collect())
        };
        self.said.iter().filter_map(of).collect()
    }

    /// The one number of the one line that begins so.
    fn number(&self, word: &str) -> Option<u64> {
        self.numbers(word).first().map(|numbers| numbers[0])
    }

    /// Step and value of each line that begins so.
    fn pairs(&self, word: &str) -> Vec<(u64, u64)> {
        self.numbers(word).iter().map(|numbers| (numbers[0], numbers[1])).collect()
    }

    fn saw(&self, value: u64) -> bool {
        self.pairs("saw").iter().any(|(_, seen)| *seen == value)
    }
}

/// A cohort, and who asks it for values, each for numbers that no other asks for.
struct Round<'a> {
    stage: &'a Stage,
    transports: TransportKind,
    ranks: Vec<Witness>,
    askers: Vec<Witness>,
    /// Askers that were killed.
    gone: Vec<Witness>,
    started: u64,
    /// The test itself asks too, until the round ends.
    own: Option<Subscriber>,
    /// What it asked for, and with which step it was answered.
    own_told: Vec<(u64, u64)>,
    own_asked: u64,
}

impl<'a> Round<'a> {
    fn new(stage: &'a Stage, transports: TransportKind) -> Self {
        let settings = [("transports", transports.to_string())];
        let ranks = stage.cohort("steered-publisher", RANKS as u32, &settings);
        let options = SubscriberOptions::default()
            .with_rendezvous(stage.rendezvous())
            .with_transports(TransportPolicy::only(transports))
            .with_open_timeout(PATIENCE)
            .with_variables(Vec::<String>::new())
            .with_policy(QueuePolicy::DropOldest);
        let own = Some(Subscriber::open(STREAM, options).expect("attached"));
        let ranks = ranks.into_iter().map(Witness::new).collect();
        let (askers, gone, own_told) = (Vec::new(), Vec::new(), Vec::new());
        let mut round =
            Self { stage, transports, ranks, askers, gone, started: 0, own, own_told, own_asked: 0 };
        (0..2).for_each(|_| round.start_asker());
        round
    }

    fn start_asker(&mut self) {
        self.started += 1;
        let first = self.started * 1_000_000;
        let settings = [("first", first.to_string()), ("transports", self.transports.to_string())];
        let mut asker = Witness::new(self.stage.start("asker", &settings));
        asker.wait_for("asks");
        self.askers.push(asker);
    }

    /// Kills one while it asks.
    fn kill_asker(&mut self, which: usize) {
        let mut asker = self.askers.remove(which);
        asker.actor.kill();
        self.gone.push(asker);
    }

    /// Has so many requests answered, and disturbs it meanwhile.
    fn disturb(&mut self, dice: &mut Dice) {
        for answer in 0..ANSWERS {
            let which = answer as usize % self.askers.len();
            self.askers[which].wait_for("told");
            match dice.below(12) {
                0 => {
                    self.kill_asker(dice.below(2) as usize);
                    self.start_asker();
                }
                1 => {
                    let stopped = dice.below(RANKS as u64) as usize;
                    self.ranks[stopped].actor.stop();
                    // Nobody new comes in while a rank is stopped, but who asks may go.
                    self.kill_asker(dice.below(2) as usize);
                    self.ranks[stopped].listen(Duration::from_millis(dice.below(30)));
                    self.ranks[stopped].actor.resume();
                    self.start_asker();
                }
                _ => {}
            }
        }
    }

    /// Stops a rank so that the lead starts a request meanwhile, and keeps it stopped for at least so long.
    fn stop_over_a_start(&mut self, dice: &mut Dice, least: Duration) {
        let deadline = Instant::now() + PATIENCE;
        while !self.tries_to_stop_over_a_start(dice, least) {
            assert!(Instant::now() < deadline, "no request starts while a rank is stopped");
        }
    }

    /// One rank does not answer the first pass, as it is stopped. Another is stopped when it has. Then the first goes on,
    /// so that the lead has all answers and starts the request. Whether that came to pass: then a rank that runs sees it.
    fn tries_to_stop_over_a_start(&mut self, dice: &mut Dice, least: Duration) -> bool {
        let late = 1 + dice.below(3) as usize;
        let stopped = 1 + (late + dice.below(2) as usize) % 3;
        self.ranks[late].actor.stop();
        self.own_asked += 1;
        let value = OWN + self.own_asked;
        let (own, ranks) = (self.own.as_mut().expect("there to the end"), &mut self.ranks);
        let (told, has_started) = std::thread::scope(|scope| {
            // Only what is urgent is seen by ranks that run before the one that stands has gone on.
            let asking = scope.spawn(|| ask_for(own, value, true));
            ranks[0].listen(ANSWERING);
            ranks[stopped].actor.stop();
            ranks[late].actor.resume();
            let since = Instant::now();
            while since.elapsed() < SEEING && !ranks[late].saw(value) {
                ranks[late].listen(Duration::from_millis(1));
            }
            ranks[late].listen(least.saturating_sub(since.elapsed()));
            ranks[stopped].listen(Duration::ZERO);
            let has_started = ranks[late].saw(value) && !ranks[stopped].saw(value);
            ranks[stopped].actor.resume();
            (asking.join().expect("no panic"), has_started)
        });
        self.own_told.push((told.expect("the stream is there"), value));
        has_started
    }

    /// All that was told of requests that all ranks saw, and all that was asked for.
    fn told_and_asked(&self) -> (Vec<(u64, u64)>, BTreeSet<u64>) {
        let all = || self.askers.iter().chain(&self.gone);
        let told = all().flat_map(|asker| asker.pairs("told")).chain(self.own_told.iter().copied());
        let asked = all().flat_map(|asker| asker.numbers("asks")).map(|numbers| numbers[0]);
        (told.collect(), asked.chain((1..=self.own_asked).map(|number| OWN + number)).collect())
    }

    /// Ends it, and looks at what all have seen.
    fn end(mut self, killed: Option<usize>) -> usize {
        let mut own = self.own.take().expect("there to the end");
        match killed {
            Some(rank) => self.ranks[rank].actor.kill(),
            None => drop(own.request("stop", true, PATIENCE).expect("it stops")),
        }
        drop(own);
        let all = self.ranks.iter_mut().chain(&mut self.askers).chain(&mut self.gone);
        all.for_each(Witness::hear_out);
        self.check(killed);
        self.told_and_asked().0.len()
    }

    fn check(&self, killed: Option<usize>) {
        let seen: Vec<Vec<(u64, u64)>> = self.ranks.iter().map(|rank| rank.pairs("saw")).collect();
        let lived: Vec<usize> = (0..RANKS).filter(|rank| Some(*rank) != killed).collect();
        let last_word = if killed.is_some() { "lost" } else { "stopped" };
        let next = |rank: usize| self.ranks[rank].number(last_word).unwrap_or_else(|| panic!("rank {rank}"));
        let common = lived.iter().map(|rank| next(*rank)).min().expect("some live");
        let most = seen.iter().max_by_key(|seen| seen.len()).expect("there are ranks");
        let before = |seen: &[(u64, u64)]| seen.iter().take_while(|(step, _)| *step < common).count();
        for &rank in &lived {
            // One may be told of the loss before it begins a step that another has begun.
            assert!(
                next(rank) <= common + SKEW,
                "rank {rank} has begun {} steps, another {common}",
                next(rank)
            );
            assert!(killed.is_some() || next(rank) == common, "rank {rank} stopped at another step");
            let (own, of_most) = (before(&seen[rank]), before(most));
            assert_eq!(seen[rank][..own], most[..of_most], "rank {rank}, of steps before {common}");
        }
        for (rank, seen) in seen.iter().enumerate() {
            assert!(most.starts_with(seen), "rank {rank} saw {seen:?}, another {most:?}");
        }
        let (told, asked) = self.told_and_asked();
        for (rank, seen) in seen.iter().enumerate() {
            let missing = told.iter().find(|told| !seen.contains(told));
            assert_eq!(missing, None, "rank {rank} did not see it: {seen:?}");
        }
        let values: BTreeSet<u64> = most.iter().map(|(_, value)| *value).collect();
        assert_eq!(values.len(), most.len(), "one was seen twice: {most:?}");
        assert!(values.is_subset(&asked), "nobody asked for it: {most:?}");
        assert!(most.is_sorted_by_key(|(step, _)| *step), "{most:?}");
    }
}

fn requests(transports: TransportKind) {
    let wanted = setting_of_test("FLEXPATH_STEERING_REQUESTS").unwrap_or(REQUESTS);
    let (mut dice, mut answered) = (Dice::new(0x57ee), 0);
    for number in 0.. {
        let stage = Stage::new();
        let mut round = Round::new(&stage, transports);
        round.disturb(&mut dice);
        round.stop_over_a_start(&mut dice, if number == 0 { LONG_STOP } else { Duration::ZERO });
        let killed = (number % 2 == 1).then(|| dice.below(RANKS as u64) as usize);
        answered += round.end(killed) as u64;
        if answered >= wanted {
            return;
        }
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
