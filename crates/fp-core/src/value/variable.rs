//! What a publisher puts: a variable with its element type and, for global arrays, its shape.

use crate::value::element::Element;
use fp_types::record::RecordSchema;
use fp_types::{
    ArrayKind, AttributeValue, Dims, Dtype, MemoryOrder, NameError, RecordId, Shape, VariableDef,
    VariableOrigin, validate_name,
};
use std::sync::Arc;

/// A variable as a publisher defines it. Cheap enough to clone for every step; its shape may change from step to
/// step.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::Variable;
///
/// let temperature = Variable::global::<f64>("temperature", &[512, 512])?.with_unit("K").with_dimensions(&["y", "x"]);
/// let particles = Variable::joined::<f32>("particles", &[3])?; // as many rows of three as the ranks put
/// let time = Variable::scalar::<f64>("time")?;
/// assert_eq!(temperature.shape().to_string(), "[512, 512]");
/// # let _ = (particles, time);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub(crate) def: Arc<VariableDef>,
    pub(crate) shape: Shape,
    /// What its elements are, if they are records.
    pub(crate) records: Option<RecordSchema>,
}

/// Why a variable cannot be defined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariableError {
    /// The name is none.
    #[error("variable name: {0}")]
    Name(NameError),
    /// More dimensions than there can be.
    #[error(transparent)]
    Dims(#[from] fp_types::TooManyDims),
    /// More elements than can be counted.
    #[error(transparent)]
    Shape(#[from] fp_types::ShapeTooLarge),
    /// Elements that have no size: a text is a global scalar, and opaque bytes are fields of records.
    #[error("elements of type {dtype} have no place in variable {variable:?}")]
    NoElements {
        /// The variable.
        variable: String,
        /// The element type.
        dtype: Dtype,
    },
    /// The type of its records is not there, or is another one.
    #[error(
        "variable {variable:?}: its records are of type {expected}, and the type that was given is {found}"
    )]
    Records {
        /// The variable.
        variable: String,
        /// The type that the definition names, or "none".
        expected: String,
        /// The type that was given, or "none".
        found: String,
    },
}

impl From<NameError> for VariableError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl Variable {
    /// One value for all ranks; of several ranks that put it in a step the highest rank's counts.
    ///
    /// # Errors
    /// The name is none: empty, longer than 255 bytes, with control characters, slashes or `[`.
    pub fn scalar<T: Element>(name: impl Into<String>) -> Result<Self, VariableError> {
        Self::named(VariableDef::scalar(name, T::DTYPE))
    }

    /// One text for all ranks, put by `StepWriter::put_text`.
    ///
    /// # Errors
    /// As [`Variable::scalar`].
    pub fn text(name: impl Into<String>) -> Result<Self, VariableError> {
        Self::named(VariableDef::scalar(name, Dtype::String))
    }

    /// One value of each rank.
    ///
    /// # Errors
    /// As [`Variable::scalar`].
    pub fn local_scalar<T: Element>(name: impl Into<String>) -> Result<Self, VariableError> {
        Self::named(VariableDef::local_scalar(name, T::DTYPE))
    }

    /// One array of `shape` (elements in each dimension); each rank puts regions of it.
    ///
    /// # Errors
    /// As [`Variable::scalar`]; more than 8 dimensions, or more than 2^63 elements.
    pub fn global<T: Element>(name: impl Into<String>, shape: &[u64]) -> Result<Self, VariableError> {
        let def = VariableDef::global_array(name, T::DTYPE, shape.len());
        Ok(Self { shape: Shape::new(Dims::from_slice(shape)?)?, ..Self::named(def)? })
    }

    /// An array of each put, of `ndims` dimensions and any extent.
    ///
    /// # Errors
    /// As [`Variable::scalar`].
    pub fn local<T: Element>(name: impl Into<String>, ndims: usize) -> Result<Self, VariableError> {
        Self::named(VariableDef::local_array(name, T::DTYPE, ndims))
    }

    /// One array that is the rows of all ranks, one after another along dimension 0. `row` are the extents of the other
    /// dimensions (none for a plain list).
    ///
    /// # Errors
    /// As [`Variable::scalar`]; more than 7 dimensions in `row`, or more than 2^63 elements.
    pub fn joined<T: Element>(name: impl Into<String>, row: &[u64]) -> Result<Self, VariableError> {
        let def = VariableDef::joined_array(name, T::DTYPE, row.len() + 1, 0);
        let mut dims = vec![0];
        dims.extend_from_slice(row);
        Ok(Self { shape: Shape::new(Dims::from_slice(&dims)?)?, ..Self::named(def)? })
    }

