//! What is to be known of a record type: its fields, in words, and what it has of another.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Status, guard};
use crate::handles::{find, hold};
use crate::raw::{as_len, check_place, give, give_text, text};
use crate::schema::{Built, SchemaHandle, built};
use crate::selection::padded;
use fp_core::AttributeValue;
use fp_core::record::{Extent, Field, FieldElement, RecordType, differences};
use std::ffi::c_char;
use std::fmt::Write;

/// How many elements a field has.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum ExtentCode {
    /// one
    One = 0,
    /// an array within the record
    Fixed = 1,
    /// a list
    List = 2,
}

/// What is to be known of a field. The texts are valid until the schema is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FieldStruct {
    /// its name
    pub name: *const c_char,
    /// its unit; empty if it has none
    pub unit: *const c_char,
    /// what it is, for people; empty if nothing is said
    pub description: *const c_char,
    /// one of `flexpath_dtype`; of an enumeration its integer; 0 for a record
    pub dtype: i32,
    /// one of `flexpath_extent`
    pub extent: i32,
    /// dimensions of an array within the record
    pub ndims: u32,
    /// 1 if it may be absent
    pub is_optional: i32,
    /// the extent in each dimension
    pub shape: [u64; 8],
    /// where it starts in the record, in bytes
    pub offset_bytes: u64,
}

fn of_element(element: &FieldElement) -> String {
    match element {
        FieldElement::Dtype(dtype) => dtype.to_string(),
        FieldElement::Enum(names) => {
            let of = names.variants.iter().take(8).map(|(name, number)| format!("{name} = {number}"));
            let more = if names.variants.len() > 8 { ", ..." } else { "" };
            format!("{} ({}: {}{more})", names.name, names.dtype, of.collect::<Vec<_>>().join(", "))
        }
        FieldElement::Record(record) => format!("record {}", record.name),
    }
}

fn of_value(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::Integer(value) => value.to_string(),
        AttributeValue::Unsigned(value) => value.to_string(),
        AttributeValue::Real(value) => value.0.to_string(),
        AttributeValue::Text(_)
        | AttributeValue::Bytes(_)
        | AttributeValue::Integers(_)
        | AttributeValue::Reals(_)
        | AttributeValue::Texts(_) => format!("{value:?}"),
    }
}

fn line(field: &Field) -> String {
    let extent = match &field.extent {
        Extent::One => String::new(),
        Extent::Fixed(shape, order) => format!(", {order} array of {shape}"),
        Extent::Variable => ", list".to_owned(),
        Extent::SizedBy(length) => format!(", list sized by {length}"),
    };
    let mut made = format!("{}: {}{extent}", field.name, of_element(&field.element));
    if field.optional {
        made.push_str(", may be absent");
    }
    let default = field.default.as_ref().map(|value| format!("default {}", of_value(value)));
    let unit = field.unit.as_ref().map(|unit| format!("in {unit:?}"));
    let indexes = field.indexes.as_ref().map(|target| format!("indices into {target}"));
    let said = field.description.as_ref().map(|said| format!("{said:?}"));
    for part in [default, unit, indexes, said].into_iter().flatten() {
        let _ = write!(made, ", {part}");
    }
    made
}

fn lines(record: &RecordType, depth: usize, to: &mut String) {
    for field in &record.fields {
        let _ = write!(to, "\n{:depth$}{}", "", line(field), depth = 2 * depth);
        if let FieldElement::Record(nested) = &field.element {
            lines(nested, depth + 1, to);
        }
    }
}

fn in_words(built: &Built) -> String {
    let (schema, record) = (&built.schema, built.schema.record());
    let size = format!("{} bytes each, fingerprint {}", schema.size_bytes(), schema.fingerprint());
    let mut made = format!("record {}: {size}", record.name);
    if let Some(said) = &record.description {
        let _ = write!(made, ", {said:?}");
    }
    lines(record, 1, &mut made);
    made
}

/// Writes the fingerprint of a type to `text`: equal ones mean equal bytes. Valid until the next call on this thread that
/// gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_fingerprint(
    schema: *const SchemaHandle,
    text: *mut *const c_char,
) -> Status {
    give_text(text, || Ok(built(schema)?.schema.fingerprint().to_string()))
}

/// Writes a type in words to `text`: a line for the record, and an indented one for each field. Valid until the next call
/// on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_text(schema: *const SchemaHandle, text: *mut *const c_char) -> Status {
    give_text(text, || Ok(in_words(&built(schema)?)))
}

/// Writes to `text` how the type that there is, `found`, differs from `wanted`: a line for each difference. It is empty
/// where they are the same. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_differences(
    found: *const SchemaHandle,
    wanted: *const SchemaHandle,
    text: *mut *const c_char,
) -> Status {
    give_text(text, || {
        let all = differences(&built(found)?.schema, &built(wanted)?.schema);
        Ok(all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// Writes the bytes of the fixed part of each record to `size_bytes`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_size(schema: *const SchemaHandle, size_bytes: *mut u64) -> Status {
    guard(|| give(size_bytes, built(schema)?.schema.size_bytes() as u64, "size_bytes"))
}

/// Writes how many fields a type has to `count`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_field_count(schema: *const SchemaHandle, count: *mut u64) -> Status {
    guard(|| give(count, built(schema)?.schema.record().fields.len() as u64, "count"))
}

/// Writes what is to be known of the field at `index` (from 0, in their order) to `field`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_field_at(
    schema: *const SchemaHandle,
    index: u64,
    field: *mut FieldStruct,
) -> Status {
    guard(|| {
        let (handle, built) = (find(schema)?, built(schema)?);
        let fields = &built.schema.record().fields;
        let at = fields.get(as_len(index)).ok_or_else(|| Failure::beyond("field", index, fields.len()))?;
        give(field, describe(&handle, &built, at), "field")
    })
}

fn describe(handle: &SchemaHandle, built: &Built, field: &Field) -> FieldStruct {
    let optional = |text: &Option<String>| handle.text(text.as_deref().unwrap_or_default());
    let (mut shape, mut ndims) = ([0; 8], 0);
    let extent = match &field.extent {
        Extent::One => ExtentCode::One,
        Extent::Fixed(of, _) => {
            shape = padded(of.dims());
            ndims = u32::try_from(of.dims().as_slice().len()).unwrap_or(u32::MAX);
            ExtentCode::Fixed
        }
        Extent::Variable | Extent::SizedBy(_) => ExtentCode::List,
    };
    FieldStruct {
        name: handle.text(&field.name),
        unit: optional(&field.unit),
        description: optional(&field.description),
        dtype: field.element.dtype().map_or(0, |dtype| i32::from(dtype.as_u8())),
        extent: extent as i32,
        ndims,
        is_optional: i32::from(field.optional),
        shape,
        offset_bytes: built.schema.offset_of(&field.name).unwrap_or_default() as u64,
    }
}

/// Makes a schema of the record type that a field is, to be freed by `flexpath_schema_free`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_record_of(
    schema: *const SchemaHandle,
    field: *const c_char,
    record: *mut *mut SchemaHandle,
) -> Status {
    guard(|| {
        check_place(record, "record")?;
        let (name, built) = (text(field, "field")?, built(schema)?);
        let found = built.schema.record().fields.iter().find(|field| field.name == name);
        let Some(FieldElement::Record(nested)) = found.map(|field| &field.element) else {
            let text =
                format!("record {:?} has no field {name:?} that is a record", built.schema.record().name);
            return Err(Failure::misuse(text));
        };
        let nested = nested.clone().build().map_err(Failure::misused)?;
        give(record, hold(SchemaHandle::of(&nested)), "record")
    })
}
