//! Derives what was asked of a step at the step's end, on the threads of a pool. The owner says how much time and memory
//! there is for it.
//!
//! The end of the step waits for the pool. A thread of the pool could report the step later instead. But then the next
//! call would tell whether a step ended well, and abandoning would race with computing. Blocks of two steps would be
//! live meanwhile. Waiting keeps errors where they are made. It costs the application the time of computing, which
//! `Statistics::derived_ns` counts, and which `derive_budget` bounds.

use crate::options::functions::Foreign;
use crate::publisher::open_step::OpenStep;
use crate::publisher::open_step::derive::{LIMIT_TEXT_BYTES, Wanted};
use crate::session::derive_failure::{Failure, NotAllowed};
use crate::session::deriver::{DeriveCalls, Outcome};
use crate::value::counters::Counters;
use crate::value::derivation_inputs::{Inputs, Part, must_be_left};
use crate::value::derive_pool::{THREADS, pool};
use crate::value::owned_bytes;
use crate::value::variable::Variable;
use fp_proto::message::MeasurePart;
use fp_transform::{ArrayType, Calls, DeriveError, Memory, Next, Stop};
use fp_types::{Region, Shape, Unmeasured, VariableDef, VariableOrigin};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A derivation that is to be done, and all that it needs.
struct Work {
    wanted: Wanted,
    together: Part,
    begun: Instant,
}

/// What is under way, and what is not begun.
struct Round {
    calls: DeriveCalls,
    memory: Memory,
    stop: Stop,
    /// When nothing more is begun, and what runs is asked to stop; no such time if it is too far off.
    deadline: Option<Instant>,
    waiting: VecDeque<(Wanted, Inputs, Foreign)>,
    running: BTreeMap<usize, Work>,
}

impl OpenStep {
    /// Derives what was asked for, as far as there is time and room. What is not derived is told in the step, to those
    /// who asked for it.
    pub(crate) fn derive(&mut self) {
        let refused = self.deriving.as_mut().map(|deriving| std::mem::take(&mut deriving.refused));
        refused.into_iter().flatten().for_each(|measure| self.note_unmeasured(&measure, &Failure::Refused));
        let asked = self.deriving.as_mut().map(|deriving| std::mem::take(&mut deriving.asked));
        if let Some(asked) = asked.filter(|asked| !asked.is_empty()) {
            let started = Instant::now();
            let mut waiting = Vec::with_capacity(asked.len());
            for wanted in asked.into_values() {
                match self.prepare(&wanted) {
                    Ok(Some((inputs, foreign))) => waiting.push((wanted, inputs, foreign)),
                    Ok(None) => {}
                    Err(failure) => self.give_up(&wanted, &failure),
                }
            }
            waiting.sort_by_cached_key(|(wanted, ..)| self.budget.turn(&wanted.known.variable));
            self.derive_all(waiting.into());
            Counters::add(&self.shared.counters.derived_ns, started.elapsed().as_nanos() as usize);
        } else {
            self.shared.server.room.needed(0);
        }
        // Blocks that were kept for this alone are let go of.
        if let Some(deriving) = &mut self.deriving {
            deriving.inputs.clear();
        }
    }

    /// What a derivation needs, if this rank has anything to derive it from and does not leave it to subscribers.
    fn prepare(&mut self, wanted: &Wanted) -> Result<Option<(Inputs, Foreign)>, Failure> {
        let known = &wanted.known;
        let Some(inputs) = self.inputs_of(known)? else { return Ok(None) };
        let is_region = known.measure.as_ref().is_some_and(|measure| measure.region().is_some());
        if is_region && inputs.together != Part::Placed {
            let variable = known.derivation.inputs().concat();
            return Err(Failure::RegionOfRows { variable });
        }
        let must_be_left = known.measure.is_none() && must_be_left(&known.derivation, inputs.together);
        if must_be_left || (wanted.may_be_left && known.is_better_left(&inputs.arrays, inputs.together)?) {
            self.leave_inputs(wanted)?;
            if must_be_left || !wanted.is_wanted {
                return Ok(None);
            }
        }
        if !self.shared.options.derivations {
            return Err(NotAllowed::Forbidden.into());
        }
        let Some(deriving) = &self.deriving else { return Ok(None) };
        let (deriver, options) = (&self.shared.deriver, &self.shared.options);
        Ok(Some((inputs, deriver.foreign(known, &deriving.offers, options)?)))
    }

