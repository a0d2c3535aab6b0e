//! A step being written: put what this rank has of it, then end it.

mod deriving;
mod put;
mod records;
mod sending;
mod text;

use crate::element::Element;
use crate::error::{Misuse, PutError};
use crate::publisher::PublisherShared;
use crate::server::StoredBlock;
use crate::statistics::Counters;
use crate::truth::{self, goes_with};
use crate::variable::Variable;
use deriving::Deriving;
use fp_proto::commands::{BegunStep, CommandError};
use fp_proto::message::ScalarValue;
use fp_transport::{Arena, Payload};
use fp_types::{
    ArrayKind, Contribution, Dims, Dtype, Rank, Region, Shape, StepId, VariablePut, validate_name,
};
use put::Put;
use sending::Sending;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A step of this rank, open until [`StepWriter::end`]. Dropped without it, the step is abandoned for the whole
/// cohort: nobody gets it.
pub struct StepWriter {
    shared: Arc<PublisherShared>,
    step: StepId,
    /// Whether anything of this step is stored.
    kept: bool,
    /// Variables that are read over shared memory.
    shared_variables: BTreeSet<String>,
    arena: Arena,
    deriving: Deriving,
    sending: Sending,
    puts: BTreeMap<String, Box<Put>>,
    values: Vec<ScalarValue>,
    promised: Vec<String>,
    len_bytes: u64,
    /// The most bytes that the step may have.
    limit_bytes: u64,
    left: bool,
}

/// Memory of the pool, lent to be filled with the elements of one block; [`StepWriter::put_loan`] puts it without a
/// copy.
pub struct Loan<T: Element> {
    memory: fp_transport::Loan,
    variable: Variable,
    region: Region,
    step: StepId,
    element: PhantomData<T>,
}

impl<T: Element> Deref for Loan<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // The length is a multiple of the element's and loans are aligned to 64 bytes.
        bytemuck::try_cast_slice(&self.memory).unwrap_or_default()
    }
}

impl<T: Element> DerefMut for Loan<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::try_cast_slice_mut(&mut self.memory).unwrap_or_default()
    }
}

/// An owner of elements as an owner of bytes.
struct Owner<O, T>(O, PhantomData<fn() -> T>);

impl<O: AsRef<[T]>, T: Element> AsRef<[u8]> for Owner<O, T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(self.0.as_ref())
    }
}

impl StepWriter {
    pub(crate) fn new(shared: Arc<PublisherShared>, begun: BegunStep) -> Self {
        let kept = !begun.kept.is_empty();
        let shared_variables = shared.server.shared_variables(&begun.kept);
        let arena =
            if kept { shared.server.begin(begun.step, begun.kept) } else { shared.server.pool.arena() };
        Self {
            sending: Sending::new(&begun.derivations),
            deriving: Deriving::new(&shared, begun.derivations),
            step: begun.step,
            limit_bytes: shared.server.room.step_limit_bytes(),
            kept,
            shared_variables,
            arena,
            puts: BTreeMap::new(),
            values: Vec::new(),
            promised: Vec::new(),
            len_bytes: 0,
            left: false,
            shared,
        }
    }

    /// The step's number.
    pub fn step(&self) -> StepId {
        self.step
    }

    /// Promises that these variables will be put: [`StepWriter::end`] fails without them.
    pub fn promise(&mut self, variables: impl IntoIterator<Item = impl Into<String>>) {
        self.promised.extend(variables.into_iter().map(Into::into));
    }

    /// Puts a block of owned elements: no copy, unless a subscriber shares memory with this rank (1, counted).
    /// Elements lie densely in the variable's memory order.
    ///
    /// # Errors
    /// Wrong element type, region or length; a block put twice; no memory.
    pub fn put<T: Element>(
        &mut self,
        variable: &Variable,
        region: &Region,
        elements: Vec<T>,
    ) -> Result<(), PutError> {
        self.put_external(variable, region, elements)
    }

