//! A step that is held, and what was computed of it so far.

use crate::data::taker::context::Taker;
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::error::record::RecordProblem;
use crate::error::transform::TransformProblem;
use crate::records::made::Made;
use crate::session::peek::CameBy;
use crate::session::subscriber::SubscriberSession;
use crate::session::wants::Wants;
use crate::step::once::Once;
use crate::step::verdict::Verdict;
use crate::value::step_hold::StepHold;
use fp_proto::message::{Assignment, ScalarValue};
use fp_proto::subscriber::AttachmentId;
use fp_transform::{Array, Block, OutputType};
use fp_transport::Payload;
use fp_types::record::Incompatible;
use fp_types::{
    ArrayKind, BlockId, Dtype, Layout, LayoutError, Rank, Region, Shape, StepId, TableEntry, VariableDef,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A derived variable put together, of one step.
pub(crate) struct Merged {
    /// Each with what its name has behind a dot.
    pub(crate) arrays: Vec<(&'static str, Shape, Dtype, Arc<[Block]>)>,
}

impl Merged {
    /// The arrays of a derivation, one for each of its outputs, in their order.
    pub(crate) fn new(outputs: &[OutputType], arrays: Vec<Array>) -> Self {
        let suffix = outputs.iter().map(|of| of.suffix);
        let array = |(suffix, array): (&'static str, Array)| {
            (suffix, *array.shape(), array.dtype(), array.blocks().to_vec().into())
        };
        Self { arrays: suffix.zip(arrays).map(array).collect() }
    }
}

/// Variables of one step that are made here and kept with it.
const LIMIT_MADE: usize = 64;

/// What publishers made of a variable of a step, as far as it was asked for.
struct Known {
    entry: Arc<TableEntry>,
    blocks: BTreeSet<BlockId>,
}

/// Forgets all of it.
fn clear<T>(names: &mut Mutex<BTreeMap<String, T>>) {
    let names = names.get_mut().unwrap_or_else(PoisonError::into_inner);
    if !names.is_empty() {
        names.clear();
    }
}

/// What publishers made of a step: where its blocks are, by what they are called.
#[derive(Default)]
pub(crate) struct OwnerMade(Mutex<BTreeMap<String, Known>>);

impl OwnerMade {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Layout and definition of what was made, by the name that it has in the step.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<TableEntry>> {
        self.lock().get(name).map(|known| known.entry.clone())
    }

    /// Whether these blocks were made.
    pub(crate) fn has(&self, name: &str, blocks: &BTreeMap<BlockId, Region>) -> bool {
        self.lock().get(name).is_some_and(|known| blocks.keys().all(|block| known.blocks.contains(block)))
    }

    /// Adds blocks to those that are known: one time some may be asked for, and another time others.
    pub(crate) fn keep(
        &self,
        def: Arc<VariableDef>,
        shape: Option<&Shape>,
        mut blocks: BTreeMap<BlockId, Region>,
    ) -> Result<(), LayoutError> {
        let mut known = self.lock();
        if let Some(before) = known.get(&def.name).filter(|before| before.entry.def == def) {
            blocks.extend(before.entry.layout.blocks());
        }
        let (name, ids) = (def.name.clone(), blocks.keys().copied().collect());
        let layout = Arc::new(layout_of(&def, shape, blocks)?);
        known.insert(name, Known { entry: Arc::new(TableEntry { def, layout }), blocks: ids });
        Ok(())
    }
}

fn layout_of(
    def: &VariableDef,
    shape: Option<&Shape>,
    blocks: BTreeMap<BlockId, Region>,
) -> Result<Layout, LayoutError> {
    let counts = blocks.iter().map(|(&block, region)| (block, *region.count()));
    match (def.kind, shape) {
        (ArrayKind::GlobalArray, Some(shape)) => Layout::global(*shape, blocks),
        (ArrayKind::JoinedArray { joined_dim }, _) => Layout::joined(1, joined_dim.into(), counts),
        _ => Layout::local(1, counts),
    }
}

/// Results that are kept of one step.
const LIMIT_RESULTS: usize = 16;

/// What transforms gave.
pub(crate) struct Outcome {
    pub(crate) shape: Shape,
    pub(crate) bytes: Payload,
}

/// A step that is held: its last handle releases it.
pub(crate) struct HeldStep {
    pub(crate) shared: Arc<SubscriberSession>,
    pub(crate) assignment: Assignment,
    pub(crate) epoch: Option<AttachmentId>,
    /// Whether the publisher of that attachment goes on with the numbers of the one before.
    pub(crate) continues: bool,
    /// Whether its end lets go of the step: not where that was only looked at, and is still to be taken.
    lets_go: bool,
    /// What is to become of it when it is let go.
    pub(crate) verdict: Verdict,
    /// What the subscription asks for in this step.
    pub(crate) wants: Arc<Wants>,
    /// Derived variables that were put together, by what they are called in the step.
    merged: Mutex<BTreeMap<String, Arc<Merged>>>,
    /// Records that went through transforms: by variable, selection and type.
    pub(crate) transformed: Once<Outcome>,
    /// What publishers are otherwise asked to send through transforms.
    pub(crate) made: Once<Made>,
    /// What publishers made of it because somebody asked for its type.
    pub(crate) there: OwnerMade,
}

impl HeldStep {
    pub(crate) fn new(
        shared: Arc<SubscriberSession>,
        assignment: Assignment,
        by: CameBy,
        is_ahead: bool,
    ) -> Arc<Self> {
        let CameBy { attachment: epoch, continues } = by;
        let (wants, lets_go, verdict) = (shared.selected.of(assignment.step), !is_ahead, Verdict::default());
        if let Some(mut memory) = shared.spare_step.take::<Self>()
            && let Some(held) = Arc::get_mut(&mut memory)
        {
            (held.assignment, held.epoch, held.lets_go) = (assignment, epoch, lets_go);
            held.continues = continues;
            (held.verdict, held.wants) = (verdict, wants);
            return memory;
        }
        Arc::new(Self {
            shared,
            assignment,
            epoch,
            continues,
            lets_go,
            verdict,
            wants,
            merged: Mutex::default(),
            transformed: Once::new(LIMIT_RESULTS),
            made: Once::new(LIMIT_MADE),
            there: OwnerMade::default(),
        })
    }

    /// Its reader goes. Where nobody else has the step, it is let go of, and its memory is kept for the next one.
    pub(crate) fn leave(held: &mut Arc<Self>) {
        let Some(alone) = Arc::get_mut(held) else { return };
        alone.let_go();
        clear(&mut alone.merged);
        clear(&mut alone.there.0);
        alone.transformed.clear();
        alone.made.clear();
        held.shared.spare_step.keep(held);
    }

    fn let_go(&mut self) {
        if std::mem::take(&mut self.lets_go) {
            let given_back = self.verdict.is_given_back(self.shared.options.explicit_done);
            self.shared.let_go(
                self.assignment.step,
                self.epoch,
                given_back && self.shared.options.redelivers(),
            );
        }
    }

    /// A derived variable, if it was put together before.
    pub(crate) fn merged(&self, variable: &str) -> Option<Arc<Merged>> {
        self.merged.lock().unwrap_or_else(PoisonError::into_inner).get(variable).cloned()
    }

    /// Keeps a derived variable as long as the step is held.
    pub(crate) fn keep_merged(&self, variable: &str, merged: Arc<Merged>) {
        self.merged.lock().unwrap_or_else(PoisonError::into_inner).insert(variable.to_owned(), merged);
    }

    /// The application says whether it goes back. Where a view or a get of it is alive, the subscriber may close before it
    /// is let go, and must know by then.
    pub(crate) fn judge(held: &Arc<Self>, given_back: bool) {
        match given_back {
            true => held.verdict.give_back(),
            false => held.verdict.done(),
        }
        if Arc::strong_count(held) > 1 && held.shared.options.redelivers() {
            held.shared.judge(held.assignment.step, held.epoch, given_back);
        }
    }
}

impl Drop for HeldStep {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// What a step says of one of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableInfo {
    /// Name, element type, kind, dimensions, unit, attributes.
    pub def: VariableDef,
    /// The global extent; none of local arrays.
    pub shape: Option<Shape>,
}

impl HeldStep {
    /// A share that keeps the step, for what outlives its reader.
    pub(crate) fn hold(self: &Arc<Self>) -> StepHold {
        StepHold::new(self.clone(), self.shared.counters.clone())
    }

    /// The stream's name.
    pub(crate) fn stream(&self) -> &str {
        &self.shared.stream
    }

    /// The step's number in its epoch.
    pub(crate) fn step(&self) -> StepId {
        self.assignment.step
    }

    /// Records cannot be had: the error, with stream, step and variable.
    pub(crate) fn problem(&self, variable: &str, problem: RecordProblem) -> ReadError {
        let (stream, step) = (self.stream().to_owned(), self.step());
        ReadError::Records { stream, step, variable: variable.to_owned(), source: Box::new(problem) }
    }

    pub(crate) fn incompatible(&self, variable: &str, source: Incompatible) -> ReadError {
        let (stream, step) = (self.stream().to_owned(), self.step());
        ReadError::Incompatible { stream, step, variable: variable.to_owned(), source: Box::new(source) }
    }

    /// Transforms gave nothing, on a path in words.
    pub(crate) fn not_transformed(
        &self,
        variable: &str,
        path: String,
        source: TransformProblem,
    ) -> ReadError {
        let (stream, step, variable) = (self.stream().to_owned(), self.step(), variable.to_owned());
        ReadError::NotTransformed { stream, step, variable, path, source: Box::new(source) }
    }

    pub(crate) fn misbehaved(&self, rank: Rank, what: String) -> ReadError {
        ReadError::PeerMisbehaved { stream: self.stream().to_owned(), step: self.step(), rank, what }
    }

    /// Steps of different epochs have the same numbers.
    pub(crate) fn identity(&self) -> (StepId, Option<AttachmentId>) {
        (self.step(), self.epoch)
    }

    /// The caller's mistake, with the stream.
    pub(crate) fn misuse(&self, source: Misuse) -> ReadError {
        self.shared.misuse(source)
    }

    /// When a call that begins now ends: after `fetch_timeout`.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.shared.options.fetch_timeout
    }

    /// What fetches of the step work with.
    pub(crate) fn taker(&self) -> Taker<'_> {
        Taker {
            stream: self.stream(),
            step: self.step(),
            epoch: self.epoch,
            owners: &self.shared.owners,
            counters: &self.shared.counters,
            subscription: &*self.shared,
            dial: &self.shared.endpoint.dial,
            busy_poll: self.shared.options.link.busy_poll,
            interrupt: self.shared.options.link.interrupt.as_ref(),
        }
    }

    /// The bytes of a global scalar, as they came with the announcement.
    pub(crate) fn value(&self, variable: &str) -> Result<&ScalarValue, ReadError> {
        let values = &self.assignment.values;
        let found = values.iter().find(|value| value.name == variable);
        found.ok_or_else(|| {
            let known = values.iter().map(|value| value.name.clone()).collect();
            let (step, variable) = (self.step(), variable.to_owned());
            self.misuse(Misuse::UnknownVariable { step, variable, known })
        })
    }

    /// Something failed on this side: the error, with the stream.
    pub(crate) fn failed(&self, error: impl std::fmt::Display) -> ReadError {
        ReadError::Coordinator { stream: self.stream().to_owned(), what: error.to_string() }
    }
}
