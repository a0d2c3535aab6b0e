//! Where a falsification takes the place of what a machine did.

use crate::simulator::falsification::{Falsification, Flaw};
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::world::{Due, World};
use fp_proto::access::{Action, Denial};
use fp_proto::commands::{Begin, BegunStep, CommandError};
use fp_proto::config::ContactText;
use fp_proto::effect::{DisconnectReason, Effect};
use fp_proto::event::{CloseOutcome, Event, MemberEnd, OpenFailure, OpenWait};
use fp_proto::few::Few;
use fp_proto::message::{MemberId, Message};
use fp_proto::outcome::EndReason;
use fp_proto::status::report::{NoAnswer, StatusReport, Unanswered};
use fp_types::{Epoch, Rank, StepId, SubscriptionId};

/// An epoch of nobody.
const NO_EPOCH: Epoch = Epoch(1);

impl World {
    /// Whether this is false in this run.
    pub(crate) fn falsifies(&self, falsification: Falsification) -> bool {
        self.flaw == Some(Flaw::Falsification(falsification))
    }

    /// What comes instead of an effect of a machine. It may be nothing, or come later.
    pub(crate) fn falsified(&mut self, slot: SlotId, effect: Effect) -> Vec<Effect> {
        let Some(Flaw::Falsification(falsification)) = self.flaw else { return vec![effect] };
        match effect {
            Effect::Assigned { subscription, member, step } => {
                let is_lead = self.slot(slot).rank.is_lead();
                let given = |member, step| Effect::Assigned { subscription, member, step };
                let dropped = Effect::Event(Event::StepDropped { subscription, step });
                match (falsification, is_lead) {
                    (Falsification::AnotherMemberHeard, false) => vec![given(MemberId(member.0 + 1), step)],
                    (Falsification::FirstStepAssigned, true) => vec![given(member, StepId(0))],
                    (Falsification::NextStepAssigned, true) => vec![given(member, StepId(step.0 + 1))],
                    (Falsification::PassedStepAssigned, true) => {
                        vec![given(member, self.passed_step(slot, subscription).unwrap_or(step))]
                    }
                    (Falsification::StrangerAssigned, true) => vec![given(MemberId(member.0 + 1_000), step)],
                    (Falsification::AssignedTwice, true) => vec![given(member, step), given(member, step)],
                    (Falsification::AssignedAndDropped, true) => vec![given(member, step), dropped],
                    _ => vec![given(member, step)],
                }
            }
            Effect::Free { step, retire } => match (falsification, Effect::Free { step, retire }) {
                (Falsification::AlwaysRetired, _) => vec![Effect::Free { step, retire: true }],
                (Falsification::UnbegunFreed, _) => {
                    vec![Effect::Free { step: StepId(step.0 + 1_000), retire }]
                }
                (Falsification::FreedTwice, freed) => vec![freed.clone(), freed],
                (Falsification::NeverFreed, _) => Vec::new(),
                (_, freed) => vec![freed],
            },
            Effect::Send { to, message } => match (falsification, &message) {
                (Falsification::LinkBroken, Message::Release { .. }) => {
                    vec![Effect::Disconnect { peer: to, reason: DisconnectReason::Done }]
                }
                (Falsification::ObserversUnanswered, Message::Status { .. }) => Vec::new(),
                _ => vec![Effect::Send { to, message: falsified_message(falsification, message) }],
            },
            Effect::Event(event) => self.falsified_event(falsification, slot, event),
            Effect::Dial { .. }
            | Effect::Disconnect { .. }
            | Effect::PublishName { .. }
            | Effect::WithdrawName { .. }
            | Effect::LogRequest { .. }
            | Effect::Delegate { .. }
            | Effect::Lookup { .. } => vec![effect],
        }
    }

    /// The latest step below the last that a subscription was given, and was not given itself.
    fn passed_step(&self, slot: SlotId, subscription: SubscriptionId) -> Option<StepId> {
        let truth = self.oracle.publishers.get(&self.slot(slot).cohort)?;
        let assignments = &truth.subscriptions.get(&subscription)?.assignments;
        let last = assignments.iter().map(|(step, _)| step.0).max()?;
        let is_given = |step: &u64| assignments.iter().any(|(given, _)| given.0 == *step);
        (0..last).rev().find(|step| !is_given(step)).map(StepId)
    }

    fn falsified_event(&mut self, falsification: Falsification, slot: SlotId, event: Event) -> Vec<Effect> {
        let publishes = matches!(self.slot(slot).cohort, CohortId::Publisher(_));
        let late = match (falsification, &event) {
            (Falsification::ClosedLate, Event::Closed(_)) => self.scenario.timing.close_timeout,
            (Falsification::OpenedLate, Event::Opened { .. } | Event::OpenFailed(_)) => {
                self.scenario.timing.open_timeout * 2
            }
            _ => {
                let event = match publishes {
                    true => falsified_of_publisher(falsification, self.slot(slot).rank, event),
                    false => falsified_of_subscriber(falsification, event),
                };
                return event.into_iter().map(Effect::Event).collect();
            }
        };
        let at = self.now.after(late + self.oracle.slack * 3);
        self.queue.push(at, Due::Late(slot, Effect::Event(event)));
        Vec::new()
    }

