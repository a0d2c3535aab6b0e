//! One rank of a relay: takes its part of each step, lets go of it at once, and publishes it again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fp_core::{
    Cohort, EndReason, NextStep, Publisher, Rank, ReadError, StartAt, StepId, StepReader, StepWriter,
    Subscriber, VariableSet,
};

use super::beginning::Beginning;
use super::bounds::StepInMemory;
use super::fate::{Fate, OpeningFate};
use super::options::LIMIT_GAP;
use super::own_block::{self, OwnBlock};
use super::putting;
use super::relay::{Opening, Relay};
use super::shelf::{Shelf, ShelvedStep, StreamFolder};
use crate::crossing::Wanted;
use crate::failure::Failure;
use crate::interrupt::NOTICE;
use crate::selecting::{self, AskedVariables};

/// How long a first step of the past is awaited before a staged stream opens.
const RESERVE_PATIENCE: Duration = Duration::from_secs(2);

/// Why a staged stream is over.
enum Over {
    /// The stream that is taken has ended so.
    Ended(EndReason),
    /// The step that came begins another count.
    Anew,
    /// The user has seen enough, or another rank failed.
    Stopped,
}

/// One rank of a relay.
pub(super) struct Intake<'a> {
    relay: &'a Relay,
    beginning: &'a Beginning,
    rank: Rank,
    /// A step that was taken, and not published yet.
    pending: Option<StepReader>,
    /// The place for steps of this opening.
    shelf: Option<Arc<Shelf>>,
    /// Steps on disk that are to be published before any other.
    kept: BTreeSet<StepId>,
    /// What becomes of these, and of the steps of this opening.
    fate: Arc<OpeningFate>,
    /// How many of those before a kill are awaited. A later opening awaits none of them.
    awaited: u32,
    /// How many subscriptions there are, and were when that was noted last.
    present: u32,
    noted: u32,
    /// The number of the next step.
    next: StepId,
    /// What the publisher was asked for.
    asked: AskedVariables,
}

impl<'a> Intake<'a> {
    pub(super) fn new(relay: &'a Relay, beginning: &'a Beginning, rank: Rank) -> Self {
        Self {
            relay,
            beginning,
            rank,
            pending: None,
            shelf: beginning.shelf.clone(),
            kept: beginning.kept.clone(),
            fate: Arc::new(OpeningFate::awaiting(0)),
            awaited: beginning.subscribers,
            present: 0,
            noted: 0,
            next: StepId(0),
            asked: AskedVariables::of(VariableSet::All),
        }
    }

    /// Takes all that comes.
    pub(super) fn run(mut self) -> Result<(), Failure> {
        let mut source = match self.beginning.has_stream {
            true => Some(self.subscribe()?),
            false => None,
        };
        for opening in 0.. {
            let Some(opening) = self.opening(opening, source.as_mut())? else { break };
            let numbers = (opening.first, opening.goes_on);
            (self.next, self.shelf, self.fate) = (opening.first, opening.shelf, opening.fate);
            let asked = self.relay.publisher_options(self.cohort()?, numbers)?;
            let mut staged = Publisher::open(&self.relay.staged, asked).map_err(Failure::publishing)?;
            let over = self.follow(source.as_mut(), &mut staged);
            let is_over = !matches!(over, Ok(Over::Anew));
            self.leave(staged, over)?;
            if is_over {
                break;
            }
            (self.awaited, self.noted) = (0, 0);
        }
        drop(self.pending.take());
        source.map_or(Ok(()), |source| Ok(source.close()?))
    }

    fn subscribe(&self) -> Result<Subscriber, Failure> {
        let start_at = self.kept.last().map_or(StartAt::OldestReserved, |last| StartAt::After(*last));
        let name = format!("stage-{}", std::process::id());
        let asked = self.relay.subscriber_options(self.cohort()?, start_at)?.with_name(name);
        Subscriber::open(&self.relay.stream, asked).map_err(Failure::publishing)
    }

