//! The canonical bytes of a record type: what its fingerprint is the hash of, and what crosses a link.
//!
//! Numbers are little-endian; a text is its length (4 bytes) and UTF-8; what may be missing has a byte 0 or 1 before
//! it. One type and byte order has one form, and everything else is refused.
//!
//! The bytes that cross are the ones that are hashed. So a receiver checks that it got the type it asked for, and
//! hostile bytes meet one decoder alone. Types are trees, not lists by name: no small input unfolds into a large type
//! (`docs/decisions/0022-a-record-type-has-one-canonical-form.md`).

use super::byte_order::ByteOrder;
use super::check::{MAX_RECORD_DEPTH, MAX_RECORD_FIELDS, MAX_VARIANTS, RecordError};
use super::types::{EnumType, Extent, Field, FieldElement, RecordType};
use crate::attribute::{AttributeValue, Real};
use crate::dims::{Dims, MAX_DIMS};
use crate::dtype::{Dtype, UnknownDtype};
use crate::order::MemoryOrder;
use crate::shape::Shape;

/// The longest canonical form that is decoded.
pub const MAX_RECORD_TYPE_BYTES: usize = 1 << 22;

/// The version of this form.
const VERSION: u8 = 1;

/// Why bytes are no record type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordDecodeError {
    /// Longer than [`MAX_RECORD_TYPE_BYTES`].
    #[error("a record type of {len_bytes} bytes is longer than {MAX_RECORD_TYPE_BYTES}")]
    TooLong {
        /// How long it is.
        len_bytes: usize,
    },
    /// The bytes end before the type does.
    #[error("the bytes end at {offset}, where {needed} more are needed")]
    Truncated {
        /// Where they end.
        offset: usize,
        /// How many are missing at least.
        needed: usize,
    },
    /// Bytes after the end.
    #[error("{len_bytes} bytes follow the record type")]
    Trailing {
        /// How many.
        len_bytes: usize,
    },
    /// A number that stands for nothing.
    #[error("no {what} has the number {number}")]
    UnknownNumber {
        /// What it was to be.
        what: &'static str,
        /// The number.
        number: u8,
    },
    /// A text that is no UTF-8.
    #[error("the text at {offset} is no UTF-8")]
    Utf8 {
        /// Where it starts.
        offset: usize,
    },
    /// More of something than there may be.
    #[error("{count} {what}, but at most {limit} are allowed")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A shape with more elements than can be counted.
    #[error("a shape with more elements than can be counted")]
    Shape,
    /// A whole type that is not allowed.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl From<UnknownDtype> for RecordDecodeError {
    fn from(unknown: UnknownDtype) -> Self {
        Self::UnknownNumber { what: "element type", number: unknown.number }
    }
}

/// The canonical bytes of a checked type.
pub(super) fn encode(record: &RecordType, byte_order: ByteOrder) -> Vec<u8> {
    let mut out = Sink(vec![VERSION, byte_order.as_u8()]);
    out.record(record);
    out.0
}

/// The type that these bytes are, not yet checked.
pub(super) fn decode(bytes: &[u8]) -> Result<(RecordType, ByteOrder), RecordDecodeError> {
    if bytes.len() > MAX_RECORD_TYPE_BYTES {
        return Err(RecordDecodeError::TooLong { len_bytes: bytes.len() });
    }
    let mut source = Source { bytes, offset: 0, fields: 0 };
    match source.byte()? {
        VERSION => {}
        number => return Err(RecordDecodeError::UnknownNumber { what: "version of record types", number }),
    }
    let number = source.byte()?;
    let unknown = RecordDecodeError::UnknownNumber { what: "byte order", number };
    let byte_order = ByteOrder::from_u8(number).ok_or(unknown)?;
    let record = source.record(1)?;
    match bytes.len() - source.offset {
        0 => Ok((record, byte_order)),
        len_bytes => Err(RecordDecodeError::Trailing { len_bytes }),
    }
}

/// Where bytes go.
struct Sink(Vec<u8>);

