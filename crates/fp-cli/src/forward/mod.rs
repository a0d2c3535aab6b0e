//! `flexpath forward`: brings a stream to a gate, over one connection that it dials. Nothing listens here, so it goes
//! through a firewall that lets connections out, and through address translation. (SAVIME's staging, section 3.1:
//! forwarding; here with what was not taken kept until it is.)

mod errands;
mod held;
mod opening;
mod paced;
mod passage;
mod selecting;
mod sent;

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fp_core::rendezvous::{Entry, Rendezvous};
use fp_core::{
    EndReason, Epoch, Interrupt as Asked, Misuse, NextStep, OnLoss, QueuePolicy, ReadError, StartAt, StepId,
    StepReader, Subscriber, SubscriberOptions, TlsOptions, Token, VariableSet,
};

use crate::arguments::ForwardOptions;
use crate::credentials::Credentials;
use crate::crossing::{Mark, Note};
use crate::delegate::Delegate;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};
use crate::outage::Outage;
use crate::publisher_size;
use crate::recorded_step;
use crate::selecting::AskedVariables;
use errands::Errands;
use held::{Held, Other};
use paced::Paced;
use passage::{Barred, Passage, Unsent};
use sent::Sent;

/// How often it says how far it is.
const PROGRESS: Duration = Duration::from_secs(10);

/// How long a first step of the past is awaited before the gate opens the stream.
const RESERVE_PATIENCE: Duration = Duration::from_secs(2);

/// How long answers to requests are awaited where the stream has ended.
const ANSWERS: Duration = Duration::from_secs(10);

/// How soon a gate that is away is dialled again, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// What is brought where.
struct Forward<'a> {
    options: &'a ForwardOptions,
    rendezvous: Rendezvous,
    credentials: Credentials,
    token: Option<Token>,
    tls: Option<TlsOptions>,
    interrupt: &'a Interrupt,
    /// Under which name.
    forwarded: String,
    /// What this process calls itself.
    name: String,
    held: Arc<Held>,
    /// What subscribers of the gate ask of the simulation.
    errands: Arc<Errands>,
    paced: Paced,
    passage: Option<Passage>,
    /// The opening that steps are of, and the number of the next that is not held yet.
    epoch: Epoch,
    next: StepId,
    /// How many ranks each opening has of which steps came.
    sizes: Vec<(Epoch, u32)>,
    /// The opening that the gate was told of last over this connection.
    told: Option<Epoch>,
    /// When the gate was connected last, and what was paused for before.
    connected: Option<(Instant, Duration)>,
    /// The variables that the publisher was asked for.
    asked: AskedVariables,
    /// Steps that may be held at one time; 0 before the stream is subscribed to.
    window: u32,
    /// How often the stream was subscribed to; whether the last time said what went before; and whether an opening was
    /// brought to its end.
    subscribed: u32,
    resumes: bool,
    has_ended: bool,
    steps: u64,
    sent: Sent,
    skipped: u64,
}

/// Brings the stream until the user has seen enough; with `--once` until it has ended.
pub(crate) fn run(rendezvous: Rendezvous, options: &ForwardOptions) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    let rendezvous = credentials.shown_to(rendezvous)?;
    let (token, tls) = credentials.shown().map_err(|error| Failure::Connection(error.into()))?;
    let interrupt = Interrupt::watch()?;
    let delegate = (!options.no_requests).then(|| Delegate {
        stream: options.stream.clone(),
        rendezvous: rendezvous.clone(),
        credentials: credentials.clone(),
        is_over: Arc::new(interrupt.asked()),
    });
    let mut forward = Forward {
        options,
        rendezvous,
        credentials,
        token,
        tls,
        interrupt: &interrupt,
        forwarded: options.forwarded.replace("{}", &options.stream),
        name: format!("{}-{:016x}", std::process::id(), unique()),
        held: Arc::default(),
        errands: Arc::new(Errands::new(delegate)),
        paced: Paced::new(options.rate.map(|rate| rate.0)),
        passage: None,
        epoch: Epoch::default(),
        next: StepId(0),
        sizes: Vec::new(),
        told: None,
        connected: None,
        asked: AskedVariables::of(VariableSet::All),
        window: 0,
        subscribed: 0,
        resumes: false,
        has_ended: false,
        steps: 0,
        sent: Sent::default(),
        skipped: 0,
    };
    let outcome = forward.run();
    drop(forward.passage.take());
    eprintln!("flexpath: stream {:?}: {}", options.stream, forward.progress());
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    outcome
}

