//! Blocks that subscribers ask to have sent through transforms, by the types that these lead to. They are made when
//! they are first asked for, on threads of their own. They are kept beside the blocks that they were made of, and all
//! who ask share them.

use crate::coordinator::workers;
use crate::data::owner::block::{BlockBytes, StoredBlock};
use crate::data::owner::block_store::made_task::{MadeOne, MakeProblem, MakeTask, Results, Source};
use crate::data::owner::block_store::stored_step::StoredStep;
use crate::data::owner::block_store::{BlockStore, Inner};
use crate::data::owner::subscriber_link::SubscriberLink;
use crate::value::counters::Counters;
use crate::value::derived_names::made_name;
use fp_proto::data::{
    DataMessage, GoneReason, LIMIT_WORDS_BYTES, MadeBlock, NamedType, OfferedTransform, TransformOutcome,
};
use fp_transform::{DataType, DeriveError, Offer, Transforms};
use fp_transport::LinkError;
use fp_types::{ArrayKind, Region, StepId, StepMap, VariableDef};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Variables of live steps that may be under way at one time.
const LIMIT_UNDER_WAY: usize = 64;

/// What a subscriber asks for.
pub(crate) struct Wish {
    pub(crate) token: u64,
    pub(crate) request: u64,
    pub(crate) step: StepId,
    pub(crate) variable: String,
    pub(crate) blocks: Vec<u32>,
    pub(crate) transforms: Vec<String>,
}

/// Who waits, and for what.
struct Waiting {
    token: u64,
    request: u64,
    blocks: Vec<u32>,
}

/// What was made of a variable of a step, and what is under way.
#[derive(Default)]
pub(crate) struct Making {
    made: BTreeMap<u32, MadeBlock>,
    keeps_places: bool,
    under_way: BTreeSet<u32>,
    /// Why there is nothing of a block.
    failed: BTreeMap<u32, String>,
    waiting: Vec<Waiting>,
}

/// By step, and by the name of the variable that comes of it.
pub(crate) type Makings = BTreeMap<(StepId, String), Making>;

impl BlockStore {
    /// Tells which transforms blocks can be sent through.
    pub(crate) fn tell_offers(&self, served: &mut SubscriberLink, request: u64) -> Result<(), LinkError> {
        let offers = self.transforms.as_ref().map(Transforms::offers).unwrap_or_default();
        for native in self.transforms.iter().flat_map(Transforms::registered) {
            if let Some((_, given)) = &native.schemas {
                // Whoever is told of a type may ask for it. If there is no room for the type, the answer says so then.
                self.types.learn(given);
            }
        }
        let transforms = offers.into_iter().map(told).collect();
        served.tell(DataMessage::Offers { request, transforms })
    }

