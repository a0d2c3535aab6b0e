//! A step of this rank that is open: what was put of it, and what is checked before each put.

mod bytes;
mod derive;
mod derive_fields;
mod derive_inputs;
mod derive_round;
pub(crate) mod records;
mod transform;

use crate::data::owner::block::{BlockBytes, StoredBlock};
use crate::error::PutError;
use crate::error::misuse::Misuse;
use crate::publisher::open_step::derive::StepDerivations;
use crate::publisher::open_step::transform::StepTransforms;
use crate::session::derive_budget::StepBudget;
use crate::session::publisher::PublisherSession;
use crate::value::bool_check;
use crate::value::bool_check::goes_with;
use crate::value::counters::Counters;
use crate::value::element::Element;
use crate::value::parameter_request::ParameterRequest;
use crate::value::puts::Puts;
use crate::value::variable::Variable;
use fp_proto::commands::{BegunStep, CommandError};
use fp_proto::message::{MeasurePart, ScalarValue};
use fp_transport::{Arena, Payload, PoolMemory};
use fp_types::{ArrayKind, Dims, Dtype, Rank, Region, StepId, VariablePut};
use std::sync::{Arc, OnceLock};

/// A step of this rank that is open. Dropped before it has ended, it is abandoned for the whole cohort.
pub(crate) struct OpenStep {
    pub(crate) shared: Arc<PublisherSession>,
    pub(crate) step: StepId,
    /// Whether anything of this step is stored.
    pub(crate) kept: bool,
    pub(crate) arena: Arena,
    /// `None` where nothing is derived, as in most steps.
    pub(crate) deriving: Option<Box<StepDerivations>>,
    pub(crate) sending: StepTransforms,
    /// The time that both may take.
    pub(crate) budget: StepBudget,
    pub(crate) puts: Puts,
    pub(crate) values: Vec<ScalarValue>,
    /// What was measured of it for conditions.
    pub(crate) parts: Vec<MeasurePart>,
    /// What is asked of the simulation at this step.
    pub(crate) requests: Vec<ParameterRequest>,
    pub(crate) promised: Vec<String>,
    /// Why the first put that failed did.
    failed: OnceLock<String>,
    pub(crate) len_bytes: u64,
    /// Bytes of its blocks that are in no memory.
    pub(crate) stored_bytes: u64,
    /// The most bytes that the step may have.
    pub(crate) limit_bytes: u64,
    pub(crate) left: bool,
    /// Whether it has what several ranks put: values of local scalars, and regions, more than once.
    pub(crate) repeats: bool,
}

impl OpenStep {
    pub(crate) fn new(shared: Arc<PublisherSession>, begun: BegunStep) -> Self {
        let kept = begun.is_kept();
        let arena = match kept {
            true => shared.server.begin(begun.step, begun.kept, begun.unjudged, begun.watches),
            false => shared.server.pool.arena(),
        };
        let sending = StepTransforms::new(&begun.requests);
        let deriving = StepDerivations::new(&shared, &begun.requests, &begun.measures);
        let puts = std::mem::take(&mut *shared.lock_spare_puts());
        let budget = match deriving.is_some() || sending.names().next().is_some() {
            true => {
                let derived = deriving.iter().flat_map(|deriving| deriving.names());
                shared.deriver.budget.begin(begun.step.0, &sending.names().chain(derived).collect())
            }
            false => shared.deriver.budget.unasked(),
        };
        Self {
            budget,
            sending,
            deriving,
            step: begun.step,
            limit_bytes: shared.server.room.step_limit_bytes(),
            kept,
            arena,
            puts,
            values: Vec::new(),
            parts: Vec::new(),
            requests: match begun.steering.is_empty() {
                true => Vec::new(),
                false => begun.steering.into_iter().map(ParameterRequest::new).collect(),
            },
            promised: Vec::new(),
            failed: OnceLock::new(),
            len_bytes: 0,
            stored_bytes: 0,
            left: false,
            repeats: false,
            shared,
        }
    }

