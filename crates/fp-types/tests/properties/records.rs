//! Records: types and values there and back, conversions field by field, and hostile bytes.

use fp_types::record::{
    ByteOrder, Conversion, EncodeError, EnumType, Extent, Field, FieldElement, Loss, RecordRef, RecordSchema,
    RecordTarget, RecordType, Records, Value, encode_with,
};
use fp_types::{Dtype, MemoryOrder, Shape};
use proptest::prelude::*;

/// What a field is made of: a kind, and numbers that vary it.
type Seed = (u8, u8, u8);

/// A record type of fields `f0`, `f1` and so on, deterministic in the seeds.
fn record(seeds: &[Seed], depth: usize) -> RecordType {
    let mut made = RecordType::new("R").field(Field::new("len", Dtype::U16));
    for (index, &(kind, extent, extra)) in seeds.iter().enumerate() {
        let element: FieldElement = match kind % 12 {
            0 => Dtype::U8.into(),
            1 => Dtype::I16.into(),
            2 => Dtype::F32.into(),
            3 | 4 => Dtype::F64.into(),
            5 => Dtype::U32.into(),
            6 => Dtype::Bool.into(),
            7 => Dtype::String.into(),
            8 => EnumType::new("E", Dtype::I8).variant("a", -1).variant("b", 5).into(),
            9 => Dtype::C32.into(),
            _ if depth > 0 => record(&seeds[index + 1..], depth - 1).into(),
            _ => Dtype::BF16.into(),
        };
        let field = Field::new(format!("f{index}"), element);
        let shape = Shape::new([2, u64::from(extra % 4)]).unwrap();
        let order = if extra & 8 == 0 { MemoryOrder::RowMajor } else { MemoryOrder::ColumnMajor };
        let numbers = field.element.dtype().is_some_and(|dtype| dtype.size_bytes().is_some());
        let field = match extent % 5 {
            0 | 1 => field,
            2 if numbers => field.fixed_in(shape, order),
            2 => field.fixed(shape),
            3 => field.variable(),
            _ => field.sized_by("len"),
        };
        made = made.field(if extra & 16 == 0 { field } else { field.optional() });
    }
    made
}

/// The same type as somebody else might want it: wider, in another order, with more and fewer fields.
fn wanted(from: &RecordType, seed: u8) -> RecordType {
    let mut fields: Vec<Field> = Vec::new();
    for (index, field) in from.fields.iter().enumerate() {
        let mut field = field.clone();
        field.element = match field.element {
            FieldElement::Dtype(Dtype::U8) => Dtype::I32.into(),
            FieldElement::Dtype(Dtype::I16) => Dtype::F32.into(),
            FieldElement::Dtype(Dtype::F32 | Dtype::BF16) => Dtype::F64.into(),
            FieldElement::Dtype(Dtype::C32) => Dtype::C64.into(),
            FieldElement::Record(record) => wanted(&record, seed).into(),
            other @ (FieldElement::Dtype(_) | FieldElement::Enum(_)) => other,
        };
        field.extent = match field.extent {
            Extent::Fixed(shape, _) if field.element.dtype().is_some_and(|d| d.size_bytes().is_some()) => {
                Extent::Fixed(shape, MemoryOrder::ColumnMajor)
            }
            Extent::SizedBy(_) if seed & 1 == 1 => Extent::Variable,
            other @ (Extent::One | Extent::Fixed(..) | Extent::Variable | Extent::SizedBy(_)) => other,
        };
        match index % 4 {
            3 if seed & 2 == 2 => {}
            2 if field.extent == Extent::One => fields.insert(1, field),
            _ => fields.push(field),
        }
    }
    fields.push(Field::new("filled", Dtype::F32).with_default(2.5));
    fields.push(Field::new("named", Dtype::String).with_default("none"));
    fields.push(Field::new("absent", Dtype::I64).optional());
    RecordType { fields, ..from.clone() }
}

