//! What is told with a step of why its subscriber gets it, with its texts as C reads them.

use crate::c_text::clean;
use crate::failure::Failure;
use crate::raw::as_len;
use crate::selection::padded;
use fp_core::{Judgement, Measured, MeasuredNumber};
use std::ffi::{CString, c_char};

/// A number that a condition looks at. The text is valid until the step is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MeasuredStruct {
    /// what was measured, as the condition writes it: `max(T[0:64, :])`
    pub measure: *const c_char,
    /// the number, rounded to 53 bits; counts are numbers, truth values 0 and 1. Not a number where there is none. Of a
    /// quantile what it is at least
    pub number: f64,
    /// 1 if there is a number, 0 if no rank put an element of it
    pub is_there: u32,
    /// number of dimensions of the place; 0 where there is no place
    pub ndims: u32,
    /// of a least or a greatest element of a global array: where it is, from 0. Of several the first in row-major order
    pub place: [u64; 8],
    /// of a quantile what it is at most; otherwise the number
    pub upper: f64,
}

/// What is told of a step, with its texts as C reads them.
pub(crate) struct Told {
    /// When the step was decided, in microseconds since the Unix epoch; 0 without a condition.
    pub(crate) decided_at_micros: u64,
    measured: Vec<(CString, Measured)>,
    /// Why it was not judged; empty if it was.
    pub(crate) unjudged: CString,
}

impl Told {
    /// What is told of a step; nothing where no number was looked at.
    pub(crate) fn new(judgement: Option<&Judgement>) -> Self {
        let Judgement { decided_at_micros, unjudged, measured } = judgement.cloned().unwrap_or_default();
        let unjudged = unjudged.map(|why| clean(&why.to_string())).unwrap_or_default();
        let named = |measured: Measured| (clean(&measured.measure), measured);
        Self { decided_at_micros, measured: measured.into_iter().map(named).collect(), unjudged }
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        self.measured.len() as u64
    }

    /// The number at an index.
    pub(crate) fn at(&self, index: u64) -> Result<MeasuredStruct, Failure> {
        let none = || Failure::beyond("measured number", index, self.measured.len());
        self.measured.get(as_len(index)).map(for_c).ok_or_else(none)
    }
}

fn for_c((measure, measured): &(CString, Measured)) -> MeasuredStruct {
    let place = measured.place.as_deref().unwrap_or_default();
    MeasuredStruct {
        measure: measure.as_ptr(),
        number: measured.number.map_or(f64::NAN, MeasuredNumber::as_f64),
        is_there: u32::from(measured.number.is_some()),
        ndims: u32::try_from(place.len()).unwrap_or(u32::MAX),
        place: padded(place),
        upper: measured.number.map_or(f64::NAN, MeasuredNumber::upper_f64),
    }
}