    fn cohort(&self) -> Result<Cohort, Failure> {
        Cohort::of(self.rank.0, self.beginning.ranks).map_err(Failure::publishing)
    }

    /// How the staged stream opens next; `None` if it does not any more. Rank 0 decides.
    fn opening(
        &mut self,
        number: usize,
        mut source: Option<&mut Subscriber>,
    ) -> Result<Option<Opening>, Failure> {
        if self.rank != Rank(0) {
            return Ok(self.relay.opening(number));
        }
        if let (None, None, Some(source)) = (self.kept.first(), &self.pending, source.as_mut()) {
            // What the publisher has in reserve comes at once, as soon as its way is open.
            let patience = if self.beginning.next == StepId(0) { NOTICE } else { RESERVE_PATIENCE };
            if let NextStep::Step(step) = source.next_step(patience)? {
                self.pending = Some(step);
            }
        }
        let pending = || self.pending.as_ref().map(StepReader::step);
        let first = self.kept.first().copied().or_else(pending).unwrap_or(self.beginning.next);
        let shelf = match number {
            0 => self.beginning.shelf.clone(),
            _ => self.new_shelf()?,
        };
        let fate = Arc::new(OpeningFate::awaiting(self.awaited.max(self.relay.options.subscribers)));
        // Those who subscribed to an earlier stager, of this very run, are not given its steps twice.
        let was_staged = number == 0 && self.beginning.subscribers > 0;
        let continues = self.pending.as_ref().map(StepReader::continues);
        let continues = continues.or_else(|| source.map(|source| source.continues()));
        let goes_on = was_staged || continues.unwrap_or(false);
        let opening = Opening { first, goes_on, shelf, fate };
        self.relay.tell(opening.clone());
        Ok(Some(opening))
    }

    /// A place for the steps of the publisher that has come since. Nothing is on it.
    fn new_shelf(&self) -> Result<Option<Arc<Shelf>>, Failure> {
        let epoch = self.pending.as_ref().and_then(StepReader::epoch).unwrap_or_default();
        let shelf =
            |folder: &StreamFolder| folder.shelf(epoch, self.beginning.ranks, &self.relay.told_damage);
        let shelf = self.beginning.folder.as_ref().map(shelf).transpose()?;
        Ok(shelf.map(|(shelf, _)| Arc::new(shelf)))
    }

    /// Publishes what is on disk, and then what comes.
    fn follow(
        &mut self,
        mut source: Option<&mut Subscriber>,
        staged: &mut Publisher,
    ) -> Result<Over, Failure> {
        let mut ending = source.is_none().then_some(EndReason::Closed);
        loop {
            if self.relay.course.is_over() {
                return Ok(Over::Stopped);
            }
            self.note_subscribers(staged);
            let fate = self.look_at_fate(ending.is_some());
            match fate {
                Fate::Undecided => {}
                Fate::Published => self.publish_kept(staged)?,
                Fate::Left => self.leave_kept(),
            }
            let (Some(source), None) = (source.as_mut(), &ending) else {
                match ending {
                    Some(reason) if fate != Fate::Undecided => return Ok(Over::Ended(reason)),
                    _ => std::thread::sleep(NOTICE / 4),
                }
                continue;
            };
            self.ask_for_wanted(source, staged)?;
            let step = match self.pending.take() {
                Some(step) => step,
                None => match source.next_step(NOTICE)? {
                    NextStep::Step(step) => step,
                    NextStep::NotYet => continue,
                    NextStep::Ended(ended) => {
                        self.count_skipped(ended.skipped);
                        ending = Some(ended.reason);
                        continue;
                    }
                },
            };
            let next = self.kept.last().map_or(self.next, |last| StepId(last.0 + 1));
            if !(next.0..next.0.saturating_add(LIMIT_GAP)).contains(&step.step().0) {
                match self.fate.decide(Fate::Left) {
                    Fate::Published => self.publish_kept(staged)?,
                    Fate::Undecided | Fate::Left => self.leave_kept(),
                }
                self.pending = Some(step);
                return Ok(Over::Anew);
            }
            self.count_skipped(step.skipped());
            match self.pass_on(&step, staged) {
                Err(Failure::Read(error)) if !self.relay.course.is_over() => {
                    self.give_up(step.step(), staged, &error)?;
                }
                passed => passed?,
            }
        }
    }

