//! Types of records that are made at run time.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::c_text::clean;
use crate::elements::{dtype, order};
use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::{Handle, find, hold, take};
use crate::raw::{as_len, check_place, give, text, texts, values};
use crate::selection::dims;
use crate::struct_layout::{Layout, Said};
use fp_core::record::{EnumType, Extent, Field, RecordSchema, RecordType};
use fp_core::{AttributeValue, Shape};
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::{Arc, Mutex, PoisonError};

/// A record type: named fields in their order in memory.
pub struct SchemaHandle {
    state: Mutex<State>,
    texts: Mutex<HashMap<String, CString>>,
}

struct State {
    record: RecordType,
    said: Said,
    built: Option<Built>,
}

/// A type that was checked, and how structs of it lie; none where it has lists or texts.
#[derive(Clone)]
pub(crate) struct Built {
    pub(crate) schema: RecordSchema,
    pub(crate) layout: Option<Arc<Layout>>,
}

impl Handle for SchemaHandle {
    const NAME: &'static str = "schema";
}

impl State {
    fn build(&mut self) -> Result<Built, Failure> {
        if let Some(built) = &self.built {
            return Ok(built.clone());
        }
        let schema = self.record.clone().build().map_err(Failure::misused)?;
        let layout = match schema.is_plain() {
            true => Some(Arc::new(Layout::of(&schema, &self.said)?)),
            false => None,
        };
        Ok(self.built.insert(Built { schema, layout }).clone())
    }

    fn field(&mut self, name: &str) -> Result<&mut Field, Failure> {
        let record = &self.record.name;
        let none = Failure::misuse(format!("record {record:?} has no field {name:?} yet: add it first"));
        self.record.fields.iter_mut().find(|field| field.name == name).ok_or(none)
    }
}

impl SchemaHandle {
    fn new(record: RecordType) -> Self {
        let state = State { record, said: Said::default(), built: None };
        Self { state: Mutex::new(state), texts: Mutex::default() }
    }

    /// One that stands for a type that came from elsewhere.
    pub(crate) fn of(schema: &RecordSchema) -> Self {
        Self::new(schema.record().clone())
    }

    /// A text that stays where it is as long as the handle.
    pub(crate) fn text(&self, text: &str) -> *const c_char {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.entry(text.to_owned()).or_insert_with(|| clean(text)).as_ptr()
    }
}

/// The type behind a handle, as it is now, checked.
pub(crate) fn built(handle: *const SchemaHandle) -> Result<Built, Failure> {
    find(handle)?.state.lock().unwrap_or_else(PoisonError::into_inner).build()
}

fn change(handle: *const SchemaHandle, run: impl FnOnce(&mut State) -> Result<(), Failure>) -> Outcome {
    let found = find(handle)?;
    let mut state = found.state.lock().unwrap_or_else(PoisonError::into_inner);
    run(&mut state)?;
    state.built = None;
    Ok(Status::Ok)
}

fn change_field(
    handle: *const SchemaHandle,
    name: *const c_char,
    run: impl FnOnce(&mut Field) -> Result<(), Failure>,
) -> Outcome {
    let name = text(name, "field")?;
    change(handle, |state| run(state.field(name)?))
}

/// Makes a record type without fields, to be freed by `flexpath_schema_free`. Fields are added in their order in
/// memory, which is that of a C struct. The type is checked when it is first used. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_create(name: *const c_char, schema: *mut *mut SchemaHandle) -> Status {
    guard(|| {
        check_place(schema, "schema")?;
        let made = SchemaHandle::new(RecordType::new(text(name, "name")?));
        give(schema, hold(made), "schema")
    })
}

/// Adds a field of one element: `code` is one of `flexpath_dtype`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_add_field(
    schema: *mut SchemaHandle,
    name: *const c_char,
    code: i32,
) -> Status {
    guard(|| {
        let field = Field::new(text(name, "name")?, dtype(code)?);
        change(schema, |state| {
            state.record.fields.push(field);
            Ok(())
        })
    })
}

/// Adds a field that is a record of the type `record`, as that is now. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_add_record(
    schema: *mut SchemaHandle,
    name: *const c_char,
    record: *const SchemaHandle,
) -> Status {
    guard(|| {
        let name = text(name, "name")?;
        let (nested, said) = {
            let found = find(record)?;
            let mut state = found.state.lock().unwrap_or_else(PoisonError::into_inner);
            // Only a type that is allowed is copied: so one that is put into itself does not grow without end.
            state.build()?;
            (state.record.clone(), state.said.clone())
        };
        change(schema, |state| {
            state.record.fields.push(Field::new(name, nested));
            state.said.nested.insert(name.to_owned(), said);
            Ok(())
        })
    })
}