    fn derive_all(&mut self, waiting: VecDeque<(Wanted, Inputs, Foreign)>) {
        let (started, before_bytes) = (Instant::now(), self.len_bytes);
        let besides_bytes = self.scratch_bytes() + texts_bytes(&waiting);
        let mut round = self.round(waiting, started);
        loop {
            self.begin_some(&mut round);
            let until = round.deadline.filter(|_| !round.stop.is_asked());
            match round.calls.next(until) {
                Next::Ended { number, result } => {
                    if let Some(work) = round.running.remove(&number) {
                        self.settle(&work, Failure::in_result(result));
                    }
                }
                Next::Late => self.stop(&mut round),
                Next::Nothing => break,
            }
        }
        let needed_bytes = round.memory.wanted_bytes().saturating_add(besides_bytes);
        self.shared.server.room.needed(needed_bytes.saturating_sub(self.len_bytes - before_bytes));
        // To say what is not done is not taken of the account: else it could stay empty for that alone.
        self.budget.take(started.elapsed());
        for (wanted, ..) in round.waiting {
            let failure = self.no_time();
            self.give_up(&wanted, &failure);
        }
        self.shared.counters.derive_peak_bytes.fetch_max(round.memory.peak_bytes(), Ordering::Relaxed);
    }

    fn round(&self, waiting: VecDeque<(Wanted, Inputs, Foreign)>, started: Instant) -> Round {
        let (limit, stop) = (self.shared.options.derive_timeout, Stop::default());
        let spare_bytes =
            self.shared.server.room.spare_bytes().min(self.limit_bytes.saturating_sub(self.len_bytes));
        let spare_bytes = spare_bytes.saturating_sub(self.scratch_bytes() + texts_bytes(&waiting));
        Round {
            calls: Calls::new(pool(), (limit, limit)),
            memory: self.shared.deriver.memory.allowing(spare_bytes, &stop),
            deadline: started.checked_add(self.budget.left().unwrap_or_default()),
            running: BTreeMap::new(),
            waiting,
            stop,
        }
    }

    /// Begins as many as there are threads, while there is time.
    fn begin_some(&mut self, round: &mut Round) {
        let limit = self.shared.options.derive_timeout;
        while round.running.len() < THREADS && round.deadline.is_none_or(|deadline| Instant::now() < deadline)
        {
            let Some((wanted, inputs, foreign)) = round.waiting.pop_front() else { return };
            self.budget.note_begun(&wanted.known.variable);
            let (together, begun) = (inputs.together, Instant::now());
            let given = (foreign, round.memory.clone(), limit);
            match wanted.known.start(&mut round.calls, inputs, given) {
                Ok(number) => _ = round.running.insert(number, Work { wanted, together, begun }),
                Err(failure) => self.give_up(&wanted, &failure),
            }
        }
    }

    /// The time is used up: what runs is to stop before its next block, and what waits for a thread is not begun.
    fn stop(&mut self, round: &mut Round) {
        round.stop.ask();
        for number in round.calls.withdraw() {
            if let Some(Work { wanted, .. }) = round.running.remove(&number) {
                self.budget.note_withdrawn(&wanted.known.variable);
                let failure = self.no_time();
                self.give_up(&wanted, &failure);
            }
        }
    }

    /// Puts what was derived, or tells why there is nothing.
    fn settle(&mut self, work: &Work, result: Result<Outcome, Failure>) {
        let Work { wanted, together, begun } = work;
        self.budget.note_cost(&wanted.known.variable, begun.elapsed());
        let put = result.and_then(|outcome| self.put_outcome(&wanted.known.variable, *together, outcome));
        match put {
            Ok(()) => {
                let counters = &self.shared.counters;
                Counters::add(&counters.derivations, 1);
                Counters::add(&counters.shared_derivations, wanted.count.saturating_sub(1) as usize);
            }
            Err(Failure::Derive(DeriveError::Stopped)) => {
                let (granted, budget) = (self.budget.granted(), self.shared.options.derive_budget);
                self.give_up(wanted, &NotAllowed::Stopped { granted, budget }.into());
            }
            Err(failure) => self.give_up(wanted, &failure),
        }
    }

