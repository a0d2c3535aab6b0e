//! Deriving on a publisher rank: on the threads of a small pool, which contain what goes wrong.

use crate::options::functions::{Caller, Foreign};
use crate::options::publisher::PublisherOptions;
use crate::options::transformed_variable::TransformedVariable;
use crate::session::deployer::{Deployer, Offers};
use crate::session::derive_budget::Budget;
use crate::session::derive_failure::Failure;
use crate::value::counters::Counters;
use crate::value::derivation_inputs::{Inputs, Part, are_rows_better_left};
use crate::value::derived_names::{derived_name, failed_name, is_better_left, is_packed};
use crate::value::packed::pack;
use fp_proto::request::Request;
use fp_transform::{
    Array, ArrayType, Block, Calls, Derivation, DerivationPlan, DeriveError, FieldArray, Memory, Operation,
    Overruns, measure_field, measure_planned, measuring,
};
use fp_types::{Measure, MemoryOrder, Region};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Derivations that are remembered between steps.
const LIMIT_KNOWN: usize = 4096;

/// Results whose memory is kept for those to come.
const LIMIT_KEPT_ROOMS: usize = 64;

/// Bytes that are measured on the application's own thread. That takes some microseconds, and to wake another thread takes
/// more.
const BRIEF_BYTES: usize = 16 << 10;

/// Blocks that these bytes lie in, at most.
const BRIEF_BLOCKS: usize = 64;

/// What a rank derived.
pub(crate) enum Outcome {
    /// Blocks of one array.
    Blocks { of: ArrayType, order: MemoryOrder, blocks: Vec<Block> },
    /// The rank's part, to be put together with those of others.
    Packed(Vec<u8>),
    /// The rank's part of what a condition has measured.
    Measured(Vec<u8>),
}

/// A derivation that some subscription asks for, or a measure of its condition.
pub(crate) struct Known {
    pub(crate) derivation: Derivation,
    /// What is measured by it, if it is no variable of the step.
    pub(crate) measure: Option<Measure>,
    /// What the result is called in steps, or the name of the measure.
    pub(crate) variable: String,
    /// The name of the text that says why there is none.
    pub(crate) failed: String,
    plan: Mutex<Option<(Vec<ArrayType>, DerivationPlan)>>,
    overruns: Arc<Overruns>,
}

impl Known {
    fn read(bytes: &[u8]) -> Option<Self> {
        let derivation = match Derivation::from_bytes(bytes) {
            Ok(derivation) => derivation,
            Err(error) => {
                // Its subscriber finds nothing in the step, and says so.
                tracing::warn!(%error, "a subscription asks for a derivation that cannot be read");
                return None;
            }
        };
        let id = derivation.id();
        let (variable, failed) = (derived_name(id), failed_name(id));
        let (plan, overruns) = (Mutex::new(None), Arc::default());
        Some(Self { derivation, measure: None, variable, failed, plan, overruns })
    }

    /// What measures by that name.
    fn measuring(name: &str) -> Option<Self> {
        let measure: Measure = name.parse().ok()?;
        let derivation = measuring(&measure, false).ok()?;
        let (variable, failed) = (name.to_owned(), String::new());
        let (plan, overruns) = (Mutex::new(None), Arc::default());
        Some(Self { derivation, measure: Some(measure), variable, failed, plan, overruns })
    }

    /// The plan for these types, which seldom change.
    fn plan(&self, types: &[ArrayType]) -> Result<DerivationPlan, DeriveError> {
        let mut known = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = known.as_ref().filter(|(of, _)| of == types) {
            return Ok(plan.clone());
        }
        let plan = self.derivation.plan(types)?;
        *known = Some((types.to_vec(), plan.clone()));
        Ok(plan)
    }

    /// Whether less travels if the inputs do.
    pub(crate) fn is_better_left(&self, inputs: &[Array], together: Part) -> Result<bool, DeriveError> {
        if let Part::Rows { .. } = together {
            let inputs: Vec<_> = inputs.iter().map(|of| (of.dtype(), of.shape().ndims())).collect();
            return are_rows_better_left(&self.derivation, &inputs);
        }
        let types: Vec<ArrayType> = inputs.iter().map(Array::array_type).collect();
        Ok(is_better_left(&self.plan(&types)?))
    }

    /// In which order the results of all ranks lie.
    fn order(&self, of_input: MemoryOrder) -> MemoryOrder {
        let reordered = |operation: &Operation| {
            if let Operation::Reorder(order) = operation { Some(*order) } else { None }
        };
        self.derivation.operations().iter().rev().find_map(reordered).unwrap_or(of_input)
    }

