//! One step as text or as a line of JSON.

use std::io::{self, Write};

use fp_core::{ArrayKind, Dtype, Misuse, ReadError, Selection, Shape, StepReader, VariableInfo};
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use serde::Serialize;

use super::Showing;
use super::record::Fields;
use crate::arguments::Target;
use crate::element::Shown;
use crate::failure::Failure;
use crate::summary::VariableSummary;

/// A step without values, for programs.
#[derive(Serialize)]
struct StepLine {
    step: u64,
    /// Steps that were passed over since the line before.
    skipped: u64,
    variables: Vec<VariableSummary>,
}

/// Values of a step, for programs.
#[derive(Serialize)]
struct ValuesLine<'a, T> {
    step: u64,
    skipped: u64,
    variable: &'a str,
    /// The selection, with every end filled in.
    selection: String,
    dtype: &'static str,
    /// The record that the elements are.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a str>,
    /// The extent of what was selected.
    shape: &'a [usize],
    /// The elements, in row-major order.
    values: Vec<T>,
}

/// A step as a line of JSON.
pub(super) fn step_json(
    out: &mut impl Write,
    step: &StepReader,
    variables: &[VariableInfo],
) -> Result<(), Failure> {
    let variables = variables.iter().map(VariableSummary::new).collect();
    serde_json::to_writer(&mut *out, &StepLine { step: step.step().0, skipped: step.skipped(), variables })?;
    Ok(writeln!(out)?)
}

/// A step as a line of text.
pub(super) fn step_text(
    out: &mut impl Write,
    step: &StepReader,
    variables: &[VariableInfo],
) -> io::Result<()> {
    let brief: Vec<String> = variables.iter().map(|info| VariableSummary::new(info).brief()).collect();
    writeln!(out, "{}  {}", title(step), brief.join(", "))
}

/// `step 12`, and how many were passed over before it.
fn title(step: &StepReader) -> String {
    match step.skipped() {
        0 => format!("step {}", step.step()),
        skipped => format!("step {} ({skipped} skipped)", step.step()),
    }
}

/// The error for a variable that the step does not have.
pub(super) fn unknown(step: &StepReader, target: &Target, known: Vec<String>) -> ReadError {
    misuse(step, Misuse::UnknownVariable { step: step.step(), variable: target.variable.clone(), known })
}

fn misuse(step: &StepReader, source: Misuse) -> ReadError {
    ReadError::Misuse { stream: step.stream().to_owned(), source }
}

/// The selection that the user's expression means in this step.
pub(super) fn selection(
    step: &StepReader,
    target: &Target,
    info: &VariableInfo,
) -> Result<Selection, ReadError> {
    // A local array has no global shape; what can be selected of it without one resolves against anything.
    let shape = info.shape.unwrap_or_else(Shape::scalar);
    target.selection.resolve(&shape).map_err(|source| {
        let (number, variable) = (step.step(), target.variable.clone());
        misuse(step, Misuse::Selection { step: number, variable, source: Box::new(source) })
    })
}

/// The selected values of a variable, whatever their type.
pub(super) fn values(
    out: &mut impl Write,
    options: &Showing<'_>,
    step: &StepReader,
    info: &VariableInfo,
    selection: &Selection,
) -> Result<(), Failure> {
    let show = Show { options, step, info, selection };
    if info.def.record.is_some() {
        return show.records(out);
    }
    match info.def.dtype {
        Dtype::I8 => show.elements::<i8>(out),
        Dtype::I16 => show.elements::<i16>(out),
        Dtype::I32 => show.elements::<i32>(out),
        Dtype::I64 => show.elements::<i64>(out),
        Dtype::U8 | Dtype::Bool => show.elements::<u8>(out),
        Dtype::U16 => show.elements::<u16>(out),
        Dtype::U32 => show.elements::<u32>(out),
        Dtype::U64 => show.elements::<u64>(out),
        Dtype::F16 => show.elements::<f16>(out),
        Dtype::BF16 => show.elements::<bf16>(out),
        Dtype::F32 => show.elements::<f32>(out),
        Dtype::F64 => show.elements::<f64>(out),
        Dtype::C32 => show.elements::<Complex32>(out),
        Dtype::C64 => show.elements::<Complex64>(out),
        Dtype::String => show.text(out),
        dtype @ Dtype::Bytes => {
            let (stream, variable) = (options.stream.to_owned(), info.def.name.clone());
            Err(Failure::NotShown { stream, variable, dtype })
        }
    }
}

/// What is to be shown.
struct Show<'a> {
    options: &'a Showing<'a>,
    step: &'a StepReader,
    info: &'a VariableInfo,
    selection: &'a Selection,
}