/// A number that no other process of this moment has.
fn unique() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// Whether a step could not be read as its publisher is lost, or the subscription that it is of is no more.
fn is_lost(failure: &Failure) -> bool {
    let Failure::Read(error) = failure else { return false };
    matches!(**error, ReadError::Lost { .. } | ReadError::Misuse { source: Misuse::Closed, .. })
}

/// How many ranks there are at least, by the blocks of a step.
fn least_size(step: &StepReader) -> u32 {
    let variables = selecting::crossing(step, &VariableSet::All).unwrap_or_default();
    let blocks = recorded_step::all_blocks(step, &variables).unwrap_or_default();
    blocks.iter().map(|(block, ..)| block.block.rank.0.saturating_add(1)).max().unwrap_or(1)
}

impl Forward<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        let mut done = None;
        // Whether it is let in there is known before anything is awaited here.
        self.connect()?;
        while let Some(epoch) = self.find(done)? {
            let (last, lost) = self.bring(epoch)?;
            (done, self.window) = (Some(last), 0);
            match lost {
                Some(failure) if self.options.once => return Err(failure),
                Some(failure) => eprintln!("flexpath: {failure}"),
                None if self.options.once || self.is_over() => break,
                None => {}
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.interrupt.is_requested()
    }

    /// The stream's next opening, when it is there; none if the user has seen enough.
    fn find(&self, done: Option<Epoch>) -> Result<Option<Epoch>, Failure> {
        let (began, mut is_told, mut outage) = (Instant::now(), false, Outage::of(done.is_some()));
        while !self.is_over() {
            let fits = |entry: &Entry| entry.name == self.options.stream && Some(entry.epoch) != done;
            let living = outage.passed(self.rendezvous.living(fits))?;
            if let Some(entry) = living.into_iter().flatten().next() {
                return Ok(Some(entry.epoch));
            }
            if !is_told && began.elapsed() > PROGRESS / 5 {
                eprintln!("flexpath: stream {:?} is not there; it is awaited", self.options.stream);
                is_told = true;
            }
            thread::sleep(NOTICE);
        }
        Ok(None)
    }

    /// Brings an opening of the stream, and those that go on with it, to the end: which was the last, and whether its
    /// publisher was lost.
    fn bring(&mut self, epoch: Epoch) -> Result<(Epoch, Option<Failure>), Failure> {
        self.held.note_final(false);
        let (mut source, epoch) = self.subscribe(epoch, None)?;
        (self.epoch, self.next, self.told, self.sizes) = (epoch, StepId(0), None, Vec::new());
        if let Some((ranks, next)) = self.ask_size() {
            self.sizes.push((epoch, ranks));
            self.next = next;
        }
        // What the publisher has in reserve comes at once, as soon as its way is open. Then its first number counts.
        let patience = if self.next == StepId(0) { NOTICE } else { RESERVE_PATIENCE };
        match source.next_step(patience)? {
            NextStep::Step(step) => self.hold(step),
            NextStep::NotYet | NextStep::Ended(_) => self.begin(&source),
        }
        let mut ending = None;
        let (mut told, mut ended) = (Instant::now(), Instant::now());
        while !self.is_over() {
            if told.elapsed() >= PROGRESS {
                eprintln!("flexpath: stream {:?}: {} so far", self.options.stream, self.progress());
                told = Instant::now();
            }
            if !self.connect()? {
                break;
            }
            self.answer();
            self.send_all();
            self.select(&mut source)?;
            if self.away()?.is_some() {
                continue;
            }
            if ending.is_none() {
                ending = self.take(&mut source)?;
                self.held.note_final(ending.is_some());
                ended = Instant::now();
            } else if self.held.other() == Other::Ended {
                break;
            } else {
                self.tell_end(ended);
                // What is under way is awaited.
                self.held.wait(NOTICE);
            }
        }
        if let (Some(passage), Other::Ended) = (&self.passage, self.held.other()) {
            // A gate that does not hear it any more waits for a while, and ends as well.
            let _ = passage.tell(&Note::Ended);
        }
        // What comes next comes over another connection, and who subscribed has gone with the stream.
        self.passage = None;
        self.held.note_subscribers(0);
        self.has_ended = true;
        let last = self.epoch;
        match ending {
            Some(reason) if !self.is_over() && !matches!(reason, EndReason::Closed) => {
                let (stream, ending) = (self.options.stream.clone(), reason.to_string());
                Ok((last, Some(Failure::Ended { stream, ending })))
            }
            _ => source.close().map(|()| (last, None)).map_err(Failure::from),
        }
    }

    /// Takes a step, if one may be held and comes; why none comes any more.
    fn take(&mut self, source: &mut Subscriber) -> Result<Option<EndReason>, Failure> {
        if self.held.is_full(self.window as usize) {
            self.held.wait(NOTICE);
            return Ok(None);
        }
        match source.next_step(NOTICE)? {
            NextStep::Step(step) => self.hold(step),
            NextStep::NotYet => {}
            NextStep::Ended(ended) => {
                self.skipped += ended.skipped;
                if !matches!(ended.reason, EndReason::Expelled { .. }) {
                    return Ok(Some(ended.reason));
                }
                *source = self.come_again(&ended.reason)?;
            }
        }
        Ok(None)
    }

    /// Tells the gate that no step comes any more, once over each connection. The last one came then. Behind that a gate hears
    /// nothing for as long as its subscribers take, so what became of requests is told before.
    fn tell_end(&self, ended: Instant) {
        let is_told = !self.errands.are_under_way() || ended.elapsed() >= ANSWERS;
        // What the gate is not ready for is sent before.
        let is_all_sent = is_told && !self.held.has_unsent();
        let Some(passage) = self.passage.as_ref().filter(|_| is_all_sent && self.held.await_end()) else {
            return;
        };
        if let Err(error) = passage.tell(&Note::Ended) {
            self.held.note_other(Other::Cut(error.to_string()));
        }
    }

    /// The publisher goes on without this subscriber, which held it up too long, and which comes again.
    fn come_again(&mut self, reason: &EndReason) -> Result<Subscriber, Failure> {
        let stream = &self.options.stream;
        eprintln!(
            "flexpath: stream {stream:?}: {reason}; it is subscribed to again. Put `flexpath stage` before this"
        );
        // What was held has gone with the subscription. The publisher may have it in reserve.
        let unsent = self.held.lose_all(self.awaited_until());
        let next = unsent.map_or(self.next, |unsent| unsent.min(self.next));
        let (source, epoch) = self.subscribe(self.epoch, Some((self.epoch, next)))?;
        self.epoch = epoch;
        Ok(source)
    }

    /// Subscribes, to go on with a step of an opening, or with what the gate has not: to which opening that is now.
    fn subscribe(
        &mut self,
        epoch: Epoch,
        next: Option<(Epoch, StepId)>,
    ) -> Result<(Subscriber, Epoch), Failure> {
        self.connect()?;
        let next = next.or_else(|| self.held.behind());
        let source = Subscriber::open(&self.options.stream, self.asked(next)).map_err(Failure::publishing)?;
        self.subscribed += 1;
        self.resumes = next.is_some();
        let found = source.epoch().unwrap_or(epoch);
        Ok((source, found))
    }

    fn asked(&mut self, next: Option<(Epoch, StepId)>) -> SubscriberOptions {
        let reserve = self.passage.as_ref().map_or(0, |passage| passage.reserve);
        self.window = self.options.window.saturating_add(reserve);
        let window = self.window;
        let wanted = self.wanted();
        self.asked = AskedVariables::of(wanted.clone());
        let mut asked = SubscriberOptions::default()
            .with_rendezvous(self.rendezvous.clone())
            .with_name(format!("forward-{}", std::process::id()))
            .with_start_at(StartAt::OldestReserved)
            .with_limit_steps(window)
            .with_credit_steps(window)
            .with_on_loss(OnLoss::AwaitRestart(self.options.awaits))
            .with_held_again(true)
            .with_interrupt(Asked::new(self.interrupt.asked()));
        (asked.variables, asked.resumption) = (wanted, next);
        if self.options.lossy {
            asked = asked.with_policy(QueuePolicy::DropOldest);
        }
        self.credentials.set(&mut asked.link);
        asked
    }

    /// Nothing where the gate listens, and why where it is away.
    fn away(&self) -> Result<Option<String>, Failure> {
        match self.held.other() {
            Other::There | Other::Ended => Ok(None),
            Other::Cut(why) => Ok(Some(why)),
            Other::Refuses(why) => Err(Failure::Gate(format!("{}: {why}", self.options.to))),
        }
    }

    /// Sees that there is a connection to the gate, and dials it until there is; false if the user has seen enough.
    fn connect(&mut self) -> Result<bool, Failure> {
        let away = self.away()?;
        match (&self.passage, away) {
            (Some(_), None) => return Ok(true),
            (Some(_), Some(why)) => eprintln!("flexpath: the gate {} is away: {why}", self.options.to),
            (None, _) => {}
        }
        self.passage = None;
        let (began, mut told) = (Instant::now(), String::new());
        let mut pause = AGAIN.0;
        if let Some((at, before)) = self.connected {
            // One that is cut at once each time is not dialled without end.
            pause = if at.elapsed() < AGAIN.1 { (before * 2).min(AGAIN.1) } else { AGAIN.0 };
            thread::sleep(pause);
        }
        while !self.is_over() {
            let why = match self.dial() {
                // Held for a reserve alone, no step would ever come behind them.
                Ok(passage) if self.window > 0 && passage.reserve >= self.window => {
                    let why = format!("it keeps {} steps now: start this command anew", passage.reserve);
                    return Err(Failure::Gate(why));
                }
                Ok(passage) => {
                    let (stream, to) = (&self.options.stream, &self.options.to);
                    eprintln!("flexpath: stream {stream:?} goes to the gate {to} as {:?}", self.forwarded);
                    if !passage.hears_of_runs() {
                        let old = "is of a version that is not told when a run begins anew";
                        eprintln!("flexpath: the gate {to} {old}");
                    }
                    (self.passage, self.told) = (Some(passage), None);
                    self.connected = Some((Instant::now(), pause));
                    return Ok(true);
                }
                Err(Barred::Lasting(failure)) => return Err(failure),
                Err(Barred::Refused(why)) => return Err(Failure::Gate(why)),
                Err(Barred::Passing(why)) => why,
            };
            if began.elapsed() >= self.options.awaits {
                let awaited = self.options.awaits;
                return Err(Failure::Gate(format!("it was awaited for {awaited:?} (--await): {why}")));
            }
            if told != why && began.elapsed() > Duration::from_secs(1) {
                eprintln!("flexpath: the gate is awaited: {why}");
                told = why;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(AGAIN.1);
        }
        Ok(false)
    }

    /// Holds a step until it is taken at the other end.
    fn hold(&mut self, step: StepReader) {
        self.epoch = step.epoch().unwrap_or(self.epoch);
        if !self.sizes.iter().any(|(epoch, _)| *epoch == self.epoch) {
            // It comes of a publisher that is there, or was just now.
            let before = self.sizes.last().map_or(1, |(_, ranks)| *ranks);
            let ranks = self.ask_size().map_or_else(|| least_size(&step).max(before), |(ranks, _)| ranks);
            self.sizes.push((self.epoch, ranks));
        }
        self.skipped += step.skipped();
        self.next = StepId(step.step().0 + 1);
        let of = (self.subscribed, step.attachment());
        let run = self.run_of(step.attachment(), step.continues(), step.step());
        self.held.push(Mark { epoch: self.epoch, step: step.step() }, step, (of, run));
    }

    fn note_unsent(&mut self, mark: Mark, unsent: Unsent) {
        match unsent {
            Unsent::Cut(error) => self.held.note_other(Other::Cut(error.to_string())),
            Unsent::Read(failure) => {
                if is_lost(&failure) {
                    // A publisher that comes back may have it still.
                    eprintln!("flexpath: {failure}; the step is awaited once more");
                    self.held.lose(mark, self.awaited_until());
                } else {
                    eprintln!("flexpath: {failure}; the step is left out");
                    self.held.give_up(mark);
                }
                // Half of it may be on its way: only a new connection says that there is no other half.
                self.held.note_other(Other::Cut(format!("half of step {} went to it", mark.step)));
            }
        }
    }

    /// Until when a step that is lost is awaited: as long as its publisher, and until that says what it has.
    fn awaited_until(&self) -> Instant {
        let (now, long) = (Instant::now(), Duration::from_secs(1 << 30));
        now.checked_add(self.options.awaits.saturating_add(PROGRESS)).unwrap_or(now + long)
    }

    fn send(&mut self, mark: Mark, step: &StepReader) -> Result<Sent, Unsent> {
        self.tell_opening(mark, false)?;
        let Some(passage) = &self.passage else {
            return Err(Unsent::Cut(io::ErrorKind::NotConnected.into()));
        };
        passage.send(step, &self.wanted(), &mut self.paced)
    }

    /// How many ranks the publisher has, and the number of its next step; none if nobody says it.
    fn ask_size(&self) -> Option<(u32, StepId)> {
        let whom = (&self.rendezvous, &self.credentials);
        publisher_size::ask(&self.options.stream, whom, PROGRESS, || self.is_over()).ok()
    }

    /// How far it is, in words.
    fn progress(&self) -> String {
        let (steps, skipped, sent) = (self.steps, self.skipped + self.held.given_up_steps(), self.sent);
        let (taken, held) = (self.held.taken_steps(), self.held.count());
        let awaits =
            if self.held.awaits_run() { "; the gate awaits those who have the run before" } else { "" };
        format!("{steps} steps sent: {sent}; {taken} taken, {held} under way, {skipped} skipped{awaits}")
    }
}