    fn put_outcome(&mut self, name: &str, together: Part, outcome: Outcome) -> Result<(), Failure> {
        let (of, order, blocks) = match outcome {
            Outcome::Packed(bytes) => return self.put_bytes((name, VariableOrigin::Derived), bytes),
            Outcome::Measured(part) => {
                self.parts.push(MeasurePart { measure: name.to_owned(), part, unmeasured: None });
                return Ok(());
            }
            Outcome::Blocks { of, order, blocks } => (of, order, blocks),
        };
        let variable = result(name, of, together).with_order(order);
        for block in blocks {
            let region = match together {
                // Where rows lie among those of all ranks is the order in which they are put.
                Part::Rows { .. } => {
                    Region::new(block.region().start().zeros_like(), *block.region().count())
                }
                Part::Placed | Part::Value => Ok(*block.region()),
            };
            let region = region.map_err(DeriveError::from)?;
            self.put_derived(&variable, &region, owned_bytes::of_given(block.payload()))?;
        }
        Ok(())
    }

    /// Why nothing more is begun.
    pub(crate) fn no_time(&self) -> Failure {
        let (granted, begun, options) = (self.budget.granted(), self.budget.begun(), &self.shared.options);
        let (budget, share_percent) = (options.derive_budget, options.derive_share_percent);
        NotAllowed::NoTime { granted, begun, budget, share_percent }.into()
    }

    /// Tells why there is nothing. Who may derive it all the same gets the inputs, if this rank has too little of
    /// something.
    fn give_up(&mut self, wanted: &Wanted, failure: &Failure) {
        if failure.is_shortage()
            && wanted.may_be_left
            && let Err(error) = self.leave_inputs(wanted)
        {
            tracing::warn!(%error, "nor could it be left to subscribers");
        }
        if failure.is_out_of_time() {
            self.budget.note_missed(&wanted.known.variable);
        }
        if wanted.known.measure.is_some() {
            self.note_unmeasured(&wanted.known.variable, failure);
        } else if failure.is_out_of_time() {
            self.tell_cut(&wanted.known.failed, failure);
        } else {
            self.tell_failure(&wanted.known, failure);
        }
    }

    /// Something is not measured: who judges by it is told why.
    fn note_unmeasured(&mut self, measure: &str, failure: &Failure) {
        let reason = failure.to_string();
        let (counters, step) = (&self.shared.counters, self.step);
        match failure.is_out_of_time() {
            true => tracing::debug!(measure, %step, reason, "not measured"),
            false => tracing::warn!(measure, %step, reason, "not measured"),
        }
        Counters::add(
            if failure.is_out_of_time() { &counters.cut_derivations } else { &counters.failed_derivations },
            1,
        );
        let unmeasured = Some(Unmeasured::new(self.rank(), reason));
        self.parts.push(MeasurePart { measure: measure.to_owned(), part: Vec::new(), unmeasured });
    }

    /// Leaves the inputs to those who derive from them themselves.
    fn leave_inputs(&mut self, wanted: &Wanted) -> Result<(), Failure> {
        wanted.known.derivation.inputs().iter().try_for_each(|name| self.leave(name))?;
        Counters::add(&self.shared.counters.left_derivations, 1);
        Ok(())
    }

    /// Tells what there was no time for.
    pub(crate) fn tell_cut(&mut self, failed: &str, failure: &Failure) {
        let text = failure.to_string();
        tracing::debug!(step = %self.step, text, "not computed");
        Counters::add(&self.shared.counters.cut_derivations, 1);
        self.tell(failed, &text);
    }
}

/// There is always room to say why something is not there.
fn texts_bytes(waiting: &VecDeque<(Wanted, Inputs, Foreign)>) -> u64 {
    (waiting.len() * LIMIT_TEXT_BYTES) as u64
}

/// What is derived as a variable of the step: rows of each rank give rows of each rank, which are joined.
fn result(name: &str, of: ArrayType, together: Part) -> Variable {
    let (ndims, mut dims) = (of.shape.ndims(), *of.shape.dims());
    let def = match together {
        Part::Rows { dim } => {
            dims[dim] = 0;
            VariableDef::joined_array(name, of.dtype, ndims, u8::try_from(dim).unwrap_or_default())
        }
        Part::Placed | Part::Value => VariableDef::global_array(name, of.dtype, ndims),
    };
    // Never larger than the shape that it was made of.
    let shape = Shape::new(dims).unwrap_or(of.shape);
    Variable { shape, ..Variable::shapeless(def.with_origin(VariableOrigin::Derived)) }
}
