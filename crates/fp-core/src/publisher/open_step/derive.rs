//! What is derived of a step for subscriptions: at the step's end, from blocks that are remembered as they are put.
//!
//! The end of the step waits for the pool. A thread of the pool could report the step later instead. But then the next
//! call would tell whether a step ended well, and abandoning would race with computing. Blocks of two steps would be
//! live meanwhile. Waiting keeps errors where they are made. It costs the application the time of computing, which
//! `Statistics::derived_ns` counts.

use crate::data::owner::block::StoredBlock;
use crate::error::PutError;
use crate::publisher::open_step::OpenStep;
use crate::session::deployer::Offers;
use crate::session::derive_failure::Failure;
use crate::session::deriver::{Known, Outcome};
use crate::session::publisher::PublisherSession;
use crate::value::counters::Counters;
use crate::value::derivation_inputs::{Part, must_be_left};
use crate::value::owned_bytes;
use crate::value::variable::Variable;
use fp_proto::request::Request;
use fp_transform::ArrayType;
use fp_transport::{Arena, Payload};
use fp_types::{Dtype, Region, Shape, VariableDef, VariableOrigin};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// The longest text about a failure.
const LIMIT_TEXT_BYTES: usize = 1024;

/// A derivation, and who asks for it.
struct Wanted {
    known: Arc<Known>,
    /// How many subscriptions.
    count: u32,
    /// Whether some would take its inputs instead, where these have fewer bytes.
    may_be_left: bool,
    /// Whether some want the result all the same. Each reads as it asked, whatever others ask for. Ranks learn of these
    /// in different steps, and must not differ in what they leave to whom.
    is_wanted: bool,
}

/// A block from which something is derived.
struct Input {
    /// Which of the variable's blocks.
    index: u32,
    region: Region,
    payload: Payload,
    /// Whether it is kept for those who read the variable itself: these may change while the step is open.
    is_kept: bool,
}

/// What is derived of one step, and from what.
pub(crate) struct StepDerivations {
    asked: BTreeMap<String, Wanted>,
    /// Modules that came with what is asked for.
    offers: Offers,
    inputs: BTreeMap<String, Vec<Input>>,
    /// Inputs that go to subscribers after all.
    left: BTreeSet<String>,
    /// Memory for blocks that nobody reads themselves: let go of when all is derived.
    scratch: Option<Arena>,
}

impl StepDerivations {
    pub(crate) fn new(shared: &PublisherSession, requests: &[(Arc<Request>, u32)]) -> Self {
        shared.deriver.count_sides(requests, &shared.counters);
        let offers = shared.deriver.deployer.offers(requests);
        let mut asked: BTreeMap<String, Wanted> = BTreeMap::new();
        for (request, more) in requests {
            let Some((known, leave)) = shared.deriver.known(request) else { continue };
            let new = || Wanted { known: known.clone(), count: 0, may_be_left: false, is_wanted: false };
            let wanted = asked.entry(known.variable.clone()).or_insert_with(new);
            wanted.count += more;
            wanted.may_be_left |= leave;
            wanted.is_wanted |= !leave;
        }
        let names = asked.values().flat_map(|wanted| wanted.known.derivation.inputs().iter().cloned());
        let inputs = names.map(|name| (name, Vec::new())).collect();
        let scratch = (!asked.is_empty()).then(|| shared.server.pool.arena());
        Self { asked, offers, inputs, left: BTreeSet::new(), scratch }
    }

    fn takes(&self, variable: &str) -> bool {
        self.inputs.contains_key(variable)
    }

    /// The blocks of a variable that were put so far, with their elements.
    pub(crate) fn blocks_of(&self, variable: &str) -> impl Iterator<Item = (Region, Payload)> {
        let blocks = self.inputs.get(variable).into_iter().flatten();
        blocks.map(|input| (input.region, input.payload.clone()))
    }
}

impl OpenStep {
    /// Whether the variable's blocks are kept, or something is derived from them at the step's end.
    pub(crate) fn keeps(&self, variable: &str) -> bool {
        self.kept && (self.deriving.takes(variable) || self.serves(variable))
    }

    /// Whether somebody reads the variable itself.
    pub(crate) fn serves(&self, variable: &str) -> bool {
        self.shared.endpoint.inspect(|state| state.machine.keeps(self.step, variable))
    }

    /// Where the blocks of a variable are lent from.
    pub(crate) fn arena_of(&self, variable: &str) -> &Arena {
        match &self.deriving.scratch {
            Some(scratch) if self.deriving.takes(variable) && !self.serves(variable) => scratch,
            _ => &self.arena,
        }
    }

    /// Remembers a block from which something is derived; gives it back if somebody reads it as well.
    pub(crate) fn remember(
        &mut self,
        variable: &Variable,
        region: &Region,
        payload: Payload,
    ) -> Option<Payload> {
        let serves = !self.deriving.takes(variable.name()) || self.serves(variable.name());
        if let Some(blocks) = self.deriving.inputs.get_mut(variable.name()) {
            let index = self.puts.get(variable.name()).map_or(0, |put| put.blocks.len());
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            blocks.push(Input { index, region: *region, payload: payload.clone(), is_kept: serves });
        }
        serves.then_some(payload)
    }

