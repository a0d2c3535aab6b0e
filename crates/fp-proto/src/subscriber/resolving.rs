//! Questions about tables, to the publisher rank that answers this one (`docs/protocol.md`, section 11).

use super::{Phase, SubscriberMachine};
use crate::commands::CommandError;
use crate::config::{CohortConfig, ContactText};
use crate::effect::{DialTicket, DisconnectReason, PeerId};
use crate::event::{Event, ResolveOutcome};
use crate::message::{Message, NoTable, ResolveQuery};
use crate::time::Moment;
use crate::transition::Transition;
use crate::tree;
use crate::wire::{DialPurpose, Role};
use fp_types::{Rank, TableId};
use std::collections::{BTreeMap, BTreeSet};

/// Questions under way.
#[derive(Default)]
pub(crate) struct Resolving {
    next: u64,
    answerer: Option<PeerId>,
    pub(crate) dialling: Option<DialTicket>,
    /// Whether the parent was asked where the answerer is.
    pub(crate) seeking: bool,
    /// Waiting for the link.
    unsent: Vec<Message>,
    /// Sent or unsent, not answered.
    open: BTreeSet<u64>,
    /// The same for those of children: who asked, and the child's number for it.
    relayed: BTreeMap<u64, (PeerId, u64)>,
}

/// Questions of children that may be under way at one time.
const LIMIT_RELAYED: usize = 4096;

impl SubscriberMachine {
    /// Asks which blocks these selections touch; answered by `Event::Resolved` with the number given here.
    ///
    /// # Errors
    /// If the stream is not attached.
    pub fn resolve(
        &mut self,
        now: Moment,
        table: TableId,
        queries: Vec<ResolveQuery>,
    ) -> Result<u64, CommandError> {
        self.enter(now);
        if !matches!(self.phase, Phase::Streaming | Phase::Ended) {
            return Err(CommandError::NotAttached);
        }
        let request = self.next_request();
        self.resolving.open.insert(request);
        self.put_question(Message::Resolve { request, table, queries });
        Ok(request)
    }

    fn next_request(&mut self) -> u64 {
        let request = self.resolving.next;
        self.resolving.next += 1;
        request
    }

    pub(crate) fn put_question(&mut self, question: Message) {
        let parent =
            self.cohort.parent().filter(|&peer| self.asks_parent() && self.wire.role(peer).is_some());
        match self.attachment.publisher.or(self.resolving.answerer).or(parent) {
            Some(peer) => self.wire.send(self.now, peer, question),
            None => self.ask_later(question),
        }
    }

    /// Whether this rank has no publisher rank to ask: so many ranks of the cohort have.
    pub(crate) fn asks_parent(&self) -> bool {
        let CohortConfig { rank, .. } = self.config.cohort;
        rank != Rank::LEAD && rank.0 >= self.attachment.askers
    }

    /// A child has nobody else to ask.
    pub(crate) fn pass_question_on(
        &mut self,
        from: PeerId,
        request: u64,
        table: TableId,
        queries: Vec<ResolveQuery>,
    ) {
        if matches!(self.phase, Phase::Assembling | Phase::Attaching | Phase::Closed) {
            // It asked before it heard that the epoch is over, with which its questions end.
            return;
        }
        if self.resolving.relayed.len() >= LIMIT_RELAYED {
            self.wire.send(self.now, from, Message::Unresolved { request, reason: NoTable::Unanswered });
            return;
        }
        self.wire.mark(Transition::QuestionPassedOn);
        let own = self.next_request();
        self.resolving.relayed.insert(own, (from, request));
        self.put_question(Message::Resolve { request: own, table, queries });
    }

    fn ask_later(&mut self, question: Message) {
        self.resolving.unsent.push(question);
        if self.resolving.dialling.is_some() || self.resolving.seeking {
            return;
        }
        match self.attachment.answerer.clone() {
            Some(contact) => {
                self.resolving.dialling = Some(self.wire.dial(contact, None, DialPurpose::Answerer));
            }
            None => self.seek_answerer(),
        }
    }

