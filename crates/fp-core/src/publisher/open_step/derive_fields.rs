//! What a rank has of a field of records that is measured: where each number lies, and the records as they were put.

use crate::publisher::open_step::OpenStep;
use crate::session::derive_failure::Failure;
use crate::value::derivation_inputs::{Inputs, Part, ndims};
use fp_transform::{DeriveError, FieldArray, FieldBlock};
use fp_transport::Payload;
use fp_types::record::RecordSchema;
use fp_types::{Dims, Measure, Region, Shape, VariablePut};
use std::sync::Arc;

impl OpenStep {
    /// What this rank has of the field that is measured, if there are such records.
    pub(crate) fn field_of(&self, measure: &Measure) -> Result<Option<Inputs>, Failure> {
        for (records, path) in measure.may_be_field() {
            match self.puts.get(records) {
                Some(put) if put.def.record.is_some() => {
                    return self.measured_field(records, put, path).map(Some);
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// A field of the records of a variable.
    pub(crate) fn measured_field(
        &self,
        name: &str,
        put: &VariablePut,
        path: &str,
    ) -> Result<Inputs, Failure> {
        let id = put.def.record.as_ref();
        let schema = id.and_then(|id| self.shared.server.types.find(id.fingerprint));
        let schema = schema.ok_or(DeriveError::NotNumbers { dtype: put.def.dtype })?;
        let failed = |r#source| Failure::Field { variable: name.to_owned(), r#source };
        let place = schema.place_of(path).map_err(failed)?;
        let (order, together) = (put.def.order, Part::of(&put.def));
        let (shape, blocks) = match together {
            Part::Value => (Shape::scalar(), self.value_of(name, &schema)),
            Part::Placed => (put.shape.unwrap_or_default(), self.blocks_of(name)),
            Part::Rows { dim } => {
                let (extents, blocks) = self.stacked(name, put, dim)?;
                let none = || Dims::filled(ndims(&put.def), 0).unwrap_or_default();
                (Shape::new(extents.unwrap_or_else(none)).map_err(DeriveError::from)?, blocks)
            }
        };
        let block =
            |(region, payload): (Region, Payload)| FieldBlock { region, order, payload: Arc::new(payload) };
        let blocks = blocks.into_iter().map(block).collect();
        let field = FieldArray::new((place, schema.size_bytes()), shape, blocks)?;
        Ok(Inputs { arrays: Vec::new(), field: Some(field), order, together })
    }

    fn blocks_of(&self, name: &str) -> Vec<(Region, Payload)> {
        self.deriving.iter().flat_map(|deriving| deriving.blocks_of(name)).collect()
    }

    /// The one record of a scalar, as this rank put it: its fixed part comes first.
    fn value_of(&self, name: &str, schema: &RecordSchema) -> Vec<(Region, Payload)> {
        let values = self.values.iter().filter(|value| value.name == name);
        let fixed =
            |bytes: &[u8]| Payload::from_owner(bytes[..schema.size_bytes().min(bytes.len())].to_vec());
        values.map(|value| (Region::whole(&Shape::scalar()), fixed(&value.bytes))).take(1).collect()
    }
}
