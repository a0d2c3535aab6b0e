//! What is asked to be derived of a step, and from which blocks: these are remembered as they are put. What may not be
//! derived is told, and its inputs are left to those who can derive it themselves.

use crate::data::owner::block::{BlockBytes, StoredBlock};
use crate::error::PutError;
use crate::publisher::open_step::OpenStep;
use crate::session::deployer::Offers;
use crate::session::derive_failure::Failure;
use crate::session::deriver::Known;
use crate::session::publisher::PublisherSession;
use crate::value::counters::Counters;
use crate::value::variable::Variable;
use fp_proto::request::Request;
use fp_transport::{Arena, Payload};
use fp_types::{Dtype, Region, VariableDef, VariableOrigin};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// At most this part of what live steps may have is kept of the memory of results that are gone.
const KEPT_PARTS: u64 = 4;

/// The longest text about a failure.
pub(crate) const LIMIT_TEXT_BYTES: usize = 1024;

/// A derivation, and who asks for it.
pub(crate) struct Wanted {
    pub(crate) known: Arc<Known>,
    /// How many subscriptions.
    pub(crate) count: u32,
    /// Whether some would take its inputs instead, where these have fewer bytes, or where this rank may not derive it.
    pub(crate) may_be_left: bool,
    /// Whether some want the result all the same. Each reads as it asked, whatever others ask for. Ranks learn of these
    /// in different steps, and must not differ in what they leave to whom.
    pub(crate) is_wanted: bool,
}

/// A block from which something is derived.
pub(crate) struct Input {
    /// Which of the variable's blocks.
    index: u32,
    region: Region,
    payload: Payload,
    /// Whether it is kept for those who read the variable itself: these may change while the step is open.
    is_kept: bool,
}

/// What is derived of one step, and from what.
pub(crate) struct StepDerivations {
    pub(crate) asked: BTreeMap<String, Wanted>,
    /// What is not measured, as too much of what is asked for ran too long.
    pub(crate) refused: Vec<Arc<str>>,
    /// Modules that came with what is asked for.
    pub(crate) offers: Offers,
    pub(crate) inputs: BTreeMap<String, Vec<Input>>,
    /// Records of which some field may be measured, and nothing else is made: of those that are put, blocks join the inputs.
    records: BTreeSet<String>,
    /// Inputs that go to subscribers after all.
    left: BTreeSet<String>,
    /// Memory for blocks that nobody reads themselves: let go of when all is derived.
    scratch: Option<Arena>,
}

impl StepDerivations {
    /// `None` where nothing was asked for, neither in this step nor in the one before.
    pub(crate) fn new(
        shared: &PublisherSession,
        requests: &[(Arc<Request>, u32)],
        measures: &[Arc<str>],
    ) -> Option<Box<Self>> {
        if !shared.deriver.note_asked(!requests.is_empty() || !measures.is_empty()) {
            return None;
        }
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
        let mut refused = Vec::new();
        for name in measures {
            let Some(known) = shared.deriver.measure(name) else {
                refused.push(name.clone());
                continue;
            };
            let variable = known.variable.clone();
            let wanted = Wanted { known, count: 1, may_be_left: false, is_wanted: true };
            asked.insert(variable, wanted);
        }
        let names = asked.values().flat_map(|wanted| wanted.known.derivation.inputs().iter().cloned());
        let inputs: BTreeMap<_, _> = names.map(|name| (name, Vec::new())).collect();
        let measures = asked.values().filter_map(|wanted| wanted.known.measure.as_ref());
        let records =
            measures.flat_map(|measure| measure.may_be_field().map(|(records, _)| records.to_owned()));
        let records = records.filter(|records| !inputs.contains_key(records)).collect();
        if !asked.is_empty() {
            let room = &shared.server.room;
            shared
                .deriver
                .memory
                .keep_at_most(room.idle_bytes().min(shared.options.limit_bytes / KEPT_PARTS));
        }
        let scratch = (!asked.is_empty()).then(|| shared.server.pool.arena());
        Some(Box::new(Self { asked, refused, offers, inputs, records, left: BTreeSet::new(), scratch }))
    }

