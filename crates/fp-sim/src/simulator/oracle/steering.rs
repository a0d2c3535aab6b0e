//! What is asked of a simulation: seen by all ranks at the same step, and answered as they answered.

use super::truth::{PauseTruth, PublisherTruth};
use super::{Oracle, Rule};
use crate::simulator::content::declines;
use crate::simulator::names::CohortId;
use crate::simulator::steering::{Asked, LONGEST, answered_elsewhere, urgency_of, value_of};
use fp_proto::commands::BegunStep;
use fp_proto::message::ChangeId;
use fp_proto::steering::{SteeringOutcome, SteeringRefusal, SteeringRequest};
use fp_proto::time::Moment;
use fp_types::{Rank, StepId};
use std::time::Duration;

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

    /// A publisher's lead hands on what it was asked for: that which somebody waits for.
    pub(crate) fn handed_on(&mut self, cohort: CohortId, change: ChangeId, request: &SteeringRequest) {
        let asks = |asked: &Asked| asked.sent() == (request.name.as_str(), request.value.clone());
        let mut steers = self.subscribers.values().flat_map(|reader| reader.steers.values());
        let found = steers.find(|(.., asked)| asks(asked)).map(|(.., asked)| *asked);
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        // Each value is asked for once, and pauses by several.
        let is_repeated = truth.handed_on.values().any(|other| other.value == request.value);
        let is_first = truth.handed_on.insert(change, request.clone()).is_none();
        let is_as_asked = found.is_some_and(|asked| match asked {
            Asked::Value(number) => !is_repeated && request.urgency == urgency_of(number),
            Asked::Wrong | Asked::Pause(_) | Asked::Resume => true,
        });
        let is_right = is_as_asked && is_first && truth.plan.delegates_requests;
        self.demand(is_right, Rule::RequestsAreHandedOnOnce, || {
            format!("{cohort} hands on {request:?} as {change:?}")
        });
    }

    /// A subscriber's lead asks for something.
    pub(crate) fn steers(&mut self, reader: CohortId, attachment: usize, id: u64, asked: Asked) {
        let now = self.now;
        self.traffic.requests += 1;
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        truth.steers.insert(id, (attachment, now, asked));
        let publisher = truth.attachments.get(attachment).map(|known| known.publisher);
        let publisher = publisher.and_then(|publisher| self.publishers.get_mut(&publisher));
        match (publisher, asked) {
            (Some(truth), Asked::Resume) => truth.resumes.push((now, None)),
            (Some(truth), Asked::Pause(_)) => truth.pauses_asked.push(now),
            _ => {}
        }
    }

    /// It was told what became of that.
    pub(crate) fn steered(&mut self, reader: CohortId, id: u64, outcome: &SteeringOutcome) {
        let asked = self.subscribers.get_mut(&reader).and_then(|truth| truth.steers.remove(&id));
        let publisher = asked.and_then(|(attachment, ..)| {
            self.subscribers[&reader].attachments.get(attachment).map(|known| known.publisher)
        });
        let is_true = asked
            .zip(publisher)
            .is_some_and(|((_, since, asked), publisher)| self.is_answer(publisher, (since, asked), outcome));
        let is_delegated = |publisher| self.publishers[&publisher].plan.delegates_requests;
        if let Some(((_, since, asked), publisher)) = asked.zip(publisher.filter(|one| !is_delegated(*one))) {
            self.note_pause(publisher, since, asked, outcome);
        }
        self.demand(is_true, Rule::AnswersToRequestsAreTrue, || {
            format!("{reader} asked for {asked:?}, and was told {outcome:?}")
        });
    }

    /// What is known from now on of pauses, and that they were kept by then.
    fn note_pause(&mut self, publisher: CohortId, since: Moment, asked: Asked, outcome: &SteeringOutcome) {
        let now = self.now;
        // One that was asked for in another began with that, so nobody knows for how long it holds.
        let is_pause = |asked: &Asked| matches!(asked, Asked::Pause(_));
        let mut unanswered = self.subscribers.values().flat_map(|reader| reader.steers.values());
        let is_under_way = unanswered.any(|(_, other, asked)| is_pause(asked) && *other < since);
        let Some(truth) = self.publishers.get_mut(&publisher) else { return };
        let is_near = |other: &Moment| *other < since && since.since(*other) < LONGEST * 2;
        let is_in_another = is_under_way || truth.pauses_asked.iter().any(is_near);
        match (asked, outcome) {
            (Asked::Pause(_), SteeringOutcome::Applied { step }) if is_in_another => {
                truth.pauses.push(PauseTruth { step: *step, asked: since, at_most: Duration::ZERO });
            }
            (Asked::Pause(at_most), SteeringOutcome::Applied { step }) => {
                truth.pauses.push(PauseTruth { step: *step, asked: since, at_most });
                let ranks = 0..truth.plan.size;
                ranks.for_each(|rank| self.check_pauses(publisher, Rank(rank), *step));
            }
            (Asked::Resume, _) => {
                let open = truth.resumes.iter_mut().find(|(asked, over)| *asked == since && over.is_none());
                open.into_iter().for_each(|(_, over)| *over = Some(now));
            }
            _ => {}
        }
    }

    /// No rank has begun a step while it was to be paused before that one.
    pub(crate) fn check_pauses(&mut self, cohort: CohortId, rank: Rank, step: StepId) {
        let truth = &self.publishers[&cohort];
        let Some(begun) = truth.ranks[rank.0 as usize].steps.get(step.0 as usize).map(|own| own.begun) else {
            return;
        };
        // Those before one step begin with the first of them.
        let since = |pause: &PauseTruth| {
            let alike = truth.pauses.iter().filter(|other| other.step == pause.step);
            alike.map(|other| other.asked).min().unwrap_or(pause.asked)
        };
        let broken = truth.pauses.iter().copied().find(|pause| {
            pause.step <= step
                && begun < since(pause).after(pause.at_most)
                && !is_resumed(truth, *pause, begun)
        });
        self.demand(broken.is_none(), Rule::PausesHold, || {
            format!("{cohort} rank {rank} began step {step} at {begun:?} in spite of {broken:?}")
        });
    }

    fn is_answer(
        &self,
        publisher: CohortId,
        (since, asked): (Moment, Asked),
        outcome: &SteeringOutcome,
    ) -> bool {
        let truth = &self.publishers[&publisher];
        if truth.plan.delegates_requests {
            return is_answer_elsewhere(truth, asked, outcome);
        }
        // A rank has come to a step when it has left all before.
        let has_come = |step: StepId| truth.ranks.iter().all(|rank| rank.steps.len() as u64 >= step.0);
        match (outcome, asked) {
            (SteeringOutcome::Refused(SteeringRefusal::Value { .. }), Asked::Wrong)
            | (SteeringOutcome::Applied { .. }, Asked::Resume) => true,
            (
                SteeringOutcome::Refused(
                    SteeringRefusal::Busy { .. }
                    | SteeringRefusal::TooOften { .. }
                    | SteeringRefusal::Closing,
                ),
                asked,
            ) => {
                if let Asked::Value(value) = asked {
                    seen_at(truth, value).is_none()
                } else {
                    true
                }
            }
            (SteeringOutcome::Over, asked) => truth.ranks[0].close_called.is_some() && asked != Asked::Wrong,
            (SteeringOutcome::Applied { step }, Asked::Pause(_)) => has_come(*step),
            // Whoever has closed never comes to that step.
            (SteeringOutcome::Declined { step, rank, .. }, Asked::Value(_) | Asked::Pause(_))
                if has_closed_before(truth, *step, *rank) =>
            {
                true
            }
            // Somebody had the simulation go on, and that was not answered before the pause was asked for.
            (SteeringOutcome::Declined { .. }, Asked::Pause(_)) => {
                truth.resumes.iter().any(|(_, over)| over.is_none_or(|over| over >= since))
            }
            (_, Asked::Value(value)) => self.is_answer_of_value(publisher, value, outcome),
            _ => false,
        }
    }

    /// All have left the step at which they saw it, and the lowest rank that declined it is named.
    fn is_answer_of_value(&self, publisher: CohortId, value: u64, outcome: &SteeringOutcome) -> bool {
        let truth = &self.publishers[&publisher];
        let lowest = (0..truth.plan.size).find(|rank| declines(value, *rank)).map(Rank);
        let (step, named) = match outcome {
            SteeringOutcome::Applied { step } => (*step, None),
            SteeringOutcome::Declined { step, rank, .. } => (*step, Some(*rank)),
            SteeringOutcome::Refused(_) | SteeringOutcome::Over | SteeringOutcome::Unanswered { .. } => {
                return false;
            }
        };
        let is_over = |rank: u32| {
            self.is_left(publisher, Rank(rank), step)
                || (named.is_some() && has_closed_before(truth, step, Rank(rank)))
        };
        seen_at(truth, value) == Some(step) && lowest == named && (0..truth.plan.size).all(is_over)
    }

    /// Whether a rank has ended the step, or given it up.
    fn is_left(&self, publisher: CohortId, rank: Rank, step: StepId) -> bool {
        let steps = &self.publishers[&publisher].ranks[rank.0 as usize].steps;
        steps.get(step.0 as usize).is_some_and(|own| own.said.is_some())
    }
}