    /// What becomes of what is on disk; where it is time, that is decided.
    fn look_at_fate(&self, has_ended: bool) -> Fate {
        match has_ended && self.relay.course.is_succeeded() {
            true => self.fate.decide(Fate::Left),
            false => self.fate.now(),
        }
    }

    /// The publisher may have come back, with numbers that go on: whoever looks for that opening finds this shelf.
    fn note_epoch(&self, step: &StepReader) -> Result<(), Failure> {
        let Some(epoch) = step.epoch().filter(|epoch| self.relay.course.epoch() != Some(*epoch)) else {
            return Ok(());
        };
        if self.rank == Rank(0) {
            if let (Some(folder), Some(shelf)) = (&self.beginning.folder, &self.shelf) {
                folder.go_on(shelf, epoch)?;
            }
            self.relay.course.set_epoch(epoch);
        }
        Ok(())
    }

    /// A step could not be read, as its publisher was lost: nobody gets it.
    fn give_up(&mut self, step: StepId, staged: &mut Publisher, error: &ReadError) -> Result<(), Failure> {
        eprintln!("flexpath: {error}; the step is left out");
        self.count_skipped(1);
        // Its number is used up in its turn: behind those that are on disk still.
        if self.fate.now() == Fate::Undecided {
            return Ok(());
        }
        self.publish_kept(staged)?;
        self.skip_to(StepId(step.0 + 1), staged)
    }

    /// Leaves on disk what nobody came for, as another run of the stream is there.
    fn leave_kept(&mut self) {
        let left = std::mem::take(&mut self.kept).len();
        if left > 0 && self.rank == Rank(0) {
            eprintln!(
                "flexpath: stream {:?}: {left} steps of an earlier run are left on disk",
                self.relay.stream
            );
        }
    }

    /// Publishes what is on disk.
    fn publish_kept(&mut self, staged: &mut Publisher) -> Result<(), Failure> {
        while let Some(step) = self.kept.pop_first() {
            let Some(shelf) = &self.shelf else { break };
            let shelved = shelf.read(step, self.rank.0)?;
            self.skip_to(step, staged)?;
            let mut writer = self.begin(staged, shelved.has_texts())?;
            putting::put_shelved(&mut writer, &shelved)?;
            writer.end().map_err(Failure::publishing)?;
        }
        Ok(())
    }

    /// Rank 0 sees who is there, and whether all are back who were.
    fn note_subscribers(&mut self, staged: &Publisher) {
        if self.rank != Rank(0) {
            return;
        }
        let present = staged.wait_for_subscriptions(0, Duration::ZERO);
        self.present = present;
        if self.fate.now() == Fate::Undecided {
            let may_be_late = self.beginning.has_stream || present > 0;
            let is_late = may_be_late && Instant::now() >= self.beginning.awaits;
            let asked = self.relay.options.subscribers;
            let awaited = match self.awaited {
                // Nothing went before.
                0 => asked,
                before if !is_late => before.max(asked),
                _ => asked.min(1),
            };
            if present >= awaited {
                self.fate.decide(Fate::Published);
            }
        }
        let is_decided = self.fate.now() != Fate::Undecided;
        let shelf = self.shelf.as_ref().filter(|_| is_decided && present != self.noted);
        if let Some(shelf) = shelf {
            let noted = shelf.note_subscribers(present);
            if noted.is_ok() {
                self.noted = present;
            }
            self.relay.note_disk(noted.as_ref().map(drop));
        }
    }

