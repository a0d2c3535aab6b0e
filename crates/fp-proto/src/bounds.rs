//! The bounds of every count in a message (`docs/protocol.md`, section 12), checked on receipt.

use crate::config::{ContactText, SubscriptionSpec, VariableSet};
use crate::message::{ChangeKind, Decision, Message, ReadyReport};
use fp_types::Rank;

/// Bytes of a name or label.
pub const LIMIT_NAME_BYTES: usize = 255;
/// Bytes of a contact.
pub const LIMIT_CONTACT_BYTES: usize = 1024;
/// Names in a `VariableSet`, queries in a `Resolve`, entries in a `Log`.
pub const LIMIT_ITEMS: usize = 4096;
/// Ranks whose contacts are asked for in one message.
pub const LIMIT_CONTACTS: usize = 128;
/// Bytes of one fragment of a message that is longer than that, unless a cohort is told otherwise.
pub const FRAGMENT_BYTES: usize = 1 << 20;
/// Bytes of a message that travels in fragments: the longest table, and what goes with it.
pub const LIMIT_LONG_BYTES: usize = crate::table::MAX_ENCODED_BYTES + crate::codec::LIMIT_MESSAGE_BYTES;
/// Ranks and blocks that a `Ready` tells of, over all variables: no more than it has bytes, though a scalar takes none.
pub const LIMIT_CHANGED_ITEMS: u64 = LIMIT_LONG_BYTES as u64;
/// Derivations of a subscription.
pub const LIMIT_DERIVATIONS: usize = 64;
/// Bytes of all derivations of a subscription: as many as the longest ever takes, and a kilobyte for each of the others.
pub const LIMIT_DERIVATIONS_BYTES: usize = LIMIT_DERIVATION_BYTES + (LIMIT_DERIVATIONS - 1) * 1024;
/// Modules that go with the derivations of a subscription, and their bytes.
pub const LIMIT_MODULES: usize = 8;
/// Bytes of all modules of a subscription.
pub const LIMIT_MODULES_BYTES: usize = 1 << 20;
/// Bytes of the longest derivation.
pub const LIMIT_DERIVATION_BYTES: usize = 96 << 10;
/// Bytes of all scalar values of a step.
pub const LIMIT_VALUES_BYTES: usize = 4096;

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

fn spec(spec: &SubscriptionSpec) -> Check {
    if let Some(share) = &spec.share {
        at_most(share.set.len(), LIMIT_NAME_BYTES, "share.set")?;
    }
    at_most(spec.derivations.len(), LIMIT_DERIVATIONS + LIMIT_MODULES, "spec.derivations")?;
    let derivations: usize = spec.derivations.iter().map(Vec::len).sum();
    at_most(derivations, LIMIT_DERIVATIONS_BYTES + LIMIT_MODULES_BYTES, "spec.derivations")?;
    let VariableSet::Named(names) = &spec.variables else { return Ok(()) };
    at_most(names.len(), LIMIT_ITEMS, "spec.variables")?;
    names.iter().try_for_each(|name| at_most(name.len(), LIMIT_NAME_BYTES, "spec.variables"))
}

fn decision(decision: &Decision) -> Check {
    match decision {
        Decision::Prepare { kind: ChangeKind::Add(asked) | ChangeKind::Update(asked), .. } => spec(asked),
        Decision::Start { reserved, .. } => at_most(reserved.len(), LIMIT_ITEMS, "log.reserved"),
        Decision::Decided { kept, .. } => at_most(kept.len(), LIMIT_ITEMS, "log.kept"),
        Decision::Released { steps, .. } => at_most(steps.len(), LIMIT_ITEMS, "log.steps"),
        Decision::Prepare { kind: ChangeKind::Remove, .. }
        | Decision::Assigned { .. }
        | Decision::Lagging { .. }
        | Decision::Lost { .. }
        | Decision::Closed => Ok(()),
    }
}

fn report(report: &ReadyReport) -> Check {
    at_most(report.not_kept.len(), LIMIT_ITEMS, "ready.not_kept")?;
    let values: usize = report.values.iter().map(|value| value.name.len() + value.bytes.len()).sum();
    at_most(values, LIMIT_VALUES_BYTES, "ready.values")?;
    report.changed.check(LIMIT_CHANGED_ITEMS).map_err(|_| "ready.changed")
}

impl Message {
    /// Whether every count is within its bound; otherwise the part that is not.
    ///
    /// # Errors
    /// The name of the part.
    pub fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Join { contact: own, .. } => contact(own),
            Self::Welcome { parent, .. } => contact(parent),
            Self::TreeHello { contact: own, .. } => contact(own),
            Self::Ready { report: merged, .. } => report(merged),
            Self::Log { entries, .. } => {
                at_most(entries.len(), LIMIT_ITEMS, "log.entries")?;
                entries.iter().try_for_each(decision)
            }
            Self::Subscribe { spec: asked, label, .. } => {
                at_most(label.len(), LIMIT_NAME_BYTES, "label")?;
                spec(asked)
            }
            Self::Reselect { spec: asked } | Self::Reselected { spec: asked, .. } => spec(asked),
            Self::Resolve { queries, .. } => {
                at_most(queries.len(), LIMIT_ITEMS, "resolve.queries")?;
                queries
                    .iter()
                    .try_for_each(|query| at_most(query.variable.len(), LIMIT_NAME_BYTES, "resolve.variable"))
            }
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
            _ => Ok(()),
        }
    }

    /// The name of the variant, for messages to people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Heartbeat => "Heartbeat",
            Self::Probe { .. } => "Probe",
            Self::ProbeReply { .. } => "ProbeReply",
            Self::Join { .. } => "Join",
            Self::Welcome { .. } => "Welcome",
            Self::Refused { .. } => "Refused",
            Self::TreeHello { .. } => "TreeHello",
            Self::SubtreeOpen => "SubtreeOpen",
            Self::CohortOpen => "CohortOpen",
            Self::RankLost { .. } => "RankLost",
            Self::Ready { .. } => "Ready",
            Self::Prepared { .. } => "Prepared",
            Self::Expire { .. } => "Expire",
            Self::Closing { .. } => "Closing",
            Self::Late { .. } => "Late",
            Self::TableRequest { .. } => "TableRequest",
            Self::TableReply { .. } => "TableReply",
            Self::Log { .. } => "Log",
            Self::Subscribe { .. } => "Subscribe",
            Self::Subscribed { .. } => "Subscribed",
            Self::Assign(_) => "Assign",
            Self::Release { .. } => "Release",
            Self::Reselect { .. } => "Reselect",
            Self::Reselected { .. } => "Reselected",
            Self::Unsubscribe => "Unsubscribe",
            Self::StreamEnd { .. } => "StreamEnd",
            Self::Leaving => "Leaving",
            Self::Attached { .. } => "Attached",
            Self::AwaitingRestart { .. } => "AwaitingRestart",
            Self::Left => "Left",
            Self::Resolve { .. } => "Resolve",
            Self::Resolved { .. } => "Resolved",
            Self::Fragment { .. } => "Fragment",
            Self::TableRefused { .. } => "TableRefused",
            Self::Unresolved { .. } => "Unresolved",
            Self::RestartHeard => "RestartHeard",
            Self::AskContacts { .. } => "AskContacts",
            Self::Contacts { .. } => "Contacts",
        }
    }
}