    /// Derives all that was asked for. What fails is told in the step, to those who asked for it.
    pub(crate) fn derive(&mut self) {
        let asked = std::mem::take(&mut self.deriving.asked);
        for wanted in asked.values() {
            let Wanted { known, count, .. } = wanted;
            let started = Instant::now();
            let done = self.derive_one(wanted);
            let counters = &self.shared.counters;
            Counters::add(&counters.derived_ns, started.elapsed().as_nanos() as usize);
            match done {
                Ok(false) => {}
                Ok(true) => {
                    Counters::add(&counters.derivations, 1);
                    Counters::add(&counters.shared_derivations, count.saturating_sub(1) as usize);
                }
                Err(failure) => self.tell_failure(known, &failure),
            }
        }
        self.deriving.inputs.clear();
    }

    /// Whether this rank had anything to derive it from.
    fn derive_one(&mut self, wanted: &Wanted) -> Result<bool, Failure> {
        let known = &wanted.known;
        let Some(inputs) = self.inputs_of(known)? else { return Ok(false) };
        let must_be_left = must_be_left(&known.derivation, inputs.together);
        if must_be_left || (wanted.may_be_left && known.is_better_left(&inputs.arrays, inputs.together)?) {
            known.derivation.inputs().iter().try_for_each(|name| self.leave(name))?;
            Counters::add(&self.shared.counters.left_derivations, 1);
            if must_be_left || !wanted.is_wanted {
                return Ok(false);
            }
        }
        let limit = self.shared.options.derive_timeout;
        let (deriver, options) = (&self.shared.deriver, &self.shared.options);
        let foreign = deriver.foreign(known, &self.deriving.offers, options)?;
        match known.derive((inputs.arrays, inputs.order), foreign, limit)? {
            Outcome::Packed(bytes) => self.put_bytes((&known.variable, VariableOrigin::Derived), bytes)?,
            Outcome::Blocks { of, order, blocks } => {
                let variable = result(&known.variable, of, inputs.together).with_order(order);
                for block in blocks {
                    let region = match inputs.together {
                        // Where rows lie among those of all ranks is the order in which they are put.
                        Part::Rows { .. } => {
                            Region::new(block.region().start().zeros_like(), *block.region().count())
                        }
                        Part::Placed | Part::Value => Ok(*block.region()),
                    };
                    let region = region.map_err(fp_transform::DeriveError::from)?;
                    self.put_derived(&variable, &region, owned_bytes::of_given(block.payload()))?;
                }
            }
        }
        Ok(true)
    }

    /// Stores an input for those who derive from it themselves.
    pub(crate) fn leave(&mut self, name: &str) -> Result<(), Failure> {
        if !self.deriving.left.insert(name.to_owned()) {
            return Ok(());
        }
        let (Some(put), Some(blocks)) = (self.puts.get(name), self.deriving.inputs.get(name)) else {
            return Ok(());
        };
        let unkept = || blocks.iter().filter(|input| !input.is_kept);
        let len_bytes = unkept().map(|input| input.payload.len()).sum::<usize>();
        self.check_bound(len_bytes as u64).map_err(Box::new)?;
        for Input { index, region, payload, .. } in unkept() {
            let (def, payload) = (put.def.clone(), payload.clone());
            let block = StoredBlock { def, index: *index, region: *region, payload };
            self.shared.server.store(self.step, block);
        }
        self.len_bytes += len_bytes as u64;
        Counters::add(&self.shared.counters.payload_bytes, len_bytes);
        Ok(())
    }

    pub(crate) fn put_bytes(
        &mut self,
        (name, origin): (&str, VariableOrigin),
        bytes: Vec<u8>,
    ) -> Result<(), Failure> {
        let region = Region::new([0], [bytes.len() as u64]).map_err(fp_transform::DeriveError::from)?;
        let variable = Variable::shapeless(VariableDef::local_array(name, Dtype::U8, 1).with_origin(origin));
        self.put_derived(&variable, &region, Payload::from_owner(bytes))
    }

    pub(crate) fn put_derived(
        &mut self,
        variable: &Variable,
        region: &Region,
        payload: Payload,
    ) -> Result<(), Failure> {
        Counters::add(&self.shared.counters.derived_bytes, payload.len());
        let put = self.note_payload(variable, region, Some(payload));
        put.map_err(|error: PutError| Failure::Put(Box::new(error)))
    }

    pub(crate) fn tell_failure(&mut self, known: &Known, failure: &Failure) {
        let text: String = failure.to_string();
        tracing::warn!(derivation = %known.derivation, step = %self.step, text, "not derived");
        Counters::add(&self.shared.counters.failed_derivations, 1);
        self.tell(&known.failed, &text);
    }

    /// Puts a text that says why something is not there.
    pub(crate) fn tell(&mut self, failed: &str, text: &str) {
        let len = text.floor_char_boundary(LIMIT_TEXT_BYTES);
        let told = self.put_bytes((failed, VariableOrigin::Failed), text.as_bytes()[..len].to_vec());
        if let Err(error) = told {
            // Without room for a text its reader finds nothing, or less than all ranks have.
            tracing::warn!(%error, "nor is there room to say so");
        }
    }
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