impl Show<'_> {
    /// Fetches the elements and shows them.
    fn elements<T: Shown>(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (shape, elements) = self.fetch::<T>()?;
        if self.options.json {
            return self.json(out, &shape, elements.iter().map(Shown::to_json).collect());
        }
        self.head(out, &range(&elements))?;
        Ok(rows(out, &shape, &elements, self.options.values, Shown::to_text)?)
    }

    /// Shows a text, in quotes. There are no arrays of texts but in records.
    fn text(&self, out: &mut impl Write) -> Result<(), Failure> {
        let text = self.step.text(&self.info.def.name)?;
        if self.options.json {
            return self.json(out, &[], vec![text]);
        }
        self.head(out, "")?;
        Ok(rows(out, &[], &[text], self.options.values, |text| format!("{text:?}"))?)
    }

    /// Fetches records and shows them, a line each.
    fn records(&self, out: &mut impl Write) -> Result<(), Failure> {
        let set = self.step.records(&self.info.def.name, self.selection);
        let set = set?;
        let unread = |what: String| self.unreadable(what);
        let records = set.records().map_err(|error| unread(error.to_string()))?;
        let shown: Result<Vec<Fields>, _> = records.iter().map(|record| Fields::of(&record)).collect();
        let shown = shown.map_err(|error| unread(error.to_string()))?;
        if self.options.json {
            let shape: Vec<usize> = set.shape().dims().iter().map(|extent| *extent as usize).collect();
            return self.json(out, &shape, shown);
        }
        self.head(out, "")?;
        Ok(rows(out, &[], &shown, self.options.values, Fields::to_string)?)
    }

    /// The line above the values: step, variable, selection, unit, and what else there is to say.
    fn head(&self, out: &mut impl Write, more: &str) -> io::Result<()> {
        let unit = self.info.def.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        writeln!(out, "{}  {}{}{unit}{more}", title(self.step), self.info.def.name, self.selection)
    }

    /// Records that are none.
    fn unreadable(&self, what: String) -> Failure {
        let (stream, variable) = (self.options.stream.to_owned(), self.info.def.name.clone());
        Failure::Unreadable { stream, variable, what }
    }

    /// The selected elements with their extent. A scalar came with the step; everything else is fetched.
    fn fetch<T: Shown>(&self) -> Result<(Vec<usize>, Vec<T>), ReadError> {
        let name = &self.info.def.name;
        if self.info.def.kind == ArrayKind::Scalar {
            return Ok((Vec::new(), vec![self.step.scalar(name)?]));
        }
        let array = self.step.get_array::<T>(name, self.selection)?;
        Ok((array.shape().to_vec(), array.iter().copied().collect()))
    }

    /// The values as a line of JSON.
    fn json<V: Serialize>(
        &self,
        out: &mut impl Write,
        shape: &[usize],
        values: Vec<V>,
    ) -> Result<(), Failure> {
        let line = ValuesLine {
            step: self.step.step().0,
            skipped: self.step.skipped(),
            variable: &self.info.def.name,
            selection: self.selection.to_string(),
            dtype: self.info.def.dtype.name(),
            record: self.info.def.record.as_ref().map(|record| record.name.as_str()),
            shape,
            values,
        };
        serde_json::to_writer(&mut *out, &line)?;
        Ok(writeln!(out)?)
    }
}

/// The smallest, the largest and the mean of many elements.
fn range<T: Shown>(elements: &[T]) -> String {
    let magnitudes: Option<Vec<f64>> = elements.iter().map(Shown::magnitude).collect();
    let Some(magnitudes) = magnitudes.filter(|magnitudes| magnitudes.len() > 1) else { return String::new() };
    let lowest = magnitudes.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = magnitudes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = six_digits(magnitudes.iter().sum::<f64>() / magnitudes.len() as f64);
    format!("  {} values, min {lowest:?}, max {highest:?}, mean {mean:?}", magnitudes.len())
}

/// The number to six significant digits: a mean is exact to no more than that anyway.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// The elements, one line for each row of the last dimension, up to a limit.
fn rows<T>(
    out: &mut impl Write,
    shape: &[usize],
    elements: &[T],
    limit: usize,
    text: impl Fn(&T) -> String,
) -> io::Result<()> {
    let row_len = shape.last().copied().unwrap_or(1).max(1);
    let shown = &elements[..limit.min(elements.len())];
    for row in shown.chunks(row_len) {
        let texts: Vec<String> = row.iter().map(&text).collect();
        writeln!(out, "  {}", texts.join(" "))?;
    }
    match elements.len() - shown.len() {
        0 => Ok(()),
        more => writeln!(out, "  ... and {more} more (--values shows them)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(shape: &[usize], elements: &[f64], limit: usize) -> String {
        let mut out = Vec::new();
        rows(&mut out, shape, elements, limit, Shown::to_text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_are_lines_up_to_a_limit() {
        assert_eq!(printed(&[2, 2], &[1.0, 2.0, 3.0, 4.5], 9), "  1.0 2.0\n  3.0 4.5\n");
        let cut = printed(&[2, 2], &[1.0, 2.0, 3.0, 4.5], 3);
        assert_eq!(cut, "  1.0 2.0\n  3.0\n  ... and 1 more (--values shows them)\n");
        assert_eq!(printed(&[], &[7.0], 9), "  7.0\n");
        assert_eq!(printed(&[3, 0], &[], 9), "");
    }

    #[test]
    fn the_range_is_that_of_the_values() {
        assert_eq!(range(&[1u8, 2, 6]), "  3 values, min 1.0, max 6.0, mean 3.0");
        assert_eq!(range(&[0.1, 0.2, 0.6]), "  3 values, min 0.1, max 0.6, mean 0.3");
        assert_eq!(range(&[1u8]), "");
        assert_eq!(range(&[Complex32::new(1.0, 2.0); 2]), "");
    }
}
