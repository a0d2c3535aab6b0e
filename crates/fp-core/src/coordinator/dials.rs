//! Dials that are under way without a thread: an endpoint hears their answers as it hears its links. A thread is started
//! only for what waits in a way of its own. A hop to it and back costs two wakes.

use crate::coordinator::dial::{Letter, Mailbox};
use crate::coordinator::machine::Machine as _;
use crate::coordinator::relief::CHUNK;
use crate::coordinator::{Endpoint, Role, State};
use fp_proto::config::ContactText;
use fp_proto::effect::{DialTicket, PeerId};
use fp_proto::time::Moment;
use fp_transport::{Candidates, Contact, DialError, DialStep, Dialling, Link};
use fp_types::Epoch;
use rustix::event::epoll;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

/// The dials, by the tokens that their links will have.
#[derive(Default)]
pub(crate) struct Dials {
    waiting: BTreeMap<u64, (DialTicket, Box<Dialling>)>,
}

impl Dials {
    /// When the first of them is to be given up. Mostly there is none.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if self.waiting.is_empty() {
            return None;
        }
        self.waiting.values().map(|(_, dialling)| dialling.deadline()).min()
    }

    /// Whether one waits under this token.
    pub(crate) fn has(&self, token: u64) -> bool {
        !self.waiting.is_empty() && self.waiting.contains_key(&token)
    }

    /// Takes out one that is to be given up.
    fn take_late(&mut self, now: Instant) -> Option<(DialTicket, Box<Dialling>)> {
        if self.waiting.is_empty() {
            return None;
        }
        let late = self.waiting.iter().find(|(_, (_, dialling))| dialling.deadline() <= now);
        let token = *late?.0;
        self.waiting.remove(&token)
    }
}

impl<R: Role> State<R> {
    /// When the machine or a dial wants a turn though nothing is ready.
    #[inline]
    pub(super) fn deadline(&self, moment: impl Fn(Instant) -> Moment) -> Option<Moment> {
        let of_machine = self.machine.deadline();
        let Some(of_dials) = self.dials.deadline().map(moment) else { return of_machine };
        Some(of_machine.map_or(of_dials, |due| due.min(of_dials)))
    }
}

impl<R: Role> Endpoint<R> {
    /// Dials a control link.
    pub(super) fn begin_dial(
        &self,
        state: &mut State<R>,
        ticket: DialTicket,
        contact: &ContactText,
        epoch: Option<Epoch>,
    ) {
        let Ok(contact) = contact.0.parse::<Contact>() else {
            return self.mailbox.post(Letter::Failed(ticket, None));
        };
        match self.dial.begin(&contact, epoch) {
            DialStep::Waits(dialling) => self.watch_dial(state, ticket, dialling),
            DialStep::Blocks(rest) => dial_elsewhere(&self.mailbox, ticket, rest),
            DialStep::Failed(error) => self.mailbox.post(failed(ticket, error)),
            DialStep::Linked(link) => self.mailbox.post(Letter::Dialled(ticket, link)),
        }
    }

    fn watch_dial(&self, state: &mut State<R>, ticket: DialTicket, dialling: Box<Dialling>) {
        let token = state.links.next_token();
        let data = epoll::EventData::new_u64(token);
        match epoll::add(&self.epoll, dialling.as_fd(), data, epoll::EventFlags::IN) {
            Ok(()) => _ = state.dials.waiting.insert(token, (ticket, dialling)),
            Err(_) => self.mailbox.post(Letter::Failed(ticket, None)),
        }
    }

    /// Who was dialled has said something.
    pub(super) fn dial_ready(&self, state: &mut State<R>, token: u64, now: Moment) {
        let Some((ticket, dialling)) = state.dials.waiting.remove(&token) else { return };
        match dialling.advance() {
            DialStep::Waits(dialling) => {
                state.dials.waiting.insert(token, (ticket, dialling));
            }
            DialStep::Linked(link) => self.dialled(state, (token, ticket), *link, now),
            DialStep::Blocks(rest) => dial_elsewhere(&self.mailbox, ticket, rest),
            DialStep::Failed(error) => {
                tracing::debug!(%error, "dial failed");
                state.troubles.extend(Some(Box::new(error)));
                state.machine.handle_dial_failed(now, ticket);
            }
        }
    }

    /// The link is there, under the token that the epoll set has for it already.
    fn dialled(&self, state: &mut State<R>, (token, ticket): (u64, DialTicket), link: Link, now: Moment) {
        state.links.adopt(token, link);
        state.machine.handle_dialled(now, ticket, PeerId(token));
        // What the machine says first goes with the proof, which waits for nobody.
        self.perform_some(state, CHUNK);
        state.links.flush(token, self.epoll.as_fd());
    }

    /// Who waits at the descriptors does not know yet when a dial is to be given up that somebody else has begun.
    pub(super) fn tell_of_dials(&self, state: &State<R>) {
        if state.polling && state.dials.deadline().is_some() {
            self.mailbox.ring();
        }
    }

    /// Gives up the dials whose time is over.
    pub(super) fn give_up_dials(&self, state: &mut State<R>, instant: Instant, now: Moment) {
        while let Some((ticket, dialling)) = state.dials.take_late(instant) {
            // A child that was forked off meanwhile keeps the connection open, and so its place in the set.
            let _ = epoll::delete(&self.epoll, dialling.as_fd());
            state.troubles.extend(Some(Box::new(dialling.give_up())));
            state.machine.handle_dial_failed(now, ticket);
        }
    }
}

/// Has a thread do what waits; the outcome is posted.
fn dial_elsewhere(mailbox: &Arc<Mailbox>, ticket: DialTicket, rest: Candidates) {
    let post = mailbox.clone();
    let run = move || {
        post.post(match rest.dial() {
            Ok(link) => Letter::Dialled(ticket, Box::new(link)),
            Err(error) => failed(ticket, error),
        });
    };
    if std::thread::Builder::new().name("flexpath-dial".to_owned()).spawn(run).is_err() {
        mailbox.post(Letter::Failed(ticket, None));
    }
}

fn failed(ticket: DialTicket, error: DialError) -> Letter {
    tracing::debug!(%error, "dial failed");
    Letter::Failed(ticket, Some(Box::new(error)))
}
