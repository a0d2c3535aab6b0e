//! What coordinators do with effects and contacts, and how the books tell inputs apart.

use crate::scale::books::Mark;
use crate::scale::rank::{Input, Slot};
use fp_proto::codec;
use fp_proto::config::ContactText;
use fp_proto::effect::{DialTicket, Effect, PeerId};
use fp_proto::event::{Event, ResolveOutcome};
use fp_proto::message::Message;
use fp_proto::table;
use fp_types::{Rank, StepId, StepTable, TableId};

/// What a machine asked for, without its contents.
pub(crate) enum Asked {
    Send {
        to: PeerId,
        bytes: Vec<u8>,
        kind: &'static str,
    },
    Dial {
        ticket: DialTicket,
        target: Slot,
    },
    Disconnect(PeerId),
    Listing,
    Marked(Mark),
    Taken(StepId, TableId),
    /// The layout is here: who owns its blocks, and of whom the contacts came with it.
    Owners(Vec<u32>, Vec<u32>),
    /// The contacts of these came, and so many are still to come.
    Located(Vec<u32>, usize),
}

/// The contact of a rank: as long as those of real ranks are.
pub(crate) fn contact(slot: Slot) -> ContactText {
    ContactText(format!(
        "{:08}@node{:06}.cluster.example:40123/shm:flexpath-{:08x}",
        slot.0,
        slot.0 / 64,
        slot.0
    ))
}

fn slot_of(contact: &ContactText) -> Slot {
    Slot(contact.0.split('@').next().and_then(|number| number.parse().ok()).expect("a contact of ours"))
}

/// What an encoded message is about, as far as accounts of memory want to know.
pub(crate) enum Kind {
    Table,
    Ready,
    Release,
    Other,
}

/// The kind of an encoded message, by its discriminant: see `Message`.
pub(crate) fn codec_kind(bytes: &[u8]) -> Kind {
    match bytes.first() {
        Some(10) => Kind::Ready,
        Some(15 | 16 | 30 | 32 | 33) => Kind::Table,
        Some(21) => Kind::Release,
        _ => Kind::Other,
    }
}

pub(crate) fn given_bytes(input: &Input) -> i64 {
    match input {
        Input::Message(_, bytes) => bytes.capacity() as i64,
        Input::AskContacts(ranks) => (ranks.capacity() * size_of::<Rank>()) as i64,
        Input::Born
        | Input::Gathered(_)
        | Input::Listing
        | Input::Accepted(_)
        | Input::Dialled(..)
        | Input::Disconnected(_)
        | Input::Begin
        | Input::End(..)
        | Input::Release(_)
        | Input::Resolve(..)
        | Input::Close => 0,
    }
}

pub(crate) fn sent_bytes(asked: &Asked) -> i64 {
    match asked {
        Asked::Send { bytes, .. } => bytes.capacity() as i64,
        Asked::Owners(owners, located) => (4 * (owners.capacity() + located.capacity())) as i64,
        Asked::Located(ranks, _) => (4 * ranks.capacity()) as i64,
        Asked::Dial { .. } | Asked::Disconnect(_) | Asked::Listing | Asked::Marked(_) | Asked::Taken(..) => 0,
    }
}

/// What a coordinator does at once: it encodes messages, and reads the answer to a question.
pub(crate) fn asked(effect: Effect) -> Option<Asked> {
    match effect {
        Effect::Send { to, message } => {
            Some(Asked::Send { to, kind: message.name(), bytes: encoded(&message) })
        }
        Effect::Dial { ticket, contact, .. } => Some(Asked::Dial { ticket, target: slot_of(&contact) }),
        Effect::Disconnect { peer, .. } => Some(Asked::Disconnect(peer)),
        Effect::Lookup { .. } => Some(Asked::Listing),
        Effect::PublishName { .. }
        | Effect::WithdrawName { .. }
        | Effect::LogRequest { .. }
        | Effect::Delegate { .. } => None,
        Effect::Assigned { .. } => Some(Asked::Marked(Mark::Applied)),
        Effect::Free { .. } => Some(Asked::Marked(Mark::Freed)),
        Effect::Event(event) => of_event(event),
    }
}

fn encoded(message: &Message) -> Vec<u8> {
    codec::encode(message).into_vec()
}

fn of_event(event: Event) -> Option<Asked> {
    let mark = match event {
        Event::Opened { .. } => Mark::Opened,
        Event::SubscriptionStarted { .. } => Mark::Started,
        Event::SubscriptionEnded { .. } => Mark::Detached,
        Event::RankLost { .. } => Mark::Lost,
        Event::Ended(_) => Mark::Ended,
        Event::Resolved { outcome: ResolveOutcome::Table { encoded, owners }, .. } => {
            let table = table::decode(&encoded).expect("what was encoded can be decoded");
            let located = owners.iter().map(|(rank, _)| rank.0).collect();
            return Some(Asked::Owners(owners_of(&table), located));
        }
        Event::Contacts { contacts, left, .. } => {
            assert!(contacts.iter().all(|(_, contact)| contact.is_some()), "nobody is lost: {contacts:?}");
            return Some(Asked::Located(contacts.iter().map(|(rank, _)| rank.0).collect(), left));
        }
        Event::Resolved { outcome, .. } => panic!("a live step's table: {outcome:?}"),
        Event::OpenFailed(failure) => panic!("it opens: {failure:?}"),
        Event::Denied(denial) => panic!("there is no access list: {denial}"),
        Event::MemberJoined { .. }
        | Event::MemberLeft { .. }
        | Event::StepDropped { .. }
        | Event::StepRejected { .. }
        | Event::RankLagging { .. }
        | Event::Specified { .. }
        | Event::Steered { .. }
        | Event::Reselected { .. }
        | Event::ConditionRefused { .. }
        | Event::AwaitingRestart { .. }
        | Event::Restarted { .. }
        | Event::Closed(_) => return None,
    };
    Some(Asked::Marked(mark))
}

fn owners_of(table: &StepTable) -> Vec<u32> {
    let blocks = table.entries().iter().flat_map(|entry| entry.layout.blocks());
    let mut owners: Vec<u32> = blocks.map(|(block, _)| block.rank.0).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}
