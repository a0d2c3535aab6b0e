//! What the coordinator needs of a machine, whichever it drives.

use fp_proto::access::Denial;
use fp_proto::effect::{DialTicket, Effect, Listing, PeerId};
use fp_proto::message::{ChangeId, Message};
use fp_proto::outcome::MemoryShortage;
use fp_proto::publisher::PublisherMachine;
use fp_proto::status::questions::ProcessFacts;
use fp_proto::steering::SteeringOutcome;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_transport::Origin;

/// A sans-IO machine of fp-proto.
pub(crate) trait Machine: Send + 'static {
    fn handle_accepted(&mut self, now: Moment, peer: PeerId);
    fn handle_dialled(&mut self, now: Moment, ticket: DialTicket, peer: PeerId);
    fn handle_dial_failed(&mut self, now: Moment, ticket: DialTicket);
    fn handle_message(&mut self, now: Moment, from: PeerId, message: Message);
    fn handle_disconnected(&mut self, now: Moment, peer: PeerId);
    fn handle_listing(&mut self, now: Moment, listing: Vec<Listing>);
    fn handle_timeout(&mut self, now: Moment);
    /// What is told to observers with the machine's own words.
    fn set_process(&mut self, facts: ProcessFacts);
    fn deadline(&self) -> Option<Moment>;
    fn poll(&mut self) -> Option<Effect>;
    /// Whether `poll` has anything to do.
    fn is_asking(&self) -> bool;
    /// Whether a call may have it decide a step, though there are many links.
    fn decides_briefly(&self) -> bool;

    /// Whether the link is to a rank of the own cohort, of which nothing is checked.
    fn is_of_cohort(&self, peer: PeerId) -> bool;

    /// Whose the link of a peer is that dialled this side.
    fn set_origin(&mut self, peer: PeerId, origin: Origin);

    /// Whether newcomers are refused for want of memory.
    fn set_shortage(&mut self, shortage: Option<MemoryShortage>);

    /// A message came that the access list does not allow.
    fn handle_denied(&mut self, now: Moment, from: PeerId, message: Message, denial: Denial);

    /// Somebody else has answered a request that was handed on.
    fn answer_delegated(&mut self, now: Moment, change: ChangeId, outcome: SteeringOutcome);
}

macro_rules! forward {
    ($machine:ident, $($refusing:item)*) => {
        impl Machine for $machine {
            fn handle_accepted(&mut self, now: Moment, peer: PeerId) {
                $machine::handle_accepted(self, now, peer);
            }
            fn handle_dialled(&mut self, now: Moment, ticket: DialTicket, peer: PeerId) {
                $machine::handle_dialled(self, now, ticket, peer);
            }
            fn handle_dial_failed(&mut self, now: Moment, ticket: DialTicket) {
                $machine::handle_dial_failed(self, now, ticket);
            }
            fn handle_message(&mut self, now: Moment, from: PeerId, message: Message) {
                $machine::handle_message(self, now, from, message);
            }
            fn handle_disconnected(&mut self, now: Moment, peer: PeerId) {
                $machine::handle_disconnected(self, now, peer);
            }
            fn handle_listing(&mut self, now: Moment, listing: Vec<Listing>) {
                $machine::handle_listing(self, now, listing);
            }
            fn handle_timeout(&mut self, now: Moment) {
                $machine::handle_timeout(self, now);
            }
            fn set_process(&mut self, facts: ProcessFacts) {
                $machine::set_process(self, facts);
            }
            fn deadline(&self) -> Option<Moment> {
                $machine::deadline(self)
            }
            fn poll(&mut self) -> Option<Effect> {
                $machine::poll(self)
            }
            fn is_asking(&self) -> bool {
                $machine::is_asking(self)
            }
            $($refusing)*
        }
    };
}

forward! {
    PublisherMachine,
    fn is_of_cohort(&self, peer: PeerId) -> bool {
        PublisherMachine::is_of_cohort(self, peer)
    }
    fn decides_briefly(&self) -> bool {
        PublisherMachine::decides_briefly(self)
    }
    fn set_shortage(&mut self, shortage: Option<MemoryShortage>) {
        PublisherMachine::set_shortage(self, shortage);
    }
    fn set_origin(&mut self, peer: PeerId, origin: Origin) {
        PublisherMachine::set_origin(self, peer, origin.to_string().into());
    }
    fn handle_denied(&mut self, now: Moment, from: PeerId, message: Message, denial: Denial) {
        PublisherMachine::handle_denied(self, now, from, message, denial);
    }
    fn answer_delegated(&mut self, now: Moment, change: ChangeId, outcome: SteeringOutcome) {
        PublisherMachine::answer_delegated(self, now, change, outcome);
    }
}

forward! {
    SubscriberMachine,
    fn is_of_cohort(&self, _peer: PeerId) -> bool {
        true
    }
    fn decides_briefly(&self) -> bool {
        false
    }
    fn set_shortage(&mut self, _shortage: Option<MemoryShortage>) {}
    fn set_origin(&mut self, _peer: PeerId, _origin: Origin) {}
    fn handle_denied(&mut self, now: Moment, from: PeerId, message: Message, _denial: Denial) {
        // A subscriber has no access list: nothing is ever refused here.
        SubscriberMachine::handle_message(self, now, from, message);
    }
    fn answer_delegated(&mut self, _now: Moment, _change: ChangeId, _outcome: SteeringOutcome) {
        // Nothing is asked of a subscriber, so it hands nothing on.
    }
}
