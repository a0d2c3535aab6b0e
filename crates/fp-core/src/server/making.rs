//! Blocks that subscribers ask to have sent through transforms, by the types that these lead to: made when they are first
//! asked for, on threads of their own, kept beside the blocks that they were made of, and shared by all who ask.

use super::{Inner, Server, StoredBlock, StoredStep};
use crate::derived::made_name_of;
use crate::records::{ApplyProblem, Applying, RecordBlock, RecordBlockError};
use crate::served::Served;
use crate::statistics::Counters;
use crate::workers::{self, Task};
use fp_proto::data::{
    DataMessage, GoneReason, LIMIT_WORDS_BYTES, MadeBlock, NamedType, OfferedTransform, TransformOutcome,
};
use fp_transform::{DataType, DeriveError, Offer, Transforms};
use fp_transport::{LinkError, OutFrame, Payload};
use fp_types::record::RecordSchema;
use fp_types::{ArrayKind, Region, Shape, StepId, StepMap, VariableDef};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

/// Variables that are made of live steps.
const LIMIT_MAKINGS: usize = 4096;

/// What a subscriber asks for.
pub(super) struct Wish {
    pub(super) token: u64,
    pub(super) request: u64,
    pub(super) step: StepId,
    pub(super) variable: String,
    pub(super) blocks: Vec<u32>,
    pub(super) transforms: Vec<String>,
}

/// Who waits, and for what.
struct Waiting {
    token: u64,
    request: u64,
    blocks: Vec<u32>,
}

/// What was made of a variable of a step, and what is under way.
#[derive(Default)]
pub(super) struct Making {
    made: BTreeMap<u32, MadeBlock>,
    keeps_places: bool,
    under_way: BTreeSet<u32>,
    /// Why nothing more is made.
    failed: Option<String>,
    waiting: Vec<Waiting>,
}

/// By step, and by what the variable is called that it gives.
pub(super) type Makings = BTreeMap<(StepId, String), Making>;