    fn compute(
        &self,
        Inputs { arrays: inputs, field, order: of_input, together }: &Inputs,
        (foreign, memory): (Foreign, &Memory),
    ) -> Result<Outcome, DeriveError> {
        if let Some(measure) = &self.measure {
            return self.measure(measure, (inputs, field.as_ref(), *together), (foreign, memory));
        }
        let types: Vec<ArrayType> = inputs.iter().map(Array::array_type).collect();
        let plan = foreign.attach(self.plan(&types)?.with_memory(memory))?;
        let derived = plan.apply(inputs)?;
        if is_packed(&self.derivation) {
            return pack(&derived, self.derivation.compression(), memory).map(Outcome::Packed);
        }
        let [array] = &derived.arrays[..] else {
            return Err(DeriveError::InputCount { count: derived.arrays.len() });
        };
        let (of, order) = (array.array_type(), self.order(*of_input));
        if of.dtype.size_bytes().is_none() {
            return Err(DeriveError::NotNumbers { dtype: of.dtype });
        }
        let in_order = |block: &Block| block.in_order_within(order, memory);
        let mut blocks = array.blocks().iter().map(in_order).collect::<Result<Vec<_>, _>>()?;
        if blocks.is_empty() && of.shape.is_empty() {
            // Where no rank has any row there is an array without elements all the same.
            blocks.push(Block::new(Region::whole(&of.shape), of.dtype, order, [])?);
        }
        Ok(Outcome::Blocks { of, order, blocks })
    }

    /// The rank's part of a measure: of a field of records, or else of an array.
    fn measure(
        &self,
        measure: &Measure,
        (inputs, field, together): (&[Array], Option<&FieldArray>, Part),
        (foreign, memory): (Foreign, &Memory),
    ) -> Result<Outcome, DeriveError> {
        let is_placed = together == Part::Placed;
        let of = field.map(FieldArray::array_type).or_else(|| inputs.first().map(Array::array_type));
        let of = of.ok_or(DeriveError::InputCount { count: 0 })?;
        let plan = foreign.attach(measuring(measure, is_placed)?.plan(&[of])?.with_memory(memory))?;
        let part = match (field, inputs) {
            (Some(field), _) => measure_field(&plan, field, is_placed, memory),
            (None, [input]) => measure_planned(&plan, input, is_placed),
            (None, inputs) => Err(DeriveError::InputCount { count: inputs.len() }),
        };
        part.map(Outcome::Measured)
    }

    /// Has a thread derive from what a rank has, within that time; twice at most it may take longer. What is brief is done
    /// at once. Gives the number of the call.
    pub(crate) fn start(
        self: &Arc<Self>,
        calls: &mut DeriveCalls,
        inputs: Inputs,
        (foreign, memory, limit): (Foreign, Memory, Duration),
    ) -> Result<usize, Failure> {
        let (known, is_brief) = (self.clone(), self.is_brief(&inputs, &foreign));
        let work = move || {
            let begun = Instant::now();
            let done = known.compute(&inputs, (foreign, &memory));
            // Counted before another call may begin; a call that was given up is counted by the pool.
            let overran = matches!(done, Err(DeriveError::Module { overran: true, .. }));
            if overran && begun.elapsed() < limit {
                known.overruns.add();
            }
            done
        };
        if is_brief {
            return Ok(calls.do_here(work));
        }
        calls.start(&self.overruns, work).map_err(Failure::of_pool)
    }

    /// Whether it is a measure of few bytes, which runs nobody else's code.
    fn is_brief(&self, inputs: &Inputs, foreign: &Foreign) -> bool {
        if self.measure.is_none() || inputs.field.is_some() || self.is_suspect() || !foreign.is_empty() {
            return false;
        }
        let blocks = || inputs.arrays.iter().flat_map(Array::blocks);
        let len_bytes: usize = blocks().map(|block| block.bytes().len()).sum();
        len_bytes <= BRIEF_BYTES && blocks().count() <= BRIEF_BLOCKS
    }

    /// Whether it ran too long before, or may be doing so.
    fn is_suspect(&self) -> bool {
        self.overruns.count() > 0 || Arc::strong_count(&self.overruns) > 1
    }
}

/// Derivations that are under way together.
pub(crate) type DeriveCalls = Calls<Result<Outcome, DeriveError>>;

