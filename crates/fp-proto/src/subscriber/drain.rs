//! Leaving a stream (`docs/protocol.md`, section 10).

use super::{Phase, SubscriberMachine};
use crate::effect::DisconnectReason;
use crate::event::{CloseOutcome, Event, OpenFailure};
use crate::message::Message;
use crate::outcome::LossReason;
use crate::subscriber::{loss, stream};
use crate::time::Moment;
use crate::transition::Transition;
use fp_types::{Rank, StepId};

/// As `SubscriberMachine::close`.
pub(crate) fn close(machine: &mut SubscriberMachine, now: Moment) {
    machine.enter(now);
    if matches!(machine.phase, Phase::Closing | Phase::Closed) {
        return;
    }
    machine.wire.mark(Transition::SubscriberClosing);
    if machine.phase == Phase::Assembling {
        machine.cohort.abort();
        let rank = machine.config.cohort.rank;
        machine.open_failed(OpenFailure::RankLost { rank, reason: LossReason::Disconnected });
        return;
    }
    machine.phase = Phase::Closing;
    machine.close_give_up = Some(now.after(machine.config.cohort.close_timeout));
    let own: Vec<StepId> = machine.stream.own_steps();
    own.into_iter().for_each(|step| stream::release_own(machine, step));
    consider_leaving(machine);
}

/// A child's subtree has closed.
pub(crate) fn child_leaving(machine: &mut SubscriberMachine, child: Rank) {
    machine.left.insert(child);
    machine.stream.forget_child(child);
    stream::merge_all_releases(machine);
    consider_leaving(machine);
}

fn consider_leaving(machine: &mut SubscriberMachine) {
    let all = machine.cohort.children().all(|(rank, _)| machine.left.contains(&rank));
    if machine.phase != Phase::Closing || !all {
        return;
    }
    if machine.cohort.is_lead() {
        leave_publisher(machine);
        closed(machine, CloseOutcome::Clean);
    } else if let Some(parent) = machine.cohort.parent() {
        machine.wire.send(machine.now, parent, Message::Leaving);
    } else {
        closed(machine, CloseOutcome::Clean);
    }
}

fn leave_publisher(machine: &mut SubscriberMachine) {
    if let Some(publisher) = machine.attachment.publisher {
        machine.wire.send(machine.now, publisher, Message::Unsubscribe);
        machine.wire.disconnect(publisher, DisconnectReason::Done);
    }
    machine.attachment.stop(&mut machine.wire);
}

/// At the deadline this rank goes by itself. Others of its cohort may still look at steps, so that the
/// publisher is left without a word: that retires what they hold.
pub(crate) fn tick_close(machine: &mut SubscriberMachine) {
    if machine.phase == Phase::Closing && machine.close_give_up.is_some_and(|due| machine.now >= due) {
        loss::drop_publisher(machine);
        closed(machine, CloseOutcome::Clean);
    }
}

/// Nothing more will happen on this rank. Children that have not closed are not told that all have left:
/// they lose their parent.
pub(crate) fn closed(machine: &mut SubscriberMachine, outcome: CloseOutcome) {
    if machine.phase == Phase::Closed {
        return;
    }
    let left =
        machine.cohort.children().filter(|(rank, _)| machine.left.contains(rank)).map(|(_, peer)| peer);
    for child in left.collect::<Vec<_>>() {
        machine.wire.send(machine.now, child, Message::Left);
    }
    machine.wire.mark(Transition::SubscriberClosed);
    machine.phase = Phase::Closed;
    machine.cohort.release_name(&mut machine.wire);
    machine.wire.event(Event::Closed(outcome));
    machine.wire.disconnect_all(DisconnectReason::Ended);
}
