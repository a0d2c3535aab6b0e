//! Scalars that are texts.

use super::StepReader;
use crate::error::ReadError;
use crate::misuse::Misuse;
use fp_types::Dtype;

impl StepReader {
    /// The value of a global scalar that is a text; it came with the announcement, nothing is fetched.
    ///
    /// # Errors
    /// The step has no such scalar, or of another type; it is no UTF-8.
    pub fn text(&self, variable: &str) -> Result<String, ReadError> {
        let value = self.value(variable)?;
        if value.dtype != Dtype::String {
            let (step, variable) = (self.step(), variable.to_owned());
            let (expected, found) = (value.dtype, Dtype::String);
            return Err(self.misuse(Misuse::WrongDtype { step, variable, expected, found }));
        }
        String::from_utf8(value.bytes.clone()).map_err(|_| ReadError::PeerMisbehaved {
            stream: self.stream().to_owned(),
            step: self.step(),
            rank: value.rank,
            what: format!("the text of {variable:?}, which is no UTF-8"),
        })
    }
}
