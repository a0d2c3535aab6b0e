//! The turns of a publisher rank's application: it begins, puts, ends or abandons steps at its own pace, and closes.

use crate::simulator::application::App;
use crate::simulator::application::publisher::{Act, PublisherApp};
use crate::simulator::content::{Content, declines};
use crate::simulator::falsification::Falsification;
use crate::simulator::layouts;
use crate::simulator::machine::Machine;
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::oracle::Rule;
use crate::simulator::steering::value_of;
use crate::simulator::world::World;
use fp_proto::commands::{Begin, BegunStep, CommandError};
use fp_proto::event::Event;
use fp_proto::message::{MeasurePart, ScalarValue};
use fp_proto::publisher::PublisherMachine;
use fp_types::{Dtype, StepId, Unmeasured};

/// How often a step begins while effects of the one before are left to do.
const HASTY_PERCENT: u64 = 15;

/// A publisher's machine and application, taken together.
type Pair<'a> = (&'a mut PublisherMachine, &'a mut PublisherApp);

impl World {
    fn publisher(&mut self, slot: SlotId) -> Option<Pair<'_>> {
        let own = self.slot_mut(slot);
        match (&mut own.machine, &mut own.app) {
            (Some(Machine::Publisher(machine)), App::Publisher(app)) => Some((machine, app)),
            _ => None,
        }
    }

    /// The application's turn.
    pub(crate) fn publisher_wakes(&mut self, slot: SlotId) {
        let now = self.now;
        let Some((_, app)) = self.publisher(slot) else { return };
        match app.act {
            Act::Begin | Act::Wait if app.is_done(now) => self.publisher_closes(slot),
            Act::Begin | Act::Wait if now < app.not_before => {
                let at = app.not_before;
                self.wake_at(slot, at);
            }
            Act::Begin | Act::Wait => self.begin_step(slot),
            Act::End(step) => self.end_step(slot, step),
            Act::GiveUp => self.publisher_closes(slot),
            Act::Closing => {}
        }
    }

    fn begin_step(&mut self, slot: SlotId) {
        let now = self.now;
        let Some((machine, app)) = self.publisher(slot) else { return };
        let free = machine.begins_freely();
        let answer = machine.begin_step(now);
        let waits = app.act == Act::Wait;
        let answer = self.falsified_begin(answer);
        if !waits || !matches!(answer, Ok(Begin::Wait { .. })) {
            self.note(slot, || format!("begin: {answer:?}"));
        }
        match answer {
            Ok(Begin::Started(begun)) => {
                // What the machine freed before it began the step is free.
                self.drain(slot);
                self.step_begun(slot, &begun);
            }
            Ok(Begin::Wait { reason, until }) => {
                self.oracle.demand(!free, Rule::ObserverDelaysNoStep, || format!("a wait for {reason:?}"));
                let Some((_, app)) = self.publisher(slot) else { return };
                app.act = Act::Wait;
                let stop = app.stops_at;
                let (cohort, rank) = self.place(slot);
                self.oracle.begin_waits(cohort, rank, &reason, until);
                if let Some(at) = until.into_iter().chain(stop).min() {
                    self.wake_at(slot, at.max(now.after(std::time::Duration::from_micros(1))));
                }
            }
            Err(error) => self.publisher_refused(slot, &error),
        }
        self.settle(slot);
    }

    fn publisher_refused(&mut self, slot: SlotId, error: &CommandError) {
        let (cohort, rank) = self.place(slot);
        let told = self.oracle.publishers[&cohort].ranks[rank.0 as usize].told_lost;
        let right = matches!(error, CommandError::Lost { .. }) && told;
        self.oracle
            .demand(right, Rule::CommandsFailForReason, || format!("{cohort} rank {rank} begins: {error}"));
        self.gives_up(slot);
    }

    fn step_begun(&mut self, slot: SlotId, begun: &BegunStep) {
        let (cohort, rank) = self.place(slot);
        self.oracle.begun(cohort, rank, begun);
        self.oracle.steering_seen(cohort, rank, begun);
        self.oracle.check_pauses(cohort, rank, begun.step);
        let Some((_, app)) = self.publisher(slot) else { return };
        app.begun += 1;
        app.act = Act::End(begun.step);
        let steering = begun.steering.iter();
        app.steering = steering.map(|(change, request)| (*change, value_of(request))).collect();
        app.measures.extend(begun.measures.first().map(|measure| (begun.step, measure.clone())));
        let work = app.work.draw(&mut app.prng);
        self.put_blocks(slot, begun.step, true);
        self.wake_at(slot, self.now.after(work));
    }

    /// Puts the first half of a step's blocks when it begins, the other when it ends.
    fn put_blocks(&mut self, slot: SlotId, step: StepId, first_half: bool) {
        let Some((_, app)) = self.publisher(slot) else { return };
        let blocks = app.content.blocks(step.0, app.rank.0);
        let middle = blocks.len() / 2;
        for (position, block) in blocks.iter().enumerate() {
            if (position < middle) != first_half {
                continue;
            }
            let earlier = blocks[..position].iter().filter(|other| other.variable == block.variable);
            let index = earlier.count() as u32;
            let Some((machine, _)) = self.publisher(slot) else { return };
            let stored = machine.keeps(step, block.variable);
            let (cohort, rank) = self.place(slot);
            self.oracle.put(cohort, rank, step, block.variable, stored);
            let mut block = block.clone();
            if self.falsifies(Falsification::OtherValuesStored) {
                block.values.iter_mut().for_each(|value| *value += 1);
            }
            if stored {
                self.slot_mut(slot).store.put(step.0, index, &block);
            }
        }
    }

    /// Declines what the rank does not take of what it is asked at a step.
    fn answer_steering(&mut self, slot: SlotId, step: StepId) {
        let (_, rank) = self.place(slot);
        let Some((machine, app)) = self.publisher(slot) else { return };
        let declined = std::mem::take(&mut app.steering);
        let declined = declined.into_iter().filter(|(_, value)| declines(*value, rank.0));
        let answers: Vec<_> = declined
            .map(|(change, value)| machine.decline(step, change, format!("{value} is too much")))
            .collect();
        for answer in answers {
            self.answered(slot, "decline", answer);
        }
    }

    /// Says what the rank measured of a step, if it was asked to.
    fn measure(&mut self, slot: SlotId, step: StepId) {
        let Some((machine, app)) = self.publisher(slot) else { return };
        let Some(measure) = app.measures.remove(&step) else { return };
        let part = app.content.measured(step.0, app.rank.0).map(|measured| MeasurePart {
            measure: measure.to_string(),
            part: measured.map_or_else(|()| Vec::new(), |measured| measured.to_le_bytes().to_vec()),
            unmeasured: measured.err().map(|()| Unmeasured::new(app.rank, "it could not".to_owned())),
        });
        let answer = machine.measured(step, part.into_iter().collect());
        self.answered(slot, "measure", answer);
    }

    fn end_step(&mut self, slot: SlotId, step: StepId) {
        self.answer_steering(slot, step);
        let Some((_, app)) = self.publisher(slot) else { return };
        let abandon = app.prng.chance(app.abandon_percent);
        if app.prng.chance(3) {
            self.try_misuse(slot, step);
        }
        if abandon {
            self.abandon_step(slot, step);
        } else {
            self.put_blocks(slot, step, false);
            self.finish_step(slot, step);
        }
        let Some((_, app)) = self.publisher(slot) else { return };
        // Sometimes the next step begins before the coordinator has done what this one asks for.
        let is_hasty = !abandon && app.prng.chance(HASTY_PERCENT);
        if let Act::End(_) = app.act {
            app.act = Act::Begin;
            let gap = app.draw_gap();
            self.wake_at(slot, if is_hasty { self.now } else { self.now.after(gap) });
            if is_hasty {
                return;
            }
        }
        self.settle(slot);
    }

    fn abandon_step(&mut self, slot: SlotId, step: StepId) {
        let now = self.now;
        let (cohort, rank) = self.place(slot);
        let Some((machine, _)) = self.publisher(slot) else { return };
        let answer = machine.abandon_step(now, step);
        self.note(slot, || format!("abandons step {step}: {answer:?}"));
        self.answered(slot, "abandon", answer.clone());
        if answer.is_ok() {
            self.oracle.ended_step(cohort, rank, step, true, 0);
        }
    }

    fn finish_step(&mut self, slot: SlotId, step: StepId) {
        let now = self.now;
        let (cohort, rank) = self.place(slot);
        self.measure(slot, step);
        let Some((_, app)) = self.publisher(slot) else { return };
        let contribution = layouts::contribution(&app.content, step.0, rank.0);
        let values = layouts::scalars(&app.content, step.0, rank.0);
        let Some((machine, _)) = self.publisher(slot) else { return };
        let kept = contribution.variables.iter().filter(|put| machine.keeps(step, &put.def.name));
        let len_bytes = kept.map(|put| put.bytes).sum();
        let answer = machine.end_step(now, step, contribution, values, len_bytes);
        self.note(slot, || format!("ends step {step} with {len_bytes} bytes: {answer:?}"));
        self.answered(slot, "end", answer.clone());
        if answer.is_ok() {
            self.oracle.ended_step(cohort, rank, step, false, len_bytes);
            self.place_blocks(slot, step);
        }
    }

    /// A command on an open step fails only when the stream is lost.
    fn answered(&mut self, slot: SlotId, what: &str, answer: Result<(), CommandError>) {
        let (cohort, rank) = self.place(slot);
        let told = self.oracle.publishers[&cohort].ranks[rank.0 as usize].told_lost;
        self.oracle.demand(answer.is_ok() || told, Rule::CommandsFailForReason, || {
            format!("{cohort} rank {rank}, {what}: {answer:?}")
        });
    }

    /// Commands that make no sense are refused, and change nothing.
    fn try_misuse(&mut self, slot: SlotId, step: StepId) {
        let now = self.now;
        let (cohort, rank) = self.place(slot);
        if self.oracle.publishers[&cohort].ranks[rank.0 as usize].told_lost {
            return;
        }
        let other = if self.falsifies(Falsification::MisuseDone) { step } else { StepId(step.0 + 1) };
        let Some((machine, app)) = self.publisher(slot) else { return };
        let again = machine.begin_step(now);
        let wrong = machine.abandon_step(now, other);
        let huge =
            vec![ScalarValue { name: "huge".to_owned(), rank, dtype: Dtype::U8, bytes: vec![0; 5_000] }];
        let contribution = layouts::contribution(&app.content, step.0, rank.0);
        let large = machine.end_step(now, step, contribution, huge, 0);
        let right = again == Err(CommandError::StepOpen(step))
            && wrong == Err(CommandError::StepNotOpen(other))
            && matches!(large, Err(CommandError::ScalarsTooLarge { .. }));
        self.oracle.demand(right, Rule::MisuseIsRefused, || {
            format!("{cohort} rank {rank}: {again:?}, {wrong:?}, {large:?}")
        });
    }

    fn publisher_closes(&mut self, slot: SlotId) {
        let now = self.now;
        let (cohort, rank) = self.place(slot);
        self.oracle.publisher_closing(cohort, rank);
        self.note(slot, || "closes".to_owned());
        let Some((machine, app)) = self.publisher(slot) else { return };
        app.act = Act::Closing;
        machine.close(now);
        self.settle(slot);
    }

    fn gives_up(&mut self, slot: SlotId) {
        let Some((_, app)) = self.publisher(slot) else { return };
        if matches!(app.act, Act::GiveUp | Act::Closing) {
            return;
        }
        app.act = Act::GiveUp;
        let pause = app.prng.micros(0, 80_000);
        self.slot_mut(slot).wake = None;
        self.wake_at(slot, self.now.after(pause));
    }

    /// The application's events.
    pub(crate) fn publisher_hears(&mut self, slot: SlotId, event: &Event) {
        if let Event::RankLost { .. } = event {
            self.gives_up(slot);
        }
        if let Event::Opened { epoch } = event {
            let now = self.now;
            if let Some((_, app)) = self.publisher(slot) {
                app.not_before = now.after(app.warm_up);
            }
            self.slot_mut(slot).epoch = *epoch;
            self.schedule_faults();
        }
    }

    /// The content of a publisher cohort's stream.
    pub(crate) fn content_of(&self, cohort: CohortId) -> Option<Content> {
        self.oracle.publishers.get(&cohort).map(|truth| truth.content)
    }
}
