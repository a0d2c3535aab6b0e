//! Reading a derived variable: as any array where its blocks were put, else by putting together what each rank has.

use super::calling::{CallProblem, Caller};
use super::computing::{Foreign, pool};
use super::packed::unpack;
use super::{Asked, is_better_left};
use crate::error::ReadError;
use crate::fetch::Get;
use crate::planned::{NoPlan, PlanKey, Planned, names};
use crate::select::Select;
use crate::statistics::Counters;
use crate::step::{StepReader, VariableInfo};
use fp_proto::message::ResolveQuery;
use fp_transform::{Array, ArrayType, Block, Derived, OutputType, Placement, Plan};
use fp_types::{
    ArrayKind, BlockId, Dtype, Layout, MemoryOrder, Rank, Selection, Shape, StepTable, VariableDef,
};
use std::sync::Arc;
use std::time::Instant;

/// The longest text about a failure that is read.
const LIMIT_TEXT_BYTES: usize = 4096;

/// A derived variable put together, of one step.
pub(crate) struct Merged {
    /// Each with what its name has behind a dot.
    arrays: Vec<(&'static str, Shape, Dtype, Arc<[Block]>)>,
}

impl Merged {
    fn new(outputs: &[OutputType], arrays: Vec<Array>) -> Self {
        let suffix = outputs.iter().map(|of| of.suffix);
        let array = |(suffix, array): (&'static str, Array)| {
            (suffix, *array.shape(), array.dtype(), array.blocks().to_vec().into())
        };
        Self { arrays: suffix.zip(arrays).map(array).collect() }
    }
}

impl StepReader {
    /// The plan for a derived variable.
    pub(crate) fn planned_derived(
        &self,
        (asked, part): (&Asked, &str),
        select: &Select,
        fill: bool,
        dtype: Option<Dtype>,
        deadline: Instant,
    ) -> Result<Arc<Planned>, ReadError> {
        let table = self.table(deadline)?;
        let is_left = self.is_left(asked, &table);
        if !is_left {
            self.check_derived(asked, &table, deadline)?;
        }
        if !asked.is_packed && !is_left {
            let planned = self.planned_as_put(&asked.variable, select, fill, dtype, deadline);
            return planned.map_err(|error| error.renamed(&asked.name));
        }
        let planned = Arc::new(self.planned_merged((asked, part), &table, select, fill, deadline)?);
        self.check_dtype(&planned, dtype)?;
        Ok(planned)
    }

    /// The same, if it was made before and all is well.
    pub(crate) fn known_plan_derived(
        &self,
        asked: &Asked,
        select: &Select,
        dtype: Dtype,
    ) -> Result<Option<Arc<Planned>>, ReadError> {
        let is_there = |table: Arc<StepTable>| {
            table.entry(&asked.failed).is_none() && table.entry(&asked.variable).is_some()
        };
        let is_as_put = |table: &Arc<StepTable>| !asked.is_packed && !self.is_left(asked, table);
        match self.known_table().filter(is_as_put).is_some_and(is_there) {
            true => {
                self.known_plan_as_put(&asked.variable, select, dtype).map_err(|e| e.renamed(&asked.name))
            }
            false => Ok(None),
        }
    }

    /// Whether it could be derived in this step, on every rank.
    fn check_derived(&self, asked: &Asked, table: &StepTable, deadline: Instant) -> Result<(), ReadError> {
        if table.entry(&asked.failed).is_some() {
            return Err(self.not_derived(asked, self.told(&asked.failed, deadline)?));
        }
        match table.entry(&asked.variable) {
            Some(_) => Ok(()),
            None => Err(self.not_derived(asked, why_missing(asked, table))),
        }
    }

    /// What the ranks say that failed.
    pub(crate) fn told(&self, failed: &str, deadline: Instant) -> Result<String, ReadError> {
        let text = |(rank, bytes): (Rank, Vec<u8>)| {
            let len = bytes.len().min(LIMIT_TEXT_BYTES);
            format!("publisher rank {rank}: {}", String::from_utf8_lossy(&bytes[..len]))
        };
        let mut texts: Vec<String> = self.parts(failed, deadline)?.into_iter().map(text).collect();
        texts.dedup();
        Ok(texts.join("; "))
    }

