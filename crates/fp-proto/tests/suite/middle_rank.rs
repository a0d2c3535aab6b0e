//! One publisher rank in the middle of a tree, by hand: its parent, its children, and a guest.

use fp_proto::config::{CohortConfig, CohortPosition, ContactText, PublisherConfig};
use fp_proto::effect::{DialTicket, Effect, PeerId};
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_proto::time::Moment;
use fp_types::{Epoch, Rank};

pub(crate) const START: Moment = Moment::ZERO;
pub(crate) const PARENT: PeerId = PeerId(1);
/// The children of rank 1 where each rank has two; of 9 ranks 7 and 8 are below the first.
pub(crate) const CHILDREN: [(PeerId, Rank); 2] = [(PeerId(13), Rank(3)), (PeerId(14), Rank(4))];

pub(crate) fn contact(rank: u32) -> ContactText {
    ContactText(format!("contact.{rank}"))
}

pub(crate) fn effects(machine: &mut PublisherMachine) -> Vec<Effect> {
    std::iter::from_fn(|| machine.poll()).collect()
}

/// Rank 1 of 9, linked to its parent alone.
pub(crate) fn without_children() -> PublisherMachine {
    let mut config = CohortConfig::ranked("stream", contact(1), Rank(1), 9);
    config.fan_out = 2;
    config.position = CohortPosition::Under { parent: contact(0), epoch: Epoch(7) };
    let mut machine = PublisherMachine::new(PublisherConfig::new(config, Epoch(99)), START);
    let dialled = effects(&mut machine);
    let [Effect::Dial { ticket: DialTicket(ticket), .. }] = dialled[..] else { panic!("{dialled:?}") };
    machine.handle_dialled(START, DialTicket(ticket), PARENT);
    machine
}

/// Rank 1 of 9, its cohort complete, with a guest that has said nothing yet; and what it did until then.
pub(crate) fn middle_rank(guest: PeerId) -> (PublisherMachine, Vec<Effect>) {
    let mut machine = without_children();
    for (peer, rank) in CHILDREN {
        machine.handle_accepted(START, peer);
        machine.handle_message(START, peer, Message::TreeHello { rank, contact: contact(rank.0) });
        machine.handle_message(START, peer, Message::SubtreeOpen);
    }
    machine.handle_message(START, PARENT, Message::CohortOpen);
    machine.handle_accepted(START, guest);
    let done = effects(&mut machine);
    (machine, done)
}