    /// With `--narrow` rank 0 asks the publisher for what those who are there want, and for all while nobody is.
    fn ask_for_wanted(&mut self, source: &mut Subscriber, staged: &Publisher) -> Result<(), Failure> {
        if self.rank != Rank(0) || !self.relay.options.narrow {
            return Ok(());
        }
        let is_known = self.fate.now() == Fate::Published && self.present > 0;
        let wanted = if is_known { Wanted::of(staged.wanted_variables()) } else { Wanted::default() };
        if let Some(first) = self.asked.follow(wanted.variables(), source)? {
            let (stream, asked) = (&self.relay.stream, &self.asked);
            eprintln!(
                "flexpath: stream {stream:?}: from step {first} on {asked} is staged, as it is asked for"
            );
        }
        Ok(())
    }

    fn count_skipped(&self, skipped: u64) {
        if self.rank == Rank(0) {
            self.relay.counts.skipped.fetch_add(skipped, Ordering::Relaxed);
        }
    }

    /// Nobody gets the steps before this one: they are nowhere.
    fn skip_to(&mut self, step: StepId, staged: &mut Publisher) -> Result<(), Failure> {
        while self.next < step {
            staged.begin_stored_step().map_err(Failure::publishing)?.abandon();
            self.next = StepId(self.next.0 + 1);
        }
        Ok(())
    }

    /// Begins the next step; where it takes memory it waits for room, as any publisher does.
    fn begin(&mut self, staged: &mut Publisher, needs_room: bool) -> Result<StepWriter, Failure> {
        let begun = if needs_room { staged.begin_step() } else { staged.begin_stored_step() };
        let writer = begun.map_err(Failure::publishing)?;
        self.next = StepId(self.next.0 + 1);
        Ok(writer)
    }

    /// Publishes what this rank has of a step, or keeps it for those who are not back yet. The publisher may use its
    /// memory again once that is done.
    fn pass_on(&mut self, step: &StepReader, staged: &mut Publisher) -> Result<(), Failure> {
        let variables = selecting::selected(step)?;
        let blocks = own_block::own_blocks(self.relay, step, &variables, (self.rank, self.beginning.ranks))?;
        // Its ranks have a place on this shelf.
        self.note_epoch(step)?;
        let len_bytes: u64 = blocks.iter().map(OwnBlock::len_bytes).sum();
        let place = self.shelf.clone();
        let is_durable = self.relay.options.durable;
        let shelf = place.as_deref().filter(|_| is_durable || self.relay.may_use_disk());
        let is_shelved = if self.fate.now() != Fate::Undecided {
            let is_needed = staged.has_subscribers() || self.relay.options.reserve.keeps_any();
            // Room for one step more is left for what is read from disk, and descriptors for what else there is.
            let read_bytes = if shelf.is_some() { len_bytes } else { 0 };
            let options = &self.relay.options;
            let spare = || options.spare_bytes(staged.spare_bytes()).saturating_sub(read_bytes);
            let bounds = &self.relay.bounds;
            let may_add = shelf.is_none() || !bounds.has_many();
            let promised = may_add.then(|| bounds.promise(len_bytes, spare)).flatten();
            let shelved = match shelf.filter(|_| is_needed && (is_durable || promised.is_none())) {
                Some(shelf) => putting::shelve((self.relay, self.rank), shelf, step, (&variables, &blocks))?,
                None => None,
            };
            self.publish_kept(staged)?;
            self.skip_to(step.step(), staged)?;
            self.publish(step, staged, &blocks, (shelved.as_ref(), promised.is_some()))?;
            // Before the publisher may let go of it: whoever is given it is awaited after a kill.
            self.note_subscribers(staged);
            shelved.is_some()
        } else {
            let shelved = match shelf {
                Some(shelf) => putting::shelve((self.relay, self.rank), shelf, step, (&variables, &blocks))?,
                None => None,
            };
            let Some(shelved) = shelved else {
                // There is no place where it could wait.
                self.fate.decide(Fate::Published);
                return self.pass_on(step, staged);
            };
            shelved.leave();
            self.kept.insert(step.step());
            true
        };
        let counts = &self.relay.counts;
        counts.len_bytes.fetch_add(len_bytes, Ordering::Relaxed);
        if self.rank == Rank(0) {
            counts.steps.fetch_add(1, Ordering::Relaxed);
            counts.shelved.fetch_add(is_shelved.into(), Ordering::Relaxed);
        }
        Ok(())
    }

