//! How variables of all kinds go into a derivation, and where it has to be derived because of that.
//!
//! A rank knows where its blocks of a global array lie. Of joined and local arrays it knows its own rows only. Where
//! these lie among those of all ranks is known where a step is read. A local scalar is one row of each rank. A scalar is
//! one number, which goes with every element.

use fp_transform::{Array, ArrayType, Derivation, DeriveError, FieldArray, Operation};
use fp_types::{ArrayKind, Dims, Dtype, MemoryOrder, Shape, VariableDef};

/// What is known of where a variable's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Blocks of one array.
    Placed,
    /// Rows along that dimension.
    Rows { dim: usize },
    /// One number for all ranks.
    Value,
}

impl Part {
    pub(crate) fn of(def: &VariableDef) -> Self {
        match def.kind {
            ArrayKind::GlobalArray => Self::Placed,
            ArrayKind::Scalar => Self::Value,
            ArrayKind::LocalScalar => Self::Rows { dim: 0 },
            ArrayKind::JoinedArray { joined_dim } => Self::Rows { dim: usize::from(joined_dim) },
            // Rows of a local array are along the dimension that runs slowest: joined in memory as well.
            ArrayKind::LocalArray if def.order == MemoryOrder::ColumnMajor => {
                Self::Rows { dim: def.ndims().saturating_sub(1) }
            }
            ArrayKind::LocalArray => Self::Rows { dim: 0 },
        }
    }
}

/// What a rank has of the variables of a derivation.
pub(crate) struct Inputs {
    pub(crate) arrays: Vec<Array>,
    /// In their place what is measured, if that is a field of records.
    pub(crate) field: Option<FieldArray>,
    /// The memory order of the first that is an array.
    pub(crate) order: MemoryOrder,
    pub(crate) together: Part,
}

/// Variables that are not brought together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MixedInputs {
    #[error(
        "{placed:?} is a global array and {rows:?} is rows of each rank ({kind}): these are not brought together; publish both alike"
    )]
    Kinds { placed: String, rows: String, kind: ArrayKind },
    #[error("{first:?} has its rows along dimension {dim}, but {other:?} along dimension {other_dim}")]
    Dimensions { first: String, dim: usize, other: String, other_dim: usize },
}

/// What the variables of a derivation are together.
pub(crate) fn together<'d>(defs: impl IntoIterator<Item = &'d VariableDef>) -> Result<Part, MixedInputs> {
    let mut lead: Option<(&VariableDef, Part)> = None;
    for def in defs {
        let part = Part::of(def);
        let kinds = |placed: &VariableDef, rows: &VariableDef| MixedInputs::Kinds {
            placed: placed.name.clone(),
            rows: rows.name.clone(),
            kind: rows.kind,
        };
        match (lead, part) {
            (_, Part::Value) => {}
            (None, Part::Placed | Part::Rows { .. }) => lead = Some((def, part)),
            (Some((first, Part::Placed)), Part::Rows { .. }) => return Err(kinds(first, def)),
            (Some((first, Part::Rows { .. })), Part::Placed) => return Err(kinds(def, first)),
            (Some((first, Part::Rows { dim })), Part::Rows { dim: other_dim }) if dim != other_dim => {
                let (first, other) = (first.name.clone(), def.name.clone());
                return Err(MixedInputs::Dimensions { first, dim, other, other_dim });
            }
            (Some(_), Part::Placed | Part::Rows { .. }) => {}
        }
    }
    Ok(lead.map_or(Part::Value, |(_, part)| part))
}

/// Whether it is derived where the step is read, whatever was asked for: no rank knows enough of its own. All ranks of
/// both sides decide by this, and by the same definitions.
pub(crate) fn must_be_left(derivation: &Derivation, together: Part) -> bool {
    match together {
        Part::Placed => false,
        Part::Rows { dim } => derivation.needs_rows(dim),
        // It rides with the announcement, and each rank's would count once more.
        Part::Value => true,
    }
}

/// Whether less travels if rows do. How many there are differs from rank to rank, so only the sizes of elements decide:
/// the result has as many, and larger ones.
pub(crate) fn are_rows_better_left(
    derivation: &Derivation,
    inputs: &[(Dtype, usize)],
) -> Result<bool, DeriveError> {
    let changes_count = |operation: &Operation| {
        operation.gathers() || matches!(operation, Operation::Stride(_) | Operation::Slice(_))
    };
    if derivation.operations().iter().any(changes_count) {
        return Ok(false);
    }
    let (input_bytes, output_bytes) = derivation.plan(&of_one_element(inputs)?)?.len_bytes();
    Ok(input_bytes < output_bytes)
}

