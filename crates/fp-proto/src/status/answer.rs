//! A rank is asked for status: it answers for itself, and asks its neighbours for those beyond them
//! (`docs/protocol.md`, section 17). Nothing of a stream's own state is touched.

use crate::bounds::{LIMIT_OBSERVERS, LIMIT_STATUS_ITEMS};
use crate::cohort::Cohort;
use crate::effect::{DisconnectReason, Misbehaviour, PeerId};
use crate::message::Message;
use crate::status::merge::{add_cohort, add_unanswered, bounded, merge};
use crate::status::observers::Admission;
use crate::status::questions::{Asked, Neighbour, Questions};
use crate::status::report::{
    CohortStatus, LinkStatus, LinkWith, NoAnswer, RankStatus, StatusRefusal, StatusReport, StatusScope,
    Unanswered,
};
use crate::transition::Transition;
use crate::tree;
use crate::wire::{Role, Wire, mutated};
use fp_types::Rank;
use std::collections::BTreeMap;
use std::time::Duration;

/// A machine of either role, as far as it is asked for status.
pub(crate) trait Observed {
    fn cohort(&self) -> &Cohort;
    fn status(&mut self) -> (&mut Wire, &mut Questions);
    /// What the machine itself knows of its rank.
    fn own_status(&self) -> RankStatus;
    /// Its cohort, before anybody of it has said anything.
    fn cohort_status(&self) -> CohortStatus;
    /// The leads of subscriber cohorts, and those cohorts.
    fn subscriber_cohorts(&self) -> Vec<(PeerId, CohortStatus)>;
    /// A peer broke the protocol.
    fn blame(&mut self, from: PeerId, what: Misbehaviour);
}

/// One question as it came.
#[derive(Clone, Copy)]
pub(crate) struct Question {
    pub(crate) from: PeerId,
    pub(crate) request: u64,
    pub(crate) scope: StatusScope,
    pub(crate) patience_ms: u32,
}

/// Somebody asks whose first message that is.
pub(crate) fn observer_comes<M: Observed>(machine: &mut M, question: Question) {
    let (wire, questions) = machine.status();
    if questions.observers.enter(question.from) {
        wire.set_role(question.from, Role::Observer);
        observer_asks(machine, question);
        return;
    }
    refuse(machine, question, StatusRefusal::TooManyObservers { limit: LIMIT_OBSERVERS as u32 });
    machine.status().0.disconnect(question.from, DisconnectReason::Refused);
}

/// An observer asks; it may ask so often and no more.
pub(crate) fn observer_asks<M: Observed>(machine: &mut M, question: Question) {
    let span = machine.cohort().config.heartbeat;
    let size = machine.cohort().config.size;
    let (wire, questions) = machine.status();
    let admission = questions.observers.admit(wire.now, question.from, span);
    let admission = if mutated!(wire, StatusUnbounded) { Admission::Answered } else { admission };
    match admission {
        Admission::Answered if matches!(question.scope, StatusScope::Rank(rank) if rank.0 >= size) => {
            refuse(machine, question, StatusRefusal::NoSuchRank { size });
        }
        Admission::Answered => asked(machine, question),
        Admission::Refused(refusal) => refuse(machine, question, refusal),
        Admission::Flood => {
            wire.mark(Transition::ObserverFlooded);
            machine.blame(question.from, Misbehaviour::OutOfBounds("AskStatus"));
        }
    }
}

fn refuse<M: Observed>(machine: &mut M, question: Question, reason: StatusRefusal) {
    let (wire, _) = machine.status();
    wire.mark(Transition::StatusRefused);
    wire.send(question.from, Message::StatusRefused { request: question.request, reason });
}

