//! One machine of either role, or somebody who only pretends to be one.

use fp_proto::effect::{DialTicket, Effect, Listing, PeerId};
use fp_proto::message::{ChangeId, Message};
use fp_proto::publisher::PublisherMachine;
use fp_proto::steering::SteeringOutcome;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_proto::transition::TransitionSet;
use fp_types::Epoch;
use std::collections::VecDeque;

/// What a coordinator hands to its machine.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// With the host of whoever dialled.
    Accepted(PeerId, u32),
    Dialled(DialTicket, PeerId),
    DialFailed(DialTicket),
    Message(PeerId, Message),
    Disconnected(PeerId),
    Listing(Vec<Listing>),
    /// Somebody else has answered a request that was handed on.
    Answered(ChangeId, SteeringOutcome),
    Timeout,
}

/// How somebody lies who answers at the contact of a false entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Accepts and says nothing.
    Mute,
    /// Answers with another epoch than it was dialled for.
    OtherEpoch,
    /// Answers with the right epoch, but says what it must not.
    Nonsense,
    /// Closes at once.
    HangsUp,
    /// Gives signs of life, but no answer.
    Stalls,
}

/// Somebody who only pretends.
pub(crate) struct Impostor {
    lie: Lie,
    effects: VecDeque<Effect>,
}

impl Impostor {
    pub(crate) fn new(lie: Lie) -> Self {
        Self { lie, effects: VecDeque::new() }
    }

    fn handle(&mut self, input: Input) {
        let Input::Message(from, message) = input else { return };
        let reply = |message| Effect::Send { to: from, message };
        match (self.lie, message) {
            (Lie::OtherEpoch, Message::Probe { .. }) => {
                self.effects.push_back(reply(Message::ProbeReply { epoch: Epoch(7), incumbent: true }));
            }
            (Lie::Stalls, _) => self.effects.push_back(reply(Message::Heartbeat)),
            (Lie::Nonsense, Message::Probe { .. }) => self.effects.push_back(reply(Message::CohortOpen)),
            (Lie::HangsUp, _) => {
                let reason = fp_proto::effect::DisconnectReason::Done;
                self.effects.push_back(Effect::Disconnect { peer: from, reason });
            }
            _ => {}
        }
    }
}

/// A machine in its process.
pub(crate) enum Machine {
    Publisher(Box<PublisherMachine>),
    Subscriber(Box<SubscriberMachine>),
    Impostor(Impostor),
}

/// Calls the method of the same name on whichever machine it is.
macro_rules! on_either {
    ($self:ident, $machine:ident => $call:expr, $otherwise:expr) => {
        match $self {
            Machine::Publisher($machine) => $call,
            Machine::Subscriber($machine) => $call,
            Machine::Impostor(_) => $otherwise,
        }
    };
}

/// As whom a publisher knows those who dial from a host.
pub(crate) fn host_name(host: u32) -> String {
    format!("host {host}")
}

impl Machine {
    pub(crate) fn handle(&mut self, now: Moment, input: Input) {
        if let Machine::Impostor(impostor) = self {
            impostor.handle(input);
            return;
        }
        if let Machine::Publisher(machine) = self {
            if let Input::Accepted(peer, host) = &input {
                machine.handle_accepted(now, *peer);
                return machine.set_origin(*peer, host_name(*host).into());
            }
            if let Input::Answered(change, outcome) = &input {
                return machine.answer_delegated(now, *change, outcome.clone());
            }
        }
        on_either!(self, machine => match input {
            Input::Accepted(peer, _) => machine.handle_accepted(now, peer),
            Input::Dialled(ticket, peer) => machine.handle_dialled(now, ticket, peer),
            Input::DialFailed(ticket) => machine.handle_dial_failed(now, ticket),
            Input::Message(from, message) => machine.handle_message(now, from, message),
            Input::Disconnected(peer) => machine.handle_disconnected(now, peer),
            Input::Listing(listing) => machine.handle_listing(now, listing),
            Input::Timeout => machine.handle_timeout(now),
            // Nothing is asked of those who subscribe.
            Input::Answered(..) => {}
        }, ());
    }

    pub(crate) fn poll(&mut self) -> Option<Effect> {
        match self {
            Machine::Publisher(machine) => machine.poll(),
            Machine::Subscriber(machine) => machine.poll(),
            Machine::Impostor(impostor) => impostor.effects.pop_front(),
        }
    }

    pub(crate) fn deadline(&self) -> Option<Moment> {
        on_either!(self, machine => machine.deadline(), None)
    }

    pub(crate) fn transitions(&self) -> TransitionSet {
        on_either!(self, machine => machine.transitions(), TransitionSet::default())
    }
}
