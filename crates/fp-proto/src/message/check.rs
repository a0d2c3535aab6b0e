//! Whether every count in a message is within its bound, checked on receipt.

use crate::access::Denial;
use crate::bounds::{
    LIMIT_CHANGED_ITEMS, LIMIT_CONTACT_BYTES, LIMIT_CONTACTS, LIMIT_ITEMS, LIMIT_NAME_BYTES,
    LIMIT_PARTS_BYTES, LIMIT_STEERING_TEXT_BYTES, LIMIT_VALUES_BYTES,
};
use crate::config::{ContactText, SubscriptionSpec, VariableSet};
use crate::message::{ChangeKind, Decision, MeasurePart, Message, NoTable, ReadyReport, ResolveQuery};
use crate::outcome::{EndReason, RefusalReason};
use crate::request;
use crate::status::report::StatusRefusal;
use crate::steering::{self, SteeringOutcome, SteeringRefusal};
use fp_types::{AttributeValue, Judgement, LIMIT_CONDITION_BYTES, Rank, Unmeasured};

type Check = Result<(), &'static str>;

fn at_most(len: usize, limit: usize, what: &'static str) -> Check {
    if len > limit { Err(what) } else { Ok(()) }
}

fn contact(contact: &ContactText) -> Check {
    at_most(contact.0.len(), LIMIT_CONTACT_BYTES, "contact")
}

/// At least one rank, no more than may be asked for at one time, each once.
fn some_rising(ranks: impl ExactSizeIterator<Item = Rank>, what: &'static str) -> Check {
    if ranks.len() == 0 {
        Err(what)?
    }
    at_most(ranks.len(), LIMIT_CONTACTS, what)?;
    if ranks.is_sorted_by(|one, next| one < next) { Ok(()) } else { Err(what) }
}

fn denial(denial: &Denial) -> Check {
    if denial.is_within_bounds() { Ok(()) } else { Err("denial") }
}

fn refusal(reason: &RefusalReason) -> Check {
    if let RefusalReason::TooManyOfPeer { peer, .. } = reason {
        return at_most(peer.len(), LIMIT_NAME_BYTES, "refused.peer");
    }
    let RefusalReason::Condition(refusal) = reason else { return Ok(()) };
    if refusal.is_within_bounds() { Ok(()) } else { Err("refused.condition") }
}

fn spec(spec: &SubscriptionSpec) -> Check {
    if let Some(share) = &spec.share {
        at_most(share.set.len(), LIMIT_NAME_BYTES, "share.set")?;
    }
    if !request::are_within_bounds(&spec.requests) {
        return Err("spec.requests");
    }
    at_most(spec.when.as_ref().map_or(0, Vec::len), LIMIT_CONDITION_BYTES, "spec.when")?;
    let VariableSet::Named(names) = &spec.variables else { return Ok(()) };
    at_most(names.len(), LIMIT_ITEMS, "spec.variables")?;
    names.iter().try_for_each(|name| at_most(name.len(), LIMIT_NAME_BYTES, "spec.variables"))
}

fn decision(decision: &Decision) -> Check {
    match decision {
        Decision::Prepare { kind: ChangeKind::Add(asked) | ChangeKind::Update(asked), .. } => spec(asked),
        Decision::Start { reserved, .. } => at_most(reserved.len(), LIMIT_ITEMS, "log.reserved"),
        Decision::Decided { kept, .. } => {
            at_most(kept.len(), LIMIT_ITEMS, "log.kept")?;
            if kept.is_sorted_by(|one, next| one < next) { Ok(()) } else { Err("log.kept") }
        }
        Decision::Released { steps, .. } => at_most(steps.len(), LIMIT_ITEMS, "log.steps"),
        Decision::Prepare { kind: ChangeKind::Steer(asked), .. } => {
            at_most(asked.by.len(), LIMIT_NAME_BYTES, "steer.by")?;
            steer(&asked.name, &asked.value)
        }
        Decision::Prepare { kind: ChangeKind::Remove, .. }
        | Decision::Assigned { .. }
        | Decision::Lagging { .. }
        | Decision::Lost { .. }
        | Decision::Closed => Ok(()),
    }
}

fn steer(name: &str, value: &AttributeValue) -> Check {
    if steering::is_within_bounds(name, value) { Ok(()) } else { Err("steer") }
}

fn report(report: &ReadyReport) -> Check {
    at_most(report.not_kept.len(), LIMIT_ITEMS, "ready.not_kept")?;
    let values: usize = report.values.iter().map(|value| value.name.len() + value.bytes.len()).sum();
    at_most(values, LIMIT_VALUES_BYTES, "ready.values")?;
    report.changed.check(LIMIT_CHANGED_ITEMS).map_err(|_| "ready.changed")
}