    /// What comes instead of the answer to `begin_step`.
    pub(crate) fn falsified_begin(&self, answer: Result<Begin, CommandError>) -> Result<Begin, CommandError> {
        let Some(Flaw::Falsification(falsification)) = self.flaw else { return answer };
        match (falsification, answer) {
            (Falsification::NextStepBegun, Ok(Begin::Started(begun))) => {
                Ok(Begin::Started(BegunStep { step: StepId(begun.step.0 + 1), ..begun }))
            }
            (Falsification::BegunForNobody, Ok(Begin::Started(begun))) => {
                Ok(Begin::Started(BegunStep { kept: Few::new(), watches: Default::default(), ..begun }))
            }
            (Falsification::BeginRefused, Ok(Begin::Started(_))) => Err(CommandError::Closed),
            (Falsification::EndlessWait, Ok(Begin::Wait { reason, .. })) => {
                Ok(Begin::Wait { reason, until: None })
            }
            (_, answer) => answer,
        }
    }
}

fn falsified_message(falsification: Falsification, mut message: Message) -> Message {
    match (falsification, &mut message) {
        (Falsification::ByteMoreTold, Message::Assign(assignment)) => assignment.len_bytes += 1,
        (Falsification::RedeliveredTurned, Message::Assign(assignment)) => {
            assignment.redelivered = !assignment.redelivered;
        }
        (Falsification::ScalarsLost, Message::Assign(assignment)) => assignment.values.clear(),
        (Falsification::FarStartTold, Message::Subscribed { first, .. }) => first.0 += 1_000,
        (Falsification::ContinuesTurned, Message::Subscribed { continues, .. }) => *continues = !*continues,
        (Falsification::AnswerCalledSilence, Message::Status { report, .. }) => silence(report),
        _ => {}
    }
    message
}

/// The first rank that answered is called silent.
fn silence(report: &mut StatusReport) {
    let Some(cohort) = report.cohorts.first_mut().filter(|cohort| !cohort.ranks.is_empty()) else { return };
    let rank = cohort.ranks.remove(0).rank;
    cohort.answered -= 1;
    cohort.unanswered.push(Unanswered { rank, beyond: 0, why: NoAnswer::Silent { unheard_ms: 1 } });
}

fn falsified_of_publisher(falsification: Falsification, rank: Rank, event: Event) -> Vec<Event> {
    vec![match (falsification, event) {
        (Falsification::OtherEpochOpened, Event::Opened { .. }) => Event::Opened { epoch: NO_EPOCH },
        (Falsification::NeverOpened, Event::Opened { .. }) => {
            Event::OpenFailed(OpenFailure::TimedOut(OpenWait::Ranks { present: 1, size: 1 }))
        }
        (Falsification::StartHeardLater, Event::SubscriptionStarted { subscription, first })
            if !rank.is_lead() =>
        {
            Event::SubscriptionStarted { subscription, first: StepId(first.0 + 1) }
        }
        (Falsification::CleanAlthoughHeld, Event::Closed(CloseOutcome::Held(_))) => {
            Event::Closed(CloseOutcome::Clean)
        }
        (Falsification::HeldByNobody, Event::Closed(CloseOutcome::Held(_))) => {
            Event::Closed(CloseOutcome::Held(Vec::new()))
        }
        (Falsification::StrangerJoins, Event::MemberJoined { subscription, member, cohort_size, .. }) => {
            Event::MemberJoined { subscription, member, label: "nobody".into(), cohort_size }
        }
        (Falsification::LossCalledLeave, Event::MemberLeft { subscription, member, .. }) => {
            Event::MemberLeft { subscription, member, reason: MemberEnd::Left }
        }
        (_, event) => event,
    }]
}

fn falsified_of_subscriber(falsification: Falsification, event: Event) -> Vec<Event> {
    vec![match (falsification, event) {
        (Falsification::EndUntold, Event::Ended(_))
        | (Falsification::AttachedUnheard, Event::Opened { .. }) => {
            return Vec::new();
        }
        (Falsification::ContactsToldTwice, Event::Contacts { request, contacts, .. }) => {
            let told = || Event::Contacts { request, contacts: contacts.clone(), left: 1 };
            return vec![told(), told()];
        }
        (Falsification::OtherEpochAttached, Event::Opened { .. }) => Event::Opened { epoch: NO_EPOCH },
        (Falsification::EventOfOthers, Event::Opened { .. }) => {
            Event::RankLagging { step: StepId(0), rank: Rank::LEAD }
        }
        (Falsification::LossCalledClose, Event::Ended(mut ending)) => {
            ending.reason = EndReason::Closed;
            Event::Ended(ending)
        }
        (Falsification::DeniedWithoutList, Event::Ended(mut ending)) => {
            ending.reason = EndReason::Denied(Denial::new(Action::Subscribe, None, "nobody".into(), None));
            Event::Ended(ending)
        }
        (Falsification::RestartHeardLater, Event::Restarted { epoch, first, continues }) => {
            Event::Restarted { epoch, first: StepId(first.0 + 1), continues }
        }
        (Falsification::OtherQuestionAnswered, Event::Resolved { request, outcome }) => {
            Event::Resolved { request: request + 1_000, outcome }
        }
        (Falsification::OtherContactTold, Event::Contacts { request, mut contacts, left }) => {
            let told = contacts.iter_mut().filter_map(|(_, contact)| contact.as_mut());
            told.for_each(|contact| *contact = ContactText("nowhere".into()));
            Event::Contacts { request, contacts, left }
        }
        (_, event) => event,
    }]
}