    /// What the results of all are called.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.asked.keys().map(String::as_str)
    }

    pub(crate) fn takes(&self, variable: &str) -> bool {
        self.inputs.contains_key(variable) || self.records.contains(variable)
    }

    /// Where blocks of a variable are remembered, if something is made of them.
    fn blocks_to(&mut self, variable: &Variable) -> Option<&mut Vec<Input>> {
        let name = variable.name();
        if variable.records().is_some() && self.records.contains(name) {
            return Some(self.inputs.entry(name.to_owned()).or_default());
        }
        self.inputs.get_mut(name)
    }

    /// Whether only numbers are made of the variable's records, which need nothing that these refer to.
    fn is_of_fields(&self, variable: &str) -> bool {
        self.records.contains(variable)
    }

    fn scratch_bytes(&self) -> u64 {
        let copied = |input: &&Input| !input.is_kept && input.payload.location().is_some();
        self.inputs.values().flatten().filter(copied).map(|input| input.payload.len() as u64).sum()
    }

    /// The blocks of a variable that were put so far, with their elements.
    pub(crate) fn blocks_of(&self, variable: &str) -> impl Iterator<Item = (Region, Payload)> {
        let blocks = self.inputs.get(variable).into_iter().flatten();
        blocks.map(|input| (input.region, input.payload.clone()))
    }
}

impl OpenStep {
    /// Whether something is derived from the variable.
    pub(crate) fn derives_from(&self, variable: &str) -> bool {
        self.deriving.as_ref().is_some_and(|deriving| deriving.takes(variable))
    }

    /// Bytes that the blocks take which were copied for derivations alone.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        self.deriving.as_ref().map_or(0, |deriving| deriving.scratch_bytes())
    }

    /// Whether the variable's blocks are kept, or something is derived from them at the step's end.
    pub(crate) fn keeps(&self, variable: &str) -> bool {
        self.kept && (self.derives_from(variable) || self.serves(variable))
    }

    /// Whether nobody needs what the variable's records refer to: only fields of them are measured.
    pub(crate) fn has_needless_parts(&self, variable: &str) -> bool {
        let is_of_fields = self.deriving.as_ref().is_some_and(|deriving| deriving.is_of_fields(variable));
        is_of_fields && !self.serves(variable)
    }

    /// Whether somebody reads the variable itself.
    pub(crate) fn serves(&self, variable: &str) -> bool {
        self.shared.endpoint.inspect(|state| state.machine.keeps(self.step, variable))
    }

    /// Where the blocks of a variable are lent from.
    pub(crate) fn arena_of(&self, variable: &str) -> &Arena {
        match self.deriving.as_ref().and_then(|deriving| deriving.scratch.as_ref()) {
            Some(scratch) if self.derives_from(variable) && !self.serves(variable) => scratch,
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
        let serves = !self.derives_from(variable.name()) || self.serves(variable.name());
        let blocks = self.deriving.as_mut().and_then(|deriving| deriving.blocks_to(variable));
        if let Some(blocks) = blocks {
            let index = self.puts.get(variable.name()).map_or(0, |put| put.blocks.len());
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            blocks.push(Input { index, region: *region, payload: payload.clone(), is_kept: serves });
        }
        serves.then_some(payload)
    }

    /// Stores an input for those who derive from it themselves.
    pub(crate) fn leave(&mut self, name: &str) -> Result<(), Failure> {
        let Some(deriving) = &mut self.deriving else { return Ok(()) };
        if !deriving.left.insert(name.to_owned()) {
            return Ok(());
        }
        let inputs = self.deriving.as_ref().and_then(|deriving| deriving.inputs.get(name));
        let (Some(put), Some(blocks)) = (self.puts.get(name), inputs) else {
            return Ok(());
        };
        let unkept = || blocks.iter().filter(|input| !input.is_kept);
        let len_bytes = unkept().map(|input| input.payload.len()).sum::<usize>();
        self.check_bound(len_bytes as u64).map_err(Box::new)?;
        for Input { index, region, payload, .. } in unkept() {
            let (def, payload) = (put.def.clone(), payload.clone());
            let bytes = BlockBytes::Memory(payload);
            let block = StoredBlock { def, index: *index, region: *region, bytes };
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