    fn not_derived(&self, asked: &Asked, what: String) -> ReadError {
        let (stream, step) = (self.stream().to_owned(), self.step());
        let (variable, derivation) = (asked.name.clone(), asked.derivation.to_string());
        ReadError::NotDerived { stream, step, variable, derivation, what }
    }

    fn planned_merged(
        &self,
        (asked, part): (&Asked, &str),
        table: &StepTable,
        select: &Select,
        fill: bool,
        deadline: Instant,
    ) -> Result<Planned, ReadError> {
        let merged = self.merged(asked, table, deadline)?;
        let variable = if part.is_empty() { asked.name.clone() } else { format!("{}.{part}", asked.name) };
        let Some((_, shape, dtype, blocks)) = merged.arrays.iter().find(|(suffix, ..)| *suffix == part)
        else {
            let suffixes: Vec<String> =
                merged.arrays.iter().map(|(suffix, ..)| format!("{}.{suffix}", asked.name)).collect();
            return Err(self.not_derived(asked, format!("it gives {}", suffixes.join(" and "))));
        };
        let ids = (0..).map(|index| BlockId::new(Rank(0), index));
        let layout = Layout::global(*shape, ids.zip(blocks.iter().map(|block| *block.region())));
        let layout = layout.map_err(|error| self.not_derived(asked, error.to_string()))?;
        let key = self.key(&variable, select, Some(shape), fill)?;
        let def = Arc::new(VariableDef::global_array(variable, *dtype, shape.ndims()));
        let planned = Planned::of_blocks(def, &layout, blocks.clone(), &key);
        planned.map_err(|no_plan| self.no_plan(key, no_plan))
    }

    /// What all ranks derived, put together; once in a step.
    fn merged(&self, asked: &Asked, table: &StepTable, deadline: Instant) -> Result<Arc<Merged>, ReadError> {
        if let Some(merged) = self.held.merged(&asked.variable) {
            return Ok(merged);
        }
        let plan = plan_in(asked, table).map_err(|what| self.not_derived(asked, what))?;
        let arrays = match self.is_left(asked, table) {
            true => self.derive_here(asked, &plan, deadline)?,
            false => self.put_together(asked, &plan, deadline)?,
        };
        let merged = Arc::new(Merged::new(plan.outputs(), arrays));
        self.held.keep_merged(&asked.variable, merged.clone());
        Ok(merged)
    }

    /// Derives from the inputs, whole.
    fn derive_here(&self, asked: &Asked, plan: &Plan, deadline: Instant) -> Result<Vec<Array>, ReadError> {
        let done = match self.foreign(asked) {
            Ok(foreign) => {
                let arrays = self.inputs_here(asked, deadline)?;
                let (left, plan) = (deadline.saturating_duration_since(Instant::now()), plan.clone());
                let done = pool().run(left, move || foreign.attach(plan)?.run(&arrays));
                done.map_err(|error| error.to_string())
                    .and_then(|done| done.map_err(|error| error.to_string()))
            }
            Err(problem) => Err(problem.to_string()),
        };
        let counters = &self.shared().counters;
        let counter = if done.is_ok() { &counters.derivations } else { &counters.failed_derivations };
        Counters::add(counter, 1);
        done.map_err(|what| self.not_derived(asked, what))
    }

    /// What it needs that is not built in.
    fn foreign(&self, asked: &Asked) -> Result<Foreign, CallProblem> {
        let (derived, transforms) = (&self.shared().derived, self.shared().options.transforms.as_ref());
        let functions = Caller::subscriber(transforms).functions(&asked.derivation)?;
        let (modules, code) = (derived.code.clone(), derived.modules_of(&asked.derivation));
        Ok(Foreign { modules, code, functions })
    }

