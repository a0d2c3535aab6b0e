//! A lead that asks for another selection, or for another condition.

use crate::simulator::application::App;
use crate::simulator::names::SlotId;
use crate::simulator::oracle::Rule;
use crate::simulator::scenario::reselection::mistaken;
use crate::simulator::world::World;
use fp_proto::commands::CommandError;
use fp_proto::config::{QueuePolicy, SubscriptionSpec};
use fp_types::{Rank, StepId};
use std::time::Duration;

impl World {
    /// The lead asks for another selection when it is time; others only learn of it.
    pub(super) fn consider_reselect(&mut self, slot: SlotId) {
        let (cohort, rank) = self.place(slot);
        let Some((_, app)) = self.subscriber(slot) else { return };
        let Some(asked) = app.plan.reselects.clone() else { return };
        let is_time = app.taken >= asked.after && app.attachment == Some(0);
        if rank != Rank::LEAD || app.reselected || app.awaits_refusal || !is_time {
            return;
        }
        let spec = asked.of(&app.plan.spec);
        if asked.errs && !app.erred {
            return self.ask_mistakenly(slot, &spec);
        }
        app.reselected = true;
        self.misuse_reselect(slot, &spec);
        let now = self.now;
        let Some((machine, _)) = self.subscriber(slot) else { return };
        let answer = machine.reselect(now, spec.clone());
        self.note(slot, || format!("asks for {:?}, {:?}: {answer:?}", spec.variables, asked.demand));
        if answer.is_ok() {
            self.oracle.reselecting(cohort, &spec, asked.demand);
        }
        self.settle(slot);
    }

    /// Asks for a condition that no publisher knows: it is refused, and the one before holds on.
    fn ask_mistakenly(&mut self, slot: SlotId, spec: &SubscriptionSpec) {
        let (now, cohort) = (self.now, self.place(slot).0);
        let Some((machine, app)) = self.subscriber(slot) else { return };
        let mistaken = mistaken(&app.plan.spec);
        let answers = [machine.reselect(now, mistaken), machine.reselect(now, spec.clone())];
        let is_attached = answers[0].is_ok();
        (app.erred, app.awaits_refusal) = (true, is_attached);
        self.note(slot, || format!("asks for an unknown condition: {answers:?}"));
        let is_right = !is_attached || answers[1] == Err(CommandError::ConditionUnanswered);
        self.oracle.demand(is_right, Rule::MisuseIsRefused, || format!("{cohort}: {answers:?}"));
        self.settle(slot);
    }

    /// Asks for what nobody may change.
    fn misuse_reselect(&mut self, slot: SlotId, spec: &SubscriptionSpec) {
        let (now, cohort) = (self.now, self.place(slot).0);
        let Some((machine, _)) = self.subscriber(slot) else { return };
        let policy = QueuePolicy::WaitAtMost { wait: Duration::from_millis(77) };
        let wrong = SubscriptionSpec { policy, ..spec.clone() };
        let when = if spec.when.is_some() { None } else { Some(b"another".to_vec()) };
        let other = SubscriptionSpec { when, ..spec.clone() };
        let refused = [machine.reselect(now, wrong), machine.reselect(now, other)];
        let kinds = [Err(CommandError::InvalidSpec), Err(CommandError::NotAttached)];
        let is_right = refused.iter().all(|refused| kinds.contains(refused));
        self.oracle.demand(is_right, Rule::MisuseIsRefused, || format!("{cohort}: {refused:?}"));
    }

    pub(super) fn selection_holds(&mut self, slot: SlotId, first: StepId) {
        if let App::Subscriber(app) = &mut self.slot_mut(slot).app
            && let Some(asked) = &app.plan.reselects
        {
            app.selections.push((first, asked.variables.clone()));
        }
    }

    /// A rank was told what its subscription asks for by now.
    pub(super) fn specified(&mut self, slot: SlotId, spec: &SubscriptionSpec) {
        let (cohort, rank) = self.place(slot);
        if rank == Rank::LEAD {
            self.oracle.condition_told(cohort, spec);
        }
    }

    /// The condition that was asked for last is none that the publisher knows.
    pub(super) fn condition_refused(&mut self, slot: SlotId) {
        let (cohort, rank) = self.place(slot);
        let Some((_, app)) = self.subscriber(slot) else { return };
        let is_awaited = std::mem::take(&mut app.awaits_refusal);
        self.oracle.demand(is_awaited, Rule::OnlyUnknownConditionsAreRefused, || {
            format!("{cohort} rank {rank}: its condition is refused")
        });
        self.consider_reselect(slot);
    }
}
