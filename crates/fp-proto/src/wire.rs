//! What every machine has: its control links with their roles and liveness, and the effects for its coordinator.

use crate::config::{CohortConfig, ContactText};
use crate::effect::{DialTicket, DisconnectReason, Effect, Misbehaviour, PeerId};
use crate::event::Event;
use crate::fragment::{self, Joining};
use crate::message::{MemberId, Message};
use crate::time::Moment;
use crate::transition::{Transition, TransitionSet};
use fp_types::{Epoch, NumberMap, Rank};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// What a link is for, at this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Accepted; its first message will say.
    Fresh,
    /// It asked who we are.
    Prober,
    /// It asked who we are, and we were not the one that it looks for: it will leave.
    Declined,
    /// We asked who it is.
    Candidate,
    /// A rank of the own cohort that wants its place (at the lead).
    Joiner(Rank),
    /// The lead of the own cohort (at a rank that joins).
    Lead,
    /// The parent in the own cohort's tree.
    Parent,
    /// A child in the own cohort's tree.
    Child(Rank),
    /// The lead of a subscriber cohort whose subscription waits for the cohort to open.
    Early,
    /// The lead of a subscriber cohort (at the publisher's lead).
    Member(MemberId),
    /// The publisher's lead (at a subscriber cohort's lead).
    Publisher,
    /// A subscriber rank that asks for tables (at a publisher rank).
    Asker,
    /// The publisher rank that answers our questions (at a subscriber rank).
    Answerer,
    /// Somebody who asks for status and takes no data.
    Observer,
}

/// What a dial was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialPurpose {
    /// To see who is behind an entry of the rendezvous.
    Probe,
    /// To hang oneself under the parent.
    Parent,
    /// To ask for tables.
    Answerer,
}

struct Link {
    role: Role,
    /// Whose it is, as the coordinator knows for sure.
    origin: Option<Arc<str>>,
    heard: Moment,
    sent: Moment,
    joining: Joining,
}

impl Link {
    /// Its peer gave a sign of life. Of a candidate only its answer counts: heartbeats alone must not hold up a search.
    fn note_heard(&mut self, now: Moment) {
        if self.role != Role::Candidate {
            self.heard = now;
        }
    }
}

/// Links, liveness and effects of one machine.
#[derive(Default)]
pub(crate) struct Wire {
    /// When the input came that is handled now.
    pub(crate) now: Moment,
    effects: VecDeque<Effect>,
    links: NumberMap<PeerId, Link>,
    dials: BTreeMap<DialTicket, DialPurpose>,
    next_ticket: u64,
    heartbeat: Duration,
    silence: Duration,
    fragment_bytes: usize,
    long_bytes: usize,
    transitions: TransitionSet,
    /// No heartbeat and no silence is due before: who speaks and is heard moves both, but not this.
    due: Option<Moment>,
    /// The mistake that is switched on.
    #[cfg(feature = "mutations")]
    pub(crate) mutation: Option<crate::mutation::Mutation>,
}

/// Whether a mistake is switched on; never in production, where nothing of this is compiled.
macro_rules! mutated {
    ($wire:expr, $mutation:ident) => {{
        #[cfg(feature = "mutations")]
        let mutated = $wire.mutation == Some(crate::mutation::Mutation::$mutation);
        #[cfg(not(feature = "mutations"))]
        let mutated = false;
        mutated
    }};
}
pub(crate) use mutated;

impl Wire {
    pub(crate) fn new(config: &CohortConfig, now: Moment) -> Self {
        let CohortConfig { heartbeat, silence, fragment_bytes, long_bytes, .. } = *config;
        Self { now, heartbeat, silence, fragment_bytes, long_bytes, ..Self::default() }
    }

    /// The next input came.
    pub(crate) fn enter(&mut self, now: Moment) {
        self.now = self.now.max(now);
    }

    pub(crate) fn mark(&mut self, transition: Transition) {
        self.transitions.insert(transition);
    }

    pub(crate) fn transitions(&self) -> TransitionSet {
        self.transitions
    }

