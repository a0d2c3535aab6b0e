//! What a step has as bytes, for those who learn types at run time.

use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::step::request::Request;
use crate::step::{StepReader, fill, locate, source};
use crate::value::counters::Counters;
use crate::value::select::Select;
use crate::value::view::View;
use fp_types::{ArrayKind, Dtype, Shape};

impl StepReader {
    /// The selected elements as bytes, with their type and the shape of the array that they are: for those who learn it
    /// at run time. They lie densely in the order that the selection asks for.
    ///
    /// Records have the type [`Dtype::Bytes`], and their bytes are those of [`StepReader::records`]: fixed parts first,
    /// and then what their lists and texts refer to. Those of a text are UTF-8.
    /// [`StepWriter::put_bytes`](crate::StepWriter::put_bytes) takes them.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn get_bytes(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<(Dtype, Shape, Vec<u8>), ReadError> {
        let select = selection.into();
        let planned = source::planned(&self.held, Request::new(variable, &select, self.held.deadline()))?;
        if planned.def.dtype.size_bytes().is_none() && planned.def.kind == ArrayKind::Scalar {
            // A text or a record: it came with the announcement, and has its own length.
            let bytes = self.held.value(variable)?.bytes.clone();
            return Ok((planned.def.dtype, planned.plan.result_shape(), bytes));
        }
        if planned.def.dtype == Dtype::Bytes {
            let records = self.records(variable, select)?;
            return Ok((planned.def.dtype, *records.shape(), records.into_bytes()));
        }
        let mut bytes = vec![0; planned.len_bytes().unwrap_or(usize::MAX)];
        fill::fill(&self.held, &planned, &mut bytes, self.held.deadline())?;
        Ok((planned.def.dtype, planned.plan.result_shape(), bytes))
    }

    /// As [`StepReader::get_bytes`], into memory of the caller's. Neither records nor texts go there.
    ///
    /// # Errors
    /// As [`StepReader::get`]; memory of another length than the elements have, of which texts and records have none.
    pub fn get_bytes_into(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        memory: &mut [u8],
    ) -> Result<(), ReadError> {
        let select = selection.into();
        let planned = source::planned(&self.held, Request::new(variable, &select, self.held.deadline()))?;
        let expected = planned.len_bytes().filter(|_| planned.def.dtype.size_bytes().is_some());
        if expected != Some(memory.len()) {
            let (step, variable, region) = (self.step(), variable.to_owned(), "the selection".to_owned());
            let (expected_bytes, found_bytes) = (expected.unwrap_or(0) as u64, memory.len() as u64);
            let wrong = Misuse::WrongLenBytes { step, variable, region, expected_bytes, found_bytes };
            return Err(self.held.misuse(wrong));
        }
        fill::fill(&self.held, &planned, memory, self.held.deadline())
    }

    /// As [`StepReader::get_bytes`], where they lie: without a copy on the terms of [`StepReader::view`]. Records and
    /// texts are copied.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn view_bytes(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<(Dtype, View<u8>), ReadError> {
        let select = selection.into();
        let planned = source::planned(&self.held, Request::new(variable, &select, self.held.deadline()))?;
        if planned.def.dtype.size_bytes().is_some() {
            let placed = locate::placed(&self.held, &planned, self.held.deadline().into())?;
            let shape = planned.plan.result_shape();
            if let Some(view) = placed.and_then(|part| View::of_payload(part, shape, self.held.hold())) {
                Counters::add(&self.held.shared.counters.views, 1);
                return Ok((planned.def.dtype, view));
            }
        }
        let (dtype, shape, bytes) = self.get_bytes(variable, select)?;
        Ok((dtype, View::of_vec(bytes, shape, self.held.hold())))
    }
}