    /// Puts a block of memory that stays with its owner, whose drop is the release. Copies as [`StepWriter::put`].
    ///
    /// # Errors
    /// As [`StepWriter::put`].
    pub fn put_external<T: Element>(
        &mut self,
        variable: &Variable,
        region: &Region,
        owner: impl AsRef<[T]> + Send + Sync + 'static,
    ) -> Result<(), PutError> {
        self.admit::<T>(variable, region, owner.as_ref().len())?;
        if !self.wanted(variable.name()) {
            return self.note(variable, region, None);
        }
        let payload = Payload::from_owner(Owner(owner, PhantomData));
        let payload = match self.shared_variables.contains(variable.name()) && !payload.is_empty() {
            true => self.shareable(variable, &payload)?,
            false => payload,
        };
        self.note(variable, region, Some(payload))
    }

    fn shareable(&self, variable: &Variable, payload: &Payload) -> Result<Payload, PutError> {
        let mut loan = self.lend(variable, payload.len())?;
        loan.copy_from_slice(payload.as_slice());
        Counters::add(&self.shared.counters.shared_copied_bytes, payload.len());
        Ok(loan.freeze())
    }

    /// Puts a copy of these elements, made in the pool.
    ///
    /// # Errors
    /// As [`StepWriter::put`].
    pub fn put_copy<T: Element>(
        &mut self,
        variable: &Variable,
        region: &Region,
        elements: &[T],
    ) -> Result<(), PutError> {
        self.admit::<T>(variable, region, elements.len())?;
        if !self.wanted(variable.name()) {
            return self.note(variable, region, None);
        }
        let bytes = bytemuck::cast_slice(elements);
        let mut loan = self.lend(variable, bytes.len())?;
        loan.copy_from_slice(bytes);
        Counters::add(&self.shared.counters.put_copied_bytes, bytes.len());
        self.note(variable, region, Some(loan.freeze()))
    }

    /// Lends memory for a block: to be filled and given to [`StepWriter::put_loan`], without a copy. Its content is
    /// undefined until then.
    ///
    /// # Errors
    /// As [`StepWriter::put`].
    pub fn loan<T: Element>(&mut self, variable: &Variable, region: &Region) -> Result<Loan<T>, PutError> {
        let elements = usize::try_from(region.element_count()).unwrap_or(usize::MAX);
        self.admit::<T>(variable, region, elements)?;
        let memory = self.lend(variable, elements.saturating_mul(size_of::<T>()))?;
        Ok(Loan {
            memory,
            variable: variable.clone(),
            region: *region,
            step: self.step,
            element: PhantomData,
        })
    }

    /// Puts a loan of this step.
    ///
    /// # Errors
    /// A loan of another step; a block put twice.
    pub fn put_loan<T: Element>(&mut self, loan: Loan<T>) -> Result<(), PutError> {
        if loan.step != self.step {
            return Err(self.misuse(Misuse::StepNotOpen(loan.step)));
        }
        self.admit::<T>(&loan.variable, &loan.region, loan.len())?;
        let wanted = self.wanted(loan.variable.name());
        let payload = wanted.then(|| loan.memory.freeze());
        self.note(&loan.variable, &loan.region, payload)
    }

    /// Puts rows of a joined array: as many as `elements` makes, after those of lower ranks and earlier puts.
    ///
    /// # Errors
    /// As [`StepWriter::put`]; a number of elements that makes no whole rows.
    pub fn put_joined<T: Element>(&mut self, variable: &Variable, elements: Vec<T>) -> Result<(), PutError> {
        let region = self.rows(variable, elements.len())?;
        self.put(variable, &region, elements)
    }

    /// Puts a copy of rows of a joined array.
    ///
    /// # Errors
    /// As [`StepWriter::put_joined`].
    pub fn put_joined_copy<T: Element>(
        &mut self,
        variable: &Variable,
        elements: &[T],
    ) -> Result<(), PutError> {
        let region = self.rows(variable, elements.len())?;
        self.put_copy(variable, &region, elements)
    }

