//! The short call to the lead by which a rank that only knows the cohort's name gets its place in the tree.

use super::{Cohort, Progress, Stage};
use crate::config::{CohortConfig, CohortPosition, ContactText};
use crate::effect::{DisconnectReason, Misbehaviour, PeerId};
use crate::event::OpenFailure;
use crate::message::Message;
use crate::outcome::RefusalReason;
use crate::search::Search;
use crate::time::Moment;
use crate::transition::Transition;
use crate::tree;
use crate::wire::{DialPurpose, Role, Wire};
use fp_types::{Epoch, Rank};

impl Cohort {
    /// The lead was found: asks it for a place.
    pub(super) fn join(&mut self, now: Moment, wire: &mut Wire, peer: PeerId, epoch: Epoch) {
        wire.mark(Transition::CohortJoining);
        self.epoch = epoch;
        wire.set_role(peer, Role::Lead);
        let CohortConfig { rank, size, contact, .. } = self.config.clone();
        wire.send(now, peer, Message::Join { rank, size, contact });
        if let Stage::Searching(search) = std::mem::replace(&mut self.stage, Stage::Waiting) {
            self.stage = Stage::Joining(peer, Box::new(search));
        }
    }

    /// A rank wants its place.
    pub(crate) fn joins(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        peer: PeerId,
        rank: Rank,
        size: u32,
        contact: ContactText,
    ) -> Progress {
        if let Some(reason) = self.join_refusal(rank, size) {
            wire.mark(Transition::JoinRefused);
            wire.send(now, peer, Message::Refused { reason });
            wire.disconnect(peer, DisconnectReason::Refused);
            return Progress::None;
        }
        wire.set_role(peer, Role::Joiner(rank));
        self.joined.insert(rank, (peer, contact));
        self.review(now, wire)
    }

    fn join_refusal(&self, rank: Rank, size: u32) -> Option<RefusalReason> {
        let expected_size = self.config.size;
        if size != expected_size || rank.0 >= expected_size || rank.0 == 0 {
            return Some(RefusalReason::CohortMismatch { rank, size, expected_size });
        }
        // Where a launcher gathered the ranks, each has its place: who asks for one is of another run.
        let searched = self.config.position == CohortPosition::Searched;
        let assembling = searched && matches!(self.stage, Stage::Claiming | Stage::Gathering);
        (!assembling || self.joined.contains_key(&rank)).then_some(RefusalReason::RankTaken { rank })
    }

    /// The lead gave us our place.
    pub(crate) fn welcomed(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        peer: PeerId,
        epoch: Epoch,
        parent: ContactText,
    ) -> Progress {
        let Stage::Joining(lead, _) = &self.stage else {
            wire.misbehaved(peer, Misbehaviour::Unexpected("Welcome"));
            return Progress::None;
        };
        let lead = *lead;
        self.epoch = epoch;
        if tree::parent(self.config.rank, self.config.fan_out) == Some(Rank(0)) {
            self.stage = Stage::Waiting;
            self.hang_under(now, wire, lead);
            return self.review(now, wire);
        }
        wire.disconnect(lead, DisconnectReason::Done);
        self.stage = Stage::Linking(wire.dial(parent, None, DialPurpose::Parent));
        Progress::None
    }

    /// The lead refused us: a size that does not fit ends the attempt, anything else may be another run.
    pub(crate) fn refused(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        peer: PeerId,
        reason: RefusalReason,
    ) -> Progress {
        wire.disconnect(peer, DisconnectReason::Done);
        let Stage::Joining(_, search) = std::mem::replace(&mut self.stage, Stage::Failed) else {
            return Progress::None;
        };
        if matches!(reason, RefusalReason::CohortMismatch { .. }) {
            return Progress::Failed(OpenFailure::Refused(reason));
        }
        self.search_again(now, *search);
        Progress::None
    }

    pub(super) fn search_again(&mut self, now: Moment, mut search: Search) {
        search.resume(now);
        self.stage = Stage::Searching(search);
    }

    /// Tells every rank its parent, and forgets them: each tells its parent, which keeps it, where it is.
    pub(super) fn welcome_all(&mut self, now: Moment, wire: &mut Wire) {
        let joined = std::mem::take(&mut self.joined);
        for (&rank, (peer, _)) in &joined {
            let parent = tree::parent(rank, self.config.fan_out).unwrap_or(Rank(0));
            let contact = match joined.get(&parent) {
                Some((_, contact)) => contact.clone(),
                None => self.config.contact.clone(),
            };
            wire.send(now, *peer, Message::Welcome { epoch: self.epoch, parent: contact });
        }
    }
}
