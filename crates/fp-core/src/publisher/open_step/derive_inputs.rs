//! What a rank has of the variables from which something is derived: global arrays in place, rows of its own, numbers.

use crate::publisher::open_step::OpenStep;
use crate::session::derive_failure::Failure;
use crate::session::deriver::Known;
use crate::value::derivation_inputs::{Inputs, Part, StackedRows, extent, together};
use fp_transform::{Array, Block, DeriveError};
use fp_transport::Payload;
use fp_types::record::ElementForm;
use fp_types::{ArrayKind, Dims, MemoryOrder, Region, Shape, VariablePut};
use std::sync::Arc;

/// A block as it was put: where it lies, and its bytes.
pub(crate) type PutBlock = (Region, Payload);

impl OpenStep {
    /// What this rank has of the variables; nothing if it has no block of any.
    pub(crate) fn inputs_of(&self, known: &Known) -> Result<Option<Inputs>, Failure> {
        let names = known.derivation.inputs();
        if let (Some(measure), [name]) = (&known.measure, names) {
            return if self.puts.get(name).is_some() {
                self.measured_input(name)
            } else {
                self.field_of(measure)
            };
        }
        let is_array =
            |name: &&String| self.puts.get(name).is_some_and(|put| put.def.kind != ArrayKind::Scalar);
        let Some(present) = names.iter().find(is_array) else { return Ok(None) };
        let (mut arrays, mut defs) = (Vec::with_capacity(names.len()), Vec::with_capacity(names.len()));
        for name in names {
            let missing = || Failure::Missing { present: present.clone(), missing: name.clone() };
            arrays.push(self.input(name)?.ok_or_else(missing)?);
            defs.extend(self.puts.get(name).map(|put| &*put.def));
        }
        let order = self.puts.get(present).map(|put| put.def.order).unwrap_or_default();
        Ok(Some(Inputs { arrays, field: None, order, together: together(defs)? }))
    }

    /// What this rank has of a variable that is measured. The value of a scalar is one element of each rank that puts it.
    fn measured_input(&self, name: &str) -> Result<Option<Inputs>, Failure> {
        let Some(put) = self.puts.get(name) else { return Ok(None) };
        let (order, together) = (put.def.order, Part::of(&put.def));
        if put.def.record.is_some() {
            return self.measured_field(name, put, "").map(Some);
        }
        Ok(self.input(name)?.map(|array| Inputs { arrays: vec![array], field: None, order, together }))
    }

    pub(crate) fn input(&self, name: &str) -> Result<Option<Array>, Failure> {
        let Some(put) = self.puts.get(name) else { return Ok(None) };
        match Part::of(&put.def) {
            Part::Value => self.input_value(name, put),
            Part::Placed => {
                let shape = put.shape.unwrap_or_default();
                Ok(Some(Array::new(put.def.dtype, shape, self.input_blocks(name, put)?)?))
            }
            Part::Rows { dim } => self.input_rows(name, put, dim),
        }
    }

    /// The value of a scalar, as this rank put it.
    fn input_value(&self, name: &str, put: &VariablePut) -> Result<Option<Array>, Failure> {
        let Some(value) = self.values.iter().find(|value| value.name == name) else { return Ok(None) };
        let (shape, order) = (Shape::scalar(), MemoryOrder::RowMajor);
        Ok(Some(Array::whole(put.def.dtype, shape, order, value.bytes.clone())?))
    }

    /// The blocks of a variable, as they were put.
    fn input_blocks(&self, name: &str, put: &VariablePut) -> Result<Vec<Block>, DeriveError> {
        let form = ElementForm::native(put.def.dtype);
        let blocks = self.deriving.iter().flat_map(|deriving| deriving.blocks_of(name));
        blocks
            .map(|(region, payload)| Block::shared(region, form, put.def.order, Arc::new(payload)))
            .collect()
    }

    /// The rows that this rank put, one put after another.
    fn input_rows(&self, name: &str, put: &VariablePut, dim: usize) -> Result<Option<Array>, Failure> {
        let form = ElementForm::native(put.def.dtype);
        let (extents, rows) = self.stacked(name, put, dim)?;
        let Some(dims) = extents else { return Ok(None) };
        let block = |(region, payload)| {
            Block::shared(region, form, put.def.order, Arc::new(payload)).map_err(Failure::from)
        };
        let blocks = rows.into_iter().map(block).collect::<Result<_, _>>()?;
        Ok(Some(Array::new(put.def.dtype, Shape::new(dims).map_err(DeriveError::from)?, blocks)?))
    }

    /// The blocks of rows that this rank put, one behind another, and their extents together, if there are any.
    pub(crate) fn stacked(
        &self,
        name: &str,
        put: &VariablePut,
        dim: usize,
    ) -> Result<(Option<Dims>, Vec<PutBlock>), Failure> {
        let (mut blocks, mut rows) = (Vec::new(), StackedRows::new(dim));
        for (region, payload) in self.deriving.iter().flat_map(|deriving| deriving.blocks_of(name)) {
            let count = extent(region.count(), &put.def);
            let differ = |(first, other): (Dims, Dims)| {
                let (variable, first, other) = (name.to_owned(), first.to_string(), other.to_string());
                Failure::Rows { variable, dim, first, other }
            };
            let region = Region::new(rows.push(count).map_err(differ)?, count).map_err(DeriveError::from)?;
            blocks.push((region, payload));
        }
        Ok((rows.extents(), blocks))
    }
}
