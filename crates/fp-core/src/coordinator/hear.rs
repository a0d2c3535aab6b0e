//! What comes to an endpoint, by its listener, its mailbox and its links, and how the machine hears of it.

use crate::coordinator::dial::Letter;
use crate::coordinator::links::{From, Turn};
use crate::coordinator::machine::Machine as _;
use crate::coordinator::newcomers::tells_of_newcomer;
use crate::coordinator::relief::CHUNK;
use crate::coordinator::turn::Tokens;
use crate::coordinator::{Endpoint, Role, State};
use crate::rendezvous::registrar::News;
use fp_proto::effect::PeerId;
use fp_proto::message::Message;
use fp_proto::time::Moment;
use std::os::fd::AsFd;
use std::time::Instant;

impl<R: Role> Endpoint<R> {
    /// Takes over the links of those who have proved who they are; gives the tokens of control links. What they said first is
    /// often here already, behind the proof.
    pub(super) fn accept(&self, state: &mut State<R>) -> Tokens {
        let mut newcomers = Tokens::new();
        loop {
            let Some(listener) = &mut state.listener else { return newcomers };
            match listener.accept(Instant::now()) {
                Ok(Some(accepted)) if accepted.hello.purpose == fp_transport::Purpose::Data => {
                    state.newcomers.came();
                    state.role.data_link(accepted.link, &accepted.proof, self.epoll.as_fd());
                }
                Ok(Some(accepted)) => {
                    state.newcomers.came();
                    let origin = accepted.proof.origin;
                    if let Some(peer) =
                        state.links.add(accepted.link, Some(accepted.proof), self.epoll.as_fd())
                    {
                        state.machine.handle_accepted(self.clock.now(), peer);
                        state.machine.set_origin(peer, origin);
                        newcomers.push(peer.0);
                    }
                }
                Ok(None) => return newcomers,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a link");
                    return newcomers;
                }
            }
        }
    }

    pub(super) fn read_mailbox(&self, state: &mut State<R>) {
        let unfinished = state.links.unfinished();
        for letter in self.mailbox.take() {
            let now = self.clock.now();
            match letter {
                Letter::Dialled(ticket, link) => match state.links.add(*link, None, self.epoll.as_fd()) {
                    Some(peer) => {
                        state.machine.handle_dialled(now, ticket, peer);
                        self.perform_some(state, CHUNK);
                        state.links.flush(peer.0, self.epoll.as_fd());
                    }
                    None => state.machine.handle_dial_failed(now, ticket),
                },
                Letter::Failed(ticket, error) => {
                    state.troubles.extend(error);
                    state.machine.handle_dial_failed(now, ticket);
                }
                Letter::Met(News::Listed(listing)) => state.machine.handle_listing(now, listing),
                Letter::Met(News::Trouble(error)) => state.troubles.set_meeting(Some(error)),
                Letter::Met(News::Answers) => state.troubles.set_meeting(None),
                Letter::Answered(change, outcome) => state.machine.answer_delegated(now, change, outcome),
            }
        }
        let now = self.clock.now();
        unfinished.into_iter().for_each(|token| self.link_ready(state, token, From::Here, now));
    }

    /// Hears what a link has. A turn looks at the clock once, for all that it hears, and settles at its end.
    pub(super) fn link_ready(&self, state: &mut State<R>, token: u64, from: From, now: Moment) {
        let mut turn = Turn::default();
        loop {
            match state.links.receive(token, from, &mut turn) {
                Ok(Some(message)) => {
                    match comes_with_every_step(&message) {
                        true => state.machine.handle_message(now, PeerId(token), message),
                        false => self.hear(state, now, (PeerId(token), message)),
                    }
                    self.perform_some(state, CHUNK);
                }
                Ok(None) => break,
                Err(peer) => {
                    state.machine.handle_disconnected(now, peer);
                    break;
                }
            }
        }
        if state.links.end_turn(token, self.epoll.as_fd()) {
            // What is here makes no descriptor readable.
            self.mailbox.ring();
        }
    }

    /// Hears what a newcomer said first. Its answers go with the last words of the handshake.
    pub(super) fn newcomer_ready(&self, state: &mut State<R>, token: u64, now: Moment) {
        self.link_ready(state, token, From::Socket, now);
        state.links.flush(token, self.epoll.as_fd());
    }

    /// Hands a message to the machine, or has it refused. There is more to what does not come with every step.
    fn hear(&self, state: &mut State<R>, now: Moment, (from, mut message): (PeerId, Message)) {
        if matches!(message, Message::AskStatus { .. }) {
            state.tell_process();
        }
        let proof = state.links.proof(from.0);
        let strange = proof.as_deref().filter(|_| !state.machine.is_of_cohort(from));
        match strange.map_or(Ok(()), |proof| state.role.admit(&mut message, proof)) {
            Ok(()) => {
                if tells_of_newcomer(&message) {
                    state.newcomers.came();
                }
                if matches!(message, Message::Subscribe { .. }) {
                    state.machine.set_shortage(state.role.shortage());
                }
                state.machine.handle_message(now, from, message);
            }
            Err(denial) => state.machine.handle_denied(now, from, message, denial),
        }
    }
}

/// Whether a message is one of those that say nothing of newcomers, and that no access list refuses: most are.
fn comes_with_every_step(message: &Message) -> bool {
    matches!(message, Message::Assign(_) | Message::Release { .. })
}
