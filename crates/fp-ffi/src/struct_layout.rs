//! Where the fields of a C struct are, beside where they are in a record. Both are the same as a rule, and then structs
//! are records as they lie.

use crate::failure::{Failure, Status};
use fp_core::record::{Extent, Field, FieldElement, RecordSchema, RecordType};
use std::collections::BTreeMap;

/// What C says of its struct, and of those inside it by the names of their fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) own: Option<(Vec<usize>, usize)>,
    pub(crate) nested: BTreeMap<String, Said>,
}

/// Bytes that lie together on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    of_struct: usize,
    of_record: usize,
    len: usize,
}

/// How structs become records and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) struct_bytes: usize,
    record_bytes: usize,
    runs: Vec<Run>,
}

/// Runs of one struct: arrays of structs in it that lie otherwise have some for each.
const LIMIT_RUNS: usize = 1 << 16;

fn refused(place: &str, why: &str) -> Failure {
    Failure::misuse(format!("the struct of {place}: {why}"))
}

impl Layout {
    /// The layout of a type without lists and texts.
    pub(crate) fn of(schema: &RecordSchema, said: &Said) -> Result<Self, Failure> {
        let record = schema.record();
        let nested = record.fields.iter().map(|field| Self::of_nested(field, said));
        let nested: Vec<Option<Self>> = nested.collect::<Result<_, _>>()?;
        let lies_alike = nested.iter().flatten().all(Self::is_same);
        match &said.own {
            None if lies_alike => Ok(Self::same(schema)),
            None => Err(refused(&record.name, "a struct in it lies otherwise, so say how this one lies")),
            Some((offsets, size)) if lies_alike && schema.lies_at(offsets, *size) => Ok(Self::same(schema)),
            Some((offsets, size)) => Self::apart(schema, offsets, *size, &nested),
        }
    }

    fn of_nested(field: &Field, said: &Said) -> Result<Option<Self>, Failure> {
        let FieldElement::Record(record) = &field.element else { return Ok(None) };
        let schema = record.clone().build().map_err(Failure::misused)?;
        Self::of(&schema, said.nested.get(&field.name).unwrap_or(&Said::default())).map(Some)
    }

    fn same(schema: &RecordSchema) -> Self {
        let len = schema.size_bytes();
        Self { struct_bytes: len, record_bytes: len, runs: vec![Run { of_struct: 0, of_record: 0, len }] }
    }

    /// Whether nothing is to be done but to copy all bytes, if that.
    pub(crate) fn is_same(&self) -> bool {
        let whole = Run { of_struct: 0, of_record: 0, len: self.record_bytes };
        self.struct_bytes == self.record_bytes && self.runs == [whole]
    }

    /// A struct whose fields lie otherwise.
    fn apart(
        schema: &RecordSchema,
        offsets: &[usize],
        struct_bytes: usize,
        nested: &[Option<Self>],
    ) -> Result<Self, Failure> {
        let record = schema.record();
        check(record, offsets)?;
        let mut made = Self { struct_bytes, record_bytes: schema.size_bytes(), runs: Vec::new() };
        for ((field, &offset), nested) in record.fields.iter().zip(offsets).zip(nested) {
            let place = format!("{}.{}", record.name, field.name);
            let size = nested.as_ref().map_or_else(|| element_bytes(field), |inner| inner.struct_bytes);
            let (of_record, count) = (schema.offset_of(&field.name).unwrap_or_default(), elements(field));
            let end = offset.saturating_add(size.saturating_mul(count));
            if end > struct_bytes {
                let why = format!("it ends at {end}, but the struct is of {struct_bytes} bytes");
                return Err(refused(&place, &why));
            }
            match nested {
                Some(inner) => made.add_structs(inner, count, offset, of_record),
                None => made.add(Run { of_struct: offset, of_record, len: size * count }),
            }
            if made.runs.len() > LIMIT_RUNS {
                return Err(refused(&place, "too many pieces: have it lie as its record does"));
            }
        }
        Ok(made)
    }

    fn add(&mut self, run: Run) {
        let follows = |last: &&mut Run| {
            (last.of_struct + last.len, last.of_record + last.len) == (run.of_struct, run.of_record)
        };
        match self.runs.last_mut().filter(follows) {
            Some(last) => last.len += run.len,
            None => self.runs.push(run),
        }
    }

    fn add_structs(&mut self, inner: &Self, count: usize, of_struct: usize, of_record: usize) {
        for index in 0..count {
            let (there, here) = (index * inner.struct_bytes, index * inner.record_bytes);
            for run in &inner.runs {
                let (of_struct, of_record) = (of_struct + there, of_record + here);
                let (of_struct, of_record) = (of_struct + run.of_struct, of_record + run.of_record);
                self.add(Run { of_struct, of_record, len: run.len });
            }
            if self.runs.len() > LIMIT_RUNS {
                return;
            }
        }
    }

