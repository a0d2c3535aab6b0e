//! An HDF5 file for each step.

pub(crate) mod attributes;
pub(crate) mod compressed;
pub(crate) mod draft;
mod gathered;
pub(crate) mod placed_file;
pub(crate) mod shares;
pub(crate) mod step_sink;
pub(crate) mod types;

pub(crate) mod plain;

mod openpmd;

use fp_core::AttributeValue;

use crate::error::SinkError;
use crate::hdf5::draft::Draft;
use crate::hdf5::shares::Shares;
use crate::hdf5::step_sink::Layout;
use crate::taken_step::TakenStep;

/// Every variable under its own name, or as openPMD wants it.
pub(crate) struct AsItIs {
    /// What the files of all steps are called, as openPMD writes it.
    pub(crate) pattern: String,
    /// Whether arrays of numbers are compressed.
    pub(crate) compresses: bool,
}

impl Layout for AsItIs {
    fn lay_out(&self, step: &TakenStep, draft: &mut Draft, shares: &mut Shares) -> Result<(), SinkError> {
        let root = [
            ("stream", AttributeValue::Text(step.stream.clone())),
            ("step", AttributeValue::Unsigned(step.step.0)),
        ];
        let file = draft.path().to_owned();
        draft.compresses = self.compresses;
        let root = draft
            .group("")
            .and_then(|group| root.iter().try_for_each(|(name, value)| attributes::set(&group, name, value)));
        root.map_err(SinkError::format(&file))?;
        match openpmd::OpenPmd::of(step, &self.pattern) {
            Some(openpmd) => openpmd.lay_out(step, draft, shares),
            None => plain::lay_out(step, draft, shares),
        }
    }
}
