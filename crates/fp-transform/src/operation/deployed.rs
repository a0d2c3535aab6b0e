//! An operation that is not built in: a module that a subscriber hands over, or a function that is registered where it
//! is derived. What it gives is declared beforehand, so that shapes are planned without it. It is checked after the
//! run.

use std::fmt;

use fp_types::{Dims, Dtype, MemoryOrder, Region, Shape};

use super::{Found, OutputType};
use crate::alignment::{for_each_part, lead};
use crate::block::{Array, ArrayType, Block};
use crate::error::DeriveError;
use crate::expression::is_word;
use crate::foreign_code::RunModule;
use crate::memory::Memory;
use crate::policy::ModuleHash;

/// Where that which a call runs comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// Handed over with the derivation; which one it is is unknown as long as only its name is.
    HandedOver(Option<ModuleHash>),
    /// Registered on the side that derives.
    Registered,
}

/// The place of a module in a derivation, written `module(name)`, `module(name, f32)` or `module(name, f64, 3)`. The
/// place of a registered function is written likewise with `call`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleCall {
    /// What it is called. A module is called so where the derivation was written, and its name does not travel.
    name: String,
    origin: Origin,
    /// The element type of what it gives; that of the first variable if nothing is said.
    dtype: Option<Dtype>,
    /// A row of that shape for each block; otherwise a block of the same region for each.
    rows: Option<Dims>,
}

impl ModuleCall {
    /// A module that gives a block of the same region for each block: as many elements, of the same type.
    ///
    /// The name is the module's hash in 64 hex digits, or a name whose hash
    /// [`Derivation::with_modules`](crate::Derivation::with_modules) tells.
    pub fn new(name: impl Into<String>) -> Self {
        let name: String = name.into();
        Self { origin: Origin::HandedOver(name.parse().ok()), name, dtype: None, rows: None }
    }

    /// The same for a function that is registered under that name where it is derived
    /// ([`Transforms`](crate::Transforms)). Nothing is handed over, and the name travels.
    pub fn registered(name: impl Into<String>) -> Self {
        Self { origin: Origin::Registered, name: name.into(), dtype: None, rows: None }
    }

    /// With elements of that type.
    #[must_use]
    pub fn with_dtype(mut self, dtype: Dtype) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// With one row of that shape for each block, in whatever region the module gives it. Rows come together in the
    /// order in which the blocks lie in the array.
    #[must_use]
    pub fn with_rows(mut self, shape: impl Into<Dims>) -> Self {
        self.rows = Some(shape.into());
        self
    }

    pub(crate) fn with_hash(mut self, hash: ModuleHash) -> Self {
        self.origin = Origin::HandedOver(Some(hash));
        self
    }

    /// What it is called. For a module it is the hash, where the derivation came from another process.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which module it is, if that is known.
    pub fn hash(&self) -> Option<ModuleHash> {
        match self.origin {
            Origin::HandedOver(hash) => hash,
            Origin::Registered => None,
        }
    }

    /// Whether it is a registered function, and no module.
    pub fn is_registered(&self) -> bool {
        self.origin == Origin::Registered
    }

    pub(crate) fn dtype(&self) -> Option<Dtype> {
        self.dtype
    }

    pub(crate) fn rows(&self) -> Option<&Dims> {
        self.rows.as_ref()
    }

