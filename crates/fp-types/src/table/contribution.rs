//! What one rank put in one step.

use std::sync::Arc;

use crate::layout::MAX_BLOCKS;
use crate::region::Region;
use crate::schema::{ArrayKind, MAX_VARIABLES, SchemaError, VariableDef};
use crate::shape::Shape;

/// What one rank put in one step: the blocks of each variable, without their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contribution {
    /// One entry for each variable that the rank put, in any order.
    pub variables: Vec<VariablePut>,
}

/// What one rank put of one variable in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VariablePut {
    /// What the variable is; all ranks must agree.
    pub def: Arc<VariableDef>,
    /// The global extent, on which all ranks must agree: of global arrays, and of them alone.
    pub shape: Option<Shape>,
    /// The blocks in the order in which they were put. Those of local and joined arrays start at 0: they have
    /// only an extent.
    pub blocks: Vec<Region>,
    /// How many bytes the blocks have in all. No part of the table: it may differ in every step.
    pub bytes: u64,
}

/// Why a contribution is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContributionError {
    /// A definition that breaks the rules.
    #[error(transparent)]
    Definition(#[from] SchemaError),
    /// More variables, or blocks of one, than there may be.
    #[error("{count} {what}, but at most {limit} are allowed")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// One variable twice.
    #[error("variable {variable:?}: it was put twice")]
    Duplicate {
        /// Its name.
        variable: String,
    },
    /// A global array without a shape, or anything else with one, or a shape of other dimensions.
    #[error("variable {variable:?}: {kind} of {ndims} dimensions does not go with {}", ShapeText(shape))]
    Shape {
        /// The variable's name.
        variable: String,
        /// Its kind.
        kind: ArrayKind,
        /// Its number of dimensions.
        ndims: usize,
        /// The shape given.
        shape: Option<Box<Shape>>,
    },
    /// A block has other dimensions or lies outside the shape. Or a block of a local or joined array does not start
    /// at 0.
    #[error("variable {variable:?}: block {index}, {region}, does not go with {}", ShapeText(shape))]
    Block {
        /// The variable's name.
        variable: String,
        /// Which of the rank's blocks, from 0.
        index: u32,
        /// Its region.
        region: Box<Region>,
        /// The shape given.
        shape: Option<Box<Shape>>,
    },
    /// A block that reaches past all coordinates, or has more elements than can be counted.
    #[error("variable {variable:?}: block {index} cannot be counted")]
    Uncountable {
        /// The variable's name.
        variable: String,
        /// Which of the rank's blocks, from 0.
        index: u32,
    },
}

/// Prints a shape that may be missing.
struct ShapeText<'a>(&'a Option<Box<Shape>>);

impl std::fmt::Display for ShapeText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(shape) => write!(f, "shape {shape}"),
            None => f.write_str("no shape"),
        }
    }
}

impl Contribution {
    /// How many bytes all blocks have; no more than can be counted.
    pub fn len_bytes(&self) -> u64 {
        self.variables.iter().fold(0, |sum, put| sum.saturating_add(put.bytes))
    }

    /// Checks every variable, and that none occurs twice.
    pub fn validate(&self) -> Result<(), ContributionError> {
        check_count("variables", self.variables.len(), MAX_VARIABLES)?;
        self.variables.iter().try_for_each(VariablePut::validate)?;
        self.check_names()
    }

    /// Checks that no variable occurs twice.
    pub(super) fn check_names(&self) -> Result<(), ContributionError> {
        let mut names: Vec<&str> = self.variables.iter().map(|put| put.def.name.as_str()).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map_or(Ok(()), |pair| Err(ContributionError::Duplicate { variable: pair[0].to_owned() }))
    }
}

impl VariablePut {
    /// Checks the definition, and that shape and blocks go with it.
    pub fn validate(&self) -> Result<(), ContributionError> {
        check_agreed(&self.def, self.shape)?;
        check_count("blocks", self.blocks.len(), MAX_BLOCKS)?;
        match self.blocks.iter().position(|region| !self.allows(region)) {
            Some(index) => Err(self.block_error(index)),
            None => Ok(()),
        }
    }

    /// What is to be said of the block at that place, which exists.
    pub(super) fn block_error(&self, index: usize) -> ContributionError {
        ContributionError::Block {
            variable: self.def.name.clone(),
            index: index as u32,
            region: self.blocks[index].into(),
            shape: self.shape.map(Box::new),
        }
    }

    /// Whether a block goes with definition and shape.
    fn allows(&self, region: &Region) -> bool {
        match self.shape {
            Some(shape) => region.fits(&shape),
            None => region.ndims() == self.def.ndims() && region.start().iter().all(|&start| start == 0),
        }
    }
}

/// Checks a definition, and that the shape goes with it.
pub(super) fn check_agreed(def: &VariableDef, shape: Option<Shape>) -> Result<(), ContributionError> {
    def.validate()?;
    let (ndims, kind) = (def.ndims(), def.kind);
    let fits = match (kind, shape) {
        (ArrayKind::GlobalArray, shape) => shape.is_some_and(|shape| shape.ndims() == ndims),
        (_, shape) => shape.is_none(),
    };
    if fits {
        return Ok(());
    }
    Err(ContributionError::Shape { variable: def.name.clone(), kind, ndims, shape: shape.map(Box::new) })
}

fn check_count(what: &'static str, count: usize, limit: usize) -> Result<(), ContributionError> {
    if count <= limit { Ok(()) } else { Err(ContributionError::TooMany { what, count, limit }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;

    #[test]
    fn blocks_and_shapes_are_checked() {
        let shape = Shape::new([4, 4]).unwrap();
        let region = Region::new([2, 0], [2, 4]).unwrap();
        let global = VariableDef::global_array("T", Dtype::F64, 2);
        let put = |def: &VariableDef, shape, region| {
            let put = VariablePut { def: def.clone().into(), shape, blocks: vec![region], bytes: 64 };
            Contribution { variables: vec![put] }.validate()
        };
        assert_eq!(put(&global, Some(shape), region), Ok(()));
        let missing = put(&global, None, region).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "variable \"T\": global array of 2 dimensions does not go with no shape"
        );
        let outside = put(&global, Some(shape), Region::new([3, 0], [2, 4]).unwrap()).unwrap_err();
        assert_eq!(outside.to_string(), "variable \"T\": block 0, [3:5, 0:4], does not go with shape [4, 4]");
        let local = VariableDef::local_array("L", Dtype::F64, 2);
        assert!(matches!(put(&local, None, region), Err(ContributionError::Block { .. })));
        assert!(matches!(put(&local, Some(shape), region), Err(ContributionError::Shape { .. })));
        assert_eq!(put(&local, None, Region::new([0, 0], [2, 4]).unwrap()), Ok(()));
    }

    #[test]
    fn one_variable_twice_is_refused() {
        let scalar = Region::new([], []).unwrap();
        let def = VariableDef::scalar("t", Dtype::F64);
        let put = VariablePut { def: def.into(), shape: None, blocks: vec![scalar], bytes: 8 };
        let twice = Contribution { variables: vec![put.clone(), put] };
        assert_eq!(twice.validate(), Err(ContributionError::Duplicate { variable: "t".into() }));
        assert_eq!(twice.len_bytes(), 16);
    }
}