/// Writes a value that a counter determines.
fn put(record: &RecordType, target: &mut RecordTarget<'_>, state: &mut u32) -> Result<(), EncodeError> {
    *state += 1;
    let len = (*state % 3) as usize;
    target.put(0, &(len as u16))?;
    for (index, field) in record.fields.iter().enumerate().skip(1) {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if field.optional && *state & 1 << 20 == 0 {
            continue;
        }
        let count = match &field.extent {
            Extent::One => 1,
            Extent::Fixed(shape, _) => shape.element_count() as usize,
            Extent::Variable => (*state >> 16) as usize % 4,
            Extent::SizedBy(_) => len,
        };
        put_field(index, field, count, target, state)?;
    }
    Ok(())
}

fn put_field(
    index: usize,
    field: &Field,
    count: usize,
    target: &mut RecordTarget<'_>,
    state: &mut u32,
) -> Result<(), EncodeError> {
    let numbers: Vec<u32> =
        (0..count as u32).map(|number| (*state >> 8).wrapping_add(number) % 100).collect();
    macro_rules! put_as {
        ($convert:expr) => {
            target.put_elements(index, &numbers.iter().map(|&number| $convert(number)).collect::<Vec<_>>())
        };
    }
    match &field.element {
        FieldElement::Record(record) => {
            target.put_records(index, count, |_, target| put(record, target, state))
        }
        FieldElement::Enum(_) => put_as!(|number| Name(if number % 2 == 0 { -1 } else { 5 })),
        FieldElement::Dtype(Dtype::U8) => put_as!(|number| number as u8),
        FieldElement::Dtype(Dtype::I16) => put_as!(|number| number as i16 - 50),
        FieldElement::Dtype(Dtype::F32) => put_as!(|number| number as f32 / 8.0),
        FieldElement::Dtype(Dtype::F64) => put_as!(|number| f64::from(number) / 3.0),
        FieldElement::Dtype(Dtype::BF16) => put_as!(|number| half::bf16::from_f32(number as f32)),
        FieldElement::Dtype(Dtype::Bool) => put_as!(|number| number % 2 == 1),
        FieldElement::Dtype(Dtype::String) => put_as!(|number: u32| "ä".repeat(number as usize % 5)),
        FieldElement::Dtype(Dtype::C32) => put_as!(|number| Pair(number as f32, 0.5)),
        FieldElement::Dtype(_) => put_as!(|number| number),
    }
}

/// Two types that the library does not know: an enumeration and a complex number.
macro_rules! by_hand {
    ($name:ident($($part:ty),*), $element:expr, $put:expr) => {
        struct $name($($part),*);

        impl fp_types::record::ElementValue for $name {
            fn element() -> FieldElement {
                $element
            }

            fn put_elements(
                values: &[Self],
                to: &mut fp_types::record::ElementTarget<'_>,
            ) -> Result<(), EncodeError> {
                let put: fn(&[Self], &mut fp_types::record::ElementTarget<'_>) -> Result<(), EncodeError> = $put;
                put(values, to)
            }

            fn take_element(value: Value<'_>) -> Result<Self, fp_types::record::RecordReadError> {
                unreachable!("nobody reads {value:?}")
            }
        }
    };
}

by_hand!(Name(i64), EnumType::new("E", Dtype::I8).into(), |values, to| {
    to.put_integers(Dtype::I8, &values.iter().map(|name| name.0).collect::<Vec<_>>())
});
by_hand!(Pair(f32, f32), Dtype::C32.into(), |values, to| {
    to.put_bytes(
        Dtype::C32,
        &values.iter().flat_map(|pair| [pair.0, pair.1]).flat_map(f32::to_ne_bytes).collect::<Vec<_>>(),
    )
});

/// Everything that can be read, in words, by the fields' names; of fields that `known` has.
fn words(record: RecordRef<'_>, known: &RecordType) -> Vec<String> {
    let mut found = Vec::new();
    for field in &known.fields {
        let value = match record.value(&field.name) {
            Ok(value) => say(value, &field.element, &field.extent),
            Err(error) => vec![error.to_string()],
        };
        found.extend(value.into_iter().map(|word| format!("{}: {word}", field.name)));
    }
    found
}

fn say(value: Value<'_>, element: &FieldElement, extent: &Extent) -> Vec<String> {
    match (value, element) {
        (Value::Array(array), _) => {
            let order = |index: usize| match (array.extent(), extent) {
                (Extent::Fixed(shape, found), Extent::Fixed(_, wanted)) if found != wanted => {
                    // The element of that index in the order of `extent`.
                    let (rows, columns) = (shape.dims()[0] as usize, shape.dims()[1] as usize);
                    match wanted {
                        MemoryOrder::RowMajor => index / columns + index % columns * rows,
                        MemoryOrder::ColumnMajor => index / rows + index % rows * columns,
                    }
                }
                _ => index,
            };
            let element_words = |index: usize| match array.value(order(index)) {
                Ok(value) => say(value, element, extent),
                Err(error) => vec![error.to_string()],
            };
            let count = format!("{} elements", array.count());
            std::iter::once(count).chain((0..array.count()).flat_map(element_words)).collect()
        }
        (Value::Record(record), FieldElement::Record(known)) => words(record, known),
        (value, _) => vec![value.as_f64().map_or_else(|| format!("{value:?}"), |number| number.to_string())],
    }
}

/// The fields that both have, as the first one has them.
fn common(a: &RecordType, b: &RecordType) -> RecordType {
    let mut kept = a.clone();
    kept.fields.retain(|field| b.fields.iter().any(|other| other.name == field.name));
    for field in &mut kept.fields {
        let other = b.fields.iter().find(|other| other.name == field.name).unwrap();
        if let (FieldElement::Record(ours), FieldElement::Record(theirs)) = (&field.element, &other.element) {
            field.element = common(ours, theirs).into();
        }
    }
    kept
}

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    prop::collection::vec(any::<Seed>(), 1..7)
}