    /// The inputs, whole.
    fn inputs_here(&self, asked: &Asked, deadline: Instant) -> Result<Vec<Array>, ReadError> {
        let planned =
            |name: &String| self.planned_as_put(name, &Selection::All.into(), false, None, deadline);
        let inputs: Result<Vec<Arc<Planned>>, ReadError> =
            asked.derivation.inputs().iter().map(planned).collect();
        let inputs = inputs.map_err(|error| self.why_not_here(asked, error, deadline))?;
        let len = |planned: &Arc<Planned>| planned.len_bytes().unwrap_or(usize::MAX);
        let mut elements: Vec<Vec<u8>> = inputs.iter().map(|planned| vec![0; len(planned)]).collect();
        let gets = inputs.iter().cloned().zip(&mut elements);
        let gets = gets.map(|(planned, elements)| Get::new(planned, &mut elements[..])).collect();
        if let Err(error) = self.fill_all(gets, deadline.into()) {
            return Err(self.why_not_here(asked, error, deadline));
        }
        let array = |(planned, elements): (&Arc<Planned>, Vec<u8>)| {
            Array::whole(planned.def.dtype, planned.plan.result_shape(), MemoryOrder::RowMajor, elements)
        };
        let arrays = inputs.iter().zip(elements).map(array).collect::<Result<_, _>>();
        arrays.map_err(|error: fp_transform::DeriveError| self.not_derived(asked, error.to_string()))
    }

    /// The inputs cannot be had: a rank that could not leave them said why.
    fn why_not_here(&self, asked: &Asked, error: ReadError, deadline: Instant) -> ReadError {
        let is_told = self.known_table().is_some_and(|table| table.entry(&asked.failed).is_some());
        match is_told.then(|| self.told(&asked.failed, deadline)) {
            Some(Ok(what)) => self.not_derived(asked, what),
            _ => error,
        }
    }

    /// Whether it is derived here in this step: by what is asked for in it, and where that depends on which side has
    /// fewer bytes, by the shapes that all ranks of both sides know.
    fn is_left(&self, asked: &Asked, table: &StepTable) -> bool {
        match asked.placement(&self.held.wants) {
            Placement::Publisher => false,
            Placement::Subscriber => true,
            Placement::FewerBytes => {
                plan_in(asked, table).is_ok_and(|plan| self.is_chosen_here(asked, &plan))
            }
        }
    }

    /// Which side the shapes choose, to be told by [`Subscriber::placements`](crate::Subscriber::placements).
    fn is_chosen_here(&self, asked: &Asked, plan: &Plan) -> bool {
        let is_left = is_better_left(plan);
        let side = if is_left { Placement::Subscriber } else { Placement::Publisher };
        let (input, output) = plan.len_bytes();
        let bytes = |of: u128| u64::try_from(of).unwrap_or(u64::MAX);
        let chosen = Some((side, (bytes(input), bytes(output))));
        self.shared().placed.with_history(&asked.name, |history| history.chosen = chosen);
        is_left
    }

    /// What each rank derived, as one.
    fn put_together(&self, asked: &Asked, plan: &Plan, deadline: Instant) -> Result<Vec<Array>, ReadError> {
        let parts = self.parts(&asked.variable, deadline)?;
        let mut all: Option<Derived> = None;
        for (rank, bytes) in parts {
            let derived = unpack(plan, &bytes).ok_or_else(|| self.misbehaved(rank, asked))?;
            match &mut all {
                None => all = Some(derived),
                Some(all) => {
                    all.merge(derived).map_err(|error| self.not_derived(asked, error.to_string()))?
                }
            }
        }
        let all = all.ok_or_else(|| self.not_derived(asked, "no rank has a part of it".to_owned()))?;
        plan.finish(all).map_err(|error| self.not_derived(asked, error.to_string()))
    }

    fn misbehaved(&self, rank: Rank, asked: &Asked) -> ReadError {
        let what = format!("what it derived by {} cannot be read", asked.derivation);
        ReadError::PeerMisbehaved { stream: self.stream().to_owned(), step: self.step(), rank, what }
    }

    /// The bytes of every block of a local array of bytes, with the ranks that put them.
    fn parts(&self, variable: &str, deadline: Instant) -> Result<Vec<(Rank, Vec<u8>)>, ReadError> {
        let blocks = self.part_blocks(variable, deadline)?;
        let wanted: Vec<(&str, BlockId)> = blocks.iter().map(|&block| (variable, block)).collect();
        let plans = self.planned_blocks(&wanted, deadline)?;
        let mut parts: Vec<Vec<u8>> =
            plans.iter().map(|planned| vec![0; planned.len_bytes().unwrap_or(usize::MAX)]).collect();
        let gets = plans.into_iter().zip(&mut parts);
        let gets = gets.map(|(planned, part)| Get::new(planned, &mut part[..])).collect();
        self.fill_all(gets, deadline.into())?;
        Ok(blocks.iter().map(|block| block.rank).zip(parts).collect())
    }