    /// Has blocks sent through transforms, or answers if they were before.
    pub(crate) fn wish(
        &self,
        (steps, makings): (&mut StepMap<Box<StoredStep>>, &mut Makings),
        served: &mut SubscriberLink,
        wish: Wish,
    ) -> Result<(), LinkError> {
        let (request, step) = (wish.request, wish.step);
        wish.check()?;
        let Some(stored) = steps.get(&step).filter(|stored| stored.ended) else {
            return self.answer_gone(served, Some(request), step, GoneReason::Step);
        };
        let name = made_name(&wish.variable, &wish.transforms);
        let key = (step, name.clone());
        let missing = makings.get(&key).map_or_else(|| wish.all(), |making| making.missing(&wish.blocks));
        let busy = makings.values().filter(|making| !making.under_way.is_empty()).count();
        if busy >= LIMIT_UNDER_WAY && !missing.is_empty() {
            let what = format!("{busy} variables are made of live steps just now");
            return tell(served, request, step, TransformOutcome::Failed { what });
        }
        if !missing.is_empty() {
            let Some(task) = self.task(stored, &wish, name.clone(), &missing) else {
                return self.answer_gone(served, Some(request), step, GoneReason::Block);
            };
            if let Err(error) = workers::MAKING.submit(Arc::new(task)) {
                let what = format!("no thread can be started for it: {error}");
                return tell(served, request, step, TransformOutcome::Failed { what });
            }
        }
        let making = makings.entry(key).or_default();
        let is_shared = missing.is_empty();
        making.under_way.extend(missing);
        match making.outcome(&wish.blocks, &name) {
            Some(outcome) => {
                Counters::add(&self.counters.shared_transforms, usize::from(is_shared));
                tell(served, request, step, outcome)
            }
            None => {
                // Who asks again has given up waiting for the answer to its last question.
                making.waiting.retain(|waiting| waiting.token != wish.token);
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
        let known = (0..).zip(&stored.blocks).map(|(at, block)| ((&*block.def.name, block.index), at));
        let known: BTreeMap<(&str, u32), usize> = known.collect();
        let find = |name: &str, index: u32| stored.blocks.get(*known.get(&(name, index))?);
        let def = find(&wish.variable, *missing.first()?)?.def.clone();
        let schema = self.types.find(def.record.as_ref()?.fingerprint)?;
        let parts = def.parts().filter(|_| !schema.is_plain());
        let source = |&index: &u32| {
            let block = find(&wish.variable, index)?;
            let parts = parts.as_ref().and_then(|parts| find(&parts.name, index));
            let (fixed, parts) = (block.bytes.clone(), parts.map(|parts| parts.bytes.clone()));
            Some(Source { index, region: block.region, fixed, parts })
        };
        let sources = missing.iter().map(source).collect::<Option<Vec<_>>>()?;
        let (server, transforms) = (self.me.clone(), self.transforms.clone());
        let path = wish.transforms.clone();
        Some(MakeTask { server, transforms, step: wish.step, name, def, schema, path, sources })
    }

    /// A task has ended: what it made is kept with its step, and told to those who wait for it.
    pub(crate) fn made(&self, task: &MakeTask, made: Results) {
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
                let transient = self.keep_all(stored, making, (task, made));
                let answers = making.answers(task.step, &task.name);
                transient.iter().for_each(|index| _ = making.failed.remove(index));
                answers
            }
        };
        if !steps.contains_key(&task.step) && making.under_way.is_empty() {
            makings.remove(&key);
        }
        let mut lost = Vec::new();
        for (token, message) in answers {
            let Some(served) = links.get_mut(&token) else { continue };
            match served.tell(message) {
                Ok(()) => self.watch(token, served),
                Err(_) => lost.push(token),
            }
        }
        inner.part_with(&lost);
    }

    /// Keeps what was made, and why other blocks were not. Gives those others that may be made next time.
    fn keep_all(
        &self,
        stored: &mut StoredStep,
        making: &mut Making,
        (task, made): (&MakeTask, Results),
    ) -> Vec<u32> {
        let mut transient = Vec::new();
        let mut fail = |making: &mut Making, index: u32, problem: &MakeProblem| {
            making.failed.insert(index, problem.to_string());
            if problem.is_transient() {
                transient.push(index);
            }
        };
        match made {
            Err(problem) => {
                self.count_failure(task, &problem);
                task.sources.iter().for_each(|source| fail(making, source.index, &problem));
            }
            Ok((def, made)) => {
                making.keeps_places = def.kind == ArrayKind::GlobalArray;
                for (source, made) in task.sources.iter().zip(made) {
                    match made.and_then(|made| self.keep(stored, making, &def, made)) {
                        Ok(()) => Counters::add(&self.counters.transforms, 1),
                        Err(problem) => {
                            self.count_failure(task, &problem);
                            fail(making, source.index, &problem);
                        }
                    }
                }
            }
        }
        transient
    }

    fn count_failure(&self, task: &MakeTask, problem: &MakeProblem) {
        tracing::warn!(step = %task.step, variable = task.def.name, %problem, "not transformed");
        Counters::add(&self.counters.failed_transforms, 1);
    }