    pub(crate) fn shareable(&self, variable: &Variable, payload: &Payload) -> Result<Payload, PutError> {
        let mut loan = self.lend(variable, payload.len())?;
        loan.copy_from_slice(payload.as_slice());
        Counters::add(&self.shared.counters.shared_copied_bytes, payload.len());
        Ok(loan.freeze())
    }

    pub(crate) fn rows(&self, variable: &Variable, elements: usize) -> Result<Region, PutError> {
        if !variable.is_joined() {
            return Err(self.wrong_kind(variable, "put it with a region"));
        }
        let row = variable.row_elements().max(1);
        let found = elements as u64;
        let mut count: Dims = *variable.shape.dims();
        if let Some(first) = count.first_mut() {
            *first = found / row;
        }
        let region =
            Region::new(count.zeros_like(), count).ok().filter(|region| region.element_count() == found);
        region.ok_or_else(|| {
            self.wrong_len(variable, "a number of rows".to_owned(), found - found % row, found)
        })
    }

    /// Something of this step could not be put.
    pub(crate) fn note_failure(&self, what: impl FnOnce() -> String) {
        self.failed.get_or_init(what);
    }

    /// A step of which something could not be put ends only where the options allow that.
    pub(crate) fn check_complete(&self) -> Result<(), PutError> {
        let Some(what) = self.failed.get().filter(|_| self.shared.options.refuse_incomplete) else {
            return Ok(());
        };
        let (step, rank, what) = (self.step, self.rank(), what.clone());
        Err(self.misuse(Misuse::StepIncomplete { step, rank, what }))
    }

    pub(crate) fn misuse(&self, source: Misuse) -> PutError {
        self.note_failure(|| source.to_string());
        PutError::Misuse { stream: self.shared.stream.clone(), source }
    }

    pub(crate) fn wrong_kind(&self, variable: &Variable, instead: &'static str) -> PutError {
        let kind = variable.def.kind.to_string();
        self.misuse(Misuse::WrongKind { variable: variable.name().to_owned(), kind, instead })
    }

    pub(crate) fn command_error(&self, error: CommandError) -> PutError {
        if let CommandError::Lost { rank, reason } = error {
            return PutError::Lost { stream: self.shared.stream.clone(), rank, reason };
        }
        self.misuse(if let CommandError::StepNotOpen(step) = error {
            Misuse::StepNotOpen(step)
        } else {
            Misuse::Command(error)
        })
    }

    pub(crate) fn rank(&self) -> Rank {
        self.shared.options.link.cohort.rank()
    }

    /// A step larger than the bound is an error at once.
    pub(crate) fn check_bound(&self, more_bytes: u64) -> Result<(), PutError> {
        let (step, rank, limit_bytes) = (self.step, self.rank(), self.limit_bytes);
        match self.len_bytes.saturating_add(more_bytes) {
            len_bytes if len_bytes <= limit_bytes => Ok(()),
            len_bytes => Err(self.misuse(Misuse::StepTooLarge { step, rank, len_bytes, limit_bytes })),
        }
    }

    pub(crate) fn lend(&self, variable: &Variable, len_bytes: usize) -> Result<PoolMemory, PutError> {
        self.check_bound(len_bytes as u64)?;
        let lent = self.arena_of(variable.name()).loan(len_bytes, 64);
        lent.map_err(|source| {
            self.note_failure(|| source.to_string());
            let (stream, variable) = (self.shared.stream.clone(), variable.name().to_owned());
            PutError::Memory { stream, step: self.step, variable, source }
        })
    }

    /// Everything that can be wrong with a put, before anything is copied.
    pub(crate) fn admit<T: Element>(
        &self,
        variable: &Variable,
        region: &Region,
        elements: usize,
    ) -> Result<(), PutError> {
        self.check_dtype(variable, T::DTYPE)?;
        self.check_known(variable, region, elements)
    }

