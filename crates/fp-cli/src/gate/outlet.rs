//! A stream as the gate publishes it: by as many ranks as it was published first, all in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fp_core::{
    Cohort, Epoch, Interrupt as Asked, Publisher, PublisherOptions, Rank, RequestDelegate, StepId,
};

use super::Gate;
use super::inflow::Inflow;
use super::received::{Opened, Received};
use super::taken::Taken;
use crate::crossing::{Mark, Wanted};
use crate::failure::Failure;
use crate::interrupt::NOTICE;
use crate::recorded_step;

/// How long a subscriber may hold up the stream: it is no simulation that waits.
const LIMIT_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long those are awaited who had subscribed as an earlier gate was killed. One of them may have gone meanwhile.
const RETURN: Duration = Duration::from_secs(30);

/// How long no step has to come until what all have taken is said to be taken, though it is in the reserve. Whoever brings
/// it might wait for just that before it ends, or has room for more.
const IDLE: Duration = Duration::from_secs(5);

/// A step on its way to a rank.
type Handed = (Arc<Received>, Arc<Taken>);

/// With which number a stream begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// With 0: what was published before was another run.
    Anew,
    /// With this one, and numbers go on from those before.
    From(StepId),
}

impl Numbers {
    fn first(self) -> StepId {
        match self {
            Self::Anew => StepId(0),
            Self::From(first) => first,
        }
    }
}

/// The ranks that publish a stream.
pub(super) struct Outlet {
    pub(super) ranks: u32,
    /// The opening that it was opened for, or that its last step is of.
    pub(super) epoch: Epoch,
    /// The number of the step that it publishes next.
    pub(super) next: StepId,
    /// Whether what its ranks let go of counts as taken no more.
    pub(super) is_void: Arc<AtomicBool>,
    pub(super) numbers: Numbers,
    /// Whether it was given any.
    pub(super) has_steps: bool,
    /// Whether nobody is awaited any more.
    is_idle: Arc<AtomicBool>,
    /// Whether no step comes any more.
    is_ending: Arc<AtomicBool>,
    to: Vec<SyncSender<Handed>>,
    threads: Vec<JoinHandle<Result<(), Failure>>>,
}

/// What one rank knows.
struct Ranked {
    gate: Arc<Gate>,
    inflow: Arc<Inflow>,
    rank: Rank,
    opened: Opened,
    numbers: Numbers,
    /// How many had subscribed before, if anything went before: to an earlier gate.
    before: Option<u32>,
    /// Whether they are there, as rank 0 sees it.
    is_open: Arc<AtomicBool>,
    has_failed: Arc<AtomicBool>,
    is_void: Arc<AtomicBool>,
    is_idle: Arc<AtomicBool>,
    is_ending: Arc<AtomicBool>,
    /// Ranks that have had nothing to do for a while, and of which all was taken.
    resting: Arc<AtomicU32>,
}

/// Since when a rank has nothing to do.
struct Rest {
    since: Instant,
    last: Option<Mark>,
    /// Whether it counts as resting, and whether that is known to whoever brings the stream.
    is_counted: bool,
    is_told: bool,
}

impl Rest {
    fn from(last: Option<Mark>) -> Self {
        Self { since: Instant::now(), last, is_counted: false, is_told: false }
    }
}

impl Outlet {
    /// Opens the stream.
    pub(super) fn open(
        (gate, inflow): (&Arc<Gate>, &Arc<Inflow>),
        opened: Opened,
        numbers: Numbers,
        before: Option<u32>,
    ) -> Result<Self, Failure> {
        let Opened { epoch, ranks } = opened;
        let (is_open, has_failed) = (Arc::default(), Arc::default());
        let (is_void, is_idle, resting) = (Arc::default(), Arc::default(), Arc::default());
        let is_ending = Arc::default();
        let (mut to, mut threads) = (Vec::new(), Vec::new());
        for rank in (0..ranks).map(Rank) {
            let (tell, told) = sync_channel(1);
            let ranked = Ranked {
                gate: gate.clone(),
                inflow: inflow.clone(),
                rank,
                opened,
                numbers,
                before,
                is_open: Arc::clone(&is_open),
                has_failed: Arc::clone(&has_failed),
                is_void: Arc::clone(&is_void),
                is_idle: Arc::clone(&is_idle),
                is_ending: Arc::clone(&is_ending),
                resting: Arc::clone(&resting),
            };
            let named = thread::Builder::new().name(format!("gate {}", inflow.stream));
            threads.push(named.spawn(move || ranked.run(&told))?);
            to.push(tell);
        }
        eprintln!("flexpath: stream {:?} comes in, and is published by {ranks} ranks", inflow.stream);
        let next = numbers.first();
        Ok(Self { ranks, epoch, next, is_void, numbers, has_steps: false, is_idle, is_ending, to, threads })
    }

