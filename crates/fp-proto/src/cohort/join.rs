//! The short call to the lead by which a rank that only knows the cohort's name gets its place in the tree.

use super::{Cohort, Stage};
use crate::config::{CohortConfig, CohortPosition, ContactText};
use crate::effect::{DisconnectReason, Misbehaviour, PeerId};
use crate::event::OpenFailure;
use crate::message::Message;
use crate::outcome::RefusalReason;
use crate::transition::Transition;
use crate::tree;
use crate::wire::{DialPurpose, Role, Wire};
use fp_types::{Epoch, Rank, StepId};

impl Cohort {
    /// The lead was found: asks it for a place.
    pub(super) fn join(&mut self, wire: &mut Wire, peer: PeerId, epoch: Epoch) {
        wire.mark(Transition::CohortJoining);
        self.epoch = epoch;
        wire.set_role(peer, Role::Lead);
        let CohortConfig { rank, size, contact, first_step, .. } = self.config.clone();
        wire.send(peer, Message::Join { rank, size, contact, first_step });
        if let Stage::Searching(search) = std::mem::replace(&mut self.stage, Stage::Waiting) {
            self.stage = Stage::Joining(Box::new(search));
        }
    }

    /// A rank wants its place.
    pub(super) fn joins(
        &mut self,
        wire: &mut Wire,
        peer: PeerId,
        (rank, size): (Rank, u32),
        contact: ContactText,
        first_step: Option<StepId>,
    ) {
        if let Some(reason) = self.join_refusal(rank, size, first_step) {
            wire.mark(Transition::JoinRefused);
            wire.send(peer, Message::Refused { reason });
            wire.disconnect(peer, DisconnectReason::Refused);
            return;
        }
        wire.set_role(peer, Role::Joiner(rank));
        self.joined.insert(rank, (peer, contact));
        self.review(wire);
    }

    fn join_refusal(&self, rank: Rank, size: u32, first_step: Option<StepId>) -> Option<RefusalReason> {
        let CohortConfig { size: expected_size, first_step: expected_first_step, .. } = self.config;
        if size != expected_size || rank.0 >= expected_size || rank.0 == 0 {
            return Some(RefusalReason::CohortMismatch { rank, size, expected_size });
        }
        if first_step != expected_first_step {
            return Some(RefusalReason::FirstStepMismatch { rank, first_step, expected_first_step });
        }
        // Where a launcher gathered the ranks, each has its place: who asks for one is of another run.
        let searched = self.config.position == CohortPosition::Searched;
        let assembling = searched && matches!(self.stage, Stage::Claiming | Stage::Gathering);
        (!assembling || self.joined.contains_key(&rank)).then_some(RefusalReason::RankTaken { rank })
    }

    /// The lead gave us our place.
    pub(super) fn welcomed(&mut self, wire: &mut Wire, peer: PeerId, epoch: Epoch, parent: ContactText) {
        if !matches!(self.stage, Stage::Joining(_)) {
            wire.misbehaved(peer, Misbehaviour::Unexpected("Welcome"));
            return;
        }
        self.epoch = epoch;
        if tree::parent(self.config.rank, self.config.fan_out) == Some(Rank::LEAD) {
            self.hang_under(wire, peer);
            return;
        }
        wire.disconnect(peer, DisconnectReason::Done);
        self.stage = Stage::Linking(wire.dial(parent, None, DialPurpose::Parent));
    }

    /// The lead refused us: a size or first step that does not fit ends the attempt, anything else may be another run.
    pub(super) fn refused(&mut self, wire: &mut Wire, peer: PeerId, reason: RefusalReason) {
        wire.disconnect(peer, DisconnectReason::Done);
        let ends = matches!(
            reason,
            RefusalReason::CohortMismatch { .. }
                | RefusalReason::FirstStepMismatch { .. }
                | RefusalReason::Denied(_)
        );
        if ends {
            self.fail(OpenFailure::Refused(reason));
        } else {
            self.search_again(wire);
        }
    }

    /// The lead that was found is not the one, or gone.
    pub(super) fn search_again(&mut self, wire: &Wire) {
        if let Stage::Joining(mut search) = std::mem::replace(&mut self.stage, Stage::Waiting) {
            search.resume(wire);
            self.stage = Stage::Searching(*search);
        }
    }

    /// Tells every rank its parent, and forgets them: each tells its parent, which keeps it, where it is.
    pub(super) fn welcome_all(&mut self, wire: &mut Wire) {
        let joined = std::mem::take(&mut self.joined);
        for (&rank, (peer, _)) in &joined {
            let parent = tree::parent(rank, self.config.fan_out).unwrap_or(Rank::LEAD);
            let contact = match joined.get(&parent) {
                Some((_, contact)) => contact.clone(),
                None => self.config.contact.clone(),
            };
            wire.send(*peer, Message::Welcome { epoch: self.epoch, parent: contact });
        }
    }
}