fn values(schema: &RecordSchema, count: usize, mut state: u32) -> Vec<u8> {
    encode_with(schema, count, |_, target| put(schema.record(), target, &mut state)).unwrap()
}

proptest! {
    #[test]
    fn types_cross_a_link(seeds in seeds(), big in any::<bool>()) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let schema = record(&seeds, 2).build_in(order).unwrap();
        let back = RecordSchema::from_bytes(schema.to_bytes()).unwrap();
        prop_assert_eq!(back.record(), schema.record());
        prop_assert_eq!(back.fingerprint(), schema.fingerprint());
    }

    #[test]
    fn no_bytes_are_too_strange_for_a_type(
        seeds in seeds(), changes in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..4), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = record(&seeds, 2).build().unwrap().to_bytes().to_vec();
        changes.iter().for_each(|(at, value)| { let at = at.index(bytes.len()); bytes[at] = *value; });
        if changes.len() == 3 { bytes.truncate(cut.index(bytes.len())); }
        // What is a type after all has this one form.
        if let Ok(schema) = RecordSchema::from_bytes(&bytes) {
            prop_assert_eq!(schema.to_bytes(), &bytes);
        }
    }

    #[test]
    fn conversions_keep_every_value(seeds in seeds(), seed in any::<u8>(), state in any::<u32>(), big in any::<(bool, bool)>()) {
        let order = |big| if big { ByteOrder::Big } else { ByteOrder::Little };
        let native = record(&seeds, 2).build().unwrap();
        let bytes = values(&native, 5, state);
        let records = Records::new(&native, &bytes, 5).unwrap();
        let from = record(&seeds, 2).build_in(order(big.0)).unwrap();
        let to = wanted(native.record(), seed).build_in(order(big.1)).unwrap();
        let foreign = Conversion::new(&native, &from, Loss::Refused).unwrap().convert(&records).unwrap();
        let foreign = Records::new(&from, &foreign, 5).unwrap();
        let converted = Conversion::new(&from, &to, Loss::Refused).unwrap().convert(&foreign).unwrap();
        let converted = Records::new(&to, &converted, 5).unwrap();
        let known = common(native.record(), to.record());
        for (before, after) in records.iter().zip(converted.iter()) {
            prop_assert_eq!(words(before, &known), words(after, &known));
            prop_assert_eq!(after.value("filled").unwrap().as_f64(), Some(2.5));
            prop_assert_eq!(after.value("named").unwrap().as_text(), Some("none"));
            prop_assert!(matches!(after.value("absent"), Ok(Value::Absent)));
        }
    }

    /// Many records are converted in batches, place by place; a picked one by itself.
    #[test]
    fn many_records_become_what_each_becomes(
        seeds in seeds(), seed in any::<u8>(), count in 0..1500usize, start in any::<u8>(), big in any::<(bool, bool)>(),
        optional in any::<bool>(),
    ) {
        let order = |big| if big { ByteOrder::Big } else { ByteOrder::Little };
        let numbers = |(kind, extent, extra): &Seed| match kind % 12 {
            7 => (2, extent % 3, extra & !16),
            _ if optional => (*kind, extent % 3, *extra),
            _ => (*kind, extent % 3, extra & !16),
        };
        let native = record(&seeds.iter().map(numbers).collect::<Vec<_>>(), 2);
        let mut other = wanted(&native, seed);
        other.fields.retain(|field| field.name != "named" && (optional || field.name != "absent"));
        let from = native.clone().build_in(order(big.0)).unwrap();
        let (native, to) = (native.build().unwrap(), other.build_in(order(big.1)).unwrap());
        let bytes = values(&native, count, u32::from(start));
        let records = Records::new(&native, &bytes, count).unwrap();
        let foreign = Conversion::new(&native, &from, Loss::Refused).unwrap();
        let bytes = foreign.gather(&[records], (0..count).map(|index| (0, index))).unwrap();
        let records = Records::new(&from, &bytes, count).unwrap();
        let conversion = Conversion::new(&from, &to, Loss::Refused).unwrap();
        let mut found = vec![0xa5; usize::from(start) * 40];
        found.reserve(if seed & 1 == 0 { count * to.size_bytes() } else { 0 });
        conversion.convert_into(&records, &mut found).unwrap();
        let each = conversion.gather(&[records], (0..count).map(|index| (0, index))).unwrap();
        prop_assert!(found == each, "{:?} to {:?}", from.record(), to.record());
    }

    #[test]
    fn picked_records_are_those_of_their_blocks(
        seeds in seeds(), states in any::<(u32, u32)>(), seed in any::<u8>(),
        picks in prop::collection::vec((0..2usize, 0..5usize), 0..12),
    ) {
        let schema = record(&seeds, 2).build().unwrap();
        let blocks = [values(&schema, 5, states.0), values(&schema, 5, states.1)];
        let blocks = blocks.each_ref().map(|bytes| Records::new(&schema, bytes, 5).unwrap());
        let to = wanted(schema.record(), seed).build().unwrap();
        let known = common(schema.record(), to.record());
        for to in [&schema, &to] {
            let conversion = Conversion::new(&schema, to, Loss::Refused).unwrap();
            let picked = conversion.gather(&blocks, picks.iter().copied()).unwrap();
            let picked = Records::new(to, &picked, picks.len()).unwrap();
            for (after, (block, index)) in picked.iter().zip(&picks) {
                let before = blocks[*block].record(*index).unwrap();
                prop_assert_eq!(words(before, &known), words(after, &known));
            }
            prop_assert!(conversion.gather(&blocks, [(0, 5)].into_iter()).is_err());
            prop_assert!(conversion.gather(&blocks, [(2, 0)].into_iter()).is_err());
        }
    }

    #[test]
    fn no_bytes_are_too_strange_for_values(
        seeds in seeds(), state in any::<u32>(), big in any::<bool>(),
        changes in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..4),
        noise in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let schema = record(&seeds, 2).build().unwrap();
        let to = wanted(schema.record(), 1).build().unwrap();
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let foreign = record(&seeds, 2).build_in(order).unwrap();
        let mut bytes = values(&schema, 3, state);
        changes.iter().for_each(|(at, value)| { let at = at.index(bytes.len()); bytes[at] = *value; });
        for (schema, bytes) in [(&schema, &bytes), (&foreign, &bytes), (&schema, &noise), (&foreign, &noise)] {
            for count in [0, 1, 3] {
                let Ok(records) = Records::new(schema, bytes, count) else { continue };
                records.iter().for_each(|record| drop(words(record, schema.record())));
                let conversion = Conversion::new(schema, &to, Loss::Refused).unwrap();
                if let Ok(converted) = conversion.convert(&records) {
                    prop_assert!(converted.len() < 64 * (bytes.len() + 64) + count * to.size_bytes());
                    prop_assert!(Records::new(&to, &converted, count).is_ok());
                }
            }
        }
    }
}