    /// Stores what was made of a block as one of the step.
    fn keep(
        &self,
        stored: &mut StoredStep,
        making: &mut Making,
        def: &Arc<VariableDef>,
        MadeOne { index, region, block }: MadeOne,
    ) -> Result<(), MakeProblem> {
        let len_bytes = block.as_bytes().len() as u64;
        if !self.room.fits(len_bytes) {
            return Err(MakeProblem::NoRoom { len_bytes });
        }
        if !self.types.learn(block.schema()) {
            return Err(MakeProblem::TooManyTypes);
        }
        let ((fixed, parts), count) = (block.split(), block.count() as u64);
        let parts_region = Region::new([0], [parts.len() as u64]).map_err(DeriveError::from)?;
        making.made.insert(index, MadeBlock { count, parts_bytes: parts.len() as u64 });
        Counters::add(&self.counters.derived_bytes, block.as_bytes().len());
        self.room.store_made(len_bytes);
        stored.made_bytes += len_bytes;
        stored.add(StoredBlock { def: def.clone(), index, region, bytes: BlockBytes::Memory(fixed) });
        if let Some(def) = def.parts().map(Arc::new) {
            stored.add(StoredBlock { def, index, region: parts_region, bytes: BlockBytes::Memory(parts) });
        }
        Ok(())
    }
}

impl Wish {
    /// What those who keep to the protocol never ask.
    fn check(&self) -> Result<(), LinkError> {
        let malformed = |what, len: usize| LinkError::Malformed { what, value: len as u64, limit: 0 };
        let rises = self.blocks.is_sorted_by(|one, next| one < next);
        match () {
            () if self.transforms.is_empty() => Err(malformed("list of transforms", 0)),
            () if self.blocks.is_empty() || !rises => Err(malformed("list of blocks", self.blocks.len())),
            () => Ok(()),
        }
    }

    fn all(&self) -> BTreeSet<u32> {
        self.blocks.iter().copied().collect()
    }
}

impl Making {
    /// Those of these blocks that nobody has asked for yet.
    fn missing(&self, blocks: &[u32]) -> BTreeSet<u32> {
        let is_known = |index: &u32| {
            self.made.contains_key(index) || self.under_way.contains(index) || self.failed.contains_key(index)
        };
        blocks.iter().copied().filter(|index| !is_known(index)).collect()
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
        if let Some(what) = blocks.iter().find_map(|index| self.failed.get(index)) {
            let what = what[..what.floor_char_boundary(LIMIT_WORDS_BYTES)].to_owned();
            return Some(TransformOutcome::Failed { what });
        }
        let made: Option<Vec<MadeBlock>> = blocks.iter().map(|index| self.made.get(index).copied()).collect();
        let (variable, keeps_places) = (name.to_owned(), self.keeps_places);
        made.map(|blocks| TransformOutcome::Made { variable, keeps_places, blocks })
    }

    /// The step is gone.
    fn all_gone(&mut self, step: StepId) -> Vec<(u64, DataMessage)> {
        let gone = |Waiting { token, request, .. }| {
            (token, DataMessage::Gone { request, step, reason: GoneReason::Step })
        };
        std::mem::take(&mut self.waiting).into_iter().map(gone).collect()
    }
}

fn tell(
    served: &mut SubscriberLink,
    request: u64,
    step: StepId,
    outcome: TransformOutcome,
) -> Result<(), LinkError> {
    served.tell(DataMessage::Transformed { request, step, outcome })
}

/// Nobody waits any more over these links.
pub(crate) fn part_with(makings: &mut Makings, tokens: &[u64]) {
    makings.values_mut().for_each(|making| making.waiting.retain(|one| !tokens.contains(&one.token)));
}

/// Forgets what was made of a step that is gone; who still waits is told when the task has ended.
pub(crate) fn forget(makings: &mut Makings, gone: StepId) {
    if makings.is_empty() {
        return;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_who_keeps_to_the_protocol_asks_so() {
        let wish = |blocks: &[u32], transforms: &[&str]| Wish {
            token: 1,
            request: 2,
            step: StepId(3),
            variable: "bonds".to_owned(),
            blocks: blocks.to_vec(),
            transforms: transforms.iter().map(|&name| name.to_owned()).collect(),
        };
        assert!(wish(&[0, 3, 4], &["a"]).check().is_ok());
        assert!(wish(&[0], &[]).check().is_err());
        assert!(wish(&[], &["a"]).check().is_err());
        assert!(wish(&[3, 3], &["a"]).check().is_err(), "twice the same");
        assert!(wish(&[3, 2], &["a"]).check().is_err());
    }
}
