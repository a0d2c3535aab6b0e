//! Tables on demand. A rank that is asked fetches a table by id from above (`docs/protocol.md`, section 11). It holds it
//! while a live step has it, or one of those decided last had it: tables that take turns are not fetched again.

use super::PublisherMachine;
use super::ledger::Ledger;
use crate::bounds::LIMIT_RECENT_BYTES;
use crate::config::CohortConfig;
use crate::effect::{Misbehaviour, PeerId};
use crate::message::{Message, NoTable, ResolveQuery};
use crate::publisher::contacts;
use crate::transition::Transition;
use crate::wire::Role;
use crate::{table, tree};
use fp_types::{Rank, Selection, StepTable, TableEntry, TableId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A rank that no cohort has.
const NOBODY: Rank = Rank(u32::MAX);
/// Questions of one rank's askers that may wait for a table at one time.
const LIMIT_WAITING: usize = 4096;

struct Held {
    table: Arc<StepTable>,
    steps: usize,
}

struct Question {
    from: PeerId,
    request: u64,
    queries: Vec<ResolveQuery>,
}

/// The tables that this rank can answer for.
#[derive(Default)]
pub(crate) struct Tables {
    /// At the lead: those of live steps, counted, and recent ones.
    held: BTreeMap<TableId, Held>,
    /// Elsewhere: those of live steps, and recent ones, that this rank was asked for.
    cached: BTreeMap<TableId, Arc<StepTable>>,
    /// The tables of the steps that were decided last, each once, the latest first. Whoever asks more of one does so
    /// between two steps as well, and the next step may have it again.
    recent: VecDeque<TableId>,
    /// The bytes of the table that went down last, as all children ask for the same one.
    encoded: Option<(TableId, Vec<u8>)>,
    asked: BTreeSet<TableId>,
    questions: BTreeMap<TableId, Vec<Question>>,
    /// Children that wait for a table.
    below: BTreeMap<TableId, Vec<PeerId>>,
}

impl Tables {
    /// At the lead: a live step has this table.
    pub(crate) fn hold(&mut self, table: Arc<StepTable>) {
        match self.held.get_mut(&table.id()) {
            Some(held) => held.steps += 1,
            None => drop(self.held.insert(table.id(), Held { table, steps: 1 })),
        }
    }

    /// At the lead: one step less has it.
    pub(crate) fn forget(&mut self, id: TableId) {
        let Some(held) = self.held.get_mut(&id) else { return };
        held.steps -= 1;
        if held.steps == 0 && !self.recent.contains(&id) {
            self.forget_idle();
        }
    }

    /// A step was decided with this table, and this rank remembers so many.
    pub(crate) fn decided(&mut self, id: TableId, limit: usize) {
        if self.recent.front() == Some(&id) {
            return;
        }
        self.recent.retain(|known| *known != id);
        self.recent.push_front(id);
        self.recent.truncate(limit);
        self.bound_recent();
        self.forget_idle();
    }

    /// Of the recent tables as many stay as have few bytes together, and the latest always.
    fn bound_recent(&mut self) {
        let mut len_bytes = 0;
        let beyond = self.recent.iter().skip(1).position(|id| {
            len_bytes += self.find(*id).map_or(0, |table| table::len_bytes(&table));
            len_bytes > LIMIT_RECENT_BYTES as u64
        });
        if let Some(beyond) = beyond {
            self.recent.truncate(beyond + 1);
        }
    }

    /// At the lead: forgets tables that neither a live step has nor a recent one had.
    fn forget_idle(&mut self) {
        let recent = &self.recent;
        self.held.retain(|id, held| held.steps > 0 || recent.contains(id));
        let held = &self.held;
        self.encoded.take_if(|(known, _)| !held.contains_key(known));
    }

    /// The bytes of a table.
    fn encode(&mut self, id: TableId, table: &StepTable) -> Vec<u8> {
        if let Some((_, encoded)) = self.encoded.as_ref().filter(|(known, _)| *known == id) {
            return encoded.clone();
        }
        let encoded = table::encode(table);
        self.encoded = Some((id, encoded.clone()));
        encoded
    }

    pub(crate) fn find(&self, id: TableId) -> Option<Arc<StepTable>> {
        let cached = || self.cached.get(&id).cloned();
        self.held.get(&id).map(|held| held.table.clone()).or_else(cached)
    }

    /// Who waits for a table for which the answer from above has come.
    fn take_waiting(&mut self, id: TableId) -> (Vec<PeerId>, Vec<Question>) {
        self.asked.remove(&id);
        (self.below.remove(&id).unwrap_or_default(), self.questions.remove(&id).unwrap_or_default())
    }

    /// Forgets tables that neither a live step of this rank has nor a recent one had.
    pub(crate) fn keep_live(&mut self, ledger: &Ledger) {
        let recent = &self.recent;
        self.cached.retain(|id, _| recent.contains(id) || ledger.has_table(*id));
    }
}

/// A subscriber rank asks which blocks its selections touch.
pub(crate) fn resolve(
    machine: &mut PublisherMachine,
    from: PeerId,
    request: u64,
    id: TableId,
    queries: Vec<ResolveQuery>,
) {
    if let Some(table) = machine.tables.find(id) {
        answer(machine, &table, &Question { from, request, queries });
        return;
    }
    let waiting: usize = machine.tables.questions.values().map(Vec::len).sum();
    if machine.lead.is_some() || machine.cohort.parent().is_none() || waiting >= LIMIT_WAITING {
        answer_unknown(machine, from, request);
        return;
    }
    machine.tables.questions.entry(id).or_default().push(Question { from, request, queries });
    ask_above(machine, id);
}

fn ask_above(machine: &mut PublisherMachine, id: TableId) {
    if machine.tables.asked.insert(id)
        && let Some(parent) = machine.cohort.parent()
    {
        machine.wire.mark(Transition::TableAskedAbove);
        machine.wire.send(parent, Message::TableRequest { table: id });
    }
}

fn answer(machine: &mut PublisherMachine, table: &StepTable, question: &Question) {
    let part = restricted(table, &question.queries);
    if let Err(reason) = table::check_len(&part, machine.config.cohort.long_bytes) {
        answer_refused(machine, question.from, question.request, reason);
        return;
    }
    machine.wire.mark(Transition::TableAnswered);
    let owners = contacts::contacts_at_hand(machine, &owners(&part));
    let encoded = Some(table::encode(&part));
    let message = Message::Resolved { request: question.request, encoded, owners };
    machine.wire.send(question.from, message);
}

fn answer_unknown(machine: &mut PublisherMachine, from: PeerId, request: u64) {
    machine.wire.mark(Transition::TableUnknown);
    machine.wire.send(from, Message::Resolved { request, encoded: None, owners: Vec::new() });
}

fn answer_refused(machine: &mut PublisherMachine, from: PeerId, request: u64, reason: NoTable) {
    machine.wire.send(from, Message::Unresolved { request, reason });
}

/// A child asks for a table.
pub(crate) fn table_request(machine: &mut PublisherMachine, from: PeerId, id: TableId) {
    match machine.tables.find(id) {
        Some(table) => match table::check_len(&table, machine.config.cohort.long_bytes) {
            Ok(()) => pass_down(machine, from, id, Some(&table)),
            Err(reason) => machine.wire.send(from, Message::TableRefused { table: id, reason }),
        },
        None if machine.lead.is_some() => pass_down(machine, from, id, None),
        None => {
            machine.tables.below.entry(id).or_default().push(from);
            ask_above(machine, id);
        }
    }
}

fn pass_down(machine: &mut PublisherMachine, to: PeerId, id: TableId, table: Option<&StepTable>) {
    let encoded = table.map(|table| machine.tables.encode(id, table));
    machine.wire.send(to, Message::TableReply { table: id, encoded });
}

/// The parent's answer: everybody who waited for it is served.
pub(crate) fn table_reply(
    machine: &mut PublisherMachine,
    from: PeerId,
    id: TableId,
    encoded: Option<Vec<u8>>,
) {
    let Some(encoded) = encoded else {
        table_gone(machine, id);
        return;
    };
    match table::decode(&encoded).ok().filter(|table| table.id() == id) {
        Some(table) => {
            machine.tables.encoded = Some((id, encoded));
            table_known(machine, id, &Arc::new(table));
        }
        None => table_unreadable(machine, from, id),
    }
}

fn table_known(machine: &mut PublisherMachine, id: TableId, table: &Arc<StepTable>) {
    if machine.tables.recent.contains(&id) || machine.ledger.has_table(id) {
        machine.tables.cached.insert(id, table.clone());
        machine.tables.bound_recent();
    }
    let (children, questions) = machine.tables.take_waiting(id);
    children.into_iter().for_each(|child| pass_down(machine, child, id, Some(table)));
    questions.into_iter().for_each(|question| answer(machine, table, &question));
    // Who asks later has it encoded again: here nothing tells when the table is needed no more.
    machine.tables.encoded = None;
}

fn table_gone(machine: &mut PublisherMachine, id: TableId) {
    let (children, questions) = machine.tables.take_waiting(id);
    children.into_iter().for_each(|child| pass_down(machine, child, id, None));
    questions.into_iter().for_each(|question| answer_unknown(machine, question.from, question.request));
}

/// A table that cannot be had: whoever waits for it is told why.
pub(crate) fn table_refused(machine: &mut PublisherMachine, id: TableId, reason: &NoTable) {
    let (children, questions) = machine.tables.take_waiting(id);
    for child in children {
        machine.wire.send(child, Message::TableRefused { table: id, reason: reason.clone() });
    }
    for question in questions {
        answer_refused(machine, question.from, question.request, reason.clone());
    }
}

/// What the parent sent is not the table that was asked for. Whoever waits is told whose fault that is. The parent's
/// link is closed, as that of any peer that breaks the protocol.
fn table_unreadable(machine: &mut PublisherMachine, from: PeerId, id: TableId) {
    let CohortConfig { rank, fan_out, .. } = machine.config.cohort;
    let parent = tree::parent(rank, fan_out).unwrap_or(Rank::LEAD);
    table_refused(machine, id, &NoTable::Unreadable { rank: parent });
    machine.misbehaved(from, Misbehaviour::Malformed("TableReply"));
}

/// Nothing more will come from above: whoever waits is told so.
pub(crate) fn questions_unanswered(machine: &mut PublisherMachine) {
    machine.tables.asked.clear();
    for (id, children) in std::mem::take(&mut machine.tables.below) {
        children.into_iter().for_each(|child| pass_down(machine, child, id, None));
    }
    for (_, questions) in std::mem::take(&mut machine.tables.questions) {
        questions.into_iter().for_each(|question| answer_unknown(machine, question.from, question.request));
    }
}

/// An asker is gone, and its questions with it.
pub(crate) fn asker_gone(machine: &mut PublisherMachine, peer: PeerId, role: Role) {
    if matches!(role, Role::Asker | Role::Member(_)) {
        machine.tables.questions.values_mut().for_each(|list| list.retain(|question| question.from != peer));
    }
    machine.tables.below.values_mut().for_each(|list| list.retain(|&child| child != peer));
}

/// A table that holds every variable, but only the blocks that the queries touch.
fn restricted(table: &StepTable, queries: &[ResolveQuery]) -> StepTable {
    let entries = table.entries().iter().map(|entry| {
        let mut of_it = queries.iter().filter(|query| query.variable == entry.def.name);
        let layout = match (of_it.next(), of_it.next()) {
            (None, _) => Arc::new(entry.layout.restricted_to(&Selection::Rank(NOBODY))),
            (Some(only), None) => Arc::new(entry.layout.restricted_to(&only.selection)),
            (Some(_), Some(_)) => entry.layout.clone(),
        };
        TableEntry { def: entry.def.clone(), layout }
    });
    StepTable::new(entries.collect()).unwrap_or_else(|_| table.clone())
}

/// The ranks that own a block of the table.
fn owners(table: &StepTable) -> BTreeSet<Rank> {
    table.entries().iter().flat_map(|entry| entry.layout.blocks().map(|(block, _)| block.rank)).collect()
}