    fn rows(&self, variable: &Variable, elements: usize) -> Result<Region, PutError> {
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

    /// Puts the value of a scalar. That of a global one rides with the announcement of the step.
    ///
    /// # Errors
    /// Wrong element type; not a scalar; put twice.
    pub fn put_scalar<T: Element>(&mut self, variable: &Variable, value: T) -> Result<(), PutError> {
        let region = Region::whole(&Shape::scalar());
        match variable.def.kind {
            ArrayKind::Scalar => {
                self.admit::<T>(variable, &region, 1)?;
                let bytes = bytemuck::bytes_of(&value).to_vec();
                truth::check(&variable.def, &bytes).map_err(|misuse| self.misuse(misuse))?;
                let (name, rank) = (variable.name().to_owned(), self.rank());
                self.values.push(ScalarValue { name, rank, dtype: variable.def.dtype, bytes });
                self.note(variable, &region, None)
            }
            ArrayKind::LocalScalar => self.put_copy(variable, &region, &[value]),
            _ => Err(self.wrong_kind(variable, "put it with a region")),
        }
    }

    /// Ends the step: it is reported to the cohort and, when every rank has ended it, announced. Returns at once.
    ///
    /// # Errors
    /// A promised variable is missing (the step is abandoned); a rank of the cohort is lost.
    pub fn end(mut self) -> Result<(), PutError> {
        if self.shared.endpoint.is_forked() {
            return Err(self.misuse(Misuse::Forked));
        }
        if let Some(missing) = self.promised.iter().find(|name| !self.puts.contains_key(*name)) {
            let (step, rank, variable) = (self.step, self.rank(), missing.clone());
            return Err(self.misuse(Misuse::PromiseBroken { step, rank, variable }));
        }
        self.derive();
        let contribution = self.contribution();
        let values = std::mem::take(&mut self.values);
        if self.kept {
            self.shared.server.end(self.step);
        }
        let (step, len_bytes) = (self.step, self.len_bytes);
        let ended = self
            .shared
            .endpoint
            .drive(|state, now| state.machine.end_step(now, step, contribution, values, len_bytes));
        // A step that cannot end is abandoned as the writer is dropped.
        ended.map_err(|error| self.command_error(error))?;
        self.left = true;
        self.shared.ended(len_bytes);
        Counters::add(&self.shared.counters.steps, 1);
        Ok(())
    }

    fn misuse(&self, source: Misuse) -> PutError {
        PutError::Misuse { stream: self.shared.stream.clone(), source }
    }

    fn wrong_kind(&self, variable: &Variable, instead: &'static str) -> PutError {
        let kind = variable.def.kind.to_string();
        self.misuse(Misuse::WrongKind { variable: variable.name().to_owned(), kind, instead })
    }

    fn command_error(&self, error: CommandError) -> PutError {
        match error {
            CommandError::Lost { rank, reason } => {
                PutError::Lost { stream: self.shared.stream.clone(), rank, reason }
            }
            CommandError::StepNotOpen(step) => self.misuse(Misuse::StepNotOpen(step)),
            other => self.misuse(Misuse::Command(other)),
        }
    }

    fn contribution(&mut self) -> Contribution {
        let puts = std::mem::take(&mut self.puts).into_values();
        let put = |put: Box<Put>| {
            let Put { def, shape, blocks, bytes, .. } = *put;
            VariablePut { def, shape, blocks, bytes }
        };
        Contribution { variables: puts.map(put).collect() }
    }

    fn rank(&self) -> Rank {
        self.shared.options.link.cohort.rank()
    }

    /// A step larger than the bound is an error at once.
    fn check_bound(&self, more_bytes: u64) -> Result<(), PutError> {
        let (step, rank, limit_bytes) = (self.step, self.rank(), self.limit_bytes);
        match self.len_bytes.saturating_add(more_bytes) {
            len_bytes if len_bytes <= limit_bytes => Ok(()),
            len_bytes => Err(self.misuse(Misuse::StepTooLarge { step, rank, len_bytes, limit_bytes })),
        }
    }

    fn lend(&self, variable: &Variable, len_bytes: usize) -> Result<fp_transport::Loan, PutError> {
        self.check_bound(len_bytes as u64)?;
        let lent = self.arena_of(variable.name()).loan(len_bytes, 64);
        lent.map_err(|source| PutError::Memory {
            stream: self.shared.stream.clone(),
            step: self.step,
            variable: variable.name().to_owned(),
            source,
        })
    }

    /// Everything that can be wrong with a put, before anything is copied.
    fn admit<T: Element>(
        &self,
        variable: &Variable,
        region: &Region,
        elements: usize,
    ) -> Result<(), PutError> {
        self.check_dtype(variable, T::DTYPE)?;
        if region.element_count() != elements as u64 {
            return Err(self.wrong_len(
                variable,
                region.to_string(),
                region.element_count(),
                elements as u64,
            ));
        }
        self.check_known(variable, region)
    }

    fn check_known(&self, variable: &Variable, region: &Region) -> Result<(), PutError> {
        self.check_region(variable, region)?;
        match self.puts.get(variable.name()) {
            None => validate_name(variable.name()).map_err(|error| self.misuse(Misuse::Name(error))),
            Some(known) => self.check_again(variable, region, known),
        }
    }

    fn check_dtype(&self, variable: &Variable, found: Dtype) -> Result<(), PutError> {
        let expected = variable.def.dtype;
        if !goes_with(expected, found) {
            let variable = variable.name().to_owned();
            return Err(self.misuse(Misuse::WrongDtype { step: self.step, variable, expected, found }));
        }
        Ok(())
    }

    fn check_region(&self, variable: &Variable, region: &Region) -> Result<(), PutError> {
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

    fn check_again(&self, variable: &Variable, region: &Region, known: &Put) -> Result<(), PutError> {
        let what = if known.def != variable.def || known.shape.is_some_and(|shape| shape != variable.shape) {
            "its definition differs from that of an earlier put of this step"
        } else if variable.def.kind.is_scalar() {
            "its value was put already"
        } else if variable.def.kind == ArrayKind::GlobalArray && known.has(region) {
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

    fn wrong_len(&self, variable: &Variable, region: String, expected: u64, found: u64) -> PutError {
        let (step, variable) = (self.step, variable.name().to_owned());
        self.misuse(Misuse::WrongLen { step, variable, region, expected, found })
    }

    /// The block is put; its bytes are stored if somebody wants them.
    fn note(
        &mut self,
        variable: &Variable,
        region: &Region,
        payload: Option<Payload>,
    ) -> Result<(), PutError> {
        let put = payload.as_ref().map(Payload::as_slice).unwrap_or_default();
        truth::check(&variable.def, put).map_err(|misuse| self.misuse(misuse))?;
        let payload = payload.and_then(|payload| self.remember(variable, region, payload));
        let bytes = payload.as_ref().map_or(0, Payload::len) as u64;
        self.check_bound(bytes)?;
        self.len_bytes += bytes;
        let put = self.puts.entry(variable.name().to_owned()).or_insert_with(|| Put::of(variable));
        let index = u32::try_from(put.blocks.len()).unwrap_or(u32::MAX);
        put.add(region);
        put.bytes += region.element_count() * variable.def.element_bytes().unwrap_or(1) as u64;
        if let Some(payload) = payload {
            Counters::add(&self.shared.counters.payload_bytes, payload.len());
            let block = StoredBlock { def: put.def.clone(), index, region: *region, payload };
            self.shared.server.store(self.step, block);
        }
        Ok(())
    }
}

impl Drop for StepWriter {
    fn drop(&mut self) {
        if self.left || self.shared.endpoint.is_forked() {
            return;
        }
        let step = self.step;
        // The stream may be lost already; then there is nothing to abandon.
        let _ = self.shared.endpoint.drive(|state, now| state.machine.abandon_step(now, step));
        self.shared.server.free(step, false);
    }
}