impl Sink {
    fn byte(&mut self, number: u8) {
        self.0.push(number);
    }

    fn count(&mut self, count: usize) {
        self.0.extend((count as u32).to_le_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    fn optional(&mut self, text: Option<&str>) {
        self.byte(u8::from(text.is_some()));
        text.into_iter().for_each(|text| self.text(text));
    }

    fn record(&mut self, record: &RecordType) {
        self.text(&record.name);
        self.optional(record.description.as_deref());
        self.count(record.fields.len());
        record.fields.iter().for_each(|field| self.field(field));
    }

    fn field(&mut self, field: &Field) {
        self.text(&field.name);
        match &field.element {
            FieldElement::Dtype(dtype) => self.0.extend([0, dtype.as_u8()]),
            FieldElement::Enum(names) => {
                self.byte(1);
                self.names(names);
            }
            FieldElement::Record(record) => {
                self.byte(2);
                self.record(record);
            }
        }
        match &field.extent {
            Extent::One => self.byte(0),
            Extent::Fixed(shape, order) => {
                self.0.extend([1, shape.ndims() as u8]);
                shape.dims().as_slice().iter().for_each(|&len| self.number(len));
                self.byte(order.as_u8());
            }
            Extent::Variable => self.byte(2),
            Extent::SizedBy(length) => {
                self.byte(3);
                self.text(length);
            }
        }
        self.byte(u8::from(field.optional));
        self.default(field.default.as_ref());
        let texts = [&field.unit, &field.description, &field.indexes];
        texts.into_iter().for_each(|text| self.optional(text.as_deref()));
    }

    fn names(&mut self, names: &EnumType) {
        self.text(&names.name);
        self.byte(names.dtype.as_u8());
        self.count(names.variants.len());
        for (name, number) in &names.variants {
            self.text(name);
            self.number(*number as u64);
        }
    }

    /// Of the kinds of attributes only these pass the check of defaults.
    fn default(&mut self, value: Option<&AttributeValue>) {
        match value {
            Some(AttributeValue::Bool(value)) => self.0.extend([1, u8::from(*value)]),
            Some(AttributeValue::Integer(number)) => self.tagged(2, *number as u64),
            Some(AttributeValue::Unsigned(number)) => self.tagged(3, *number),
            Some(AttributeValue::Real(number)) => self.tagged(4, number.0.to_bits()),
            Some(AttributeValue::Text(text)) => {
                self.byte(5);
                self.text(text);
            }
            Some(_) | None => self.byte(0),
        }
    }

    fn tagged(&mut self, tag: u8, number: u64) {
        self.byte(tag);
        self.number(number);
    }
}

/// Where bytes come from.
struct Source<'a> {
    bytes: &'a [u8],
    offset: usize,
    /// How many fields were met so far.
    fields: usize,
}

impl<'a> Source<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], RecordDecodeError> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let needed = len.saturating_sub(rest.len());
        let truncated = RecordDecodeError::Truncated { offset: self.bytes.len(), needed };
        let taken = rest.get(..len).ok_or(truncated)?;
        self.offset += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordDecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, RecordDecodeError> {
        self.array().map(|[byte]| byte)
    }