/// The derivations that were asked for on one rank.
pub(crate) struct Deriver {
    pub(crate) deployer: Deployer,
    pub(crate) budget: Arc<Budget>,
    /// What results leave, for all derivations.
    pub(crate) memory: Memory,
    known: Mutex<HashMap<Vec<u8>, Option<Arc<Known>>>>,
    measures: Mutex<HashMap<Arc<str>, Option<Arc<Known>>>>,
    sides: Mutex<Sides>,
    /// Whether the newest step was asked for anything.
    is_asked: AtomicBool,
}

/// The transforms that are asked for by name, and whether this side did them in the newest step.
type Sides = BTreeMap<String, bool>;

impl Deriver {
    pub(crate) fn new(options: &PublisherOptions) -> Self {
        Self {
            deployer: Deployer::new(options),
            budget: Budget::new(options),
            memory: Memory::keeping(LIMIT_KEPT_ROOMS, 0),
            known: Mutex::default(),
            measures: Mutex::default(),
            sides: Mutex::default(),
            is_asked: AtomicBool::new(false),
        }
    }

    /// Whether a step is to be looked at that is asked for something, or not any more.
    pub(crate) fn note_asked(&self, is_asked: bool) -> bool {
        self.is_asked.swap(is_asked, Ordering::Relaxed) || is_asked
    }

    /// Counts what of a step is sent through transforms, what is left to subscribers, and what has moved since the step
    /// before. Where some ask for the one and some for the other, this side does it.
    pub(crate) fn count_sides(&self, requests: &[(Arc<Request>, u32)], counters: &Counters) {
        let mut now = Sides::new();
        for asked in requests.iter().filter_map(|(request, _)| TransformedVariable::read(request)) {
            *now.entry(asked.result.clone()).or_default() |= !asked.is_here();
        }
        let mut sides = self.sides.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = now.iter().filter(|(name, here)| sides.get(*name).is_some_and(|before| before != *here));
        Counters::add(&counters.moves, moved.count());
        let made_here = now.values().filter(|here| **here).count();
        Counters::add(&counters.left_transforms, now.len() - made_here);
        counters.made_here.store(made_here as u64, Ordering::Relaxed);
        *sides = now;
    }

    /// What a derivation needs of the modules that go with them, if they may run here, and of what is registered here.
    pub(crate) fn foreign(
        &self,
        known: &Known,
        offers: &Offers,
        options: &PublisherOptions,
    ) -> Result<Foreign, Failure> {
        let admitted = |call| self.deployer.admitted(call, offers);
        let code = known.derivation.modules().map(admitted).collect::<Result<_, _>>()?;
        let functions = Caller::publisher(options).functions(&known.derivation)?;
        Ok(Foreign { modules: self.deployer.modules(), code, functions })
    }

    /// What is measured by that name. What is measured no more is forgotten with the others.
    pub(crate) fn measure(&self, name: &Arc<str>) -> Option<Arc<Known>> {
        let mut measures = self.measures.lock().unwrap_or_else(PoisonError::into_inner);
        if measures.len() >= LIMIT_KNOWN && !measures.contains_key(name) && !forget(&mut measures) {
            return None;
        }
        let known =
            measures.entry(name.clone()).or_insert_with_key(|name| Known::measuring(name).map(Arc::new));
        known.clone()
    }

    /// The derivation that is asked for, if it is one and can be read, and whether it may be left to the subscriber.
    pub(crate) fn known(&self, request: &Request) -> Option<(Arc<Known>, bool)> {
        let Request::Derivation { derivation, may_be_left } = request else { return None };
        let bytes = derivation.clone();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= LIMIT_KNOWN && !known.contains_key(&bytes) && !forget(&mut known) {
            tracing::warn!("{LIMIT_KNOWN} derivations ran for too long: no others are done any more");
            return None;
        }
        known
            .entry(bytes)
            .or_insert_with_key(|bytes| Known::read(bytes).map(Arc::new))
            .clone()
            .map(|known| (known, *may_be_left))
    }
}