    pub(crate) fn answerer_dialled(&mut self, ticket: DialTicket, peer: PeerId) {
        if self.resolving.dialling != Some(ticket) {
            self.wire.disconnect(peer, DisconnectReason::Done);
            return;
        }
        self.resolving.dialling = None;
        self.resolving.answerer = Some(peer);
        self.wire.set_role(peer, Role::Answerer);
        for question in std::mem::take(&mut self.resolving.unsent) {
            self.wire.send(self.now, peer, question);
        }
    }

    pub(crate) fn hear_answerer(&mut self, from: PeerId, message: Message) {
        match message {
            Message::Resolved { request, encoded, owners } => self.resolved(request, encoded, owners),
            Message::Unresolved { request, reason } => self.unresolved(request, reason),
            Message::Contacts { request, contacts } => self.contacts_told(from, request, contacts),
            other => self.unexpected(from, &other),
        }
    }

    pub(crate) fn resolved(
        &mut self,
        request: u64,
        encoded: Option<Vec<u8>>,
        owners: Vec<(Rank, ContactText)>,
    ) {
        if let Some((child, request)) = self.resolving.relayed.remove(&request) {
            self.wire.send(self.now, child, Message::Resolved { request, encoded, owners });
            return;
        }
        let outcome = match encoded {
            Some(encoded) => ResolveOutcome::Table { encoded, owners },
            None => ResolveOutcome::Unknown,
        };
        self.settle_question(request, outcome);
    }

    pub(crate) fn unresolved(&mut self, request: u64, reason: NoTable) {
        if let Some((child, request)) = self.resolving.relayed.remove(&request) {
            self.wire.send(self.now, child, Message::Unresolved { request, reason });
            return;
        }
        let outcome = match reason {
            NoTable::Unanswered => ResolveOutcome::Lost,
            reason @ (NoTable::TooLarge { .. } | NoTable::Unreadable { .. }) => {
                ResolveOutcome::Refused(reason)
            }
        };
        self.settle_question(request, outcome);
    }

    fn settle_question(&mut self, request: u64, outcome: ResolveOutcome) {
        if self.resolving.open.remove(&request) {
            self.wire.event(Event::Resolved { request, outcome });
        }
    }

    /// The publisher rank that answers this rank's questions.
    pub fn answering_rank(&self) -> Rank {
        let CohortConfig { rank, fan_out, .. } = self.config.cohort;
        let mut way = std::iter::successors(Some(rank), |&rank| tree::parent(rank, fan_out));
        let asker = way.find(|rank| rank.0 < self.attachment.askers).unwrap_or(Rank::LEAD);
        Rank(asker.0 % self.attachment.answerers.max(1))
    }

    /// A dial failed; one of an epoch that is over means nothing to the questions of this one.
    pub(crate) fn answerer_unreachable(&mut self, ticket: DialTicket) {
        if self.resolving.dialling == Some(ticket) {
            self.answerer_gone();
        }
    }

    /// Nobody will answer any more: every question is told so.
    pub(crate) fn answerer_gone(&mut self) {
        self.resolving.answerer = None;
        self.resolving.dialling = None;
        self.resolving.unsent.clear();
        for request in std::mem::take(&mut self.resolving.open) {
            self.wire.event(Event::Resolved { request, outcome: ResolveOutcome::Lost });
        }
        for (_, (child, request)) in std::mem::take(&mut self.resolving.relayed) {
            self.wire.send(self.now, child, Message::Unresolved { request, reason: NoTable::Unanswered });
        }
        self.contacts_unanswered();
    }

    /// The epoch is over: the link to its answerer as well.
    pub(crate) fn drop_answerer(&mut self) {
        if let Some(peer) = self.resolving.answerer {
            self.wire.disconnect(peer, DisconnectReason::Ended);
        }
        self.answerer_gone();
    }
}