/// A question that is to be answered: of an observer, or of a neighbour for one.
pub(crate) fn asked<M: Observed>(machine: &mut M, question: Question) {
    let Question { from, request, scope, patience_ms } = question;
    let mut cohort = machine.cohort_status();
    let own = machine.cohort().config.rank;
    if !matches!(scope, StatusScope::Rank(rank) if rank != own) {
        cohort.answered = 1;
        cohort.ranks.push(own_row(machine, scope));
    }
    let mut left = BTreeMap::new();
    let is_full = machine.status().1.is_full();
    let gone = if machine.cohort().is_open() { NoAnswer::Lost } else { NoAnswer::NotLinked };
    for (peer, neighbour) in ways(machine, from, scope) {
        match peer {
            Some(peer) if !is_full => drop(left.insert(peer, neighbour)),
            Some(_) => add_unanswered(&mut cohort, unanswered(&neighbour, NoAnswer::Busy)),
            None => add_unanswered(&mut cohort, unanswered(&neighbour, gone)),
        }
    }
    if scope == StatusScope::Stream && !is_full {
        left.extend(members(machine, from));
    }
    let heartbeat = machine.cohort().config.heartbeat;
    let patience = Duration::from_millis(u64::from(patience_ms)).min(heartbeat);
    let (wire, questions) = machine.status();
    let due = wire.now.after(patience);
    let report = StatusReport { cohorts: vec![cohort] };
    let asked = Asked { asker: from, request, due, report, left };
    if asked.left.is_empty() {
        answer(machine, asked);
        return;
    }
    wire.mark(Transition::StatusPassedOn);
    let peers: Vec<PeerId> = asked.left.keys().copied().collect();
    // Whoever is further away has less time: so who is silent is named by its neighbour, and not with it.
    let patience_ms = u32::try_from((patience * 7 / 8).as_millis()).unwrap_or(u32::MAX);
    let message = questions.pass(asked, scope, patience_ms);
    peers.into_iter().for_each(|peer| wire.send(peer, message.clone()));
}

/// The neighbours of the own cohort that a question goes to, but for who asked; without a link where there is none.
fn ways<M: Observed>(machine: &M, from: PeerId, scope: StatusScope) -> Vec<(Option<PeerId>, Neighbour)> {
    let cohort = machine.cohort();
    let (own, size, fan_out) = (cohort.config.rank, cohort.config.size, cohort.config.fan_out);
    let below = |rank: Rank| tree::subtree_size(rank, size, fan_out);
    let mut all: Vec<(Option<PeerId>, Rank, u32)> = tree::children(own, size, fan_out)
        .map(|rank| (cohort.child(rank).map(|(peer, _)| peer), rank, below(rank) - 1))
        .collect();
    if let Some(parent) = tree::parent(own, fan_out) {
        all.push((cohort.parent(), parent, size.saturating_sub(below(own) + 1)));
    }
    all.retain(|(peer, ..)| *peer != Some(from));
    if let StatusScope::Rank(wanted) = scope {
        let way = tree::child_towards(own, wanted, fan_out).or(tree::parent(own, fan_out));
        all.retain(|&(_, rank, _)| wanted != own && way == Some(rank));
        all.iter_mut().for_each(|(_, rank, beyond)| *beyond = u32::from(*rank != wanted));
    }
    // What is asked for beyond a neighbour that is not the one is that one alone.
    let neighbour = |(peer, rank, beyond)| (peer, Neighbour { rank, beyond, cohort: None });
    all.into_iter().map(neighbour).collect()
}

fn members<M: Observed>(machine: &M, from: PeerId) -> Vec<(PeerId, Neighbour)> {
    let all = machine.subscriber_cohorts().into_iter().filter(|(peer, _)| *peer != from);
    let neighbour = |(peer, cohort): (PeerId, CohortStatus)| {
        let beyond = cohort.size.saturating_sub(1);
        (peer, Neighbour { rank: Rank::LEAD, beyond, cohort: Some(cohort) })
    };
    all.take(crate::bounds::LIMIT_STATUS_COHORTS - 1).map(neighbour).collect()
}

/// What this rank says of itself. Counters, and data links that are as fast as they can be, are told where one rank is
/// asked for: of thousands they would fill the answer.
fn own_row<M: Observed>(machine: &mut M, scope: StatusScope) -> RankStatus {
    let is_alone = matches!(scope, StatusScope::Rank(_));
    let mut row = machine.own_status();
    let (wire, questions) = machine.status();
    row.process = questions.facts.process.clone();
    if !is_alone {
        row.process.counters.clear();
    }
    let mut links: Vec<LinkStatus> = wire
        .links()
        .map(|(peer, role, unheard)| {
            let (transport, reason) = questions.facts.links.get(&peer).cloned().unwrap_or_default();
            LinkStatus { with: with(role), unheard_ms: Some(millis(unheard)), transport, reason }
        })
        .collect();
    let data = questions.facts.data_links.iter();
    links.extend(data.filter(|link| is_alone || !link.reason.is_empty()).cloned());
    links.sort_by_key(|link| link.with);
    row.links_left_out += links.len().saturating_sub(LIMIT_STATUS_ITEMS) as u32;
    links.truncate(LIMIT_STATUS_ITEMS);
    row.links = links;
    row
}