fn parts(parts: &[MeasurePart]) -> Check {
    at_most(parts.iter().map(MeasurePart::len_bytes).sum(), LIMIT_PARTS_BYTES, "ready.parts")?;
    let bounded = |part: &MeasurePart| part.unmeasured.as_ref().is_none_or(Unmeasured::is_within_bounds);
    let rises = parts.is_sorted_by(|one, next| one.measure < next.measure);
    if rises && parts.iter().all(bounded) { Ok(()) } else { Err("ready.parts") }
}

fn judgement(judgement: &Judgement) -> Check {
    if judgement.is_within_bounds() { Ok(()) } else { Err("assign.judgement") }
}

fn resolve(queries: &[ResolveQuery]) -> Check {
    at_most(queries.len(), LIMIT_ITEMS, "resolve.queries")?;
    queries.iter().try_for_each(|query| at_most(query.variable.len(), LIMIT_NAME_BYTES, "resolve.variable"))
}

impl Message {
    /// Whether every count is within its bound; otherwise the part that is not.
    ///
    /// # Errors
    /// The name of the part.
    pub fn check(&self) -> Result<(), &'static str> {
        self.denial().map_or(Ok(()), denial)?;
        match self {
            Self::Join { contact: own, .. }
            | Self::TreeHello { contact: own, .. }
            | Self::Welcome { parent: own, .. } => contact(own),
            Self::Ready { report: merged, .. } => report(merged),
            Self::ReadyMeasured { report: merged, parts: measured, .. } => {
                report(merged)?;
                parts(measured)
            }
            Self::AssignJudged { judgement: told, .. } => judgement(told),
            Self::Steer { name, value, .. } => steer(name, value),
            Self::Steered { outcome, .. } => {
                if outcome.is_within_bounds() {
                    Ok(())
                } else {
                    Err("steered.outcome")
                }
            }
            Self::SteeringAnswer { declined, .. } => {
                let len = declined.as_ref().map_or(0, |(_, reason)| reason.len());
                at_most(len, LIMIT_STEERING_TEXT_BYTES, "steering_answer.declined")
            }
            Self::Log { entries, .. } => {
                at_most(entries.len(), LIMIT_ITEMS, "log.entries")?;
                entries.iter().try_for_each(decision)
            }
            Self::Subscribe { spec: asked, label, .. } => {
                at_most(label.len(), LIMIT_NAME_BYTES, "label")?;
                spec(asked)
            }
            Self::Reselect { spec: asked } | Self::Reselected { spec: asked, .. } => spec(asked),
            Self::Resolve { queries, .. } => resolve(queries),
            Self::Resolved { owners, .. } => {
                at_most(owners.len(), LIMIT_CONTACTS, "resolved.owners")?;
                owners.iter().try_for_each(|(_, owner)| contact(owner))
            }
            Self::Subscribed { publisher_size: 0, .. } => Err("subscribed.publisher_size"),
            Self::AskContacts { ranks, .. } => some_rising(ranks.iter().copied(), "ask_contacts.ranks"),
            Self::Contacts { contacts, .. } => {
                some_rising(contacts.iter().map(|(rank, _)| *rank), "contacts.contacts")?;
                contacts.iter().filter_map(|(_, told)| told.as_ref()).try_for_each(contact)
            }
            Self::Status { report, .. } => report.check(),
            Self::Refused { reason } => refusal(reason),
            #[rustfmt::skip]
            Self::Heartbeat | Self::Probe { .. } | Self::ProbeReply { .. } | Self::SubtreeOpen
            | Self::CohortOpen | Self::RankLost { .. } | Self::Prepared { .. } | Self::Expire { .. }
            | Self::Closing { .. } | Self::Late { .. } | Self::TableRequest { .. }
            | Self::TableReply { .. } | Self::Subscribed { .. } | Self::Assign(_) | Self::Release { .. }
            | Self::Unsubscribe | Self::StreamEnd { .. } | Self::Leaving | Self::Attached { .. }
            | Self::AwaitingRestart { .. } | Self::Left | Self::Fragment { .. } | Self::TableRefused { .. }
            | Self::Unresolved { .. } | Self::RestartHeard | Self::AskStatus { .. }
            | Self::StatusRefused { .. } => Ok(()),
        }
    }

    /// The refusal by an access list that it tells of.
    fn denial(&self) -> Option<&Denial> {
        if let Self::Refused { reason: RefusalReason::Denied(told) }
        | Self::StreamEnd { reason: EndReason::Denied(told), .. }
        | Self::AwaitingRestart { reason: EndReason::Denied(told) }
        | Self::TableRefused { reason: NoTable::Denied(told), .. }
        | Self::Unresolved { reason: NoTable::Denied(told), .. }
        | Self::StatusRefused { reason: StatusRefusal::Denied(told), .. }
        | Self::Steered { outcome: SteeringOutcome::Refused(SteeringRefusal::Denied(told)), .. } = self
        {
            return Some(told);
        }
        None
    }
}