/// Makes room, but keeps what ran too long: it is refused, or will be. Says whether there is room now.
fn forget<K>(known: &mut HashMap<K, Option<Arc<Known>>>) -> bool {
    known.retain(|_, known| known.as_ref().is_some_and(|known| known.is_suspect()));
    known.len() < LIMIT_KNOWN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::derive_pool::pool;
    use fp_transform::{MAX_OVERRUNS, Next, PoolError};
    use fp_types::{Dtype, Shape};

    fn asked(derivation: &[u8], may_be_left: bool) -> Request {
        Request::Derivation { derivation: derivation.to_vec(), may_be_left }
    }

    fn known(deriver: &Deriver, text: &str) -> Option<Arc<Known>> {
        let encoded = text.parse::<Derivation>().expect("a derivation").to_bytes();
        deriver.known(&asked(&encoded, false)).map(|(known, _)| known)
    }

    #[test]
    fn what_ran_too_long_is_not_forgotten_with_the_others() {
        let deriver = Deriver::new(&PublisherOptions::default());
        let (slow, running, other) =
            (known(&deriver, "T | min"), known(&deriver, "T | max"), known(&deriver, "T | sum"));
        let (slow, running, other) = (slow.expect("known"), running.expect("known"), other.expect("known"));
        slow.overruns.add();
        let call = Arc::clone(&running.overruns);
        (0..LIMIT_KNOWN).for_each(|at| drop(known(&deriver, &format!("T | points(> {at})"))));
        let same =
            |text: &str, of: &Arc<Known>| known(&deriver, text).is_some_and(|known| Arc::ptr_eq(&known, of));
        assert!(same("T | min", &slow) && same("T | max", &running) && !same("T | sum", &other));
        drop(call);
        (0..LIMIT_KNOWN).for_each(|at| drop(known(&deriver, &format!("T | points(< {at})"))));
        assert!(same("T | min", &slow) && !same("T | max", &running));
    }

    #[test]
    fn when_all_that_is_known_ran_too_long_nothing_new_is_done() {
        let deriver = Deriver::new(&PublisherOptions::default());
        for at in 0..LIMIT_KNOWN {
            known(&deriver, &format!("T | points(> {at})")).expect("known").overruns.add();
        }
        assert!(known(&deriver, "T | min").is_none() && known(&deriver, "T | points(> 0)").is_some());
    }

    #[test]
    fn a_derivation_costs_two_threads_however_many_ask_for_it_at_once() {
        let deriver = Deriver::new(&PublisherOptions::default());
        let known = known(&deriver, "T | pco").expect("known");
        let limit = Duration::from_millis(20);
        let bytes: Vec<u8> = (0..4u64 << 20).flat_map(|at| ((at * at) as f64).sin().to_ne_bytes()).collect();
        let shape = Shape::new([4 << 20]).expect("a shape");
        let array = Array::whole(Dtype::F64, shape, MemoryOrder::RowMajor, bytes).expect("an array");
        let call = || {
            let (order, together) = (MemoryOrder::RowMajor, Part::Placed);
            let inputs = Inputs { arrays: vec![array.clone()], field: None, order, together };
            let foreign = deriver.foreign(&known, &Offers::default(), &PublisherOptions::default());
            let given = (foreign.expect("nothing is needed"), Memory::default(), limit);
            let mut calls = Calls::new(pool(), (limit, limit));
            if let Err(failure) = known.start(&mut calls, inputs, given) {
                return Some(failure);
            }
            let Next::Ended { result, .. } = calls.next(None) else { panic!("one is under way") };
            Failure::in_result(result).err()
        };
        let (mut overruns, mut refused, turns) = (0, 0, 200);
        for _ in 0..turns {
            // One overruns first: both threads are free when the others come.
            let callers = if overruns == 0 { 1 } else { 6 };
            let failures: Vec<_> = std::thread::scope(|scope| {
                let calls: Vec<_> = (0..callers).map(|_| scope.spawn(call)).collect();
                calls.into_iter().map(|call| call.join().expect("no panic")).collect()
            });
            for failure in failures.into_iter().flatten() {
                if matches!(failure, Failure::Pool(PoolError::Overrun { .. })) {
                    overruns += 1;
                } else if matches!(failure, Failure::Refused) {
                    refused += 1;
                } else {
                    assert!(matches!(failure, Failure::Pool(PoolError::Busy { .. })), "{failure}");
                }
            }
            if refused > 0 {
                break;
            }
        }
        assert!(refused > 0 && overruns == MAX_OVERRUNS, "{overruns} threads, {refused} refused");
    }

    #[test]
    fn bytes_that_ask_for_nothing_are_passed_over_and_equal_ones_are_one() {
        let deriver = Deriver::new(&PublisherOptions::default());
        let encoded = "vx, vy | magnitude".parse::<Derivation>().expect("a derivation").to_bytes();
        let (always, may_be_left) = deriver.known(&asked(&encoded, false)).expect("known");
        let (same, may) = deriver.known(&asked(&encoded, true)).expect("known");
        assert!(Arc::ptr_eq(&always, &same) && !may_be_left && may);
        for len in 0..encoded.len() {
            assert!(deriver.known(&asked(&encoded[..len], false)).is_none(), "cut to {len}");
        }
        assert!(deriver.known(&asked(&[255, 255, 255], false)).is_none());
        assert!(deriver.known(&Request::Module { code: encoded, user: None }).is_none());
    }
}