fn with(role: Role) -> LinkWith {
    match role {
        Role::Parent => LinkWith::Parent,
        Role::Child(rank) => LinkWith::Child(rank),
        Role::Member(_) | Role::Early => LinkWith::Subscriber,
        Role::Publisher | Role::Answerer => LinkWith::Publisher,
        Role::Asker => LinkWith::Asker,
        Role::Observer => LinkWith::Observer,
        Role::Fresh | Role::Prober | Role::Declined => LinkWith::Stranger,
        Role::Candidate | Role::Joiner(_) | Role::Lead => LinkWith::Stranger,
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn unanswered(neighbour: &Neighbour, why: NoAnswer) -> Unanswered {
    Unanswered { rank: neighbour.rank, beyond: neighbour.beyond, why }
}

/// Somebody does not answer: it is named in its cohort.
fn leave_out(report: &mut StatusReport, neighbour: Neighbour, why: NoAnswer) {
    let silent = unanswered(&neighbour, why);
    match (neighbour.cohort, report.cohorts.first_mut()) {
        (Some(mut cohort), _) => {
            add_unanswered(&mut cohort, silent);
            add_cohort(report, cohort);
        }
        (None, Some(own)) => add_unanswered(own, silent),
        (None, None) => {}
    }
}

fn tells_too_much(neighbour: &Neighbour, told: &StatusReport) -> bool {
    told.cohorts.first().is_none_or(|cohort| cohort.told() > 1 + u64::from(neighbour.beyond))
}

/// A neighbour answers.
pub(crate) fn heard<M: Observed>(machine: &mut M, from: PeerId, request: u64, told: StatusReport) {
    match machine.status().1.answered(from, request) {
        // More than it was asked for would make the whole answer one that nobody believes.
        Ok(Some((_, neighbour))) if neighbour.cohort.is_none() && tells_too_much(&neighbour, &told) => {
            machine.blame(from, Misbehaviour::OutOfBounds("Status.cohorts"));
        }
        Ok(Some((asked, neighbour))) => match neighbour.cohort {
            None => merge(&mut asked.report, told),
            // Of a cohort of subscribers that one alone: it has no say about others.
            Some(known) => told.cohorts.into_iter().take(1).for_each(|cohort| {
                add_cohort(&mut asked.report, CohortStatus { name: known.name.clone(), ..cohort });
            }),
        },
        Ok(None) => {}
        Err(()) => machine.blame(from, Misbehaviour::Unexpected("Status")),
    }
    answer_due(machine);
}

/// A peer is gone: whatever it was.
pub(crate) fn gone<M: Observed>(machine: &mut M, peer: PeerId) {
    for (asked, neighbour) in machine.status().1.gone(peer) {
        leave_out(&mut asked.report, neighbour, NoAnswer::Lost);
    }
    answer_due(machine);
}

/// Answers what is due, by now without those who said nothing.
pub(crate) fn answer_due<M: Observed>(machine: &mut M) {
    let (wire, questions) = machine.status();
    let due = questions.take_due(wire.now);
    for mut asked in due {
        name_silent(machine, &mut asked);
        answer(machine, asked);
    }
}

fn name_silent<M: Observed>(machine: &mut M, asked: &mut Asked) {
    let (wire, _) = machine.status();
    for (peer, neighbour) in std::mem::take(&mut asked.left) {
        wire.mark(Transition::StatusUnanswered);
        let why = match wire.unheard(peer) {
            Some(unheard) => NoAnswer::Silent { unheard_ms: millis(unheard) },
            None => NoAnswer::Lost,
        };
        if !mutated!(wire, SilentRankUnnamed) {
            leave_out(&mut asked.report, neighbour, why);
        }
    }
}

fn answer<M: Observed>(machine: &mut M, mut asked: Asked) {
    bounded(&mut asked.report);
    let (wire, _) = machine.status();
    wire.mark(Transition::StatusAnswered);
    wire.send(asked.asker, Message::Status { request: asked.request, report: Box::new(asked.report) });
}