    pub(crate) fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    pub(crate) fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push_back(effect);
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.push(Effect::Event(event));
    }

    /// Sends to a live link, in fragments if the message is long. To one that is gone nothing is sent, as its loss was
    /// or will be handled.
    pub(crate) fn send(&mut self, to: PeerId, message: Message) {
        let Some(link) = self.links.get_mut(&to) else { return };
        link.sent = self.now;
        match fragment::cut(&message, self.fragment_bytes) {
            None => self.push(Effect::Send { to, message }),
            Some(fragments) => {
                self.mark(Transition::LongMessageCut);
                fragments.into_iter().for_each(|message| self.push(Effect::Send { to, message }));
            }
        }
    }

    /// What the link is for over which a message has come that every step takes: it is whole, and within its bounds.
    /// `None` where [`Wire::hear`] has more to say.
    #[inline]
    pub(crate) fn hear_usual(&mut self, from: PeerId) -> Option<Role> {
        let now = self.now;
        let link = self.links.get_mut(&from).filter(|link| !link.joining.is_open())?;
        link.note_heard(now);
        Some(link.role)
    }

    /// The whole message that has come, and what its link is for; `None` for a sign of life or part of a message.
    ///
    /// # Errors
    /// If it breaks the protocol, whatever the link is for.
    pub(crate) fn hear(
        &mut self,
        from: PeerId,
        message: Message,
    ) -> Result<Option<(Role, Message)>, Misbehaviour> {
        let now = self.now;
        let Some(link) = self.links.get_mut(&from) else { return Ok(None) };
        let role = link.role;
        link.note_heard(now);
        let is_part = matches!(message, Message::Fragment { .. });
        if !is_part && link.joining.is_open() {
            return Err(Misbehaviour::OutOfOrder("Fragment"));
        }
        let whole = if is_part { self.whole(from, message)? } else { Some(message) };
        let Some(message) = whole else { return Ok(None) };
        message.check().map_err(Misbehaviour::OutOfBounds)?;
        Ok((!matches!(message, Message::Heartbeat)).then_some((role, message)))
    }

    /// The whole message, `None` while fragments of it are missing. Only who tells of blocks sends
    /// fragments: ranks of the own cohort, and publishers to those who asked them.
    fn whole(&mut self, from: PeerId, message: Message) -> Result<Option<Message>, Misbehaviour> {
        let Some(link) = self.links.get_mut(&from) else { return Ok(None) };
        let Message::Fragment { bytes, left_bytes } = message else { return Ok(Some(message)) };
        if !matches!(link.role, Role::Parent | Role::Child(_) | Role::Publisher | Role::Answerer) {
            return Err(Misbehaviour::Unexpected("Fragment"));
        }
        let joined = link.joining.add(&bytes, left_bytes, self.long_bytes)?;
        if joined.is_some() {
            self.mark(Transition::LongMessageJoined);
        }
        Ok(joined)
    }

    pub(crate) fn dial(
        &mut self,
        contact: ContactText,
        epoch: Option<Epoch>,
        purpose: DialPurpose,
    ) -> DialTicket {
        let ticket = DialTicket(self.next_ticket);
        self.next_ticket += 1;
        self.dials.insert(ticket, purpose);
        self.push(Effect::Dial { ticket, contact, epoch });
        ticket
    }

    /// What the ticket was for; once.
    pub(crate) fn take_dial(&mut self, ticket: DialTicket) -> Option<DialPurpose> {
        self.dials.remove(&ticket)
    }

    /// A peer dialled us; where all is over nobody is there for it.
    pub(crate) fn accepted(&mut self, peer: PeerId, is_over: bool) {
        if is_over {
            self.push(Effect::Disconnect { peer, reason: DisconnectReason::Ended });
        } else {
            self.connect(peer);
        }
    }

    /// A new link: what it is for is to be seen.
    pub(crate) fn connect(&mut self, peer: PeerId) {
        let (role, now) = (Role::Fresh, self.now);
        self.links
            .insert(peer, Link { role, origin: None, heard: now, sent: now, joining: Joining::default() });
        let due = now.after(self.heartbeat.min(self.silence));
        self.due = Some(self.due.map_or(due, |known| known.min(due)));
    }

    /// Whose a link is.
    pub(crate) fn set_origin(&mut self, peer: PeerId, origin: Arc<str>) {
        if let Some(link) = self.links.get_mut(&peer) {
            link.origin = Some(origin);
        }
    }

    pub(crate) fn origin(&self, peer: PeerId) -> Option<&str> {
        self.links.get(&peer).and_then(|link| link.origin.as_deref())
    }

    pub(crate) fn role(&self, peer: PeerId) -> Option<Role> {
        self.links.get(&peer).map(|link| link.role)
    }

    /// How long nothing was heard over a link, if it is there.
    pub(crate) fn unheard(&self, peer: PeerId) -> Option<Duration> {
        self.links.get(&peer).map(|link| self.now.since(link.heard))
    }

    /// Every link, what it is for, and how long nothing was heard over it.
    pub(crate) fn links(&self) -> impl Iterator<Item = (PeerId, Role, Duration)> {
        self.links.iter().map(|(&peer, link)| (peer, link.role, self.now.since(link.heard)))
    }

    pub(crate) fn set_role(&mut self, peer: PeerId, role: Role) {
        if let Some(link) = self.links.get_mut(&peer) {
            link.role = role;
        }
    }

    /// A peer gave a sign of life.
    fn heard(&mut self, peer: PeerId) {
        let now = self.now;
        if let Some(link) = self.links.get_mut(&peer) {
            link.note_heard(now);
        }
    }

    /// The coordinator says that the link is gone.
    pub(crate) fn remove(&mut self, peer: PeerId) -> Option<Role> {
        self.links.remove(&peer).map(|link| link.role)
    }

    /// Closes a link from this side and gives the role it had.
    pub(crate) fn disconnect(&mut self, peer: PeerId, reason: DisconnectReason) -> Option<Role> {
        let role = self.remove(peer)?;
        self.push(Effect::Disconnect { peer, reason });
        Some(role)
    }

    /// Closes the link of a peer that broke the protocol; gives the role it had.
    pub(crate) fn misbehaved(&mut self, peer: PeerId, what: Misbehaviour) -> Option<Role> {
        self.mark(Transition::LinkMisbehaved);
        self.disconnect(peer, DisconnectReason::PeerMisbehaved(what))
    }

    /// Closes the link of a peer that was silent for too long; gives the role it had. It may only sleep: it reads the
    /// farewell when it wakes.
    pub(crate) fn silenced(&mut self, peer: PeerId, farewell: Option<Message>) -> Option<Role> {
        self.mark(Transition::LinkSilent);
        if !mutated!(self, SilentPeerUntold) {
            farewell.into_iter().for_each(|farewell| self.send(peer, farewell));
        }
        self.disconnect(peer, DisconnectReason::Silent)
    }

    /// After so long a peer is given up.
    pub(crate) fn silence(&self) -> Duration {
        self.silence
    }

    pub(crate) fn disconnect_all(&mut self, reason: DisconnectReason) {
        let peers: Vec<PeerId> = self.links.keys().copied().collect();
        for peer in peers {
            self.disconnect(peer, reason);
        }
    }

    /// When a heartbeat or a silence is due next, at the earliest: by then [`Wire::tick`] looks.
    pub(crate) fn deadline(&self) -> Option<Moment> {
        self.due
    }

    /// When a heartbeat or a silence is due next.
    fn next_due(&self) -> Option<Moment> {
        self.links
            .values()
            .map(|link| link.sent.after(self.heartbeat).min(link.heard.after(self.silence)))
            .min()
    }

    /// Sends the heartbeats that are due and gives the peers that were silent for too long. A coordinator that
    /// overslept restarts the silence of all its peers once: they may well have spoken.
    pub(crate) fn tick(&mut self) -> Vec<PeerId> {
        let now = self.now;
        let overslept = self.next_due().is_some_and(|due| now.since(due) > self.silence / 2);
        if overslept {
            self.mark(Transition::CoordinatorOverslept);
            self.links.values_mut().for_each(|link| link.heard = now);
        }
        self.beat();
        let silence = self.silence;
        let is_silent = |link: &Link| now >= link.heard.after(silence);
        let mut silent: Vec<PeerId> =
            self.links.iter().filter(|(_, link)| is_silent(link)).map(|(&peer, _)| peer).collect();
        if mutated!(self, SilenceIgnored) {
            silent.drain(..).for_each(|peer| self.heard(peer));
        }
        self.due = self.next_due();
        silent
    }

    fn beat(&mut self) {
        let (now, heartbeat) = (self.now, self.heartbeat);
        let idle: Vec<PeerId> = self
            .links
            .iter()
            .filter(|(_, link)| now >= link.sent.after(heartbeat))
            .map(|(&peer, _)| peer)
            .collect();
        for peer in idle {
            self.send(peer, Message::Heartbeat);
        }
    }
}