/// Adds a field that is one of `count` names, which travels as an integer. `code` is its type and `type_name` the name
/// of the enumeration. `names` and `numbers` are the names and what stands for each. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_add_enum(
    schema: *mut SchemaHandle,
    name: *const c_char,
    code: i32,
    type_name: *const c_char,
    names: *const *const c_char,
    numbers: *const i64,
    count: u64,
) -> Status {
    guard(|| {
        let (name, all) = (text(name, "name")?, texts(names, count, "names")?);
        let numbers = values(numbers, all.len(), "numbers")?;
        let empty = EnumType::new(text(type_name, "type_name")?, dtype(code)?);
        let names = all.iter().zip(numbers).fold(empty, |of, (name, number)| of.variant(*name, *number));
        change(schema, |state| {
            state.record.fields.push(Field::new(name, names));
            Ok(())
        })
    })
}

/// Makes a field an array of `ndims` dimensions with these extents, within the record; its elements lie in the order
/// `order_code` (one of `flexpath_order`). Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_fixed(
    schema: *mut SchemaHandle,
    field: *const c_char,
    ndims: u32,
    shape: *const u64,
    order_code: i32,
) -> Status {
    guard(|| {
        let (dims, order) = (dims(shape, ndims, "shape")?, order(order_code)?);
        let shape = Shape::new(dims).map_err(Failure::misused)?;
        change_field(schema, field, |field| {
            field.extent = Extent::Fixed(shape, order);
            Ok(())
        })
    })
}

/// Makes a field a list. It has as many elements as the integer field `length`, which is before it, says. Where
/// `length` is null the list carries its own length. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_list(
    schema: *mut SchemaHandle,
    field: *const c_char,
    length: *const c_char,
) -> Status {
    guard(|| {
        let extent = match length.is_null() {
            true => Extent::Variable,
            false => Extent::SizedBy(text(length, "length")?.to_owned()),
        };
        change_field(schema, field, |field| {
            field.extent = extent;
            Ok(())
        })
    })
}

/// Says that a field may be absent from a record. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_optional(schema: *mut SchemaHandle, field: *const c_char) -> Status {
    guard(|| {
        change_field(schema, field, |field| {
            field.optional = true;
            Ok(())
        })
    })
}

fn default(schema: *mut SchemaHandle, field: *const c_char, value: impl Into<AttributeValue>) -> Outcome {
    change_field(schema, field, |field| {
        field.default = Some(value.into());
        Ok(())
    })
}

/// Sets what stands for an integer, or a name of an enumeration, where there is none. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_default_integer(
    schema: *mut SchemaHandle,
    field: *const c_char,
    value: i64,
) -> Status {
    guard(|| default(schema, field, value))
}

/// Sets what stands for a real number where there is none. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_default_real(
    schema: *mut SchemaHandle,
    field: *const c_char,
    value: f64,
) -> Status {
    guard(|| default(schema, field, value))
}

/// Sets what stands for a truth value where there is none: 0 or other. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_default_bool(
    schema: *mut SchemaHandle,
    field: *const c_char,
    value: i32,
) -> Status {
    guard(|| default(schema, field, value != 0))
}

/// Sets what stands for a text where there is none. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_default_text(
    schema: *mut SchemaHandle,
    field: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| default(schema, field, text(value, "value")?))
}

/// Sets the unit of a field's values. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_unit(
    schema: *mut SchemaHandle,
    field: *const c_char,
    unit: *const c_char,
) -> Status {
    guard(|| {
        let unit = text(unit, "unit")?.to_owned();
        change_field(schema, field, |field| {
            field.unit = Some(unit);
            Ok(())
        })
    })
}

/// Sets what a field is, for people; what the record is where `field` is null. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_description(
    schema: *mut SchemaHandle,
    field: *const c_char,
    description: *const c_char,
) -> Status {
    guard(|| {
        let description = Some(text(description, "description")?.to_owned());
        let name = if field.is_null() { None } else { Some(text(field, "field")?) };
        change(schema, |state| {
            match name {
                Some(name) => state.field(name)?.description = description,
                None => state.record.description = description,
            }
            Ok(())
        })
    })
}

/// Says that the values of a field are indices into the array `target` of the same record, as for a graph. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_indexes(
    schema: *mut SchemaHandle,
    field: *const c_char,
    target: *const c_char,
) -> Status {
    guard(|| {
        let target = text(target, "target")?.to_owned();
        change_field(schema, field, |field| {
            field.indexes = Some(target);
            Ok(())
        })
    })
}

/// Says how the C struct lies that stands for such a record. It takes where each field starts (`offsetof`, `count` of
/// them in the fields' order) and the size of the struct (`sizeof`). Most structs lie as their records do, and are put
/// and got without any work for each; others go field by field. Where this is not called, structs are taken to lie as
/// records do. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_set_struct(
    schema: *mut SchemaHandle,
    offsets: *const usize,
    count: u64,
    size_bytes: usize,
) -> Status {
    guard(|| {
        let count = as_len(count);
        let offsets = values(offsets, count, "offsets")?.to_vec();
        change(schema, |state| {
            state.said.own = Some((offsets, size_bytes));
            Ok(())
        })
    })
}

/// Frees a schema. What was made with it stays. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_schema_free(schema: *mut SchemaHandle) -> Status {
    guard(|| take(schema).map(|_| Status::Ok))
}