    /// Whether it is of that run, which begins anew. One that began anew itself and was given no step yet is, if it has
    /// as many ranks: who has come for that awaits this one.
    pub(super) fn turn_to(&mut self, opened: Opened) -> bool {
        let is_blank = self.numbers == Numbers::Anew && !self.has_steps && self.ranks == opened.ranks;
        if is_blank {
            self.epoch = opened.epoch;
        }
        self.epoch == opened.epoch
    }

    /// Hands a step to all ranks; false if one of them has ended.
    pub(super) fn hand(&mut self, received: Received, taken: Arc<Taken>) -> bool {
        (self.next, self.has_steps) = (StepId(received.head.step.0 + 1), true);
        self.epoch = received.head.epoch;
        let received = Arc::new(received);
        self.to.iter().all(|to| to.send((received.clone(), taken.clone())).is_ok())
    }

    /// Ends the stream: at once, or when it was taken.
    pub(super) fn finish(self, at_once: bool) -> Result<(), Failure> {
        self.is_idle.store(at_once || !self.has_steps, Ordering::Release);
        self.is_ending.store(true, Ordering::Release);
        drop(self.to);
        let outcomes = self.threads.into_iter().filter_map(|thread| thread.join().ok());
        outcomes.fold(Ok(()), Result::and)
    }
}

impl Ranked {
    fn run(self, told: &Receiver<Handed>) -> Result<(), Failure> {
        let outcome = self.published(told);
        if outcome.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        if self.has_failed.load(Ordering::Relaxed) && !self.gate.is_over() {
            // The next step finds that nobody publishes it.
            self.note_ready();
        }
        // What is interrupted fails in the midst of something.
        if self.gate.is_over() { Ok(()) } else { outcome }
    }

    fn published(&self, told: &Receiver<Handed>) -> Result<(), Failure> {
        let asked = self.asked()?;
        let mut publisher = Publisher::open(&self.inflow.stream, asked).map_err(Failure::publishing)?;
        let followed = self.follow(&mut publisher, told);
        let is_taken = matches!(followed, Ok(true));
        if !is_taken {
            // Whoever brings the stream keeps what a subscriber has not let go of.
            self.is_void.store(true, Ordering::Release);
        }
        // Who had not taken all by now was told of, or is given it by the next gate.
        let _ = publisher.close();
        followed.map(drop)
    }

    /// Publishes what is handed to it; whether all of it was taken at the end.
    fn follow(&self, publisher: &mut Publisher, told: &Receiver<Handed>) -> Result<bool, Failure> {
        if self.rank == Rank(0) {
            // Whoever is awaited may want any of them.
            self.inflow.note_wanted(Wanted::default());
        }
        self.await_subscribers(publisher);
        let (mut next, mut rest) = (self.numbers.first(), Rest::from(None));
        loop {
            self.note_subscribers(publisher);
            match told.recv_timeout(NOTICE) {
                Ok((received, taken)) => {
                    self.resting.fetch_sub(rest.is_counted.into(), Ordering::AcqRel);
                    let last = Some(received.mark());
                    while next < received.head.step {
                        publisher.begin_stored_step().map_err(Failure::publishing)?.abandon();
                        next = StepId(next.0 + 1);
                    }
                    self.publish(publisher, &received, taken)?;
                    next = StepId(next.0 + 1);
                    rest = Rest::from(last);
                }
                Err(RecvTimeoutError::Timeout) if self.is_over() => return Ok(false),
                Err(RecvTimeoutError::Timeout) => self.rest(publisher, &mut rest),
                Err(RecvTimeoutError::Disconnected) => return Ok(self.outlive(publisher)),
            }
        }
    }

    /// Nothing comes: where all ranks rest, rank 0 says that all was taken.
    fn rest(&self, publisher: &Publisher, rest: &mut Rest) {
        if !rest.is_counted {
            if rest.since.elapsed() < IDLE || publisher.sync(Duration::ZERO).is_err() {
                return;
            }
            rest.is_counted = true;
            self.resting.fetch_add(1, Ordering::AcqRel);
        }
        let all_rest = self.resting.load(Ordering::Acquire) == self.opened.ranks;
        if let (Rank(0), true, false, Some(last)) = (self.rank, all_rest, rest.is_told, rest.last) {
            self.inflow.taken_until(last);
            rest.is_told = true;
        }
    }

    fn is_over(&self) -> bool {
        self.gate.is_over() || self.has_failed.load(Ordering::Relaxed)
    }

    /// Whoever had the run before has come, or is not awaited any more.
    fn note_ready(&self) {
        if self.rank == Rank(0) {
            self.inflow.note_ready();
        }
    }

