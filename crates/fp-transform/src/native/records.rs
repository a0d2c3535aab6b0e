//! Native transforms of records: Rust functions over values of Rust types, and how records are arrays.

use fp_types::record::{Record, RecordError, RecordSchema, Records, decode_records, encode_records};
use fp_types::{Dtype, MemoryOrder, Shape};

use super::{Native, NativeError};
use crate::block::Array;
use crate::error::DeriveError;

/// Encoded records as an array: of [`Dtype::Bytes`], of the shape that the records have.
///
/// # Errors
/// A shape that no array has.
pub fn record_array(
    shape: Shape,
    order: MemoryOrder,
    bytes: impl AsRef<[u8]> + Send + Sync + 'static,
) -> Result<Array, DeriveError> {
    Array::whole(Dtype::Bytes, shape, order, bytes)
}

impl Native {
    /// A function from all records of an array to records of another type, in one dimension, be they more or fewer. It
    /// is found by these types.
    ///
    /// # Errors
    /// A Rust type that is no record type.
    pub fn records<A: Record, B: Record>(
        name: impl Into<String>,
        function: impl Fn(&[A]) -> Result<Vec<B>, NativeError> + Send + Sync + 'static,
    ) -> Result<Self, RecordError> {
        let native = Self::new(name, move |inputs: &[Array]| {
            let (array, records) = decode::<A>(inputs)?;
            let given = function(&records)?;
            let shape = Shape::new([given.len() as u64])?;
            Ok(vec![record_array(shape, array.order, encode_records(&given)?)?])
        });
        Ok(native.with_schemas(&A::schema()?, &B::schema()?))
    }

    /// A function from each record to one of another type: who selects some has only these transformed.
    ///
    /// # Errors
    /// As [`Native::records`].
    pub fn each_record<A: Record, B: Record>(
        name: impl Into<String>,
        function: impl Fn(&A) -> Result<B, NativeError> + Send + Sync + 'static,
    ) -> Result<Self, RecordError> {
        let native = Self::new(name, move |inputs: &[Array]| {
            let (array, records) = decode::<A>(inputs)?;
            let given = records.iter().map(&function).collect::<Result<Vec<B>, _>>()?;
            Ok(vec![record_array(array.shape, array.order, encode_records(&given)?)?])
        });
        Ok(native.with_schemas(&A::schema()?, &B::schema()?).one_by_one())
    }

    /// To be found by the record types that it leads from and to.
    pub fn with_schemas(self, from: &RecordSchema, to: &RecordSchema) -> Self {
        Self { schemas: Some((from.clone(), to.clone())), ..self.with_types(from, to) }
    }

    /// What it gives of blocks, one after the other, is what it gives of all. So a publisher may run it on blocks as
    /// they are put.
    pub fn per_block(mut self) -> Self {
        self.is_per_block = true;
        self
    }

    /// To be asked for by name alone, and found by its types no more. So several may lead from one type to another, or
    /// one from a type to itself.
    pub fn by_name_only(mut self) -> Self {
        self.types = None;
        self
    }

    /// Each record that it gives is made of one alone, and in the same order.
    pub fn one_by_one(mut self) -> Self {
        self.is_one_by_one = true;
        self
    }
}

/// How the records of an array lie.
struct Lies {
    shape: Shape,
    order: MemoryOrder,
}

/// The records of the one array that there is.
fn decode<T: Record>(inputs: &[Array]) -> Result<(Lies, Vec<T>), NativeError> {
    let [array] = inputs else { return Err(format!("{} arrays instead of one", inputs.len()).into()) };
    let [block] = array.blocks() else {
        return Err(format!("{} blocks instead of one", array.blocks().len()).into());
    };
    let (schema, count) = (T::schema()?, usize::try_from(array.shape().element_count())?);
    let records = decode_records(&Records::new(&schema, block.bytes(), count)?)?;
    Ok((Lies { shape: *array.shape(), order: block.order() }, records))
}
