//! The straight way to the values of plain records: each field is read from where it is in all of them.
//!
//! Places follow from the Rust types alone, so the compiler knows them and leaves out what is known to hold. They are
//! compared with the layout once for all records. Values that are none, such as a truth value of 2, are only noticed:
//! the general way then says what is wrong.

use super::Record;
use crate::dtype::Dtype;
use crate::record::byte_order::ByteOrder;
use crate::record::layout::{Place, Slot, Unit};
use crate::record::schema::RecordSchema;

/// How the values of a Rust type lie in plain records, in this machine's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainForm {
    /// The element type, of what is one number.
    dtype: Option<Dtype>,
    size_bytes: usize,
    alignment_bytes: usize,
}

impl PlainForm {
    const NOTHING: Self = Self { dtype: None, size_bytes: 0, alignment_bytes: 1 };

    /// Values that lie as numbers of that type do; `None` for texts and bytes.
    pub const fn of(dtype: Dtype) -> Option<Self> {
        let Some(size_bytes) = dtype.size_bytes() else { return None };
        Some(Self { dtype: Some(dtype), size_bytes, alignment_bytes: dtype.alignment_bytes() })
    }

    /// So many values, one after another.
    pub(super) const fn array(element: Option<Self>, count: usize) -> Option<Self> {
        let Some(Self { size_bytes, alignment_bytes, .. }) = element else { return None };
        let Some(size_bytes) = size_bytes.checked_mul(count) else { return None };
        Some(Self { dtype: None, size_bytes, alignment_bytes })
    }

    /// Records of these fields; `None` if they have no bytes, or one field is not plain.
    pub(super) const fn record(fields: &[Option<Self>]) -> Option<Self> {
        let Some(all) = Self::joined(fields, fields.len()) else { return None };
        let size_bytes = all.size_bytes.next_multiple_of(all.alignment_bytes);
        if size_bytes == 0 { None } else { Some(Self { size_bytes, ..all }) }
    }

    /// The first so many fields one after another; `None` if one of them is not plain.
    const fn joined(fields: &[Option<Self>], count: usize) -> Option<Self> {
        let (mut joined, mut index) = (Self::NOTHING, 0);
        while index < count {
            let Some(field) = fields[index] else { return None };
            joined = joined.then(field);
            index += 1;
        }
        Some(joined)
    }

    /// With one more field behind it.
    const fn then(self, field: Self) -> Self {
        let (one, other) = (self.alignment_bytes, field.alignment_bytes);
        let alignment_bytes = if one > other { one } else { other };
        Self { dtype: None, size_bytes: self.start_of(field) + field.size_bytes, alignment_bytes }
    }

    /// Where one more field starts.
    const fn start_of(self, field: Self) -> usize {
        self.size_bytes.next_multiple_of(field.alignment_bytes)
    }

    /// Where the field of that index starts in records of these fields: for the code of the derive, which asks of plain
    /// fields alone. 0 if one is not.
    pub const fn offset(fields: &[Option<Self>], index: usize) -> usize {
        match (Self::joined(fields, index), fields[index]) {
            (Some(before), Some(field)) => before.start_of(field),
            _ => 0,
        }
    }

    /// The bytes of each value; 0 for those that are not plain.
    pub(super) const fn size_of(form: Option<Self>) -> usize {
        match form {
            Some(form) => form.size_bytes,
            None => 0,
        }
    }

    /// Whether values are single numbers of that type.
    #[inline]
    pub(super) fn is_number(form: Option<Self>, dtype: Dtype) -> bool {
        form.is_some_and(|form| form.dtype == Some(dtype))
    }

    /// Whether a field lies so, and is always there.
    fn is_at(self, slot: &Slot, offset: usize) -> bool {
        let Place::Inline(_) = slot.place else { return false };
        let is_unit = match (&slot.unit, self.dtype) {
            (Unit::Number(found), Some(dtype)) => *found == dtype,
            (Unit::Number(_) | Unit::Record(_), None) => slot.unit.is_plain(),
            (Unit::Text | Unit::Record(_), _) => false,
        };
        let is_placed = slot.offset == offset && slot.size_bytes() == Some(self.size_bytes);
        is_unit && is_placed && slot.presence_bit.is_none()
    }
}