    fn publish(
        &mut self,
        step: &StepReader,
        staged: &mut Publisher,
        blocks: &[OwnBlock<'_>],
        (shelved, has_room): (Option<&ShelvedStep>, bool),
    ) -> Result<(), Failure> {
        let needs_room = shelved.is_none_or(ShelvedStep::has_texts);
        let mut writer = self.begin(staged, needs_room && !has_room)?;
        if has_room {
            writer.keep(StepInMemory::of(&self.relay.bounds));
        }
        match shelved {
            Some(shelved) if !has_room => putting::put_shelved(&mut writer, shelved)?,
            shelved => {
                shelved.into_iter().for_each(|shelved| writer.keep(shelved.hold()));
                blocks.iter().try_for_each(|own| putting::put(&mut writer, step, own))?;
            }
        }
        writer.end().map_err(Failure::publishing)
    }

    /// Closes the staged stream when its time has come.
    fn leave(&self, staged: Publisher, over: Result<Over, Failure>) -> Result<(), Failure> {
        let course = &self.relay.course;
        let mut is_taken = true;
        let failure = match over {
            Ok(Over::Ended(reason)) => {
                self.tell_end(&reason);
                is_taken = self.outlive(&staged, self.relay.options.reserve.keeps_any());
                None
            }
            Ok(Over::Anew) => {
                is_taken = self.outlive(&staged, false);
                None
            }
            Ok(Over::Stopped) => None,
            // What is interrupted fails in the midst of something.
            Err(_) if course.is_interrupted() => None,
            Err(failure) => Some(failure),
        };
        let is_left = !is_taken && !course.is_over();
        if is_left {
            eprintln!("flexpath: stream {:?}: what was not taken of it is left on disk", self.relay.stream);
        }
        let stays = failure.is_some() || is_left || (course.is_interrupted() && self.relay.options.durable);
        if let Some(shelf) = self.shelf.as_ref().filter(|_| stays) {
            shelf.stay();
        }
        let closed = staged.close();
        if let Some(shelf) = self.shelf.as_ref().filter(|_| failure.is_none() && self.rank == Rank(0)) {
            // Who was there knows that it has ended.
            self.relay.note_disk(shelf.note_subscribers(0).as_ref().map(drop));
        }
        match failure {
            Some(failure) => Err(failure),
            // Who is asked to end, or to make way for another run, does not wait for all to have read.
            None if course.is_over() || !is_taken => Ok(()),
            None => Ok(closed?),
        }
    }

    fn tell_end(&self, reason: &EndReason) {
        if self.rank == Rank(0) && !matches!(reason, EndReason::Closed) {
            eprintln!("flexpath: stream {:?}: {reason}", self.relay.stream);
        }
    }

    /// The stream is over: what of it is here stays until it was taken, or as long as a reserve is to be there. It makes
    /// way for another run after a while.
    /// Says whether all was taken.
    fn outlive(&self, staged: &Publisher, is_reserve: bool) -> bool {
        let course = &self.relay.course;
        let mut pressed: Option<Instant> = None;
        while !course.is_over() {
            let is_taken = staged.sync(NOTICE).is_ok();
            if self.pending.is_some() || course.is_succeeded() {
                pressed.get_or_insert_with(Instant::now);
            }
            let is_long = pressed.is_some_and(|since| since.elapsed() >= self.relay.options.awaits);
            let is_kept = is_reserve && pressed.is_none();
            if (is_taken && !is_kept) || is_long {
                return is_taken;
            }
            if is_taken {
                std::thread::sleep(NOTICE);
            }
        }
        false
    }
}
