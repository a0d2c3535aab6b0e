//! Scalars that are texts: they ride with the announcement of the step, as all global scalars do.

use super::StepWriter;
use crate::error::PutError;
use crate::variable::Variable;
use fp_proto::message::ScalarValue;
use fp_types::{ArrayKind, Dtype, Region, Shape};

impl StepWriter {
    /// Puts the value of a scalar that is a text, made by [`Variable::text`].
    ///
    /// # Errors
    /// Another type or kind of variable; put twice. Scalars that are longer than 4096 bytes together, names included, fail at the step's end.
    pub fn put_text(&mut self, variable: &Variable, text: &str) -> Result<(), PutError> {
        self.check_dtype(variable, Dtype::String)?;
        if variable.def.kind != ArrayKind::Scalar {
            return Err(self.wrong_kind(variable, "texts are global scalars"));
        }
        let region = Region::whole(&Shape::scalar());
        self.check_known(variable, &region)?;
        let (name, rank) = (variable.name().to_owned(), self.rank());
        self.values.push(ScalarValue { name, rank, dtype: Dtype::String, bytes: text.as_bytes().to_vec() });
        self.note(variable, &region, None)
    }
}