    fn asked(&self) -> Result<PublisherOptions, Failure> {
        let options = &self.gate.options;
        let (gate, has_failed) = (self.gate.clone(), self.has_failed.clone());
        let mut asked = PublisherOptions::default()
            .with_rendezvous(self.gate.rendezvous.clone())
            .with_cohort(Cohort::of(self.rank.0, self.opened.ranks).map_err(Failure::publishing)?)
            .with_limit_bytes(options.memory.0)
            .with_limit_wait(LIMIT_WAIT)
            .with_least_limit_steps(u32::MAX)
            .with_reserve_steps(options.reserve)
            .with_interrupt(Asked::new(move || gate.is_over() || has_failed.load(Ordering::Relaxed)));
        if let Numbers::From(first) = self.numbers {
            asked = asked.with_first_step(first.0);
        }
        let inflow = self.inflow.clone();
        asked = asked.with_request_delegate(RequestDelegate::new(move |request| inflow.ask(request)));
        self.gate.credentials.set(&mut asked.link);
        // Unlike a lone subscriber's, its ranks are dialled.
        asked.link.tcp = options.publish_at;
        Ok(asked)
    }

    /// Those who are asked for; or those who had subscribed before, for a while, and one in any case if any is asked for.
    fn await_subscribers(&self, publisher: &Publisher) {
        let (options, began) = (&self.gate.options, Instant::now());
        let (long, mut ending) = (options.awaits.min(RETURN), None::<Instant>);
        if let (Rank(0), Some(before @ 1..)) = (self.rank, self.before) {
            let stream = &self.inflow.stream;
            eprintln!(
                "flexpath: stream {stream:?}: {before} that had subscribed before are awaited for {long:?}"
            );
        }
        while !self.is_over() && !self.is_open.load(Ordering::Acquire) {
            if self.is_ending.load(Ordering::Acquire) {
                ending.get_or_insert_with(Instant::now);
            }
            let is_long = ending.is_some_and(|since| since.elapsed() >= options.awaits);
            if is_long || self.is_idle.load(Ordering::Acquire) {
                return;
            }
            if self.rank != Rank(0) {
                thread::sleep(NOTICE / 8);
                continue;
            }
            let before = self.before.filter(|_| began.elapsed() < long);
            let awaited = match (before, self.before) {
                (Some(before), _) => before.max(options.subscribers),
                (None, Some(_)) => options.subscribers.min(1),
                (None, None) => options.subscribers,
            };
            // Not where the wait is cut short: who is still on the way has the run before.
            if before.is_none() {
                self.note_ready();
            }
            if publisher.wait_for_subscriptions(awaited, NOTICE) >= awaited {
                self.note_ready();
                self.is_open.store(true, Ordering::Release);
            }
        }
    }

    fn note_subscribers(&self, publisher: &Publisher) {
        if self.rank == Rank(0) {
            let subscribers = publisher.wait_for_subscriptions(0, Duration::ZERO);
            self.inflow.note_subscribers(subscribers);
            self.inflow.note_wanted(self.wanted(publisher, subscribers));
        }
    }

    /// What they want: all, where nobody has come yet, or steps are kept for those who will.
    fn wanted(&self, publisher: &Publisher, subscribers: u32) -> Wanted {
        match subscribers == 0 || self.gate.options.reserve > 0 {
            true => Wanted::default(),
            false => Wanted::of(publisher.wanted_variables()),
        }
    }

    /// Publishes what that rank had put.
    fn publish(
        &self,
        publisher: &mut Publisher,
        received: &Received,
        taken: Arc<Taken>,
    ) -> Result<(), Failure> {
        let mut writer = publisher.begin_step().map_err(Failure::publishing)?;
        let own = received.blocks.iter().filter(|(block, _)| block.block.rank == self.rank);
        for (block, bytes) in own {
            let of = received.head.variables.get(block.variable as usize);
            let Some(of) = of else { continue };
            let variable = recorded_step::variable(&received.head, of).map_err(Failure::publishing)?;
            recorded_step::put(&mut writer, &variable, block, bytes).map_err(Failure::Publish)?;
        }
        writer.keep(taken.clone());
        writer.end().map_err(Failure::publishing)?;
        taken.published();
        Ok(())
    }

    /// The stream has ended, and stays until all of it was taken, or was awaited long enough. Says whether it was taken.
    fn outlive(&self, publisher: &Publisher) -> bool {
        let (awaits, began) = (self.gate.options.awaits, Instant::now());
        while !self.is_over() {
            if publisher.sync(NOTICE).is_ok() {
                return true;
            }
            if began.elapsed() < awaits {
                continue;
            }
            if self.rank == Rank(0) {
                let stream = &self.inflow.stream;
                eprintln!(
                    "flexpath: stream {stream:?}: the end of it was not taken within {awaits:?} (--await), and is left out"
                );
            }
            return true;
        }
        false
    }
}