    /// A variable of a definition that was kept, such as in a file. `records` is the type of its records, where it has
    /// some. It can be put as any other, whatever it was in the step that it is known of.
    ///
    /// # Errors
    /// The name is none; records without their type, or of another one.
    pub fn from_definition(
        def: VariableDef,
        shape: Option<Shape>,
        records: Option<RecordSchema>,
    ) -> Result<Self, VariableError> {
        validate_name(&def.name)?;
        let found = records.as_ref().map(RecordId::from);
        if found.as_ref().map(|id| id.fingerprint) != def.record.as_ref().map(|id| id.fingerprint) {
            let said = |id: Option<RecordId>| id.map_or_else(|| "none".to_owned(), |id| id.name);
            let (variable, expected, found) = (def.name, said(def.record), said(found));
            return Err(VariableError::Records { variable, expected, found });
        }
        Ok(Self::of_definition(def, shape, records))
    }

    /// One to be put, whatever it was in the step that it is known of.
    pub(crate) fn of_definition(
        def: VariableDef,
        shape: Option<Shape>,
        records: Option<RecordSchema>,
    ) -> Self {
        let mut dims = shape.map_or_else(Dims::default, |shape| *shape.dims());
        if let ArrayKind::JoinedArray { joined_dim } = def.kind
            && let Some(rows) = dims.get_mut(usize::from(joined_dim))
        {
            *rows = 0;
        }
        // Never larger than what it was made of.
        let shape = Shape::new(dims).unwrap_or_else(|_| Shape::scalar());
        Self { shape, records, ..Self::shapeless(def.with_origin(VariableOrigin::Put)) }
    }

    /// Of a definition that somebody makes, whose name may be none.
    fn named(def: VariableDef) -> Result<Self, VariableError> {
        validate_name(&def.name)?;
        Ok(Self::shapeless(def))
    }

    pub(crate) fn shapeless(def: VariableDef) -> Self {
        Self { def: Arc::new(def), shape: Shape::scalar(), records: None }
    }

    /// The same in that memory order; default row-major.
    #[must_use]
    pub fn with_order(mut self, order: MemoryOrder) -> Self {
        Arc::make_mut(&mut self.def).order = order;
        self
    }

    /// The same with truth values in place of `u8`: bytes that are 0 or 1, put and taken as `u8`, which puts and gets
    /// check. A variable of other elements stays what it is.
    #[must_use]
    pub fn with_truth_values(mut self) -> Self {
        if self.def.dtype == Dtype::U8 {
            Arc::make_mut(&mut self.def).dtype = Dtype::Bool;
        }
        self
    }

    /// The same with elements of a type that is known only at run time, to be put by `StepWriter::put_bytes`.
    ///
    /// # Errors
    /// Opaque bytes; texts, unless it is a global scalar; a variable of records, which stay what they are.
    pub fn with_dtype(mut self, dtype: Dtype) -> Result<Self, VariableError> {
        let is_text = dtype == Dtype::String && self.def.kind == ArrayKind::Scalar;
        if self.records.is_some() || !(is_text || dtype.size_bytes().is_some()) {
            return Err(VariableError::NoElements { variable: self.def.name.clone(), dtype });
        }
        Arc::make_mut(&mut self.def).dtype = dtype;
        Ok(self)
    }

    /// The same with that unit.
    #[must_use]
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.def).unit = Some(unit.into());
        self
    }

    /// The same with that description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.def).description = Some(description.into());
        self
    }

    /// The same with one attribute more.
    #[must_use]
    pub fn with_attribute(mut self, name: impl Into<String>, value: impl Into<AttributeValue>) -> Self {
        Arc::make_mut(&mut self.def).attributes.insert(name.into(), value.into());
        self
    }

    /// The same with names for its dimensions, slowest first in row-major order.
    #[must_use]
    pub fn with_dimensions(mut self, names: &[&str]) -> Self {
        Arc::make_mut(&mut self.def).dimensions = names.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// The definition that travels.
    pub fn definition(&self) -> &VariableDef {
        &self.def
    }

    /// The global extent; of a joined array the rows are 0 here.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.def.name
    }

    /// The type of its records, if it has some.
    pub fn records(&self) -> Option<&RecordSchema> {
        self.records.as_ref()
    }

    pub(crate) fn row_elements(&self) -> u64 {
        self.shape.dims().as_slice().get(1..).unwrap_or_default().iter().product()
    }

    pub(crate) fn is_joined(&self) -> bool {
        matches!(self.def.kind, ArrayKind::JoinedArray { .. })
    }
}