    /// Whether so many elements may be put there.
    pub(crate) fn check_known(
        &self,
        variable: &Variable,
        region: &Region,
        elements: usize,
    ) -> Result<(), PutError> {
        let (expected, found) = (region.element_count(), elements as u64);
        if expected != found {
            return Err(self.wrong_len(variable, region.to_string(), expected, found));
        }
        self.check_block(variable, region)
    }

    /// Whether a block may be put there.
    pub(crate) fn check_block(&self, variable: &Variable, region: &Region) -> Result<(), PutError> {
        self.check_region(variable, region)?;
        match self.puts.get(variable.name()) {
            None => Ok(()),
            Some(known) => self.check_again(variable, region, known),
        }
    }

    pub(crate) fn check_dtype(&self, variable: &Variable, found: Dtype) -> Result<(), PutError> {
        let expected = variable.def.dtype;
        if !goes_with(expected, found) {
            let variable = variable.name().to_owned();
            return Err(self.misuse(Misuse::WrongDtype { step: self.step, variable, expected, found }));
        }
        Ok(())
    }

    pub(crate) fn check_region(&self, variable: &Variable, region: &Region) -> Result<(), PutError> {
        let fits = match variable.def.kind {
            ArrayKind::GlobalArray => region.fits(&variable.shape),
            ArrayKind::Scalar | ArrayKind::LocalScalar => region.ndims() == 0,
            ArrayKind::LocalArray | ArrayKind::JoinedArray { .. } => {
                region.ndims() == variable.def.ndims() && region.start().iter().all(|&start| start == 0)
            }
        };
        if !fits {
            return Err(self.misuse(Misuse::OutsideShape {
                step: self.step,
                rank: self.rank(),
                variable: variable.name().to_owned(),
                region: Box::new(*region),
                shape: Box::new(variable.shape),
            }));
        }
        Ok(())
    }

    pub(crate) fn check_again(
        &self,
        variable: &Variable,
        region: &Region,
        known: &VariablePut,
    ) -> Result<(), PutError> {
        let what = if known.def != variable.def || known.shape.is_some_and(|shape| shape != variable.shape) {
            "its definition differs from that of an earlier put of this step"
        } else if variable.def.kind == ArrayKind::Scalar {
            "its value was put already"
        } else if self.repeats {
            return Ok(());
        } else if variable.def.kind == ArrayKind::LocalScalar {
            "its value was put already"
        } else if variable.def.kind == ArrayKind::GlobalArray && self.puts.has(known, region) {
            "this region was put already"
        } else {
            return Ok(());
        };
        Err(self.misuse(Misuse::PutTwice {
            step: self.step,
            rank: self.rank(),
            variable: variable.name().to_owned(),
            what,
        }))
    }

    /// Another variable of this step has its name: one was put, and the other made of what was put.
    fn two_origins(&self, variable: &Variable) -> PutError {
        let (step, rank, variable) = (self.step, self.rank(), variable.name().to_owned());
        let what = "a variable that was put is called as what is made of others: give it another name";
        self.misuse(Misuse::PutTwice { step, rank, variable, what })
    }

    pub(crate) fn wrong_len(
        &self,
        variable: &Variable,
        region: String,
        expected: u64,
        found: u64,
    ) -> PutError {
        let (step, variable) = (self.step, variable.name().to_owned());
        self.misuse(Misuse::WrongLen { step, variable, region, expected, found })
    }

    /// Notes the value of a global scalar, which rides with the announcement of the step.
    pub(crate) fn note_value(
        &mut self,
        variable: &Variable,
        region: &Region,
        bytes: Vec<u8>,
    ) -> Result<(), PutError> {
        bool_check::check(&variable.def, &bytes).map_err(|misuse| self.misuse(misuse))?;
        let (name, rank, dtype) = (variable.name().to_owned(), self.rank(), variable.def.dtype);
        self.values.push(ScalarValue { name, rank, dtype, bytes });
        self.note(variable, region, None)
    }

