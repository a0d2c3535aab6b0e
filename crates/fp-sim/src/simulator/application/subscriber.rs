//! The application of a subscriber rank: what it holds, knows and has asked for, and when it takes and leaves.

use crate::simulator::application::held_step::{Held, KnownTable, StepKey, View};
use crate::simulator::content::VARIABLES;
use crate::simulator::data_message::Piece;
use crate::simulator::layouts::Located;
use crate::simulator::names::SlotId;
use crate::simulator::prng::Prng;
use crate::simulator::scenario::{Leaves, SubscriberPlan};
use fp_proto::config::VariableSet;
use fp_proto::message::ResolveQuery;
use fp_proto::time::Moment;
use fp_types::{Rank, StepId};
use std::collections::{BTreeMap, BTreeSet};

/// A contact that a rank knows, of an attachment.
pub(crate) type KnownOwner = (usize, Rank);

/// The label of the numbers that say what one rank does unlike the others of its cohort.
const OWN: u64 = 1;

/// When one rank of a cohort leaves: often as the others do, and sometimes later, or long before the stream's end.
fn draw_own_leaves(leaves: Leaves, prng: &mut Prng) -> Leaves {
    match leaves {
        _ if prng.chance(60) => leaves,
        Leaves::AtEnd if prng.chance(50) => Leaves::After(prng.between(1, 8)),
        Leaves::AtEnd => Leaves::AtEnd,
        Leaves::After(steps) => Leaves::After(steps + prng.between(1, 6)),
        Leaves::At(moment) => Leaves::At(moment.after(prng.micros(100, 60_000))),
    }
}

/// The application of one subscriber rank.
pub(crate) struct SubscriberApp {
    pub(crate) plan: SubscriberPlan,
    is_hasty: bool,
    pub(crate) prng: Prng,
    pub(crate) held: BTreeMap<StepKey, Held>,
    /// What it still looks at after it has closed.
    pub(crate) left_views: Vec<(StepKey, View)>,
    /// Questions under way: what was asked, for which step.
    pub(crate) asked: BTreeMap<u64, (KnownTable, StepId, Vec<ResolveQuery>)>,
    pub(crate) tables: BTreeMap<KnownTable, Vec<Located>>,
    /// Questions about contacts under way: for which step, and which ranks are to come.
    pub(crate) locating: BTreeMap<u64, (StepKey, BTreeSet<Rank>)>,
    /// Publisher ranks whose place this rank knows.
    pub(crate) located: BTreeSet<KnownOwner>,
    /// Where owners said that blocks are, in the current attachment.
    pub(crate) placed: BTreeMap<(StepId, Rank), (SlotId, Vec<Piece>)>,
    /// Owners that were told what is wanted, in the current attachment.
    pub(crate) told: BTreeSet<SlotId>,
    /// Selections with their first steps; the latest last.
    pub(crate) selections: Vec<(StepId, VariableSet)>,
    /// The attachment that it is in; none while it awaits another.
    pub(crate) attachment: Option<usize>,
    pub(crate) taken: u64,
    pub(crate) next_take: Moment,
    pub(crate) reselected: bool,
    /// Whether it asked for a condition that no publisher knows, and whether the answer is still to come.
    pub(crate) erred: bool,
    pub(crate) awaits_refusal: bool,
    /// How many values it asked for.
    pub(crate) asked_values: u64,
    pub(crate) ended: bool,
    pub(crate) closing: bool,
}

impl SubscriberApp {
    pub(crate) fn new(plan: &SubscriberPlan, prng: Prng) -> Self {
        let (mut plan, mut own) = (plan.clone(), prng.fork(OWN));
        if plan.size > 1 {
            plan.leaves = draw_own_leaves(plan.leaves, &mut own);
        }
        Self {
            selections: vec![(StepId(0), plan.spec.variables.clone())],
            is_hasty: own.chance(25),
            plan,
            prng,
            held: BTreeMap::new(),
            left_views: Vec::new(),
            asked: BTreeMap::new(),
            locating: BTreeMap::new(),
            located: BTreeSet::new(),
            tables: BTreeMap::new(),
            placed: BTreeMap::new(),
            told: BTreeSet::new(),
            attachment: None,
            taken: 0,
            next_take: Moment::ZERO,
            reselected: false,
            erred: false,
            awaits_refusal: false,
            asked_values: 0,
            ended: false,
            closing: false,
        }
    }

    /// Whether it gives back a step that it lets go of. Now and then it does, where another then gets it.
    pub(crate) fn gives_back(&mut self) -> bool {
        self.plan.spec.redelivers() && self.prng.chance(15)
    }

    /// Whether it lets go of this step at once: some ranks do so with some steps.
    pub(crate) fn passes_over(&self, step: StepId) -> bool {
        self.is_hasty && step.0 % 3 != 0
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.closing
    }

    /// Variables that it reads of a step.
    pub(crate) fn wanted(&self, step: StepId) -> Vec<&'static str> {
        let latest = self.selections.iter().rev().find(|(first, _)| *first <= step);
        let set = latest.map_or(&self.plan.spec.variables, |(_, set)| set);
        VARIABLES.into_iter().filter(|variable| set.contains(variable)).collect()
    }

    /// Whether it takes another step now.
    pub(crate) fn may_take(&self, now: Moment) -> bool {
        let enough = matches!(self.plan.leaves, Leaves::After(steps) if self.taken >= steps);
        !self.closing && !enough && self.held.len() < self.plan.hold_steps && now >= self.next_take
    }

    /// Whether it leaves now.
    pub(crate) fn wants_to_leave(&self, now: Moment) -> bool {
        let done = self.held.is_empty();
        let early = match self.plan.leaves {
            Leaves::AtEnd => false,
            Leaves::After(steps) => done && self.taken >= steps,
            // Whatever it holds then: closing releases it, or gives it back.
            Leaves::At(moment) => now >= moment,
        };
        !self.closing && (early || (done && self.ended))
    }
}