/// Why a block is not made.
#[derive(Debug, thiserror::Error)]
enum MakeProblem {
    #[error("this publisher offers no transform {name:?} of {kind}s of records")]
    NotOffered { name: String, kind: ArrayKind },
    #[error(transparent)]
    Apply(#[from] ApplyProblem),
    #[error(transparent)]
    Array(#[from] DeriveError),
    #[error(transparent)]
    Records(#[from] RecordBlockError),
    #[error("the step is gone")]
    Gone,
    #[error("too many types of records were put here")]
    TooManyTypes,
    #[error("no room for {len_bytes} bytes of results: live steps take all that this stream may hold")]
    NoRoom { len_bytes: u64 },
}

/// A block before and after.
struct Source {
    index: u32,
    region: Region,
    fixed: Payload,
    /// What the fixed parts refer to.
    parts: Option<Payload>,
}

impl Source {
    /// A copy: a transform that is stuck keeps what it got, which must never be memory that another step is put into.
    fn records(&self) -> Payload {
        let parts = self.parts.as_ref().map(Payload::as_slice).unwrap_or_default();
        Payload::from_owner([self.fixed.as_slice(), parts].concat())
    }
}

struct MadeOne {
    index: u32,
    region: Region,
    block: RecordBlock,
}

/// Blocks that are to be sent through transforms, by a thread that may wait for these.
struct MakeTask {
    server: Weak<Server>,
    transforms: Option<Transforms>,
    step: StepId,
    name: String,
    def: Arc<VariableDef>,
    schema: RecordSchema,
    path: Vec<String>,
    sources: Vec<Source>,
}

/// What came of a task.
struct Made {
    def: Arc<VariableDef>,
    keeps_places: bool,
    blocks: Vec<MadeOne>,
}

impl Task for MakeTask {
    fn stream(&self) -> usize {
        self.server.as_ptr() as usize
    }

    fn run(&self) {
        // Of a step that went while this waited for a thread nothing is made any more.
        let is_wanted = |server: &Arc<Server>| server.lock().steps.contains_key(&self.step);
        let Some(server) = self.server.upgrade() else { return };
        let made = if is_wanted(&server) { self.make() } else { Err(MakeProblem::Gone) };
        server.made(self, made);
    }

    fn is_withdrawn(&self) -> bool {
        self.server.strong_count() == 0
    }
}

impl MakeTask {
    fn make(&self) -> Result<Made, MakeProblem> {
        let legs = self.legs()?;
        let keeps_places = legs.iter().all(|leg| leg.keeps_places);
        let given = legs.last().map_or(&self.schema, |leg| &leg.given);
        let of = self.def.dtype;
        let def = match keeps_places {
            true => VariableDef::global_array(&self.name, of, self.def.ndims()),
            false => VariableDef::joined_array(&self.name, of, 1, 0),
        };
        let def = def.with_order(self.def.order).with_record(given);
        let blocks = self.sources.iter().map(|source| self.make_one(source, &legs, keeps_places));
        let blocks = blocks.collect::<Result<_, _>>()?;
        Ok(Made { def: Arc::new(def), keeps_places, blocks })
    }

    /// The transforms, one after the other; each must be one that is offered.
    fn legs(&self) -> Result<Vec<Applying>, MakeProblem> {
        let offers = self.transforms.as_ref().map(Transforms::offers).unwrap_or_default();
        let (mut legs, mut found, mut kind) = (Vec::new(), self.schema.clone(), self.def.kind);
        for name in &self.path {
            let leg = Applying::find((self.transforms.as_ref(), "publisher"), name, (Some(&found), kind))?;
            if offers.iter().all(|offer| offer.name != *name) {
                return Err(MakeProblem::NotOffered { name: name.clone(), kind });
            }
            found = leg.given.clone();
            if !leg.keeps_places {
                kind = ArrayKind::JoinedArray { joined_dim: 0 };
            }
            legs.push(leg);
        }
        Ok(legs)
    }

    fn make_one(&self, source: &Source, legs: &[Applying], keeps: bool) -> Result<MadeOne, MakeProblem> {
        let mut shape = Shape::new(*source.region.count()).map_err(DeriveError::from)?;
        let (mut bytes, mut count, mut schema) = (source.records(), 0, &self.schema);
        for leg in legs {
            let applied = leg.run((shape, self.def.order), bytes)?;
            (count, schema) = (applied.count, &leg.given);
            bytes = Payload::from_owner(applied.bytes);
            if !leg.keeps_places {
                shape = Shape::new([count as u64]).map_err(DeriveError::from)?;
            }
        }
        let block = RecordBlock::encoded(schema, count, bytes)?;
        let region = match keeps {
            true => source.region,
            false => Region::new([0], [count as u64]).map_err(DeriveError::from)?,
        };
        Ok(MadeOne { index: source.index, region, block })
    }
}

impl Server {
    /// Tells which transforms blocks can be sent through.
    pub(super) fn tell_offers(&self, served: &mut Served, request: u64) -> Result<(), LinkError> {
        let offers = self.transforms.as_ref().map(Transforms::offers).unwrap_or_default();
        for native in self.transforms.iter().flat_map(Transforms::registered) {
            if let Some((_, given)) = &native.schemas {
                // Who is told of a type may ask for it. Where there is no room for it, that is said then.
                self.types.learn(given);
            }
        }
        let transforms = offers.into_iter().map(told).collect();
        served.link.send(OutFrame::new(DataMessage::Offers { request, transforms }.encode()))
    }

    /// Has blocks sent through transforms, or answers if they were before.
    pub(super) fn wish(
        &self,
        (steps, makings): (&mut StepMap<StoredStep>, &mut Makings),
        served: &mut Served,
        wish: Wish,
    ) -> Result<(), LinkError> {
        let (request, step) = (wish.request, wish.step);
        let Some(stored) = steps.get(&step).filter(|stored| stored.ended) else {
            return self.answer_gone(served, Some(request), step, GoneReason::Step);
        };
        let name = made_name_of(&wish.variable, &wish.transforms);
        let key = (step, name.clone());
        if makings.len() >= LIMIT_MAKINGS && !makings.contains_key(&key) {
            let what = format!("{LIMIT_MAKINGS} variables are made of live steps already");
            return tell(served, request, step, TransformOutcome::Failed { what });
        }
        let missing = makings.get(&key).map_or_else(|| wish.all(), |making| making.missing(&wish.blocks));
        let is_wanted = !missing.is_empty() && makings.get(&key).is_none_or(|making| making.failed.is_none());
        Counters::add(&self.counters.shared_transforms, wish.blocks.len().saturating_sub(missing.len()));
        let task = match is_wanted.then(|| self.task(stored, &wish, name.clone(), &missing)) {
            Some(None) => return self.answer_gone(served, Some(request), step, GoneReason::Block),
            task => task.flatten(),
        };
        let making = makings.entry(key).or_default();
        match task.map_or(Ok(()), |task| workers::submit_making(Arc::new(task))) {
            Ok(()) if is_wanted => making.under_way.extend(missing),
            Ok(()) => {}
            Err(error) => making.failed = Some(format!("no thread can be started for it: {error}")),
        }
        match making.outcome(&wish.blocks, &name) {
            Some(outcome) => tell(served, request, step, outcome),
            None => {
                making.waiting.push(Waiting { token: wish.token, request, blocks: wish.blocks });
                Ok(())
            }
        }
    }

    /// What is to be done for blocks of a variable, if all of them are here.
    fn task(
        &self,
        stored: &StoredStep,
        wish: &Wish,
        name: String,
        missing: &BTreeSet<u32>,
    ) -> Option<MakeTask> {
        let find = |name: &str, index: u32| {
            stored.blocks.iter().find(|block| block.def.name == name && block.index == index)
        };
        let def = find(&wish.variable, *missing.first()?)?.def.clone();
        let schema = self.types.find(def.record.as_ref()?.fingerprint)?;
        let parts = def.parts().filter(|_| !schema.is_plain());
        let source = |&index: &u32| {
            let block = find(&wish.variable, index)?;
            let parts = parts.as_ref().and_then(|parts| find(&parts.name, index));
            let (fixed, parts) = (block.payload.clone(), parts.map(|parts| parts.payload.clone()));
            Some(Source { index, region: block.region, fixed, parts })
        };
        let sources = missing.iter().map(source).collect::<Option<Vec<_>>>()?;
        let (server, transforms) = (self.me.clone(), self.transforms.clone());
        let path = wish.transforms.clone();
        Some(MakeTask { server, transforms, step: wish.step, name, def, schema, path, sources })
    }

    /// A task has ended: what it made is kept with its step, and told to those who wait for it.
    fn made(&self, task: &MakeTask, made: Result<Made, MakeProblem>) {
        let mut inner = self.lock();
        let Inner { steps, links, makings, .. } = &mut *inner;
        let key = (task.step, task.name.clone());
        let Some(making) = makings.get_mut(&key) else { return };
        for source in &task.sources {
            making.under_way.remove(&source.index);
        }
        let answers = match steps.get_mut(&task.step) {
            None => making.all_gone(task.step),
            Some(stored) => {
                match made.and_then(|made| self.keep(stored, making, made)) {
                    Ok(()) => Counters::add(&self.counters.transforms, task.sources.len()),
                    Err(problem) => {
                        tracing::warn!(step = %task.step, variable = task.def.name, %problem, "not transformed");
                        Counters::add(&self.counters.failed_transforms, 1);
                        making.failed = Some(problem.to_string());
                    }
                }
                making.answers(task.step, &task.name)
            }
        };
        if !steps.contains_key(&task.step) && making.under_way.is_empty() {
            makings.remove(&key);
        }
        let mut lost = Vec::new();
        for (token, message) in answers {
            let Some(served) = links.get_mut(&token) else { continue };
            match served.link.send(OutFrame::new(message.encode())) {
                Ok(()) => self.watch(token, served),
                Err(_) => lost.push(token),
            }
        }
        inner.part_with(&lost);
    }

    /// Stores what was made as blocks of the step.
    fn keep(&self, stored: &mut StoredStep, making: &mut Making, made: Made) -> Result<(), MakeProblem> {
        let Made { def, keeps_places, blocks } = made;
        let len_bytes = blocks.iter().map(|of| of.block.as_bytes().len() as u64).sum();
        if !self.room.fits(len_bytes) {
            return Err(MakeProblem::NoRoom { len_bytes });
        }
        if blocks.iter().any(|of| !self.types.learn(of.block.schema())) {
            return Err(MakeProblem::TooManyTypes);
        }
        let parts_def = def.parts().map(Arc::new);
        making.keeps_places = keeps_places;
        for MadeOne { index, region, block } in blocks {
            let ((fixed, parts), count) = (block.split(), block.count() as u64);
            making.made.insert(index, MadeBlock { count, parts_bytes: parts.len() as u64 });
            let mut store = |def: &Arc<VariableDef>, region, payload: Payload| {
                Counters::add(&self.counters.derived_bytes, payload.len());
                self.room.store(payload.len() as u64);
                stored.blocks.push(StoredBlock { def: def.clone(), index, region, payload });
            };
            store(&def, region, fixed);
            if let Some(def) = &parts_def {
                let region = Region::new([0], [parts.len() as u64]).map_err(DeriveError::from)?;
                store(def, region, parts);
            }
        }
        Ok(())
    }
}

impl Wish {
    fn all(&self) -> BTreeSet<u32> {
        self.blocks.iter().copied().collect()
    }
}

impl Making {
    /// Those of these blocks that nobody has asked for yet.
    fn missing(&self, blocks: &[u32]) -> BTreeSet<u32> {
        let is_new = |index: &u32| !self.made.contains_key(index) && !self.under_way.contains(index);
        blocks.iter().copied().filter(is_new).collect()
    }

    /// What is to be told to those who need wait no longer.
    fn answers(&mut self, step: StepId, name: &str) -> Vec<(u64, DataMessage)> {
        let (mut answers, mut waiting) = (Vec::new(), Vec::new());
        for one in std::mem::take(&mut self.waiting) {
            match self.outcome(&one.blocks, name) {
                None => waiting.push(one),
                Some(outcome) => {
                    let request = one.request;
                    answers.push((one.token, DataMessage::Transformed { request, step, outcome }));
                }
            }
        }
        self.waiting = waiting;
        answers
    }

    fn outcome(&self, blocks: &[u32], name: &str) -> Option<TransformOutcome> {
        let made: Option<Vec<MadeBlock>> = blocks.iter().map(|index| self.made.get(index).copied()).collect();
        match (made, &self.failed) {
            (Some(blocks), _) => {
                let (variable, keeps_places) = (name.to_owned(), self.keeps_places);
                Some(TransformOutcome::Made { variable, keeps_places, blocks })
            }
            (None, Some(what)) => {
                let what = what[..what.floor_char_boundary(LIMIT_WORDS_BYTES)].to_owned();
                Some(TransformOutcome::Failed { what })
            }
            (None, None) => None,
        }
    }

    /// The step is gone.
    fn all_gone(&mut self, step: StepId) -> Vec<(u64, DataMessage)> {
        let gone = |Waiting { token, request, .. }| {
            (token, DataMessage::Gone { request, step, reason: GoneReason::Step })
        };
        std::mem::take(&mut self.waiting).into_iter().map(gone).collect()
    }
}

fn tell(served: &mut Served, request: u64, step: StepId, outcome: TransformOutcome) -> Result<(), LinkError> {
    served.link.send(OutFrame::new(DataMessage::Transformed { request, step, outcome }.encode()))
}

/// Forgets what was made of a step that is gone; who still waits is told when the task has ended.
pub(super) fn forget(makings: &mut Makings, gone: StepId) {
    makings.retain(|(step, _), making| *step != gone || !making.under_way.is_empty());
}

fn told(offer: Offer) -> OfferedTransform {
    let named = |of: &DataType| NamedType { name: of.name().to_owned(), fingerprint: of.fingerprint() };
    OfferedTransform {
        from: named(&offer.from),
        to: named(&offer.to),
        name: offer.name,
        nanos_per_byte: offer.cost.nanos_per_byte,
        output_ratio: offer.cost.output_ratio,
        is_one_by_one: offer.is_one_by_one,
        is_for_publisher: offer.is_for_publisher,
    }
}
