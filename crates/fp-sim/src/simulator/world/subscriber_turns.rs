//! The turns of a subscriber rank's application: it takes steps, holds them for a while, lets go, changes its mind,
//! leaves.

use crate::simulator::application::App;
use crate::simulator::application::held_step::Held;
use crate::simulator::application::held_step::StepKey;
use crate::simulator::application::subscriber::SubscriberApp;
use crate::simulator::falsification::Falsification;
use crate::simulator::machine::Machine;
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::oracle::Rule;
use crate::simulator::scenario::Leaves;
use crate::simulator::steering::{Asked, urgency_of};
use crate::simulator::world::World;
use fp_proto::commands::{CommandError, Next};
use fp_proto::config::VariableSet;
use fp_proto::event::Event;
use fp_proto::message::Assignment;
use fp_proto::subscriber::SubscriberMachine;
use fp_types::{Rank, StepId};

type Pair<'a> = (&'a mut SubscriberMachine, &'a mut SubscriberApp);

/// Of some steps that a rank holds it says whether they go back, before it closes.
fn say_of(machine: &mut SubscriberMachine, app: &SubscriberApp, (attachment, step): StepKey) -> Option<bool> {
    let is_judged = app.plan.spec.redelivers() && app.attachment == Some(attachment) && step.0 % 3 != 0;
    let goes_back = step.0 % 3 == 1;
    is_judged.then(|| machine.set_verdict(step, goes_back).ok().map(|()| goes_back)).flatten()
}

