//! A derivation: variables, what becomes of them, and how the result travels. A value that can be named, sent, compared
//! and planned with before any element is there.

mod attached;
mod canonical;
mod partial;
mod plan;
mod text;

pub use canonical::{DerivationDecodeError, DerivationId, MAX_DERIVATION_BYTES};
pub(crate) use partial::Content;
pub use partial::{Partial, PartialError};
pub use plan::{DerivationPlan, Derived};
pub use text::{ParseDerivationError, ParseFault};

use fp_types::{SelectionExpression, validate_name};

use crate::compression::Compression;
use crate::error::DeriveError;
use crate::expression::Expression;
use crate::limits::{MAX_INPUTS, MAX_OPERATIONS};
use crate::operation::{Extreme, ModuleCall, Operation, Reduction, Relation};
use crate::policy::ModuleHash;

/// What is to be derived, and from which variables.
///
/// Written as `vx, vy, vz | compute(sqrt(vx*vx + vy*vy + vz*vz)) | cast(f32) | lz4`: variables, operations from left to
/// right, and at the end how blocks are compressed, if they are. Equal derivations have equal [ids](Self::id).
///
/// ```
/// use fp_transform::Derivation;
///
/// let derivation: Derivation = "T | stride(2, 2) | cast(f32)".parse()?;
/// let built = Derivation::of(["T"])?.stride([2, 2])?.cast(fp_types::Dtype::F32)?;
/// assert_eq!(derivation.id(), built.id());
/// assert_eq!(built.to_string(), "T | stride(2, 2) | cast(f32)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    inputs: Vec<String>,
    operations: Vec<Operation>,
    compression: Option<Compression>,
}

impl Derivation {
    /// Of those variables, with nothing done to them yet.
    ///
    /// # Errors
    /// No variable, too many, or a name that none can have.
    pub fn of<N: Into<String>>(variables: impl IntoIterator<Item = N>) -> Result<Self, DeriveError> {
        let inputs: Vec<String> = variables.into_iter().map(Into::into).collect();
        if inputs.is_empty() || inputs.len() > MAX_INPUTS {
            return Err(DeriveError::InputCount { count: inputs.len() });
        }
        inputs.iter().try_for_each(|name| validate_name(name))?;
        Ok(Self { inputs, operations: Vec::new(), compression: None })
    }

    /// With one more operation.
    ///
    /// # Errors
    /// Too many operations, one behind an operation that gathers, or one whose numbers make no sense.
    pub fn then(mut self, operation: Operation) -> Result<Self, DeriveError> {
        if self.operations.len() == MAX_OPERATIONS {
            return Err(DeriveError::TooManyOperations { count: MAX_OPERATIONS + 1 });
        }
        if let Some(last) = self.operations.last().filter(|last| last.gathers()) {
            return Err(DeriveError::NotLast { operation: last.to_string() });
        }
        operation.check()?;
        self.operations.push(operation);
        Ok(self)
    }

    /// With an expression over the variables (or, behind another operation, over its one result, called `x`).
    ///
    /// # Errors
    /// Those of [`then`](Self::then), and of the expression, with the position.
    pub fn compute(self, expression: &str) -> Result<Self, DeriveError> {
        let expression = Expression::new(expression, &self.names())?;
        self.then(Operation::Compute(expression))
    }

    /// What expressions call the arrays at this point.
    fn names(&self) -> Vec<&str> {
        match self.operations.is_empty() {
            true => self.inputs.iter().map(String::as_str).collect(),
            false => vec!["x"],
        }
    }

