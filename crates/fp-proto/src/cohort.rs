//! How the ranks of one cohort find one another and form their tree (`docs/protocol.md`, sections 3 and 4).
//! Both machines use it; what a complete cohort then does is theirs.

mod gathered;
mod join;

use crate::claim::{Claim, Standing};
use crate::config::{CohortConfig, CohortPosition, ContactText};
use crate::effect::{DialTicket, DisconnectReason, Listing, Misbehaviour, PeerId};
use crate::event::{OpenFailure, OpenWait};
use crate::message::Message;
use crate::outcome::{LossReason, RefusalReason};
use crate::search::{Found, Search};
use crate::time::Moment;
use crate::transition::Transition;
use crate::tree;
use crate::wire::{DialPurpose, Role, Wire};
use fp_types::{Epoch, Rank};
use std::collections::BTreeMap;

/// Where assembling stands.
enum Stage {
    /// The lead claims the name.
    Claiming,
    /// The lead waits for the other ranks to join.
    Gathering,
    /// A rank looks for its lead.
    Searching(Search),
    /// A rank waits for its place.
    Joining(PeerId, Box<Search>),
    /// A rank dials its parent.
    Linking(DialTicket),
    /// A rank waits for its subtree and for the rest of the cohort.
    Waiting,
    /// The cohort is complete.
    Open,
    /// It never will be.
    Failed,
}

struct Child {
    peer: PeerId,
    contact: ContactText,
    open: bool,
}

/// What an input meant for the cohort.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nothing that others need to know.
    None,
    /// The cohort is complete from now on.
    Opened,
    /// It will never be.
    Failed(OpenFailure),
}

/// The state of one rank's cohort.
pub(crate) struct Cohort {
    pub(crate) config: CohortConfig,
    pub(crate) epoch: Epoch,
    claim: Option<Claim>,
    stage: Stage,
    /// At a lead that gathers: who has come, until all are told their parents.
    joined: BTreeMap<Rank, (PeerId, ContactText)>,
    /// Whether the launcher has told the ranks where their parents are.
    gathered: bool,
    parent: Option<PeerId>,
    children: BTreeMap<Rank, Child>,
    give_up: Moment,
    ignore_incumbent: bool,
}

impl Cohort {
    /// Starts to assemble. `named` says whether the lead claims the cohort's name even when it is alone.
    pub(crate) fn start(
        now: Moment,
        wire: &mut Wire,
        config: CohortConfig,
        epoch: Epoch,
        named: bool,
    ) -> Self {
        let give_up = now.after(config.open_timeout);
        let lead = config.rank == Rank(0);
        let searched = config.position == CohortPosition::Searched;
        let claims = lead && (named || (config.size > 1 && searched));
        let claim = claims.then(|| Claim::start(wire, &config.name, epoch));
        let (stage, epoch) = Self::first_stage(wire, &config, epoch);
        Self {
            config,
            epoch,
            claim,
            stage,
            joined: BTreeMap::new(),
            gathered: false,
            parent: None,
            children: BTreeMap::new(),
            give_up,
            ignore_incumbent: false,
        }
    }

    fn first_stage(wire: &mut Wire, config: &CohortConfig, epoch: Epoch) -> (Stage, Epoch) {
        match &config.position {
            _ if config.rank == Rank(0) => (Stage::Claiming, epoch),
            CohortPosition::Under { parent, epoch } => {
                (Stage::Linking(wire.dial(parent.clone(), None, DialPurpose::Parent)), *epoch)
            }
            CohortPosition::Searched | CohortPosition::Gathered => {
                let direct = config.lead_contact.clone();
                (
                    Stage::Searching(Search::start(wire, &config.name, direct, config.lookup_interval, None)),
                    epoch,
                )
            }
        }
    }

    /// A lead that needs nobody else is complete at once.
    pub(crate) fn begin_alone(&mut self, now: Moment, wire: &mut Wire) -> Progress {
        self.review(now, wire)
    }

