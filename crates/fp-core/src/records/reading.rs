//! Taking records: as they lie where the types are equal, converted where they are compatible.

use super::route::Way;
use super::set::Memory;
use super::{RecordBlockError, RecordSet, plain_schema};
use crate::error::{Misuse, ReadError};
use crate::patience::Limit;
use crate::planned::Planned;
use crate::select::Select;
use crate::statistics::Counters;
use crate::step::{StepReader, element_count};
use crate::view::View;
use bytemuck::Pod;
use fp_types::record::{
    Conversion, ConvertError, Loss, Record, RecordError, RecordSchema, Records, ValueError, decode_records,
};
use fp_types::{ArrayKind, Dtype};
use std::borrow::Cow;
use std::sync::Arc;

/// Why records cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// The variable is of other elements.
    #[error("its elements are {0}, no records")]
    NoRecords(Dtype),
    /// The Rust type is no record type, or not laid out as one.
    #[error(transparent)]
    Type(#[from] RecordBlockError),
    /// The bytes that came are no such records.
    #[error(transparent)]
    Bytes(#[from] ValueError),
    /// A value that is none of its type, such as a text that is no UTF-8.
    #[error(transparent)]
    Value(#[from] fp_types::record::ReadError),
    /// A value that cannot be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
}

impl From<RecordError> for RecordProblem {
    fn from(error: RecordError) -> Self {
        Self::Type(error.into())
    }
}

/// What there is and what is wanted of a variable.
pub(super) struct Matched {
    pub(super) planned: Arc<Planned>,
    pub(super) found: RecordSchema,
    /// From the one to the other; none where bytes stay as they are.
    pub(super) conversion: Option<Arc<Conversion>>,
    /// The type of what is given.
    pub(super) given: RecordSchema,
}

impl StepReader {
    /// The selected records, as values of a Rust type: in row-major order unless [`Select::with_order`] says otherwise.
    /// Where the publisher's type is another one, they are converted: fields by name, numbers to types that hold them
    /// (to any with [`Select::with_conversion`]). Where there is no conversion, transforms of
    /// [`SubscriberOptions::with_transforms`](crate::SubscriberOptions::with_transforms) are looked for that lead to the
    /// type: by the cheapest path of them all records are transformed, once in a step however often they are asked for,
    /// and the selection is of what comes out. Selections of blocks and ranks say what goes in instead. The publisher's
    /// own ([`PublisherOptions::with_transforms`](crate::PublisherOptions::with_transforms)) count as well: its ranks run
    /// them, block by block, when they are first asked for in a step, and only what comes out crosses.
    ///
    /// # Errors
    /// As [`StepReader::get`]; no conversion, with everything that the types differ in; values that are none; a
    /// transform that fails, panics or runs too long.
    pub fn get_records<T: Record>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<Vec<T>, ReadError> {
        let wanted = T::schema().map_err(|error| self.problem(variable, error.into()))?;
        let set = self.take_records(variable, selection.into(), Some(&wanted), self.deadline().into())?;
        let read = set.records().map_err(RecordProblem::from);
        let read = read.and_then(|records| Ok(decode_records(&records)?));
        Counters::add(&self.shared().counters.handled_records, set.count());
        read.map_err(|problem| self.problem(variable, problem))
    }

    /// The selected records where they lie, as values of a Rust type that lies in memory as its record does: nothing is
    /// done for each, and nothing copied where [`StepReader::view`] copies nothing. Where the publisher's type is
    /// another one, they are converted, into memory of the view's own.
    ///
    /// # Errors
    /// As [`StepReader::get_records`]; a Rust type that lies otherwise.
    pub fn view_records<T: Record + Pod>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<View<T>, ReadError> {
        let limit = self.deadline().into();
        let wanted = plain_schema::<T>().map_err(|error| self.problem(variable, error.into()))?;
        let select = selection.into();
        if let Some(set) = self.by_transforms(variable, &select, Some(&wanted), limit)? {
            return Ok(self.view_of(&set));
        }
        let matched = match self.matched(variable, select.clone(), Some(&wanted), limit) {
            Ok(matched) => matched,
            Err(error) => {
                return Ok(self.view_of(&self.or_there(variable, &select, Some(&wanted), error, limit)?));
            }
        };
        if matched.conversion.is_none()
            && let Some(payload) = self.placed(&matched.planned, limit)?
            && let Some(view) = View::of_payload(payload, self.held.clone())
        {
            Counters::add(&self.shared().counters.views, 1);
            return Ok(view);
        }
        let mut records = vec![T::zeroed(); element_count(&matched.planned)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut records);
        match matched.conversion {
            None => self.fill(&matched.planned, bytes, limit.deadline)?,
            Some(_) => {
                let set = self.taken(variable, matched, limit)?;
                // Of equal length, as both are so many records of the wanted type.
                bytes.copy_from_slice(set.as_bytes());
            }
        }
        Ok(View::of_vec(records, self.held.clone()))
    }

    fn view_of<T: Pod>(&self, set: &RecordSet) -> View<T> {
        let mut records = vec![T::zeroed(); set.count()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut records);
        bytes.copy_from_slice(set.as_bytes());
        View::of_vec(records, self.held.clone())
    }

    /// The selected records, of whatever type the publisher gave them: for those who learn it at run time. Not copied
    /// where [`StepReader::view`] copies nothing.
    ///
    /// # Errors
    /// As [`StepReader::get_records`].
    pub fn records(&self, variable: &str, selection: impl Into<Select>) -> Result<RecordSet, ReadError> {
        self.take_records(variable, selection.into(), None, self.deadline().into())
    }

    /// The selected records as those of another type, converted if need be.
    ///
    /// # Errors
    /// As [`StepReader::get_records`].
    pub fn records_as(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        wanted: &RecordSchema,
    ) -> Result<RecordSet, ReadError> {
        self.take_records(variable, selection.into(), Some(wanted), self.deadline().into())
    }

    fn take_records(
        &self,
        variable: &str,
        select: Select,
        wanted: Option<&RecordSchema>,
        limit: Limit<'_>,
    ) -> Result<RecordSet, ReadError> {
        if let Some(set) = self.by_transforms(variable, &select, wanted, limit)? {
            return Ok(set);
        }
        let taken = self.take_as_put(variable, select.clone(), wanted, limit);
        taken.or_else(|error| self.or_there(variable, &select, wanted, error, limit))
    }

    /// What the publisher's transforms make of records that have no conversion to the type that is wanted, if they can.
    fn or_there(
        &self,
        variable: &str,
        select: &Select,
        wanted: Option<&RecordSchema>,
        error: ReadError,
        limit: Limit<'_>,
    ) -> Result<RecordSet, ReadError> {
        match wanted.filter(|_| may_be_of_type(&error)) {
            Some(wanted) => self.by_ways(variable, select, wanted, limit)?.ok_or(error),
            None => Err(error),
        }
    }

    /// The selected records through registered transforms, if these lead to the type that is wanted and nothing shorter
    /// does.
    fn by_transforms(
        &self,
        variable: &str,
        select: &Select,
        wanted: Option<&RecordSchema>,
        limit: Limit<'_>,
    ) -> Result<Option<RecordSet>, ReadError> {
        match wanted.filter(|_| self.shared().options.transforms.is_some()) {
            Some(wanted) => self.by_ways(variable, select, wanted, limit),
            // Those of the publisher are looked for when nothing else leads there.
            None => Ok(None),
        }
    }

    fn by_ways(
        &self,
        variable: &str,
        select: &Select,
        wanted: &RecordSchema,
        limit: Limit<'_>,
    ) -> Result<Option<RecordSet>, ReadError> {
        let loss = select.loss().unwrap_or(Loss::Refused);
        let set = match self.way_to(variable, wanted, loss, limit)? {
            None => return Ok(None),
            Some(Way::Here(route)) => self.through(variable, select, wanted, &route, limit),
            Some(Way::There(there, left)) => {
                match (self.made_there(variable, select, wanted, &there, limit), left) {
                    (Err(ReadError::NotTransformed { .. }), Some(route)) => {
                        self.through(variable, select, wanted, &route, limit)
                    }
                    (made, _) => made,
                }
            }
        };
        set.map(Some)
    }

    /// The selected records as they were put, or converted.
    pub(super) fn take_as_put(
        &self,
        variable: &str,
        select: Select,
        wanted: Option<&RecordSchema>,
        limit: Limit<'_>,
    ) -> Result<RecordSet, ReadError> {
        let matched = self.matched(variable, select, wanted, limit)?;
        self.taken(variable, matched, limit)
    }

    fn taken(&self, variable: &str, matched: Matched, limit: Limit<'_>) -> Result<RecordSet, ReadError> {
        let (planned, count) = (matched.planned.clone(), element_count(&matched.planned));
        let memory = if !matched.found.is_plain() {
            Memory::Own(self.whole_records(variable, &matched, limit)?)
        } else {
            self.plain_records(variable, &matched, limit)?
        };
        let (shape, _held) = (planned.plan.result_shape(), self.held.clone());
        Ok(RecordSet { schema: matched.given, count, shape, memory, _held })
    }

    fn plain_records(
        &self,
        variable: &str,
        matched: &Matched,
        limit: Limit<'_>,
    ) -> Result<Memory, ReadError> {
        let memory = match self.placed(&matched.planned, limit)? {
            Some(payload) => Memory::Shared(payload),
            None => {
                let mut bytes = vec![0; matched.planned.len_bytes().unwrap_or(usize::MAX)];
                self.fill(&matched.planned, &mut bytes, limit.deadline)?;
                Memory::Own(bytes)
            }
        };
        if matched.conversion.is_none() {
            Counters::add(&self.shared().counters.views, usize::from(matches!(memory, Memory::Shared(_))));
            return Ok(memory);
        }
        let bytes = match &memory {
            Memory::Shared(payload) | Memory::Computed(payload) => payload.as_slice(),
            Memory::Own(bytes) => bytes,
        };
        self.converted(variable, matched, bytes, element_count(&matched.planned)).map(Memory::Own)
    }

    /// So many records as the type that is wanted.
    pub(super) fn converted(
        &self,
        variable: &str,
        matched: &Matched,
        bytes: &[u8],
        count: usize,
    ) -> Result<Vec<u8>, ReadError> {
        let records = Records::new(&matched.found, bytes, count);
        let records = records.map_err(|error| self.problem(variable, error.into()))?;
        let Some(conversion) = &matched.conversion else { return Ok(bytes.to_vec()) };
        Counters::add(&self.shared().counters.handled_records, count);
        let converted = conversion.convert(&records).map(Cow::into_owned);
        converted.map_err(|error| self.problem(variable, error.into()))
    }

    /// What is there and what is wanted, with the conversion from the one to the other.
    pub(super) fn matched(
        &self,
        variable: &str,
        select: Select,
        wanted: Option<&RecordSchema>,
        limit: Limit<'_>,
    ) -> Result<Matched, ReadError> {
        let loss = select.loss().unwrap_or(Loss::Refused);
        let planned = self.planned(variable, select, false, None, limit.deadline)?;
        let (found, conversion) = self.matched_type(variable, &planned, wanted, loss, limit)?;
        let given = wanted.unwrap_or(&found).clone();
        Ok(Matched { planned, found, conversion, given })
    }

    fn matched_type(
        &self,
        variable: &str,
        planned: &Planned,
        wanted: Option<&RecordSchema>,
        loss: Loss,
        limit: Limit<'_>,
    ) -> Result<(RecordSchema, Option<Arc<Conversion>>), ReadError> {
        let types = &self.shared().types;
        wanted.into_iter().for_each(|wanted| types.learn_anyway(wanted));
        let rank = planned.plan.pieces.first().map(|piece| piece.block.rank);
        let found = self.type_of(&planned.def, rank, limit)?;
        let Some(wanted) = wanted.filter(|wanted| **wanted != found) else { return Ok((found, None)) };
        let conversion = self.conversion(&found, wanted, loss).map_err(|source| {
            let (stream, step) = (self.stream().to_owned(), self.step());
            ReadError::Incompatible { stream, step, variable: variable.to_owned(), source: Box::new(source) }
        })?;
        Ok((found, Some(conversion).filter(|conversion| !conversion.is_identity())))
    }

    pub(super) fn problem(&self, variable: &str, problem: RecordProblem) -> ReadError {
        let (stream, step) = (self.stream().to_owned(), self.step());
        ReadError::Records { stream, step, variable: variable.to_owned(), source: Box::new(problem) }
    }

    /// Whether the value came with the announcement of the step.
    pub(super) fn is_told(planned: &Planned) -> bool {
        planned.def.kind == ArrayKind::Scalar
    }
}

/// Whether records of another type, and perhaps of another shape, could be what was asked for.
pub(super) fn may_be_of_type(error: &ReadError) -> bool {
    let is_of_selection =
        |source: &Misuse| matches!(source, Misuse::Selection { .. } | Misuse::SelectionText { .. });
    match error {
        ReadError::Incompatible { .. } | ReadError::Plan { .. } => true,
        ReadError::Misuse { source, .. } => is_of_selection(source),
        _ => false,
    }
}
