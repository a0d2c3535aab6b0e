//! What a machine asks for, done by the endpoint that drives it.

use crate::coordinator::machine::Machine;
use crate::coordinator::{Endpoint, Role, State};
use crate::value::parameter_request::ParameterRequest;
use fp_proto::effect::Effect;
use fp_proto::time::Moment;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

impl<R: Role> Endpoint<R> {
    /// Does what the machine asks for, until it asks for nothing. Says whether it asked for anything.
    pub(super) fn drain(&self, state: &mut State<R>) -> bool {
        self.drain_some(state, usize::MAX)
    }

    /// As [`Endpoint::drain`], up to so many effects.
    pub(super) fn drain_some(&self, state: &mut State<R>, most: usize) -> bool {
        let moved = self.perform_some(state, most);
        self.settle(state);
        moved
    }

    /// As [`Endpoint::drain_some`], for who settles before the lock is given up.
    #[inline]
    pub(super) fn perform_some(&self, state: &mut State<R>, most: usize) -> bool {
        state.backlog = false;
        state.machine.is_asking() && self.perform_all(state, most)
    }

    fn perform_all(&self, state: &mut State<R>, most: usize) -> bool {
        let mut done = 0;
        while let Some(effect) = state.machine.poll() {
            self.perform(state, effect);
            done += 1;
            if done == most {
                state.backlog = true;
                break;
            }
        }
        done > 0
    }

    /// Shows deadlines and signals to those who look without the lock.
    pub(super) fn settle(&self, state: &mut State<R>) {
        let due = if state.polling { None } else { state.deadline(|instant| self.clock.moment(instant)) };
        self.note_due(state, due);
        state.show_signals();
    }

    pub(super) fn note_due(&self, state: &State<R>, due: Option<Moment>) {
        let due = if state.backlog { Some(Moment::ZERO) } else { due };
        self.due.store(due.map_or(u64::MAX, Moment::as_micros), Ordering::Release);
    }

    /// Does one thing.
    fn perform(&self, state: &mut State<R>, effect: Effect) {
        match effect {
            Effect::Send { to, message } => {
                if let Err(lost) = state.links.send(to, &message, self.epoll.as_fd()) {
                    state.machine.handle_disconnected(self.clock.now(), lost);
                }
            }
            Effect::Dial { ticket, contact, epoch } => {
                self.begin_dial(state, ticket, &contact, epoch);
            }
            Effect::Disconnect { peer, .. } => state.links.close(peer),
            Effect::PublishName { name, epoch } => {
                if let Err(error) = state.desk.publish(&name, epoch, &self.contact) {
                    state.troubles.unpublished = Some(error);
                }
            }
            Effect::WithdrawName { name, epoch } => state.desk.withdraw(&name, epoch),
            Effect::Lookup { name } => {
                // A meeting place is asked in the background, and answers by a letter.
                if let Some(listing) = state.desk.lookup(&name) {
                    state.machine.handle_listing(self.clock.now(), listing);
                }
            }
            Effect::LogRequest { peer, request, outcome } => {
                let proof = peer.and_then(|peer| state.links.proof(peer.0));
                state.role.log_request((&request, &outcome), proof.as_deref());
            }
            Effect::Delegate { change, request, awaited } => {
                let request = ParameterRequest::handed_on(change, *request, awaited);
                state.role.hand_on(request, &self.mailbox);
            }
            other @ (Effect::Assigned { .. } | Effect::Free { .. } | Effect::Event(_)) => {
                state.role.effect(other)
            }
        }
    }
}