    fn part_blocks(&self, variable: &str, deadline: Instant) -> Result<Vec<BlockId>, ReadError> {
        let (derived, table) = (&self.shared().derived, self.held.assignment.table);
        let key = (self.epoch(), table, variable.to_owned());
        if let Some(known) = derived.known_parts(&key) {
            return Ok(known);
        }
        let query = ResolveQuery { variable: variable.to_owned(), selection: Selection::All };
        let answer = self.shared().resolve(self.identity(), table, vec![query], deadline)?;
        let entry = answer.entry(variable).ok_or_else(|| self.misuse(self.unknown(&answer, variable)))?;
        let blocks: Vec<BlockId> = entry.layout.blocks().map(|(block, _)| block).collect();
        derived.keep_parts(key, blocks.clone());
        Ok(blocks)
    }

    /// What the step has of the variables that this subscription has derived.
    pub(crate) fn derived_infos(&self, table: &StepTable) -> Vec<VariableInfo> {
        let infos = |asked: &Asked| -> Vec<VariableInfo> {
            let is_there = self.is_left(asked, table) || table.entry(&asked.variable).is_some();
            let (true, Ok(plan)) = (is_there, plan_in(asked, table)) else { return Vec::new() };
            plan.outputs().iter().map(|of| info(asked, of)).collect()
        };
        self.shared().derived.asked().iter().flat_map(infos).collect()
    }
}

fn info(asked: &Asked, of: &OutputType) -> VariableInfo {
    let dot = if of.suffix.is_empty() { "" } else { "." };
    let name = format!("{}{dot}{}", asked.name, of.suffix);
    let def = VariableDef::global_array(name, of.dtype, of.shape.ndims());
    VariableInfo {
        def: def.with_description(asked.derivation.to_string()),
        shape: (!of.at_most).then_some(of.shape),
    }
}

/// The plan for the variables as the step has them, or what does not fit.
fn plan_in(asked: &Asked, table: &StepTable) -> Result<Plan, String> {
    let of_input = |name: &String| match table.entry(name) {
        None => Err(format!("there is no variable {name:?}; there are {}", names(table).join(", "))),
        Some(entry) => match (entry.def.kind, entry.layout.shape()) {
            (ArrayKind::GlobalArray, Some(&shape)) => Ok(ArrayType { dtype: entry.def.dtype, shape }),
            (kind, _) => {
                Err(format!("{name:?} is no global array ({kind}), and others are not derived from"))
            }
        },
    };
    let types: Vec<ArrayType> = asked.derivation.inputs().iter().map(of_input).collect::<Result<_, _>>()?;
    asked.derivation.plan(&types).map_err(|error| error.to_string())
}

fn why_missing(asked: &Asked, table: &StepTable) -> String {
    match plan_in(asked, table) {
        Err(what) => what,
        Ok(_) => {
            "no rank had anything to derive it from, or the step began before it was asked for".to_owned()
        }
    }
}

/// What a plan is made from, besides the blocks.
impl Planned {
    /// The plan for a selection of blocks that are here.
    pub(crate) fn of_blocks(
        def: Arc<VariableDef>,
        layout: &Layout,
        blocks: Arc<[Block]>,
        key: &PlanKey,
    ) -> Result<Self, NoPlan> {
        let planned = Self::of_layout(def, layout, key)?;
        Ok(Self { wanted: Vec::new(), here: Some(blocks), ..planned })
    }

    /// Fills the array from blocks that are here, if they are; otherwise says that it did not.
    pub(crate) fn fill_here(&self, destination: &mut [u8]) -> Option<Result<(), fp_types::CopyError>> {
        if let Some(made) = &self.made {
            return Some(made.fill(self, destination));
        }
        let blocks = self.here.as_ref()?;
        let copy = |piece: &fp_types::Piece| {
            let Some(block) = blocks.get(piece.block.index as usize) else { return Ok(()) };
            let (order, to, size) = (block.order(), self.destination_order, self.element_size);
            self.plan.copy_piece(piece, block.bytes(), order, destination, to, size)
        };
        Some(self.plan.pieces.iter().try_for_each(copy))
    }
}