    /// For the mutation of that name.
    #[cfg(feature = "mutations")]
    pub(crate) fn ignore_incumbent(&mut self) {
        self.ignore_incumbent = true;
    }

    pub(crate) fn is_lead(&self) -> bool {
        self.config.rank == Rank(0)
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open)
    }

    /// Whether a prober may believe that this lead holds its name.
    pub(crate) fn holds_name(&self) -> bool {
        self.is_lead() && self.claim.as_ref().is_none_or(|claim| matches!(claim.standing(), Standing::Held))
    }

    pub(crate) fn parent(&self) -> Option<PeerId> {
        self.parent
    }

    /// The children's links, rising by rank.
    pub(crate) fn children(&self) -> impl Iterator<Item = (Rank, PeerId)> + '_ {
        self.children.iter().map(|(&rank, child)| (rank, child.peer))
    }

    /// The link to a child, and where it is: nobody else keeps that.
    pub(crate) fn child(&self, rank: Rank) -> Option<(PeerId, &ContactText)> {
        self.children.get(&rank).map(|child| (child.peer, &child.contact))
    }

    /// Where this rank's children are.
    pub(crate) fn children_contacts(&self) -> impl Iterator<Item = (Rank, &ContactText)> {
        self.children.iter().map(|(&rank, child)| (rank, &child.contact))
    }

    pub(crate) fn deadline(&self) -> Option<Moment> {
        match &self.stage {
            Stage::Open | Stage::Failed => None,
            _ if self.awaits_launcher() => None,
            Stage::Searching(search) => {
                Some(search.deadline().map_or(self.give_up, |due| due.min(self.give_up)))
            }
            _ => Some(self.give_up),
        }
    }

    pub(crate) fn tick(&mut self, now: Moment, wire: &mut Wire) -> Progress {
        if matches!(self.stage, Stage::Open | Stage::Failed) {
            return Progress::None;
        }
        if now >= self.give_up && !self.awaits_launcher() {
            wire.mark(Transition::OpenTimedOut);
            let wait = self.waits_for();
            return self.fail(OpenFailure::TimedOut(wait));
        }
        if let Stage::Searching(search) = &mut self.stage {
            search.tick(now, wire);
        }
        Progress::None
    }

    fn waits_for(&self) -> OpenWait {
        match &self.stage {
            Stage::Searching(search) => search.waits_for(),
            Stage::Joining(..) | Stage::Linking(_) => OpenWait::Lead,
            _ => OpenWait::Ranks { present: self.present(), size: self.config.size },
        }
    }

    fn present(&self) -> u32 {
        let searched = self.config.position == CohortPosition::Searched;
        let others = match self.stage {
            // All had come, and their contacts are forgotten.
            Stage::Waiting if self.is_lead() && searched => return self.config.size,
            _ if self.is_lead() && searched => self.joined.len(),
            _ => self.children.len(),
        };
        u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1)
    }

    fn fail(&mut self, failure: OpenFailure) -> Progress {
        self.stage = Stage::Failed;
        Progress::Failed(failure)
    }

    pub(crate) fn listing(&mut self, now: Moment, wire: &mut Wire, listing: Vec<Listing>) -> Progress {
        if let Stage::Searching(search) = &mut self.stage {
            search.listing(now, wire, listing);
            return Progress::None;
        }
        if let Some(claim) = &mut self.claim {
            claim.listing(wire, listing);
        }
        self.review(now, wire)
    }

    /// A dial of the cohort's came through.
    pub(crate) fn dialled(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        ticket: DialTicket,
        peer: PeerId,
        purpose: DialPurpose,
    ) -> Progress {
        match (purpose, &mut self.stage) {
            (DialPurpose::Parent, Stage::Linking(expected)) if *expected == ticket => {
                self.stage = Stage::Waiting;
                self.hang_under(now, wire, peer);
                return self.review(now, wire);
            }
            (DialPurpose::Probe(epoch), Stage::Searching(search)) => {
                search.dialled(now, wire, ticket, peer, epoch)
            }
            (DialPurpose::Probe(_), _) => match &mut self.claim {
                Some(claim) => claim.dialled(now, wire, ticket, peer),
                None => drop(wire.disconnect(peer, DisconnectReason::Done)),
            },
            _ => drop(wire.disconnect(peer, DisconnectReason::Done)),
        }
        Progress::None
    }

    fn hang_under(&mut self, now: Moment, wire: &mut Wire, peer: PeerId) {
        wire.mark(Transition::CohortLinked);
        wire.set_role(peer, Role::Parent);
        self.parent = Some(peer);
        let CohortConfig { rank, contact, .. } = &self.config;
        wire.send(now, peer, Message::TreeHello { rank: *rank, contact: contact.clone() });
    }

    pub(crate) fn dial_failed(&mut self, now: Moment, wire: &mut Wire, ticket: DialTicket) -> Progress {
        match &mut self.stage {
            Stage::Searching(search) => search.failed(now, wire, ticket),
            Stage::Linking(expected) if *expected == ticket => {
                let rank = tree::parent(self.config.rank, self.config.fan_out).unwrap_or(Rank(0));
                return self.fail(OpenFailure::RankLost { rank, reason: LossReason::Unreachable });
            }
            _ => {
                if let Some(claim) = &mut self.claim {
                    claim.failed(wire, ticket);
                }
            }
        }
        self.review(now, wire)
    }

    /// An answer to our own probe.
    pub(crate) fn probe_reply(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        peer: PeerId,
        epoch: Epoch,
        incumbent: bool,
    ) -> Progress {
        if let Stage::Searching(search) = &mut self.stage {
            if let Found::Lead(found) = search.reply(now, wire, peer, epoch, incumbent) {
                self.join(now, wire, peer, found);
            }
            return Progress::None;
        }
        let ignore = self.ignore_incumbent;
        if let Some(claim) = &mut self.claim {
            claim.reply(wire, peer, epoch, incumbent, ignore);
        }
        self.review(now, wire)
    }

    /// Somebody asks who we are.
    pub(crate) fn probed(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        peer: PeerId,
        theirs: Epoch,
        closing: bool,
    ) -> Progress {
        wire.set_role(peer, Role::Prober);
        let incumbent = self.holds_name() && !closing;
        wire.send(now, peer, Message::ProbeReply { epoch: self.epoch, incumbent });
        if let Some(claim) = &mut self.claim {
            claim.probed(wire, theirs);
        }
        self.review(now, wire)
    }

    /// A child hangs itself under us.
    pub(crate) fn child_hello(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        peer: PeerId,
        (rank, contact): (Rank, ContactText),
    ) -> Progress {
        let expected =
            tree::children(rank_of(self), self.config.size, self.config.fan_out).any(|child| child == rank);
        if !expected || self.children.contains_key(&rank) || self.is_open() {
            wire.misbehaved(peer, Misbehaviour::Unexpected("TreeHello"));
            return Progress::None;
        }
        wire.set_role(peer, Role::Child(rank));
        self.children.insert(rank, Child { peer, contact, open: false });
        self.review(now, wire)
    }

    /// A child's subtree is complete.
    pub(crate) fn child_open(&mut self, now: Moment, wire: &mut Wire, rank: Rank) -> Progress {
        if let Some(child) = self.children.get_mut(&rank) {
            child.open = true;
        }
        self.review(now, wire)
    }

    /// The parent says that the cohort is complete.
    pub(crate) fn opened_from_above(&mut self, now: Moment, wire: &mut Wire, peer: PeerId) -> Progress {
        if !matches!(self.stage, Stage::Waiting) {
            wire.misbehaved(peer, Misbehaviour::Unexpected("CohortOpen"));
            return Progress::None;
        }
        self.open(now, wire)
    }

    fn open(&mut self, now: Moment, wire: &mut Wire) -> Progress {
        wire.mark(Transition::CohortOpened);
        self.stage = Stage::Open;
        let children: Vec<PeerId> = self.children.values().map(|child| child.peer).collect();
        for child in children {
            wire.send(now, child, Message::CohortOpen);
        }
        Progress::Opened
    }

    /// Goes on as far as the facts allow.
    fn review(&mut self, now: Moment, wire: &mut Wire) -> Progress {
        if matches!(self.stage, Stage::Claiming) {
            match self.claim.as_ref().map_or(Standing::Held, Claim::standing) {
                Standing::Open => return Progress::None,
                Standing::Taken(epoch) => {
                    return self.fail(OpenFailure::Refused(RefusalReason::NameTaken { epoch }));
                }
                Standing::Held => self.stage = Stage::Gathering,
            }
        }
        if matches!(self.stage, Stage::Gathering) && self.all_joined() {
            self.stage = Stage::Waiting;
            self.welcome_all(now, wire);
        }
        if matches!(self.stage, Stage::Waiting) && self.subtree_open() {
            return self.subtree_complete(now, wire);
        }
        Progress::None
    }

    fn all_joined(&self) -> bool {
        match self.config.position {
            CohortPosition::Searched => self.joined.len() + 1 == self.config.size as usize,
            CohortPosition::Gathered | CohortPosition::Under { .. } => self.gathered,
        }
    }

    fn subtree_open(&self) -> bool {
        let expected = tree::children(rank_of(self), self.config.size, self.config.fan_out).count();
        self.children.len() == expected && self.children.values().all(|child| child.open)
    }

    fn subtree_complete(&mut self, now: Moment, wire: &mut Wire) -> Progress {
        if self.is_lead() {
            return self.open(now, wire);
        }
        if let Some(parent) = self.parent {
            wire.send(now, parent, Message::SubtreeOpen);
        }
        Progress::None
    }

    /// A link of the cohort's is gone. While the cohort assembles that is handled here; afterwards the
    /// machine is told which rank it lost.
    pub(crate) fn disconnected(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        peer: PeerId,
        role: Role,
    ) -> Progress {
        match role {
            Role::Joiner(rank) if matches!(self.stage, Stage::Claiming | Stage::Gathering) => {
                self.joined.remove(&rank);
            }
            Role::Candidate(_) => self.candidate_gone(now, wire, peer),
            Role::Lead => {
                if let Stage::Joining(_, search) = std::mem::replace(&mut self.stage, Stage::Waiting) {
                    self.search_again(now, *search);
                }
            }
            _ => {}
        }
        self.review(now, wire)
    }

    fn candidate_gone(&mut self, now: Moment, wire: &mut Wire, peer: PeerId) {
        if let Stage::Searching(search) = &mut self.stage {
            search.gone(now, peer);
        } else if let Some(claim) = &mut self.claim {
            claim.gone(wire, peer);
        }
    }

    /// Forgets the link to a rank that is lost; `None` if the role is not of the tree.
    pub(crate) fn lost_rank(&mut self, role: Role) -> Option<Rank> {
        match role {
            Role::Parent => {
                self.parent = None;
                tree::parent(self.config.rank, self.config.fan_out)
            }
            Role::Child(rank) => {
                self.children.remove(&rank);
                Some(rank)
            }
            _ => None,
        }
    }

    /// Opening is over because a rank was lost.
    pub(crate) fn abort(&mut self) {
        self.stage = Stage::Failed;
    }

    /// Takes the name out of the rendezvous, if it is held.
    pub(crate) fn release_name(&mut self, wire: &mut Wire) {
        if let Some(claim) = self.claim.take()
            && !matches!(claim.standing(), Standing::Taken(_))
        {
            claim.remove_entry(wire);
        }
    }
}

fn rank_of(cohort: &Cohort) -> Rank {
    cohort.config.rank
}