/// The types of variables with one element each.
pub(crate) fn of_one_element(inputs: &[(Dtype, usize)]) -> Result<Vec<ArrayType>, DeriveError> {
    let one = |&(dtype, ndims): &(Dtype, usize)| {
        let dims = Dims::filled(ndims, 1).unwrap_or_default();
        Ok(ArrayType { dtype, shape: Shape::new(dims)? })
    };
    inputs.iter().map(one).collect()
}

/// How many dimensions the variable has in a derivation: a local scalar is a row.
pub(crate) fn ndims(def: &VariableDef) -> usize {
    if def.kind == ArrayKind::LocalScalar { 1 } else { def.ndims() }
}

/// What an extent of a block says in a derivation: the block of a local scalar is a row.
pub(crate) fn extent(count: &Dims, def: &VariableDef) -> Dims {
    if def.kind == ArrayKind::LocalScalar { Dims::from([1]) } else { *count }
}

/// Blocks of rows as they lie one behind another.
pub(crate) struct StackedRows {
    dim: usize,
    /// The extents of the first block, 0 along the rows.
    others: Option<Dims>,
    rows: u64,
}

impl StackedRows {
    /// No rows yet; they lie along this dimension.
    pub(crate) fn new(dim: usize) -> Self {
        Self { dim, others: None, rows: 0 }
    }

    /// Where a block of these extents lies, behind those before; or the extents, without the rows, of the first block
    /// and of this one, where they differ.
    pub(crate) fn push(&mut self, count: Dims) -> Result<Dims, (Dims, Dims)> {
        let (mut others, mut start) = (count, count.zeros_like());
        (others[self.dim], start[self.dim]) = (0, self.rows);
        let first = *self.others.get_or_insert(others);
        if first != others {
            return Err((first, others));
        }
        self.rows = self.rows.saturating_add(count[self.dim]);
        Ok(start)
    }

    /// The extents of all blocks together; none if there is no block.
    pub(crate) fn extents(&self) -> Option<Dims> {
        let mut dims = self.others?;
        dims[self.dim] = self.rows;
        Some(dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn def(kind: ArrayKind) -> VariableDef {
        VariableDef { kind, ..VariableDef::local_array(kind.to_string(), Dtype::F64, 2) }
    }

    #[test]
    fn rows_and_global_arrays_are_not_brought_together() {
        let (global, local) = (def(ArrayKind::GlobalArray), def(ArrayKind::LocalArray));
        let (scalar, joined) = (def(ArrayKind::Scalar), def(ArrayKind::JoinedArray { joined_dim: 1 }));
        assert_eq!(together([&scalar, &global]), Ok(Part::Placed));
        assert_eq!(together([&local, &scalar]), Ok(Part::Rows { dim: 0 }));
        assert_eq!(together([&scalar]), Ok(Part::Value));
        assert_eq!(
            together([&local.with_order(MemoryOrder::ColumnMajor), &joined]),
            Ok(Part::Rows { dim: 1 })
        );
        let local = def(ArrayKind::LocalArray);
        assert!(matches!(together([&global, &local]), Err(MixedInputs::Kinds { .. })));
        assert!(matches!(together([&local, &global]), Err(MixedInputs::Kinds { .. })));
        assert!(matches!(
            together([&local, &joined]),
            Err(MixedInputs::Dimensions { dim: 0, other_dim: 1, .. })
        ));
    }

    #[test]
    fn rows_are_left_if_elements_grow() {
        let left = |text: &str| {
            let derivation: Derivation = text.parse().expect("a derivation");
            are_rows_better_left(&derivation, &[(Dtype::U8, 2)]).expect("a plan")
        };
        assert!(left("x | cast(f64)") && left("x | cast(f64) | lz4"));
        for text in
            ["x | cast(u8)", "x | cast(f64) | max", "x | histogram(0, 1, 9)", "x | slice(:, 5) | cast(f64)"]
        {
            assert!(!left(text), "{text}");
        }
    }
}
