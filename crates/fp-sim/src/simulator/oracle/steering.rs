//! What is asked of a simulation: seen by all ranks at the same step, and answered as they answered.

use super::{Oracle, Rule};
use crate::simulator::content::declines;
use crate::simulator::names::CohortId;
use crate::simulator::steering::value_of;
use fp_proto::commands::BegunStep;
use fp_proto::steering::{SteeringOutcome, SteeringRefusal};
use fp_types::{Rank, StepId};

impl Oracle {
    /// A rank began a step, and saw what is asked of it there: what every other rank sees at that step.
    pub(crate) fn steering_seen(&mut self, cohort: CohortId, rank: Rank, begun: &BegunStep) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let seen: Vec<_> =
            begun.steering.iter().map(|(change, request)| (*change, value_of(request))).collect();
        let first = truth.steering.entry(begun.step).or_insert_with(|| seen.clone()).clone();
        let twice = truth
            .steering
            .iter()
            .any(|(step, other)| *step != begun.step && other.iter().any(|one| seen.contains(one)));
        self.demand(first == seen && !twice, Rule::RequestsAreSeenAtSameStep, || {
            format!("{cohort} rank {rank} sees {seen:?} at step {}, another rank {first:?}", begun.step)
        });
    }

    /// A subscriber's lead asks for something: a value, or one that no simulation takes.
    pub(crate) fn steers(&mut self, reader: CohortId, attachment: usize, id: u64, value: Option<u64>) {
        if let Some(truth) = self.subscribers.get_mut(&reader) {
            truth.steers.insert(id, (attachment, value));
        }
    }

    /// It was told what became of that.
    pub(crate) fn steered(&mut self, reader: CohortId, id: u64, outcome: &SteeringOutcome) {
        let asked = self.subscribers.get_mut(&reader).and_then(|truth| truth.steers.remove(&id));
        let is_true = asked.is_some_and(|(attachment, value)| {
            let publisher =
                self.subscribers[&reader].attachments.get(attachment).map(|known| known.publisher);
            publisher.is_some_and(|publisher| self.is_answer(publisher, value, outcome))
        });
        self.demand(is_true, Rule::AnswersToRequestsAreTrue, || {
            format!("{reader} asked for {asked:?}, and was told {outcome:?}")
        });
    }

    fn is_answer(&self, publisher: CohortId, value: Option<u64>, outcome: &SteeringOutcome) -> bool {
        let truth = &self.publishers[&publisher];
        let seen_at = |value: u64| {
            truth
                .steering
                .iter()
                .find(|(_, seen)| seen.iter().any(|(_, other)| *other == value))
                .map(|(step, _)| *step)
        };
        let lowest = |value: u64| (0..truth.plan.size).find(|rank| declines(value, *rank)).map(Rank);
        match (outcome, value) {
            (SteeringOutcome::Refused(SteeringRefusal::Value { .. }), None) => true,
            (SteeringOutcome::Refused(SteeringRefusal::Busy { .. } | SteeringRefusal::Closing), value) => {
                value.is_none_or(|value| seen_at(value).is_none())
            }
            (SteeringOutcome::Applied { step }, Some(value)) => {
                seen_at(value) == Some(*step)
                    && lowest(value).is_none()
                    && self.is_left_by_all(publisher, *step)
            }
            (SteeringOutcome::Declined { step, rank, .. }, Some(value)) => {
                seen_at(value) == Some(*step)
                    && lowest(value) == Some(*rank)
                    && self.is_left_by_all(publisher, *step)
            }
            _ => false,
        }
    }

    /// Whether all ranks have ended the step, or given it up.
    fn is_left_by_all(&self, publisher: CohortId, step: StepId) -> bool {
        let ranks = &self.publishers[&publisher].ranks;
        ranks.iter().all(|rank| rank.steps.get(step.0 as usize).is_some_and(|own| own.said.is_some()))
    }
}