    /// Whether its numbers make sense.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let is_plain = !self.name.is_empty() && self.name.chars().all(is_word);
        let can_be_registered = fp_types::validate_name(&self.name).is_ok() && !self.name.contains('"');
        match (&self.rows, self.dtype) {
            _ if self.is_registered() && !can_be_registered => Some(
                "no function can be called so here: a name without quotes, slashes and brackets is wanted",
            ),
            _ if !self.is_registered() && !is_plain => Some("a module's name is a word, or 64 hex digits"),
            (_, Some(Dtype::String | Dtype::Bytes)) => Some("elements of a fixed size are wanted"),
            (Some(_), None) => Some("rows need an element type"),
            (Some(rows), _) if rows.is_empty() || rows.contains(&0) => Some("no extent may be 0"),
            (Some(rows), _) if rows.ndims() >= fp_types::MAX_DIMS => Some("too many dimensions"),
            _ => None,
        }
    }

    /// What comes out for arrays of the shape and, unless it is told otherwise, the elements of the first.
    pub(super) fn output(&self, first: &ArrayType) -> Result<OutputType, DeriveError> {
        let dtype = self.dtype.unwrap_or(first.dtype);
        let shape = match &self.rows {
            None => first.shape,
            Some(_) => self.rows_shape(first.shape.element_count())?,
        };
        Ok(OutputType { suffix: "", dtype, shape, at_most: self.rows.is_some() })
    }

    /// The shape of so many rows.
    pub(crate) fn rows_shape(&self, count: u64) -> Result<Shape, DeriveError> {
        let extents: Vec<u64> =
            std::iter::once(count).chain(self.rows.iter().flat_map(|rows| rows.iter().copied())).collect();
        let dims = Dims::from_slice(&extents)
            .map_err(|_| DeriveError::Setting { operation: self.to_string(), what: "too many dimensions" })?;
        Ok(Shape::new(dims)?)
    }

    /// The bytes of a row.
    pub(crate) fn row_bytes(&self) -> usize {
        let elements = self.rows.iter().flat_map(|rows| rows.iter()).product::<u64>();
        let size = self.dtype.and_then(Dtype::size_bytes).unwrap_or(1);
        usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(size)
    }

    /// Runs it on every block that the variables have in common; gives what comes of each, with the block of the first.
    fn run(
        &self,
        module: &dyn RunModule,
        inputs: &[Array],
        memory: &Memory,
        mut take: impl FnMut(&Block, Block) -> Result<(), DeriveError>,
    ) -> Result<(), DeriveError> {
        for_each_part(inputs, memory, |of, mut parts| {
            if of.region().is_empty() {
                return Ok(());
            }
            for part in &mut parts {
                *part = part.spread(of, memory)?;
                if self.is_registered() {
                    // A function that is stuck keeps what it got: that is to be nobody's memory but its own.
                    *part = part.copied(memory)?;
                }
            }
            let given = module.run(&parts)?;
            memory.charge(given.bytes().len() as u64)?;
            take(of, given)
        })
    }

    /// What came of a block, where that lies: a function knows no places. As many elements in one dimension are those
    /// of the block in its order.
    fn placed(&self, given: Block, of: &Block) -> Block {
        let (count, order, wanted) = (*given.region().count(), given.order(), *of.region().count());
        match () {
            () if !self.is_registered() => given,
            () if count == wanted => given.moved(*of.region(), order),
            () if count.ndims() == 1 && count[0] == of.region().element_count() => {
                given.moved(*of.region(), of.order())
            }
            () => given,
        }
    }

    /// One block for each.
    pub(crate) fn blocks(
        &self,
        module: &dyn RunModule,
        inputs: &[Array],
        to: ArrayType,
        memory: &Memory,
    ) -> Result<Array, DeriveError> {
        let mut blocks = Vec::new();
        self.run(module, inputs, memory, |of, block| {
            let (region, block) = (of.region(), self.placed(block, of));
            if block.region() != region || block.dtype() != to.dtype {
                let wanted = format!("{} {region}", to.dtype);
                return Err(self.wrong(&block, wanted));
            }
            blocks.push(block);
            Ok(())
        })?;
        Array::new(to.dtype, to.shape, blocks)
    }

    /// One row for each.
    pub(crate) fn rows_of(
        &self,
        module: &dyn RunModule,
        inputs: &[Array],
        to: ArrayType,
        memory: &Memory,
    ) -> Result<Found, DeriveError> {
        let mut found = Found::default();
        let first = inputs.get(lead(inputs.iter().map(|input| input.shape().ndims())));
        let whole = first.map(|first| Region::whole(first.shape()));
        self.run(module, inputs, memory, |of, block| {
            if block.dtype() != to.dtype || block.bytes().len() != self.row_bytes() {
                let rows = self.rows.unwrap_or_default();
                let elements = rows.iter().product::<u64>();
                return Err(self.wrong(&block, format!("{elements} of {}", to.dtype)));
            }
            let block = block.reordered(MemoryOrder::RowMajor, memory)?;
            let place =
                whole.and_then(|whole| whole.linear_offset(of.region().start(), MemoryOrder::RowMajor));
            found.push(place.unwrap_or(0), block.bytes());
            Ok(())
        })?;
        Ok(found)
    }

    fn wrong(&self, block: &Block, wanted: String) -> DeriveError {
        let given = format!("{} {}, {} bytes", block.dtype(), block.region(), block.bytes().len());
        let by = match self.origin {
            Origin::HandedOver(_) => "the module".to_owned(),
            Origin::Registered => format!("transform {:?}", self.name),
        };
        DeriveError::ModuleOutput { by, given, wanted }
    }
}

impl fmt::Display for ModuleCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::HandedOver(_) => write!(f, "module({}", self.name)?,
            Origin::Registered if self.name.chars().all(is_word) => {
                write!(f, "call({}", self.name)?;
            }
            Origin::Registered => write!(f, "call(\"{}\"", self.name)?,
        }
        self.dtype.iter().try_for_each(|dtype| write!(f, ", {dtype}"))?;
        self.rows.iter().flat_map(|rows| rows.iter()).try_for_each(|extent| write!(f, ", {extent}"))?;
        f.write_str(")")
    }
}