/// Whether a request was told what somebody else said to it, or was not handed on.
fn is_answer_elsewhere(truth: &PublisherTruth, asked: Asked, outcome: &SteeringOutcome) -> bool {
    let (name, value) = asked.sent();
    let is_handed_on = truth.handed_on.values().any(|request| request.name == name && request.value == value);
    // Others ask for the same pause.
    let is_alone = matches!(asked, Asked::Value(_));
    let lead = &truth.ranks[0];
    let has_closed = lead.close_called.is_some() || lead.told_lost;
    match outcome {
        SteeringOutcome::Refused(SteeringRefusal::Closing) => has_closed && (!is_handed_on || !is_alone),
        SteeringOutcome::Refused(SteeringRefusal::Busy { .. } | SteeringRefusal::TooOften { .. }) => {
            !is_handed_on || !is_alone
        }
        SteeringOutcome::Unanswered { reason } if has_closed && reason.starts_with("the stream ended") => {
            is_handed_on
        }
        SteeringOutcome::Refused(_)
        | SteeringOutcome::Applied { .. }
        | SteeringOutcome::Declined { .. }
        | SteeringOutcome::Unanswered { .. }
        | SteeringOutcome::Over => is_handed_on && *outcome == answered_elsewhere(name, &value),
    }
}

/// Whether somebody had the simulation go on after that pause was asked for, or while it may have been.
fn is_resumed(truth: &PublisherTruth, pause: PauseTruth, begun: Moment) -> bool {
    let mut resumes = truth.resumes.iter();
    resumes.any(|(asked, over)| *asked <= begun && over.is_none_or(|over| over >= pause.asked))
}

/// The step at which that value was seen.
fn seen_at(truth: &PublisherTruth, value: u64) -> Option<StepId> {
    let has_it = |seen: &Vec<_>| seen.iter().any(|(_, other)| *other == value);
    truth.steering.iter().find(|(_, seen)| has_it(seen)).map(|(step, _)| *step)
}

/// Whether a rank has closed, or lost another, before it came to that step.
fn has_closed_before(truth: &PublisherTruth, step: StepId, rank: Rank) -> bool {
    let own = &truth.ranks[rank.0 as usize];
    (own.close_called.is_some() || own.told_lost) && own.steps.len() as u64 <= step.0
}
