//! What a machine asks its coordinator to do, and the handles by which they speak of links.

use crate::config::ContactText;
use crate::event::Event;
use crate::message::{ChangeId, MemberId, Message};
use crate::steering::{Awaited, SteeringOutcome, SteeringRequest};
use fp_types::{Epoch, StepId, SubscriptionId};

/// A live control link, named by the coordinator; never used again after it was disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u64);

/// A dial that a machine asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DialTicket(pub u64);

/// An entry of the rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The epoch in its name: only a peer that answers with it is believed.
    pub epoch: Epoch,
    /// Where that cohort's lead is.
    pub contact: ContactText,
}

/// Why the coordinator shall close a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// It is needed no more.
    Done,
    /// The peer broke the protocol.
    PeerMisbehaved(Misbehaviour),
    /// The peer was silent for too long.
    Silent,
    /// The peer was refused; the refusal was sent.
    Refused,
    /// The cohort that this link served is lost or closed.
    Ended,
}

/// What a peer did that the protocol forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// A message that its role or state does not allow.
    Unexpected(&'static str),
    /// A count or value outside its bound.
    OutOfBounds(&'static str),
    /// A log entry, a step or a fragment out of order.
    OutOfOrder(&'static str),
    /// Bytes that are not what they should be.
    Malformed(&'static str),
}

/// One thing for the coordinator to do, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send a message.
    Send {
        /// To this peer.
        to: PeerId,
        /// The message.
        message: Message,
    },
    /// Dial a contact on a control link and answer with `handle_dialled` or `handle_dial_failed`.
    Dial {
        /// To be named in the answer.
        ticket: DialTicket,
        /// Whom.
        contact: ContactText,
        /// The epoch that the hello must return; `None` where it is not known yet.
        epoch: Option<Epoch>,
    },
    /// Flush and close a link. No `handle_disconnected` follows.
    Disconnect {
        /// Which.
        peer: PeerId,
        /// Why.
        reason: DisconnectReason,
    },
    /// Write the entry of this name and epoch, with the own contact, into the rendezvous.
    PublishName {
        /// The name.
        name: String,
        /// The epoch.
        epoch: Epoch,
    },
    /// Remove the own entry.
    WithdrawName {
        /// The name.
        name: String,
        /// The epoch.
        epoch: Epoch,
    },
    /// Read all entries of this name and answer with `handle_listing`.
    Lookup {
        /// The name.
        name: String,
    },
    /// A step was assigned: what was promised to be pushed for it may go now (publisher ranks).
    Assigned {
        /// The subscription.
        subscription: SubscriptionId,
        /// The member that gets it.
        member: MemberId,
        /// The step.
        step: StepId,
    },
    /// No subscription needs the blocks of this step any more (publisher ranks).
    Free {
        /// The step.
        step: StepId,
        /// Whether somebody may still look at them: retire the memory, do not reuse it.
        retire: bool,
    },
    /// Log that a request of a subscriber to the simulation is answered, or refused (publisher's lead).
    LogRequest {
        /// The link of who asked, unless he has left meanwhile.
        peer: Option<PeerId>,
        /// What was asked for, and by whom.
        request: Box<SteeringRequest>,
        /// What became of it.
        outcome: SteeringOutcome,
    },
    /// Have somebody else answer a request of a subscriber, by `PublisherMachine::answer_delegated` (publisher's lead).
    Delegate {
        /// The number of the request.
        change: ChangeId,
        /// What is asked for, as it was sent, and by whom.
        request: Box<SteeringRequest>,
        /// Whether somebody waits for the answer.
        awaited: Awaited,
    },
    /// Tell the application.
    Event(Event),
}
