//! A checked record type with its layout and fingerprint.

use std::sync::Arc;

use super::byte_order::ByteOrder;
use super::canonical::{self, RecordDecodeError};
use super::check::{self, RecordError};
use super::layout::RecordLayout;
use super::types::RecordType;
use crate::hash::CanonicalHasher;
use crate::id::Fingerprint;

/// What goes before the canonical bytes in the hash.
const DOMAIN: &str = "flexpath record 1";

/// A record type that was checked, in one byte order: all that is needed to read its values.
///
/// A clone is a pointer. Equal fingerprints mean equal bytes, so what one side put the other may read where it lies.
#[derive(Clone, Debug)]
pub struct RecordSchema {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    record: RecordType,
    byte_order: ByteOrder,
    layout: RecordLayout,
    canonical: Vec<u8>,
    fingerprint: Fingerprint,
}

impl RecordType {
    /// Checks the type and lays it out, in the byte order of this machine.
    pub fn build(self) -> Result<RecordSchema, RecordError> {
        self.build_in(ByteOrder::NATIVE)
    }

    /// Checks the type and lays it out, in that byte order.
    pub fn build_in(self, byte_order: ByteOrder) -> Result<RecordSchema, RecordError> {
        check::check(&self)?;
        let layout = RecordLayout::of(&self, &self.name)?;
        let canonical = canonical::encode(&self, byte_order);
        if canonical.len() > canonical::MAX_RECORD_TYPE_BYTES {
            return Err(RecordError::Text { place: self.name, len_bytes: canonical.len() });
        }
        let mut hasher = CanonicalHasher::new(DOMAIN);
        hasher.bytes(&canonical);
        let fingerprint = Fingerprint(hasher.finish());
        Ok(RecordSchema {
            inner: Arc::new(Inner { record: self, byte_order, layout, canonical, fingerprint }),
        })
    }
}

impl RecordSchema {
    /// The schema that these canonical bytes are. Bytes from a peer may be anything. Each way of being wrong has its
    /// own error, and nothing is allocated beyond a few times their length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordDecodeError> {
        let (record, byte_order) = canonical::decode(bytes)?;
        Ok(record.build_in(byte_order)?)
    }

    /// The canonical bytes: what crosses a link, once.
    pub fn to_bytes(&self) -> &[u8] {
        &self.inner.canonical
    }

    /// The hash of the canonical bytes.
    pub fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint
    }

    /// The type.
    pub fn record(&self) -> &RecordType {
        &self.inner.record
    }

    /// The byte order of all numbers in the values.
    pub fn byte_order(&self) -> ByteOrder {
        self.inner.byte_order
    }

    /// The bytes of the fixed part of each record, padding included: the distance from one to the next.
    pub fn size_bytes(&self) -> usize {
        self.inner.layout.size_bytes
    }

    /// What the place of the first record must be a multiple of.
    pub fn alignment_bytes(&self) -> usize {
        self.inner.layout.alignment_bytes
    }

    /// Whether records have no parts of varying length. Then each is its fixed part, and any number of them can be
    /// sliced as elements of an array.
    pub fn is_plain(&self) -> bool {
        self.inner.layout.is_plain
    }

    /// Where the field of that name starts in the fixed part, in bytes.
    pub fn offset_of(&self, field: &str) -> Option<usize> {
        let position = self.record().fields.iter().position(|known| known.name == field)?;
        self.inner.layout.slots.get(position).map(|slot| slot.offset)
    }

    /// Whether a struct of that size, whose fields are at these offsets, lies in memory as these records do.
    pub fn lies_at(&self, offsets: &[usize], size_bytes: usize) -> bool {
        let layout = self.layout();
        let slots = layout.slots.iter().map(|slot| slot.offset);
        layout.is_plain && layout.size_bytes == size_bytes && slots.eq(offsets.iter().copied())
    }

    pub(super) fn layout(&self) -> &RecordLayout {
        &self.inner.layout
    }
}

impl PartialEq for RecordSchema {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl Eq for RecordSchema {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::record::{EnumType, Field, MAX_RECORD_TYPE_BYTES};
    use crate::shape::Shape;

    fn atom() -> RecordType {
        RecordType::new("Atom")
            .with_description("one of many")
            .field(Field::new("kind", EnumType::new("Kind", Dtype::U8).variant("Cu", 29)))
            .field(Field::new("position", Dtype::F64).fixed(Shape::new([3]).unwrap()).with_unit("angstrom"))
            .field(Field::new("count", Dtype::U32))
            .field(Field::new("near", Dtype::U64).sized_by("count"))
            .field(Field::new("mass", Dtype::F64).optional().with_default(1.5))
            .field(Field::new("edges", Dtype::U32).variable().indexing("near"))
    }

    #[test]
    fn the_fingerprint_never_changes() {
        let little = atom().build_in(ByteOrder::Little).unwrap();
        assert_eq!(little.fingerprint().to_string(), "549610adafa10cd57c2f082bd5d13a58");
        let big = atom().build_in(ByteOrder::Big).unwrap();
        assert_eq!(big.fingerprint().to_string(), "9619e41f1d9e957be0611ac75656cf34");
        let plain =
            RecordType::new("P").field(Field::new("x", Dtype::F32)).build_in(ByteOrder::Little).unwrap();
        assert_eq!(plain.to_bytes(), b"\x01\0\x01\0\0\0P\0\x01\0\0\0\x01\0\0\0x\0\x0b\0\0\0\0\0\0");
    }

    #[test]
    fn every_part_counts() {
        let changes: [fn(&mut RecordType); 10] = [
            |record| record.name.push('2'),
            |record| record.description = None,
            |record| record.fields.swap(1, 2),
            |record| record.fields[1].unit = None,
            |record| record.fields[1].description = Some(String::new()),
            |record| record.fields[2].optional = true,
            |record| record.fields[4].default = None,
            |record| record.fields[5].indexes = None,
            |record| record.fields[0].element = EnumType::new("Kind", Dtype::U8).variant("Cu", 30).into(),
            |record| record.fields[3].extent = crate::record::Extent::Variable,
        ];
        let mut found = vec![atom().build().unwrap().fingerprint()];
        for change in changes {
            let mut changed = atom();
            change(&mut changed);
            // A length that may be absent sizes nothing.
            found.extend(changed.build().map(|schema| schema.fingerprint()));
        }
        found.sort();
        found.dedup();
        assert_eq!(found.len(), 10);
    }

    #[test]
    fn a_type_as_long_as_any_may_be_is_looked_into() {
        let read = |len_bytes: usize| RecordSchema::from_bytes(&vec![0; len_bytes]).unwrap_err();
        let unknown = RecordDecodeError::UnknownNumber { what: "version of record types", number: 0 };
        assert_eq!(read(MAX_RECORD_TYPE_BYTES), unknown);
        let len_bytes = MAX_RECORD_TYPE_BYTES + 1;
        assert_eq!(read(len_bytes), RecordDecodeError::TooLong { len_bytes });
    }

    #[test]
    fn fields_lie_as_in_c() {
        let schema = atom().build().unwrap();
        let offsets =
            ["kind", "position", "count", "near", "mass", "edges"].map(|name| schema.offset_of(name));
        assert_eq!(offsets, [0, 8, 32, 40, 56, 64].map(Some));
        // The presence bit of `mass` is in the byte after the last field.
        assert_eq!((schema.size_bytes(), schema.alignment_bytes(), schema.is_plain()), (88, 8, false));
    }
}
