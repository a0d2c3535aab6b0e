//! Taking records of a step: as they lie where the types are equal, converted where they are compatible.

use crate::data::taker::fetch_plan::element_count;
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::error::record::RecordProblem;
use crate::error::record_block::RecordBlockError;
use crate::records::block::plain_schema;
use crate::records::set::RecordSet;
use crate::step::held::HeldStep;
use crate::step::records::matched::may_be_of_type;
use crate::step::records::{matched, record_type, take, taken};
use crate::step::request::RecordRequest;
use crate::step::{StepReader, fill, locate};
use crate::value::counters::Counters;
use crate::value::limit::Limit;
use crate::value::select::Select;
use crate::value::view::View;
use bytemuck::Pod;
use fp_types::record::{Record, RecordSchema, decode_records};

impl StepReader {
    /// Takes the selected records into `destination`, as those of a type without lists and texts. `destination` has as
    /// many bytes as the records, which lie there as that type says. Where the publisher's type is the same, nothing is
    /// done for each.
    ///
    /// # Errors
    /// As [`StepReader::get_records`]; a type with lists or texts; another number of bytes.
    pub fn get_record_bytes(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        wanted: &RecordSchema,
        destination: &mut [u8],
    ) -> Result<(), ReadError> {
        if !wanted.is_plain() {
            let error = RecordBlockError::NotPlain { record: wanted.record().name.clone() };
            return Err(self.held.problem(variable, RecordProblem::Type(error)));
        }
        let (limit, select): (Limit<'_>, Select) = (self.held.deadline().into(), selection.into());
        let request = RecordRequest { variable, select: &select, wanted: Some(wanted), limit };
        let matched = match matched::matched(&self.held, request) {
            Ok(matched) => Some(matched).filter(|of| of.conversion.is_none() && of.found.is_plain()),
            Err(error) if may_be_of_type(&error) => None,
            Err(error) => return Err(error),
        };
        if let Some(matched) = matched {
            check_room(&self.held, variable, element_count(&matched.planned), wanted, destination.len())?;
            return fill::fill(&self.held, &matched.planned, destination, limit.deadline);
        }
        let set = take::take_records(&self.held, request)?;
        check_room(&self.held, variable, set.count(), wanted, destination.len())?;
        destination.copy_from_slice(set.as_bytes());
        Ok(())
    }

    /// The type of a variable's records, whether it was subscribed to or not. Asks the publisher if it is not known
    /// yet; at most `fetch_timeout`.
    ///
    /// # Errors
    /// Unknown variable; no records; a lost publisher; time.
    pub fn record_schema(&self, variable: &str) -> Result<RecordSchema, ReadError> {
        let limit = self.held.deadline().into();
        let received =
            self.held.shared.options.transformed_variable(variable).map(|asked| asked.result.clone());
        let table = self.held.table(self.held.deadline())?;
        let entry = table.entry(received.as_deref().unwrap_or(variable));
        let entry = entry.ok_or_else(|| self.held.unknown(&table, variable))?;
        record_type::type_of(&self.held, &entry.def, None, limit)
    }

    /// The selected records, as values of a Rust type: in row-major order unless [`Select::with_order`] says otherwise.
    /// Where the publisher's type is another one, they are converted: fields by name, numbers to types that hold them
    /// (to any with [`Select::with_conversion`]).
    ///
    /// Where there is no conversion, transforms of
    /// [`SubscriberOptions::with_transforms`](crate::SubscriberOptions::with_transforms) are looked for that lead to
    /// the type. All records go through the cheapest path of them, once in a step however often they are asked for. The
    /// selection is of what comes out; selections of blocks and ranks say what goes in instead. The publisher's own
    /// transforms ([`PublisherOptions::with_transforms`](crate::PublisherOptions::with_transforms)) count as well. Its
    /// ranks run them, block by block, when they are first asked for in a step, and only what comes out crosses.
    ///
    /// # Errors
    /// As [`StepReader::get`]; no conversion, with everything that the types differ in; values that are none; a
    /// transform that fails, panics or runs too long.
    pub fn get_records<T: Record>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<Vec<T>, ReadError> {
        let wanted = T::schema().map_err(|error| self.held.problem(variable, error.into()))?;
        let set = self.records_as(variable, selection, &wanted)?;
        let read = set.records().map_err(RecordProblem::from);
        let read = read.and_then(|records| Ok(decode_records(&records)?));
        Counters::add(&self.held.shared.counters.handled_records, set.count());
        read.map_err(|problem| self.held.problem(variable, problem))
    }

    /// The selected records where they lie, as values of a Rust type that lies in memory as its record does. Nothing is
    /// done for each, and nothing is copied where [`StepReader::view`] copies nothing. Where the publisher's type is
    /// another one, they are converted, into memory of the view's own.
    ///
    /// # Errors
    /// As [`StepReader::get_records`]; a Rust type that lies otherwise.
    pub fn view_records<T: Record + Pod>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<View<T>, ReadError> {
        let limit = self.held.deadline().into();
        let wanted = plain_schema::<T>().map_err(|error| self.held.problem(variable, error.into()))?;
        let select = selection.into();
        let request = RecordRequest { variable, select: &select, wanted: Some(&wanted), limit };
        if let Some(set) = take::by_transforms(&self.held, request)? {
            return Ok(take::view_of(&self.held, &set));
        }
        let matched = match matched::matched(&self.held, request) {
            Ok(matched) => matched,
            Err(error) => {
                let set = take::or_there(&self.held, request, error)?;
                return Ok(take::view_of(&self.held, &set));
            }
        };
        if matched.conversion.is_none()
            && let Some(payload) = locate::placed(&self.held, &matched.planned, limit)?
            && let Some(view) =
                View::of_payload(payload, matched.planned.plan.result_shape(), self.held.hold())
        {
            Counters::add(&self.held.shared.counters.views, 1);
            return Ok(view);
        }
        let shape = matched.planned.plan.result_shape();
        let mut records = vec![T::zeroed(); element_count(&matched.planned)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut records);
        match matched.conversion {
            None => fill::fill(&self.held, &matched.planned, bytes, limit.deadline)?,
            Some(_) => {
                let set = taken::taken(&self.held, request, matched)?;
                // Of equal length, as both are so many records of the wanted type.
                bytes.copy_from_slice(set.as_bytes());
            }
        }
        Ok(View::of_vec(records, shape, self.held.hold()))
    }

    /// The selected records, of whatever type the publisher gave them: for those who learn it at run time. Not copied
    /// where [`StepReader::view`] copies nothing.
    ///
    /// # Errors
    /// As [`StepReader::get_records`].
    pub fn records(&self, variable: &str, selection: impl Into<Select>) -> Result<RecordSet, ReadError> {
        let (limit, select) = (self.held.deadline().into(), selection.into());
        take::take_records(&self.held, RecordRequest { variable, select: &select, wanted: None, limit })
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
        let (limit, select) = (self.held.deadline().into(), selection.into());
        take::take_records(
            &self.held,
            RecordRequest { variable, select: &select, wanted: Some(wanted), limit },
        )
    }
}

fn check_room(
    held: &HeldStep,
    variable: &str,
    count: usize,
    wanted: &RecordSchema,
    len_bytes: usize,
) -> Result<(), ReadError> {
    let size = wanted.size_bytes();
    if count.checked_mul(size) == Some(len_bytes) {
        return Ok(());
    }
    let (step, variable, region) = (held.step(), variable.to_owned(), "the selection".to_owned());
    let (expected, found) = (count as u64, (len_bytes / size) as u64);
    Err(held.shared.misuse(Misuse::WrongLen { step, variable, region, expected, found }))
}