impl World {
    pub(crate) fn subscriber(&mut self, slot: SlotId) -> Option<Pair<'_>> {
        let own = self.slot_mut(slot);
        match (&mut own.machine, &mut own.app) {
            (Some(Machine::Subscriber(machine)), App::Subscriber(app)) => Some((machine, app)),
            _ => None,
        }
    }

    /// The application's turn.
    pub(crate) fn subscriber_wakes(&mut self, slot: SlotId) {
        self.finish_reads(slot);
        self.take_steps(slot);
        let now = self.now;
        let Some((_, app)) = self.subscriber(slot) else { return };
        if app.wants_to_leave(now) {
            self.subscriber_closes(slot);
            return;
        }
        self.plan_wake(slot);
    }

    fn plan_wake(&mut self, slot: SlotId) {
        let now = self.now;
        let Some((_, app)) = self.subscriber(slot) else { return };
        let reads = app.held.values().filter_map(Held::until);
        let leave = match app.plan.leaves {
            Leaves::At(moment) => Some(moment),
            Leaves::AtEnd | Leaves::After(_) => None,
        };
        let next = reads.chain(leave).chain([app.next_take]).filter(|&at| at > now).min();
        if let Some(at) = next {
            self.wake_at(slot, at);
        }
    }

    fn take_steps(&mut self, slot: SlotId) {
        let now = self.now;
        while let Some((machine, app)) = self.subscriber(slot) {
            if !app.may_take(now) {
                return;
            }
            match machine.next_step(now) {
                Next::Step(assignment) => self.step_taken(slot, assignment),
                Next::NotYet => return,
                Next::Ended(ending) => {
                    app.ended = true;
                    let awaits =
                        app.attachment.is_none() && app.plan.on_loss != fp_proto::config::OnLoss::End;
                    let (cohort, rank) = self.place(slot);
                    let told = self.oracle.subscribers[&cohort].ranks[rank.0 as usize].ended;
                    self.oracle.demand(told || awaits, Rule::EndIsAnEvent, || {
                        format!("{cohort} rank {rank}: {ending:?}")
                    });
                    return;
                }
            }
        }
    }

    fn step_taken(&mut self, slot: SlotId, mut assignment: Assignment) {
        let now = self.now;
        let restarted = self.subscriber(slot).is_some_and(|(_, app)| app.attachment > Some(0));
        let is_other = self.falsifies(Falsification::OtherSkippedTaken)
            || (restarted && self.falsifies(Falsification::OtherSkippedAfterRestart));
        assignment.skipped += u64::from(is_other);
        self.note(slot, || format!("takes step {} (table {})", assignment.step, assignment.table));
        let (cohort, rank) = self.place(slot);
        if self.falsifies(Falsification::TakenAfterClose) {
            self.oracle.reader_closing(cohort, rank, &[]);
        }
        let attachment = self.oracle.delivered(cohort, rank, &assignment);
        let Some((_, app)) = self.subscriber(slot) else { return };
        app.taken += 1;
        let gap = app.plan.gap.draw(&mut app.prng);
        app.next_take = now.after(gap);
        if let Some(attachment) = attachment {
            self.read_step(slot, attachment, assignment);
        }
        self.settle(slot);
        self.consider_reselect(slot);
        self.consider_steering(slot);
    }

    /// The lead asks something of the simulation now and then: sometimes what no simulation takes.
    fn consider_steering(&mut self, slot: SlotId) {
        let now = self.now;
        let (cohort, rank) = self.place(slot);
        let Some((machine, app)) = self.subscriber(slot) else { return };
        let (Some(every), Some(attachment)) = (app.plan.steers_every, app.attachment) else { return };
        if rank != Rank::LEAD || !app.taken.is_multiple_of(every) {
            return;
        }
        app.asked_values += 1;
        let number = app.asked_values * 64 + u64::from(cohort.number());
        let (asked, urgency) = (Asked::of(number), urgency_of(number));
        let (name, value) = asked.sent();
        let answer = machine.steer(now, name, value, urgency);
        self.note(slot, || format!("asks for {asked:?}, {urgency:?}: {answer:?}"));
        if let Ok(id) = answer {
            self.oracle.steers(cohort, attachment, id, asked);
        }
        self.settle(slot);
    }

    /// Lets go of a step; one of an epoch that is over needs no word to the machine.
    pub(crate) fn release_step(&mut self, slot: SlotId, key: StepKey) {
        let now = self.now;
        let (cohort, rank) = self.place(slot);
        let gives_back = self.subscriber(slot).is_some_and(|(_, app)| app.gives_back());
        self.oracle.released(cohort, rank, key, gives_back);
        self.wake_at(slot, now.after(std::time::Duration::from_micros(20)));
        let Some((machine, app)) = self.subscriber(slot) else { return };
        app.held.remove(&key);
        if app.attachment != Some(key.0) {
            return;
        }
        let (step, redelivers) = (key.1, app.plan.spec.redelivers());
        let refused = if redelivers { Ok(()) } else { machine.give_back(now, step) };
        let answer = if gives_back { machine.give_back(now, step) } else { machine.release(now, step) };
        self.note(slot, || format!("lets go of step {step} (gives back: {gives_back}): {answer:?}"));
        let right = redelivers || refused == Err(CommandError::NotRedelivered);
        self.oracle.demand(right, Rule::MisuseIsRefused, || {
            format!("{cohort} rank {rank} gave step {step} back: {refused:?}")
        });
        self.oracle.demand(answer.is_ok(), Rule::CommandsFailForReason, || {
            format!("{cohort} rank {rank}: {answer:?}")
        });
        let Some((machine, _)) = self.subscriber(slot) else { return };
        let again = machine.release(now, key.1);
        self.oracle.demand(again == Err(CommandError::NotHeld(key.1)), Rule::MisuseIsRefused, || {
            format!("{cohort} rank {rank} released step {} twice: {again:?}", key.1)
        });
        self.settle(slot);
    }

    fn subscriber_closes(&mut self, slot: SlotId) {
        let now = self.now;
        self.check_all_views(slot);
        let (cohort, rank) = self.place(slot);
        self.note(slot, || "closes".to_owned());
        let Some((machine, app)) = self.subscriber(slot) else { return };
        app.closing = true;
        let held = std::mem::take(&mut app.held);
        let unsaid = app.plan.gives_back_held();
        let goes_back = held.keys().map(|&key| (key, say_of(machine, app, key).unwrap_or(unsaid)));
        let keys: Vec<(StepKey, bool)> = goes_back.collect();
        app.left_views.extend(
            held.into_iter().flat_map(|(key, held)| held.views.into_iter().map(move |view| (key, view))),
        );
        machine.close(now);
        self.oracle.reader_closing(cohort, rank, &keys);
        self.settle(slot);
    }

    /// The application's events.
    pub(crate) fn subscriber_hears(&mut self, slot: SlotId, event: Event) {
        let (cohort, rank) = self.place(slot);
        match event {
            Event::Opened { epoch } => {
                self.oracle.attached(cohort, rank, epoch, None);
                self.enter_attachment(slot);
            }
            Event::Restarted { epoch, first, .. } => {
                self.oracle.attached(cohort, rank, epoch, Some(first));
                self.enter_attachment(slot);
            }
            Event::AwaitingRestart { .. } => self.awaits_restart(slot, cohort, rank),
            Event::Ended(ending) => self.oracle.stream_ended(cohort, rank, &ending),
            Event::RankLost { .. } => self.oracle.reader_lost(cohort, rank),
            Event::OpenFailed(failure) => self.oracle.reader_failed(cohort, rank, &failure),
            Event::Closed(_) => self.oracle.reader_closed(cohort, rank),
            Event::Resolved { request, outcome } => self.table_answered(slot, request, outcome),
            Event::Contacts { request, contacts, left } => self.contacts_told(slot, request, contacts, left),
            Event::Reselected { first } => self.selection_holds(slot, first),
            Event::Steered { id, outcome } => self.oracle.steered(cohort, id, &outcome),
            Event::Specified { spec, .. } => self.specified(slot, &spec),
            Event::ConditionRefused { .. } => self.condition_refused(slot),
            Event::SubscriptionStarted { .. }
            | Event::MemberJoined { .. }
            | Event::MemberLeft { .. }
            | Event::SubscriptionEnded { .. }
            | Event::Denied(_)
            | Event::StepDropped { .. }
            | Event::StepRejected { .. }
            | Event::RankLagging { .. } => {
                self.oracle.violated(Rule::EventsAreForTheirRole, format!("{cohort} rank {rank}: {event:?}"));
            }
        }
    }

    fn enter_attachment(&mut self, slot: SlotId) {
        let (cohort, rank) = self.place(slot);
        let truth = &self.oracle.subscribers[&cohort];
        let current = truth.current(rank.0 as usize);
        let attached = current.and_then(|current| truth.attachments.get(current));
        let variables = attached.map_or(VariableSet::All, |attached| attached.spec.variables.clone());
        if let App::Subscriber(app) = &mut self.slot_mut(slot).app {
            app.attachment = current;
            app.selections = vec![(StepId(0), variables)];
            app.placed.clear();
            app.told.clear();
        }
    }

    fn awaits_restart(&mut self, slot: SlotId, cohort: CohortId, rank: Rank) {
        let current = self.oracle.subscribers.get(&cohort).and_then(|truth| truth.current(rank.0 as usize));
        if let Some(current) = current {
            let publisher = self.oracle.subscribers[&cohort].attachments[current].publisher;
            self.oracle.check_publisher_loss(publisher, cohort, rank);
        }
        self.oracle.awaiting(cohort, rank);
        if let App::Subscriber(app) = &mut self.slot_mut(slot).app {
            app.attachment = None;
        }
    }
}
