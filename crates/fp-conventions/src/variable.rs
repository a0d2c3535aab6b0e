//! A variable, as far as its publisher tells without data.

use fp_types::{ArrayKind, BlockId, Dtype, Region, Shape, VariableDef};

use crate::value::ScalarValue;

/// A variable of a step, as far as its publisher tells without data.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedVariable {
    /// Name, element type, kind, dimensions, attributes.
    pub def: VariableDef,
    /// The global extent; none of local arrays.
    pub shape: Option<Shape>,
    /// Every block with its region, by rank and then by put; those of local arrays begin at 0. None of scalars.
    pub blocks: Vec<(BlockId, Region)>,
    /// The value of a scalar of all ranks that is a text or a number.
    pub value: Option<ScalarValue>,
}

impl DescribedVariable {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.def.name
    }

    /// Whether its elements are integers.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(
            self.def.dtype,
            Dtype::I8
                | Dtype::I16
                | Dtype::I32
                | Dtype::I64
                | Dtype::U8
                | Dtype::U16
                | Dtype::U32
                | Dtype::U64
        ) && self.def.record.is_none()
    }

    /// Whether its elements are real numbers.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.def.dtype, Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64)
    }

    /// Whether its elements are numbers, complex ones among them.
    pub(crate) fn is_number(&self) -> bool {
        self.is_integer() || self.is_real() || matches!(self.def.dtype, Dtype::C32 | Dtype::C64)
    }

    /// Whether it is one array with a global shape.
    pub(crate) fn is_global_array(&self) -> bool {
        self.def.kind.is_global() && !self.def.kind.is_scalar()
    }

    /// Whether each block is a list of its own.
    pub(crate) fn is_local_list(&self) -> bool {
        self.def.kind == ArrayKind::LocalArray && self.def.ndims() == 1
    }

    /// In words: `local array of i64`.
    pub(crate) fn kind_text(&self) -> String {
        let elements =
            self.def.record.as_ref().map_or_else(|| self.def.dtype.to_string(), |id| id.name.clone());
        format!("a {} of {elements} with {} dimensions", self.def.kind, self.def.ndims())
    }
}