impl RecordSchema {
    /// Whether records lie as so many plain fields do, one after another: what the derive asks before it reads them.
    pub fn lies_as(&self, fields: &[Option<PlainForm>]) -> bool {
        let (layout, mut joined) = (self.layout(), PlainForm::NOTHING);
        let is_there = |(slot, field): (&Slot, &Option<PlainForm>)| {
            let Some(field) = *field else { return false };
            let offset = joined.start_of(field);
            joined = joined.then(field);
            field.is_at(slot, offset)
        };
        self.byte_order() == ByteOrder::NATIVE
            && layout.slots.len() == fields.len()
            && PlainForm::size_of(PlainForm::record(fields)) == layout.size_bytes
            && layout.slots.iter().zip(fields).all(is_there)
    }
}

/// Reads a number of `N` bytes that a value starts with. Where there are fewer, it says so.
#[inline(always)]
pub fn plain_number<const N: usize>(bytes: &[u8], is_sound: &mut bool) -> [u8; N] {
    let number = bytes.first_chunk().copied();
    *is_sound &= number.is_some();
    number.unwrap_or([0; N])
}

/// The bytes from there on; none beyond the end.
#[inline(always)]
pub fn plain_bytes(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

/// All values of bytes that are nothing else; `None` if one of them is none, or there is no straight way.
#[inline]
pub(super) fn plain_values<T: Record>(bytes: &[u8]) -> Option<Vec<T>> {
    let read = T::plain_record()?;
    let size = const { PlainForm::size_of(PlainForm::record(T::PLAIN_FIELDS)) };
    let mut is_sound = size > 0;
    let mut values = Vec::with_capacity(bytes.len() / size.max(1));
    for record in bytes.chunks_exact(size.max(1)) {
        values.push(read(record, &mut is_sound));
    }
    is_sound.then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Field, RecordType};

    const NUMBER: Option<PlainForm> = PlainForm::of(Dtype::I32);
    const SMALL: Option<PlainForm> = PlainForm::of(Dtype::U8);

    fn schema(fields: impl IntoIterator<Item = Field>) -> RecordSchema {
        fields.into_iter().fold(RecordType::new("T"), RecordType::field).build().expect("a type")
    }

    fn field(name: &str, dtype: Dtype) -> Field {
        Field::new(name, dtype)
    }

    #[test]
    fn fields_are_placed_as_the_layout_places_them() {
        let pair = PlainForm::record(&[SMALL, NUMBER]);
        let fields = [SMALL, PlainForm::array(pair, 2), SMALL, PlainForm::of(Dtype::C64), SMALL];
        let offsets: Vec<usize> = (0..5).map(|index| PlainForm::offset(&fields, index)).collect();
        assert_eq!(offsets, [0, 4, 20, 24, 40]);
        assert_eq!(PlainForm::size_of(PlainForm::record(&fields)), 48);
        assert_eq!(PlainForm::record(&[SMALL, None]), None);
        assert_eq!((PlainForm::record(&[]), PlainForm::of(Dtype::String)), (None, None));
        assert_eq!(PlainForm::array(NUMBER, usize::MAX), None);
    }

    #[test]
    fn what_lies_otherwise_is_not_read_straight() {
        let found = schema([field("a", Dtype::U8), field("b", Dtype::I32)]);
        assert!(found.lies_as(&[SMALL, NUMBER]));
        let others: [&[Option<PlainForm>]; 7] = [
            &[],
            &[SMALL],
            &[SMALL, NUMBER, NUMBER],
            &[NUMBER, SMALL],
            &[SMALL, PlainForm::of(Dtype::U32)],
            &[SMALL, None],
            &[PlainForm::array(SMALL, 4), NUMBER],
        ];
        assert!(others.iter().all(|fields| !found.lies_as(fields)));
        let optional = schema([field("a", Dtype::U8), field("b", Dtype::I32).optional()]);
        let list = schema([field("a", Dtype::U8), field("b", Dtype::I32).variable()]);
        let text = schema([field("a", Dtype::U8), field("b", Dtype::String)]);
        assert!([optional, list, text].iter().all(|schema| !schema.lies_as(&[SMALL, NUMBER])));
        let other = if ByteOrder::NATIVE == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
        let swapped = found.record().clone().build_in(other).expect("a type");
        assert!(!swapped.lies_as(&[SMALL, NUMBER]));
    }

    #[test]
    fn too_few_bytes_are_no_number() {
        let mut is_sound = true;
        let number = plain_number(&[1, 2, 3], &mut is_sound);
        assert_eq!((number, is_sound), ([1, 2], true));
        let number = plain_number(plain_bytes(&[1, 2, 3], 2), &mut is_sound);
        assert_eq!((number, is_sound), ([0, 0], false));
        assert!(plain_bytes(&[1], 2).is_empty());
    }
}