    /// How many bytes so many structs are.
    pub(crate) fn len_bytes(&self, count: usize) -> usize {
        self.struct_bytes.saturating_mul(count)
    }

    /// Structs as records.
    pub(crate) fn gather(&self, structs: &[u8]) -> Vec<u8> {
        if self.is_same() {
            return structs.to_vec();
        }
        let count = structs.len() / self.struct_bytes.max(1);
        let mut records = vec![0; count * self.record_bytes];
        let places = records.chunks_exact_mut(self.record_bytes);
        for (to, from) in places.zip(structs.chunks_exact(self.struct_bytes)) {
            for run in &self.runs {
                let place = to.get_mut(run.of_record..run.of_record + run.len);
                let bytes = from.get(run.of_struct..run.of_struct + run.len);
                place.zip(bytes).into_iter().for_each(|(to, from)| to.copy_from_slice(from));
            }
        }
        records
    }

    /// Records as structs. What lies between their fields stays as it was.
    pub(crate) fn scatter(&self, records: &[u8], structs: &mut [u8]) {
        let places = structs.chunks_exact_mut(self.struct_bytes);
        for (to, from) in places.zip(records.chunks_exact(self.record_bytes)) {
            for run in &self.runs {
                let place = to.get_mut(run.of_struct..run.of_struct + run.len);
                let bytes = from.get(run.of_record..run.of_record + run.len);
                place.zip(bytes).into_iter().for_each(|(to, from)| to.copy_from_slice(from));
            }
        }
    }
}

fn check(record: &RecordType, offsets: &[usize]) -> Result<(), Failure> {
    if offsets.len() != record.fields.len() {
        let why = format!("{} offsets for {} fields", offsets.len(), record.fields.len());
        return Err(refused(&record.name, &why));
    }
    match record.fields.iter().find(|field| field.optional) {
        Some(field) => {
            let place = format!("{}.{}", record.name, field.name);
            Err(refused(&place, "it may be absent, which only the record's own layout can say"))
        }
        None => Ok(()),
    }
}

/// How many elements lie in the record itself.
fn elements(field: &Field) -> usize {
    match &field.extent {
        Extent::Fixed(shape, _) => usize::try_from(shape.element_count()).unwrap_or(usize::MAX),
        Extent::One | Extent::Variable | Extent::SizedBy(_) => 1,
    }
}

fn element_bytes(field: &Field) -> usize {
    field.element.dtype().and_then(fp_core::Dtype::size_bytes).unwrap_or_default()
}

/// That records of this type are no structs.
pub(crate) fn not_plain(schema: &RecordSchema) -> Failure {
    let name = &schema.record().name;
    Failure::new(
        Status::Misuse,
        format!(
            "records {name:?} have lists or texts, so they are no structs: use a builder, or flexpath_step_records"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::{Dtype, Shape};

    fn corner() -> RecordType {
        RecordType::new("Corner").field(Field::new("x", Dtype::F64)).field(Field::new("id", Dtype::U8))
    }

    fn cell() -> RecordSchema {
        let two = Shape::new([2]).expect("a shape");
        let record = RecordType::new("Cell").field(Field::new("kind", Dtype::U16));
        record.field(Field::new("corners", corner()).fixed(two)).build().expect("a type")
    }

    /// A corner without padding, in a cell without padding.
    fn packed() -> Said {
        let inner = Said { own: Some((vec![0, 8], 9)), nested: BTreeMap::new() };
        Said { own: Some((vec![0, 2], 20)), nested: [("corners".to_owned(), inner)].into() }
    }

    #[test]
    fn structs_that_lie_as_records_are_copied_whole() {
        let natural = Said { own: Some((vec![0, 8], 40)), nested: BTreeMap::new() };
        for said in [Said::default(), natural] {
            assert!(Layout::of(&cell(), &said).expect("a layout").is_same());
        }
    }

    #[test]
    fn others_are_copied_field_by_field_and_back() {
        let layout = Layout::of(&cell(), &packed()).expect("a layout");
        assert!(!layout.is_same() && layout.len_bytes(2) == 40);
        let structs: Vec<u8> = (0..40).collect();
        let records = layout.gather(&structs);
        assert_eq!((records.len(), &records[8..17], records[24]), (80, &structs[2..11], 11));
        let mut back = vec![0xff; 40];
        layout.scatter(&records, &mut back);
        assert_eq!(back, structs);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let text = |said: &Said| Layout::of(&cell(), said).map_err(|failure| failure.text).expect_err("none");
        let own = |offsets: &[usize], size| Said { own: Some((offsets.to_vec(), size)), ..packed() };
        assert!(text(&own(&[0], 20)).contains("1 offsets for 2 fields"));
        assert!(text(&own(&[0, 3], 20)).contains("Cell.corners: it ends at 21"));
        assert!(text(&own(&[usize::MAX, 2], 20)).contains("Cell.kind"));
        assert!(text(&Said { own: None, ..packed() }).contains("lies otherwise"));
    }
}