    /// Notes a block; where it is wanted, by a copy that is made in the pool.
    pub(crate) fn note_copy(
        &mut self,
        variable: &Variable,
        region: &Region,
        bytes: &[u8],
        is_wanted: bool,
    ) -> Result<(), PutError> {
        if !is_wanted {
            return self.note(variable, region, None);
        }
        let mut loan = self.lend(variable, bytes.len())?;
        loan.copy_from_slice(bytes);
        Counters::add(&self.shared.counters.put_copied_bytes, bytes.len());
        self.note(variable, region, Some(loan.freeze()))
    }

    /// Notes a block of owned memory; it is copied only where it has to become shareable.
    pub(crate) fn note_payload(
        &mut self,
        variable: &Variable,
        region: &Region,
        payload: Option<Payload>,
    ) -> Result<(), PutError> {
        let is_shared = || self.kept && self.shared.server.is_shared(self.step, variable.name());
        let payload = match payload {
            Some(payload) if !payload.is_empty() && is_shared() => Some(self.shareable(variable, &payload)?),
            other => other,
        };
        self.note(variable, region, payload)
    }

    /// The block is put; its bytes are stored if somebody wants them.
    pub(crate) fn note(
        &mut self,
        variable: &Variable,
        region: &Region,
        payload: Option<Payload>,
    ) -> Result<(), PutError> {
        let put = payload.as_ref().map(Payload::as_slice).unwrap_or_default();
        bool_check::check(&variable.def, put).map_err(|misuse| self.misuse(misuse))?;
        let payload = payload.and_then(|payload| self.remember(variable, region, payload));
        self.note_bytes(variable, region, payload.map(BlockBytes::Memory))
    }

    /// As [`OpenStep::note`], of bytes from which nothing is derived.
    pub(crate) fn note_bytes(
        &mut self,
        variable: &Variable,
        region: &Region,
        block: Option<BlockBytes>,
    ) -> Result<(), PutError> {
        let (bytes, stored_bytes) = match &block {
            Some(BlockBytes::Memory(payload)) => (payload.len() as u64, 0),
            Some(BlockBytes::Stored(stored)) => (0, stored.len_bytes()),
            None => (0, 0),
        };
        self.check_bound(bytes)?;
        let at = self.puts.place(variable);
        let put = self.puts.at(at);
        if put.def.origin != variable.def.origin {
            return Err(self.two_origins(variable));
        }
        let (def, index) = (put.def.clone(), u32::try_from(put.blocks.len()).unwrap_or(u32::MAX));
        self.len_bytes += bytes;
        self.stored_bytes = self.stored_bytes.saturating_add(stored_bytes);
        let element_bytes = variable.def.element_bytes().unwrap_or(1) as u64;
        self.puts.add_at(at, variable, region, region.element_count() * element_bytes);
        if let Some(bytes) = block {
            let block = StoredBlock { def, index, region: *region, bytes };
            let counter = &self.shared.counters.payload_bytes;
            Counters::add(counter, usize::try_from(block.len_bytes()).unwrap_or(usize::MAX));
            self.shared.server.store(self.step, block);
        }
        Ok(())
    }
}

impl OpenStep {
    /// Nobody gets the step.
    pub(crate) fn abandon(&mut self) {
        if std::mem::replace(&mut self.left, true) || self.shared.endpoint.is_forked() {
            return;
        }
        let step = self.step;
        // The stream may be lost already; then there is nothing to abandon.
        let _ = self.shared.endpoint.drive(|state, now| state.machine.abandon_step(now, step));
        self.shared.server.free(step, false);
    }
}

impl Drop for OpenStep {
    fn drop(&mut self) {
        self.puts.clear();
        std::mem::swap(&mut *self.shared.lock_spare_puts(), &mut self.puts);
        if !self.left && !self.shared.endpoint.is_forked() {
            let (stream, step) = (&self.shared.stream, self.step);
            tracing::warn!(%stream, %step, "the step was given up before its end: nobody gets it");
        }
        self.abandon();
    }
}
