//! How the ranks of one cohort find one another and form their tree (`docs/protocol.md`, sections 3 and 4).
//! Both machines use it; what a complete cohort then does is theirs.

mod gathered;
mod join;

use crate::claim::{Claim, Standing};
use crate::config::{CohortConfig, CohortPosition, ContactText};
use crate::effect::{DialTicket, DisconnectReason, Listing, Misbehaviour, PeerId};
use crate::event::{Event, OpenFailure, OpenWait};
use crate::message::Message;
use crate::outcome::{LossReason, RefusalReason};
use crate::search::Search;
use crate::status::report::{Wait, WaitOn};
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
    Joining(Box<Search>),
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

/// What an input meant for the cohort, if anything that others need to know.
pub(crate) enum Progress {
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
    /// To be taken by the machine after each input.
    pub(crate) progress: Option<Progress>,
}

impl Cohort {
    /// Starts to assemble. `named` says whether the lead claims the cohort's name even when it is alone.
    pub(crate) fn start(wire: &mut Wire, config: CohortConfig, epoch: Epoch, named: bool) -> Self {
        let give_up = wire.now.after(config.open_timeout);
        let lead = config.rank == Rank::LEAD;
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
            progress: None,
        }
    }

    fn first_stage(wire: &mut Wire, config: &CohortConfig, epoch: Epoch) -> (Stage, Epoch) {
        match &config.position {
            _ if config.rank == Rank::LEAD => (Stage::Claiming, epoch),
            CohortPosition::Under { parent, epoch } => {
                (Stage::Linking(wire.dial(parent.clone(), None, DialPurpose::Parent)), *epoch)
            }
            CohortPosition::Searched | CohortPosition::Gathered => {
                let direct = config.lead_contact.clone();
                let search = Search::start(wire, &config.name, direct, config.lookup_interval, None);
                (Stage::Searching(search), epoch)
            }
        }
    }

    pub(crate) fn is_lead(&self) -> bool {
        self.config.rank == Rank::LEAD
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

    /// Sends up the tree.
    pub(crate) fn tell_parent(&self, wire: &mut Wire, message: Message) {
        if let Some(parent) = self.parent {
            wire.send(parent, message);
        }
    }

    /// Sends down the tree.
    pub(crate) fn tell_children(&self, wire: &mut Wire, message: impl Fn() -> Message) {
        self.children.values().for_each(|child| wire.send(child.peer, message()));
    }

    pub(crate) fn deadline(&self) -> Option<Moment> {
        match &self.stage {
            Stage::Open | Stage::Failed => None,
            Stage::Gathering if self.awaits_launcher() => None,
            Stage::Searching(search) => {
                Some(search.deadline().map_or(self.give_up, |due| due.min(self.give_up)))
            }
            Stage::Claiming | Stage::Gathering | Stage::Joining(_) | Stage::Linking(_) | Stage::Waiting => {
                Some(self.give_up)
            }
        }
    }

    pub(crate) fn tick(&mut self, wire: &mut Wire) {
        if matches!(self.stage, Stage::Open | Stage::Failed) {
            return;
        }
        if wire.now >= self.give_up && !self.awaits_launcher() {
            wire.mark(Transition::OpenTimedOut);
            let wait = self.waits_for();
            self.fail(OpenFailure::TimedOut(wait));
        } else if let Stage::Searching(search) = &mut self.stage {
            search.tick(wire);
        }
    }

    /// What opening waits for, as observers are told, while the cohort assembles.
    pub(crate) fn wait_status(&self, now: Moment) -> Option<Wait> {
        let on = match self.waits_for() {
            OpenWait::Ranks { present, size } => WaitOn::Ranks { present, size },
            OpenWait::Name { .. } | OpenWait::Lead | OpenWait::Publisher => WaitOn::Lead,
        };
        let left = self.give_up.since(now);
        let waited = self.config.open_timeout.saturating_sub(left).as_millis();
        (!self.is_open()).then_some(Wait { on, waited_ms: u64::try_from(waited).unwrap_or(u64::MAX) })
    }

    fn waits_for(&self) -> OpenWait {
        match &self.stage {
            Stage::Searching(search) => search.waits_for(),
            Stage::Joining(_) | Stage::Linking(_) => OpenWait::Lead,
            Stage::Claiming | Stage::Gathering | Stage::Waiting | Stage::Open | Stage::Failed => {
                OpenWait::Ranks { present: self.present(), size: self.config.size }
            }
        }
    }

    fn present(&self) -> u32 {
        let searched = self.config.position == CohortPosition::Searched;
        let others = match (self.is_lead() && searched, &self.stage) {
            // All had come, and their contacts are forgotten.
            (true, Stage::Waiting) => return self.config.size,
            (true, _) => self.joined.len(),
            (false, _) => self.children.len(),
        };
        u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1)
    }

    fn fail(&mut self, failure: OpenFailure) {
        self.stage = Stage::Failed;
        self.progress = Some(Progress::Failed(failure));
    }

    /// A message of those by which a cohort assembles; any other is given back. `is_closing` says that the machine's
    /// stream is over, or soon will be.
    pub(crate) fn hear(
        &mut self,
        wire: &mut Wire,
        from: PeerId,
        (role, message): (Role, Message),
        is_closing: bool,
    ) -> Option<Message> {
        match (role, message) {
            (Role::Fresh | Role::Prober | Role::Declined, Message::Probe { epoch }) => {
                self.probed(wire, from, epoch, is_closing)
            }
            // It asked for more before it had read the answer. It leaves, and may find us the one when it comes back.
            (Role::Declined, _) => {
                wire.mark(Transition::DeclinedUnheard);
                wire.disconnect(from, DisconnectReason::Done);
            }
            (Role::Fresh | Role::Prober, Message::Join { rank, size, contact, first_step })
                if self.is_lead() =>
            {
                self.joins(wire, from, (rank, size), contact, first_step)
            }
            (Role::Fresh | Role::Prober, Message::TreeHello { rank, contact }) => {
                self.child_hello(wire, from, rank, contact)
            }
            (Role::Joiner(joiner), Message::TreeHello { rank, contact }) if rank == joiner => {
                self.child_hello(wire, from, rank, contact)
            }
            (Role::Candidate, Message::ProbeReply { epoch, incumbent }) if !self.is_open() => {
                self.probe_reply(wire, from, epoch, incumbent)
            }
            (Role::Lead, Message::Welcome { epoch, parent }) => self.welcomed(wire, from, epoch, parent),
            (Role::Lead, Message::Refused { reason }) => self.refused(wire, from, reason),
            (Role::Parent, Message::CohortOpen) => self.opened_from_above(wire, from),
            (Role::Child(rank), Message::SubtreeOpen) => self.child_open(wire, rank),
            (_, other) => return Some(other),
        }
        None
    }

    pub(crate) fn listing(&mut self, wire: &mut Wire, listing: Vec<Listing>) {
        if let Stage::Searching(search) = &mut self.stage {
            search.listing(wire, listing);
        } else if let Some(claim) = &mut self.claim {
            claim.listing(wire, listing);
        }
        self.review(wire);
    }

    /// A dial of the cohort's came through.
    pub(crate) fn dialled(
        &mut self,
        wire: &mut Wire,
        ticket: DialTicket,
        peer: PeerId,
        purpose: DialPurpose,
    ) {
        match (purpose, &mut self.stage, &mut self.claim) {
            (DialPurpose::Parent, Stage::Linking(expected), _) if *expected == ticket => {
                self.hang_under(wire, peer)
            }
            (DialPurpose::Probe, Stage::Searching(search), _) => search.dialled(wire, ticket, peer),
            (DialPurpose::Probe, _, Some(claim)) => claim.dialled(wire, ticket, peer),
            _ => drop(wire.disconnect(peer, DisconnectReason::Done)),
        }
    }

    fn hang_under(&mut self, wire: &mut Wire, peer: PeerId) {
        self.stage = Stage::Waiting;
        wire.mark(Transition::CohortLinked);
        wire.set_role(peer, Role::Parent);
        self.parent = Some(peer);
        let CohortConfig { rank, contact, .. } = &self.config;
        wire.send(peer, Message::TreeHello { rank: *rank, contact: contact.clone() });
        self.review(wire);
    }

    pub(crate) fn dial_failed(&mut self, wire: &mut Wire, ticket: DialTicket) {
        if let Stage::Searching(search) = &mut self.stage {
            search.failed(wire, ticket);
        } else if matches!(self.stage, Stage::Linking(expected) if expected == ticket) {
            let rank = tree::parent(self.config.rank, self.config.fan_out).unwrap_or(Rank::LEAD);
            self.fail(OpenFailure::RankLost { rank, reason: LossReason::Unreachable });
        } else if let Some(claim) = &mut self.claim {
            claim.failed(wire, ticket);
        }
        self.review(wire);
    }

    /// An answer to our own probe.
    fn probe_reply(&mut self, wire: &mut Wire, peer: PeerId, epoch: Epoch, incumbent: bool) {
        if let Stage::Searching(search) = &mut self.stage {
            if search.reply(wire, peer, epoch, incumbent) {
                self.join(wire, peer, epoch);
            }
        } else if let Some(claim) = &mut self.claim {
            claim.reply(wire, peer, epoch, incumbent);
        }
        self.review(wire);
    }

    /// Somebody asks who we are.
    fn probed(&mut self, wire: &mut Wire, peer: PeerId, theirs: Epoch, is_closing: bool) {
        let incumbent = self.holds_name() && !is_closing;
        wire.set_role(peer, if incumbent { Role::Prober } else { Role::Declined });
        wire.send(peer, Message::ProbeReply { epoch: self.epoch, incumbent });
        if let Some(claim) = &mut self.claim {
            claim.probed(wire, theirs);
        }
        self.review(wire);
    }

    /// A child hangs itself under us.
    fn child_hello(&mut self, wire: &mut Wire, peer: PeerId, rank: Rank, contact: ContactText) {
        let expected = self.expected_children().any(|child| child == rank);
        if !expected || self.children.contains_key(&rank) || self.is_open() {
            wire.misbehaved(peer, Misbehaviour::Unexpected("TreeHello"));
            return;
        }
        wire.set_role(peer, Role::Child(rank));
        self.children.insert(rank, Child { peer, contact, open: false });
        self.review(wire);
    }

    fn expected_children(&self) -> impl Iterator<Item = Rank> + use<> {
        let CohortConfig { rank, size, fan_out, .. } = self.config;
        tree::children(rank, size, fan_out)
    }

    /// A child's subtree is complete.
    fn child_open(&mut self, wire: &mut Wire, rank: Rank) {
        if let Some(child) = self.children.get_mut(&rank) {
            child.open = true;
        }
        self.review(wire);
    }

    /// The parent says that the cohort is complete.
    fn opened_from_above(&mut self, wire: &mut Wire, peer: PeerId) {
        if matches!(self.stage, Stage::Waiting) {
            self.open(wire);
        } else {
            wire.misbehaved(peer, Misbehaviour::Unexpected("CohortOpen"));
        }
    }

    fn open(&mut self, wire: &mut Wire) {
        wire.mark(Transition::CohortOpened);
        self.stage = Stage::Open;
        self.tell_children(wire, || Message::CohortOpen);
        self.progress = Some(Progress::Opened);
    }

    /// Goes on as far as the facts allow: a lead that needs nobody else is complete at once.
    pub(crate) fn review(&mut self, wire: &mut Wire) {
        if matches!(self.stage, Stage::Claiming) {
            match self.claim.as_ref().map_or(Standing::Held, Claim::standing) {
                Standing::Open => return,
                Standing::Taken(epoch) => {
                    return self.fail(OpenFailure::Refused(RefusalReason::NameTaken { epoch }));
                }
                Standing::Held => self.stage = Stage::Gathering,
            }
        }
        if matches!(self.stage, Stage::Gathering) && self.all_joined() {
            self.stage = Stage::Waiting;
            self.welcome_all(wire);
        }
        if !matches!(self.stage, Stage::Waiting) || !self.subtree_open() {
            return;
        }
        if self.is_lead() {
            self.open(wire);
        } else {
            self.tell_parent(wire, Message::SubtreeOpen);
        }
    }

    fn all_joined(&self) -> bool {
        match self.config.position {
            CohortPosition::Searched => self.joined.len() + 1 == self.config.size as usize,
            CohortPosition::Gathered | CohortPosition::Under { .. } => self.gathered,
        }
    }

    fn subtree_open(&self) -> bool {
        let expected = self.expected_children().count();
        self.children.len() == expected && self.children.values().all(|child| child.open)
    }

    /// A link of the cohort's is gone. While the cohort assembles that is handled here; afterwards the
    /// machine is told which rank it lost.
    pub(crate) fn disconnected(&mut self, wire: &mut Wire, peer: PeerId, role: Role) {
        match (role, &mut self.stage, &mut self.claim) {
            (Role::Joiner(rank), Stage::Claiming | Stage::Gathering, _) => drop(self.joined.remove(&rank)),
            (Role::Candidate, Stage::Searching(search), _) => search.gone(wire, peer),
            (Role::Candidate, _, Some(claim)) => claim.gone(wire, peer),
            (Role::Lead, ..) => self.search_again(wire),
            _ => {}
        }
        self.review(wire);
    }

    /// Forgets the link to a rank that is lost; `None` if the role is not of the tree.
    pub(crate) fn lost_rank(&mut self, role: Role) -> Option<Rank> {
        if role == Role::Parent {
            self.parent = None;
            return tree::parent(self.config.rank, self.config.fan_out);
        }
        let Role::Child(rank) = role else { return None };
        self.children.remove(&rank);
        Some(rank)
    }

    /// Opening is over because a rank was lost.
    pub(crate) fn abort(&mut self) {
        self.stage = Stage::Failed;
    }

    /// All is over: the name, if it is held, is taken out of the rendezvous, and every link is closed.
    pub(crate) fn end(&mut self, wire: &mut Wire, event: Event) {
        if let Some(claim) = self.claim.take()
            && !matches!(claim.standing(), Standing::Taken(_))
        {
            claim.remove_entry(wire);
        }
        wire.event(event);
        wire.disconnect_all(DisconnectReason::Ended);
    }
}
