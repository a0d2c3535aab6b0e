//! Leaving a stream (`docs/protocol.md`, section 10).

use super::{Phase, SubscriberMachine};
use crate::effect::DisconnectReason;
use crate::event::{CloseOutcome, Event};
use crate::message::Message;
use crate::subscriber::{loss, stream};
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::Rank;

/// A child's subtree has closed.
pub(crate) fn child_leaving(machine: &mut SubscriberMachine, child: Rank) {
    machine.left.insert(child);
    if !mutated!(machine.wire, LeaverDelays) {
        machine.stream.forget_child(child);
    }
    stream::merge_all_releases(machine);
    consider_leaving(machine);
}

pub(crate) fn consider_leaving(machine: &mut SubscriberMachine) {
    let all = machine.cohort.children().all(|(rank, _)| machine.left.contains(&rank));
    if machine.phase != Phase::Closing || !all {
        return;
    }
    if machine.cohort.is_lead() {
        leave_publisher(machine);
    } else if let Some(parent) = machine.cohort.parent() {
        machine.wire.send(parent, Message::Leaving);
        return;
    }
    closed(machine, CloseOutcome::Clean);
}

fn leave_publisher(machine: &mut SubscriberMachine) {
    if let Some(publisher) = machine.attachment.publisher {
        machine.wire.send(publisher, Message::Unsubscribe);
        machine.wire.disconnect(publisher, DisconnectReason::Done);
    }
    machine.attachment.stop(&mut machine.wire);
}

/// At the deadline this rank goes by itself. Others of its cohort may still look at steps, so that the
/// publisher is left without a word: that retires what they hold.
pub(crate) fn tick_close(machine: &mut SubscriberMachine) {
    if machine.phase == Phase::Closing && machine.close_give_up.is_some_and(|due| machine.wire.now >= due) {
        match mutated!(machine.wire, TimedOutAsLeft) {
            true => leave_publisher(machine),
            false => loss::drop_publisher(machine),
        }
        closed(machine, CloseOutcome::Clean);
    }
}

/// Nothing more will happen on this rank. Children that have not closed are not told that all have left:
/// they lose their parent.
pub(crate) fn closed(machine: &mut SubscriberMachine, outcome: CloseOutcome) {
    if machine.phase == Phase::Closed {
        return;
    }
    for (_, child) in machine.cohort.children().filter(|(rank, _)| machine.left.contains(rank)) {
        machine.wire.send(child, Message::Left);
    }
    machine.wire.mark(Transition::SubscriberClosed);
    machine.phase = Phase::Closed;
    machine.cohort.end(&mut machine.wire, Event::Closed(outcome));
}