    fn number(&mut self) -> Result<u64, RecordDecodeError> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Result<bool, RecordDecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            number => Err(RecordDecodeError::UnknownNumber { what: "presence", number }),
        }
    }

    fn count(&mut self, what: &'static str, limit: usize) -> Result<usize, RecordDecodeError> {
        let count = u32::from_le_bytes(self.array()?) as usize;
        let too_many = RecordDecodeError::TooMany { what, count, limit };
        (count <= limit).then_some(count).ok_or(too_many)
    }

    fn text(&mut self) -> Result<String, RecordDecodeError> {
        let len = self.count("bytes in a text", MAX_RECORD_TYPE_BYTES)?;
        let offset = self.offset;
        let text = std::str::from_utf8(self.take(len)?);
        text.map(str::to_owned).map_err(|_| RecordDecodeError::Utf8 { offset })
    }

    fn optional(&mut self) -> Result<Option<String>, RecordDecodeError> {
        if self.flag()? { self.text().map(Some) } else { Ok(None) }
    }

    fn dtype(&mut self) -> Result<Dtype, RecordDecodeError> {
        Ok(Dtype::try_from(self.byte()?)?)
    }

    fn record(&mut self, depth: usize) -> Result<RecordType, RecordDecodeError> {
        let name = self.text()?;
        if depth > MAX_RECORD_DEPTH {
            return Err(RecordError::TooDeep { place: name }.into());
        }
        let description = self.optional()?;
        let count = self.count("fields", MAX_RECORD_FIELDS)?;
        self.fields += count;
        if self.fields > MAX_RECORD_FIELDS {
            return Err(RecordError::TooManyFields { place: name }.into());
        }
        let mut fields = Vec::new();
        for _ in 0..count {
            fields.push(self.field(depth)?);
        }
        Ok(RecordType { name, description, fields })
    }

    fn field(&mut self, depth: usize) -> Result<Field, RecordDecodeError> {
        Ok(Field {
            name: self.text()?,
            element: self.element(depth)?,
            extent: self.extent()?,
            optional: self.flag()?,
            default: self.default()?,
            unit: self.optional()?,
            description: self.optional()?,
            indexes: self.optional()?,
        })
    }

    fn element(&mut self, depth: usize) -> Result<FieldElement, RecordDecodeError> {
        match self.byte()? {
            0 => Ok(FieldElement::Dtype(self.dtype()?)),
            1 => Ok(FieldElement::Enum(self.names()?)),
            2 => Ok(FieldElement::Record(self.record(depth + 1)?)),
            number => Err(RecordDecodeError::UnknownNumber { what: "kind of element", number }),
        }
    }

    fn names(&mut self) -> Result<EnumType, RecordDecodeError> {
        let (name, dtype) = (self.text()?, self.dtype()?);
        let mut names = EnumType::new(name, dtype);
        for _ in 0..self.count("names", MAX_VARIANTS)? {
            names = names.variant(self.text()?, self.number()? as i64);
        }
        Ok(names)
    }

    fn extent(&mut self) -> Result<Extent, RecordDecodeError> {
        match self.byte()? {
            0 => Ok(Extent::One),
            1 => {
                let shape = self.shape()?;
                let number = self.byte()?;
                let unknown = RecordDecodeError::UnknownNumber { what: "memory order", number };
                Ok(Extent::Fixed(shape, MemoryOrder::from_u8(number).ok_or(unknown)?))
            }
            2 => Ok(Extent::Variable),
            3 => Ok(Extent::SizedBy(self.text()?)),
            number => Err(RecordDecodeError::UnknownNumber { what: "extent", number }),
        }
    }

    fn shape(&mut self) -> Result<Shape, RecordDecodeError> {
        let count = usize::from(self.byte()?);
        let too_many = RecordDecodeError::TooMany { what: "dimensions", count, limit: MAX_DIMS };
        let mut lens = Vec::new();
        for _ in 0..count.min(MAX_DIMS) {
            lens.push(self.number()?);
        }
        (count <= MAX_DIMS).then_some(()).ok_or(too_many.clone())?;
        let dims = Dims::from_slice(&lens).map_err(|_| too_many)?;
        Shape::new(dims).map_err(|_| RecordDecodeError::Shape)
    }

    fn default(&mut self) -> Result<Option<AttributeValue>, RecordDecodeError> {
        Ok(match self.byte()? {
            0 => None,
            1 => Some(AttributeValue::Bool(self.flag()?)),
            2 => Some(AttributeValue::Integer(self.number()? as i64)),
            3 => Some(AttributeValue::Unsigned(self.number()?)),
            4 => Some(AttributeValue::Real(Real(f64::from_bits(self.number()?)))),
            5 => Some(AttributeValue::Text(self.text()?)),
            number => return Err(RecordDecodeError::UnknownNumber { what: "kind of default", number }),
        })
    }
}
