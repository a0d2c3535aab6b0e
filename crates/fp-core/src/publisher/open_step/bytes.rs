//! Blocks as bytes: what is checked of them, and how they get into the step. Every put ends here.

use crate::error::PutError;
use crate::error::misuse::Misuse;
use crate::publisher::open_step::OpenStep;
use crate::publisher::open_step::records::NO_TEXTS;
use crate::value::variable::Variable;
use fp_transport::Payload;
use fp_types::record::Records;
use fp_types::{ArrayKind, Dtype, Region};
use std::io;

impl OpenStep {
    /// Whether a block of this variable is to be stored.
    pub(crate) fn wants(&self, variable: &str) -> bool {
        self.keeps(variable) || (self.kept && self.sending.takes(variable))
    }

    /// Whether a block cannot stay outside of memory: something is made of it here, or it travels with the announcement.
    pub(crate) fn has_to_be_in_memory(&self, variable: &Variable) -> bool {
        let name = variable.name();
        let is_used = self.kept && (self.derives_from(name) || self.sending.takes(name));
        let has_parts = variable.records().is_some_and(|schema| !schema.is_plain());
        is_used || has_parts || variable.def.kind == ArrayKind::Scalar
    }

    /// A block that has to be in memory cannot be read.
    pub(crate) fn unreadable(&self, variable: &Variable, source: io::Error) -> PutError {
        self.note_failure(|| source.to_string());
        let (stream, variable) = (self.shared.stream.clone(), variable.name().to_owned());
        PutError::Unreadable { stream, step: self.step, variable, source }
    }

    /// Everything that can be wrong with the bytes of a block, before anything is copied.
    pub(crate) fn admit_bytes(
        &self,
        variable: &Variable,
        region: &Region,
        bytes: &[u8],
    ) -> Result<(), PutError> {
        match variable.records() {
            Some(schema) if !schema.is_plain() => {
                let count = usize::try_from(region.element_count()).unwrap_or(usize::MAX);
                let records = Records::new(schema, bytes, count);
                records.map_err(|error| self.no_records(variable, error.into()))?;
            }
            _ if variable.def.dtype == Dtype::String => self.check_text(variable, bytes)?,
            _ => return self.admit_len(variable, region, bytes.len()),
        }
        self.admit_region(variable, region)
    }

    /// The same of a block that has a length of its own to be told by its region.
    pub(crate) fn admit_len(
        &self,
        variable: &Variable,
        region: &Region,
        len_bytes: usize,
    ) -> Result<(), PutError> {
        let found_bytes = len_bytes as u64;
        let expected_bytes = self.len_bytes_of(variable, region)?;
        if expected_bytes != found_bytes {
            let (step, variable, region) = (self.step, variable.name().to_owned(), region.to_string());
            let wrong = Misuse::WrongLenBytes { step, variable, region, expected_bytes, found_bytes };
            return Err(self.misuse(wrong));
        }
        self.admit_region(variable, region)
    }

    /// How many bytes the elements of a region have.
    #[inline]
    pub(crate) fn len_bytes_of(&self, variable: &Variable, region: &Region) -> Result<u64, PutError> {
        match (variable.def.element_bytes(), variable.records()) {
            (_, Some(schema)) if !schema.is_plain() => Err(self.not_plain(variable, schema)),
            (Some(size), _) => Ok(region.element_count().saturating_mul(size as u64)),
            (None, _) => Err(self.wrong_kind(variable, NO_TEXTS)),
        }
    }

    fn check_text(&self, variable: &Variable, bytes: &[u8]) -> Result<(), PutError> {
        if variable.def.kind != ArrayKind::Scalar {
            return Err(self.wrong_kind(variable, NO_TEXTS));
        }
        let no_text = |_| self.misuse(Misuse::NoText { variable: variable.name().to_owned() });
        std::str::from_utf8(bytes).map(drop).map_err(no_text)
    }

    #[inline]
    fn admit_region(&self, variable: &Variable, region: &Region) -> Result<(), PutError> {
        self.check_block(variable, region)?;
        variable.records().map_or(Ok(()), |schema| self.learn(variable, schema))
    }

    /// Puts a copy of admitted bytes, made in the pool.
    pub(crate) fn put_slice(
        &mut self,
        variable: &Variable,
        region: &Region,
        bytes: &[u8],
    ) -> Result<(), PutError> {
        if variable.def.kind == ArrayKind::Scalar {
            return self.note_value(variable, region, bytes.to_vec());
        }
        match variable.records() {
            Some(schema) => self.copy_records(variable, schema, region, bytes),
            None => self.note_copy(variable, region, bytes, self.wants(variable.name())),
        }
    }

    /// Puts admitted elements that stay with their owner.
    pub(crate) fn put_owned(
        &mut self,
        variable: &Variable,
        region: &Region,
        owner: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<(), PutError> {
        if variable.def.kind == ArrayKind::Scalar {
            return self.note_value(variable, region, owner.as_ref().to_vec());
        }
        let payload = self.wants(variable.name()).then(|| Payload::from_owner(owner));
        self.note_payload(variable, region, payload)
    }
}