    /// With the result as another element type.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn cast(self, dtype: fp_types::Dtype) -> Result<Self, DeriveError> {
        self.then(Operation::Cast(dtype))
    }

    /// With every so many elements, by global index.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn stride(self, steps: impl Into<fp_types::Dims>) -> Result<Self, DeriveError> {
        self.then(Operation::Stride(steps.into()))
    }

    /// With the elements of a region, as `[0:10, ::2]` selects them: one slice for each dimension.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn slice(self, region: SelectionExpression) -> Result<Self, DeriveError> {
        self.then(Operation::Slice(region))
    }

    /// With the means of regions of that extent.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn average(self, steps: impl Into<fp_types::Dims>) -> Result<Self, DeriveError> {
        self.then(Operation::Average(steps.into()))
    }

    /// With one number of all elements.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn reduce(self, reduction: Reduction) -> Result<Self, DeriveError> {
        self.then(Operation::Reduce(reduction))
    }

    /// With index and value of the least or the greatest element.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn locate(self, extreme: Extreme) -> Result<Self, DeriveError> {
        self.then(Operation::Locate(extreme))
    }

    /// With what two variables have to do with one another.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn relate(self, relation: Relation) -> Result<Self, DeriveError> {
        self.then(Operation::Relate(relation))
    }

    /// With blocks compressed on their way.
    ///
    /// # Errors
    /// A bound that makes no sense.
    pub fn compressed(mut self, compression: Compression) -> Result<Self, DeriveError> {
        self.compression = Some(compression.check()?);
        Ok(self)
    }

    /// With a module, or a registered function, that runs on each block.
    ///
    /// # Errors
    /// Those of [`then`](Self::then).
    pub fn module(self, call: ModuleCall) -> Result<Self, DeriveError> {
        self.then(Operation::Module(call))
    }

    /// The calls of modules, first to last.
    pub fn modules(&self) -> impl Iterator<Item = &ModuleCall> {
        self.calls().filter(|call| !call.is_registered())
    }

    /// The calls of registered functions, first to last.
    pub fn functions(&self) -> impl Iterator<Item = &ModuleCall> {
        self.calls().filter(|call| call.is_registered())
    }

    fn calls(&self) -> impl Iterator<Item = &ModuleCall> {
        self.operations
            .iter()
            .filter_map(|operation| if let Operation::Module(call) = operation { Some(call) } else { None })
    }

    /// With the hashes of the modules that are only named.
    ///
    /// # Errors
    /// [`DeriveError::NoModule`] of a name that is not known.
    pub fn with_modules(mut self, hash_of: impl Fn(&str) -> Option<ModuleHash>) -> Result<Self, DeriveError> {
        for operation in &mut self.operations {
            if let Operation::Module(call) = operation
                && !call.is_registered()
                && call.hash().is_none()
            {
                let hash = hash_of(call.name());
                let no_module = || DeriveError::NoModule { name: call.name().to_owned() };
                *call = call.clone().with_hash(hash.ok_or_else(no_module)?);
            }
        }
        Ok(self)
    }

    /// The variables.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// The operations, first to last.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Whether an operation must know where rows lie along that dimension. A rank does not know it of joined and local
    /// arrays: there this can only be derived where all rows are known.
    pub fn needs_rows(&self, dim: usize) -> bool {
        self.operations.iter().any(|operation| operation.needs_rows(dim))
    }

    /// How blocks of the result are compressed on their way.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_follows_what_gathers() {
        let maximum = Derivation::of(["T"]).unwrap().reduce(Reduction::Maximum).unwrap();
        let more = maximum.cast(fp_types::Dtype::F32);
        assert_eq!(more, Err(DeriveError::NotLast { operation: "max".into() }));
    }

    #[test]
    fn numbers_of_things_are_bounded() {
        let none: [&str; 0] = [];
        assert_eq!(Derivation::of(none), Err(DeriveError::InputCount { count: 0 }));
        assert!(Derivation::of(vec!["a"; MAX_INPUTS + 1]).is_err());
        assert!(matches!(Derivation::of(["a/b"]), Err(DeriveError::Name(_))));
        let mut long = Derivation::of(["a"]).unwrap();
        for _ in 0..MAX_OPERATIONS {
            long = long.compute("x + 1").or_else(|_| Derivation::of(["a"])?.compute("a + 1")).unwrap();
        }
        assert!(matches!(long.compute("x"), Err(DeriveError::TooManyOperations { .. })));
    }
}
