//! Where the fields of a record lie: as C lays out a struct, with what has no fixed size elsewhere.
//!
//! A field that is a list, and each text, is a *reference* of 16 bytes within the record. It holds the offset of its
//! elements from the start of all the bytes, and how many there are. Presence bits of optional fields follow the last
//! field.
//!
//! Offsets may not point anywhere, as those of FFS may: a few bytes could unfold into gigabytes. Fields are aligned, or
//! no Rust slice could be a view of them (`docs/decisions/0023-a-record-value-has-one-form.md`).

use super::check::{MAX_RECORD_BYTES, RecordError};
use super::types::{Extent, Field, FieldElement, RecordType};
use crate::dtype::Dtype;

/// The bytes of a reference, and its alignment.
pub(super) const REFERENCE_BYTES: usize = 16;
const REFERENCE_ALIGNMENT: usize = 8;

/// The layout of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordLayout {
    /// A multiple of the alignment, and at least 1.
    pub(super) size_bytes: usize,
    pub(super) alignment_bytes: usize,
    /// Where the presence bits start, the first in the lowest bit.
    pub(super) presence_offset: usize,
    /// Whether there is nothing but the fixed part.
    pub(super) is_plain: bool,
    pub(super) slots: Vec<Slot>,
}

/// The place of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) offset: usize,
    pub(super) unit: Unit,
    pub(super) place: Place,
    /// Which presence bit is the field's.
    pub(super) presence_bit: Option<usize>,
}

/// Where the elements of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// So many in the record itself.
    Inline(usize),
    /// Elsewhere; the index of the field that must say as many as the reference does.
    Elsewhere(Option<usize>),
}

/// One element of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A number.
    Number(Dtype),
    /// A reference to text or bytes.
    Text,
    /// A record.
    Record(RecordLayout),
}

impl Unit {
    fn of(element: &FieldElement, place: &str) -> Result<Self, RecordError> {
        match element {
            FieldElement::Dtype(Dtype::String | Dtype::Bytes) => Ok(Self::Text),
            FieldElement::Dtype(dtype) => Ok(Self::Number(*dtype)),
            FieldElement::Enum(names) => Ok(Self::Number(names.dtype)),
            FieldElement::Record(record) => RecordLayout::of(record, place).map(Self::Record),
        }
    }

    pub(super) fn size_bytes(&self) -> usize {
        match self {
            Self::Number(dtype) => dtype.size_bytes().unwrap_or(REFERENCE_BYTES),
            Self::Text => REFERENCE_BYTES,
            Self::Record(layout) => layout.size_bytes,
        }
    }

    pub(super) fn alignment_bytes(&self) -> usize {
        match self {
            Self::Number(dtype) => dtype.alignment_bytes(),
            Self::Text => REFERENCE_ALIGNMENT,
            Self::Record(layout) => layout.alignment_bytes,
        }
    }

    /// Whether an element is complete in itself.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Text => false,
            Self::Record(layout) => layout.is_plain,
        }
    }
}

impl Slot {
    fn of(field: &Field, record: &RecordType, place: &str) -> Result<Self, RecordError> {
        let too_large = || RecordError::TooLarge { place: place.to_owned() };
        let elements = match &field.extent {
            Extent::One => Place::Inline(1),
            Extent::Fixed(shape, _) => {
                let count = shape.element_count();
                Place::Inline(usize::try_from(count).map_err(|_| too_large())?)
            }
            Extent::Variable => Place::Elsewhere(None),
            Extent::SizedBy(length) => {
                Place::Elsewhere(record.fields.iter().position(|other| other.name == *length))
            }
        };
        Ok(Self { offset: 0, unit: Unit::of(&field.element, place)?, place: elements, presence_bit: None })
    }

    /// How many bytes of the record the field takes.
    pub(super) fn size_bytes(&self) -> Option<usize> {
        match self.place {
            Place::Inline(count) => self.unit.size_bytes().checked_mul(count),
            Place::Elsewhere(_) => Some(REFERENCE_BYTES),
        }
    }

    fn alignment_bytes(&self) -> usize {
        match self.place {
            Place::Inline(_) => self.unit.alignment_bytes(),
            Place::Elsewhere(_) => REFERENCE_ALIGNMENT,
        }
    }
}

impl RecordLayout {
    /// The layout of a checked type.
    pub(super) fn of(record: &RecordType, place: &str) -> Result<Self, RecordError> {
        let too_large = || RecordError::TooLarge { place: place.to_owned() };
        let (mut end, mut alignment_bytes, mut bits) = (0usize, 1, 0);
        let mut slots = Vec::with_capacity(record.fields.len());
        for field in &record.fields {
            let mut slot = Slot::of(field, record, &format!("{place}.{}", field.name))?;
            let alignment = slot.alignment_bytes();
            slot.offset = end.next_multiple_of(alignment);
            slot.presence_bit = field.optional.then_some(bits);
            bits += usize::from(field.optional);
            let len = slot.size_bytes().filter(|&len| len <= MAX_RECORD_BYTES).ok_or_else(too_large)?;
            end = slot.offset + len;
            alignment_bytes = alignment_bytes.max(alignment);
            if end > MAX_RECORD_BYTES {
                return Err(too_large());
            }
            slots.push(slot);
        }
        let size_bytes = (end + bits.div_ceil(8)).next_multiple_of(alignment_bytes);
        match size_bytes {
            0 => Err(RecordError::Empty { place: place.to_owned() }),
            size if size > MAX_RECORD_BYTES => Err(too_large()),
            _ => {
                let inline = |slot: &Slot| matches!(slot.place, Place::Inline(_)) && slot.unit.is_plain();
                let is_plain = slots.iter().all(inline);
                Ok(Self { size_bytes, alignment_bytes, presence_offset: end, is_plain, slots })
            }
        }
    }
}
