//! Attributes and names of dimensions: set on a variable, read of a step's.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Status, guard};
use crate::handles::find;
use crate::raw::{give, text, texts, values};
use crate::step::Step;
use crate::texts::clean;
use crate::variable::{Variable, attribute, change};
use fp_core::AttributeValue;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::AtomicPtr;

/// What the values of an attribute are.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeCode {
    /// `uint8_t`, 0 or 1
    Bool = 1,
    /// `int64_t`
    Integer = 2,
    /// `uint64_t`
    Unsigned = 3,
    /// `double`
    Real = 4,
    /// `const char *`
    Text = 5,
    /// `uint8_t`
    Bytes = 6,
}

/// An attribute of a variable. Its memory is valid until the step is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AttributeStruct {
    /// its name
    pub name: *const c_char,
    /// its values, one after another, of the type that `kind` says
    pub values: *const c_void,
    /// how many values there are
    pub count: u64,
    /// one of `flexpath_attribute_kind`
    pub kind: i32,
    /// 1 if it is a list, be it of one value
    pub is_list: i32,
}

/// The values as C reads them.
enum Values {
    Truth(Vec<u8>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Reals(Vec<f64>),
    /// Where the texts are: an atomic pointer lies in memory as a pointer does, and goes to any thread.
    Texts {
        addresses: Vec<AtomicPtr<c_char>>,
        _owned: Vec<CString>,
    },
    Bytes(Vec<u8>),
}

/// An attribute with its values as C reads them.
pub(crate) struct Attribute {
    name: CString,
    values: Values,
    is_list: bool,
}

fn of_texts<'a>(all: impl Iterator<Item = &'a String>) -> Values {
    let texts: Vec<CString> = all.map(|text| clean(text)).collect();
    let addresses = texts.iter().map(|text| AtomicPtr::new(text.as_ptr().cast_mut())).collect();
    Values::Texts { addresses, _owned: texts }
}

impl Attribute {
    pub(crate) fn new(name: &str, value: &AttributeValue) -> Self {
        let (values, is_list) = match value {
            AttributeValue::Bool(value) => (Values::Truth(vec![u8::from(*value)]), false),
            AttributeValue::Integer(value) => (Values::Integers(vec![*value]), false),
            AttributeValue::Unsigned(value) => (Values::Unsigned(vec![*value]), false),
            AttributeValue::Real(value) => (Values::Reals(vec![value.0]), false),
            AttributeValue::Text(text) => (of_texts(std::iter::once(text)), false),
            AttributeValue::Bytes(bytes) => (Values::Bytes(bytes.clone()), true),
            AttributeValue::Integers(values) => (Values::Integers(values.clone()), true),
            AttributeValue::Reals(values) => {
                (Values::Reals(values.iter().map(|value| value.0).collect()), true)
            }
            AttributeValue::Texts(texts) => (of_texts(texts.iter()), true),
        };
        Self { name: clean(name), values, is_list }
    }

    fn for_c(&self) -> AttributeStruct {
        let (kind, values, count) = match &self.values {
            Values::Truth(values) => (AttributeCode::Bool, values.as_ptr().cast(), values.len()),
            Values::Integers(values) => (AttributeCode::Integer, values.as_ptr().cast(), values.len()),
            Values::Unsigned(values) => (AttributeCode::Unsigned, values.as_ptr().cast(), values.len()),
            Values::Reals(values) => (AttributeCode::Real, values.as_ptr().cast(), values.len()),
            Values::Texts { addresses: values, .. } => {
                (AttributeCode::Text, values.as_ptr().cast(), values.len())
            }
            Values::Bytes(values) => (AttributeCode::Bytes, values.as_ptr().cast(), values.len()),
        };
        let (kind, is_list) = (kind as i32, i32::from(self.is_list));
        AttributeStruct { name: self.name.as_ptr(), values, count: count as u64, kind, is_list }
    }
}

/// Writes how many attributes a variable of the step has to `count`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_attribute_count(
    step: *mut Step,
    variable: *const c_char,
    count: *mut u64,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let described = found.described(text(variable, "variable")?)?;
        give(count, described.attributes.len() as u64, "count")?;
        Ok(Status::Ok)
    })
}

/// Writes the attribute at `index` (from 0, by name) of a variable of the step to `attribute`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_attribute_at(
    step: *mut Step,
    variable: *const c_char,
    index: u64,
    attribute: *mut AttributeStruct,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let all = &found.described(text(variable, "variable")?)?.attributes;
        let at = usize::try_from(index).ok().and_then(|index| all.get(index));
        let none = || Failure::misuse(format!("attribute {index} of {}: they count from 0", all.len()));
        give(attribute, at.ok_or_else(none)?.for_c(), "attribute")?;
        Ok(Status::Ok)
    })
}

/// Writes the attribute of that name of a variable of the step to `attribute`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_attribute(
    step: *mut Step,
    variable: *const c_char,
    name: *const c_char,
    attribute: *mut AttributeStruct,
) -> Status {
    guard(|| {
        let (found, variable, name) = (find(step)?, text(variable, "variable")?, text(name, "name")?);
        let all = &found.described(variable)?.attributes;
        let of_name = all.iter().find(|known| known.name.as_bytes() == name.as_bytes());
        let none = || Failure::misuse(format!("variable {variable:?} has no attribute {name:?}"));
        give(attribute, of_name.ok_or_else(none)?.for_c(), "attribute")?;
        Ok(Status::Ok)
    })
}

/// Writes the name of a dimension (from 0) of a variable of the step to `name`: empty if it has none; valid until the
/// step is released. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_dimension(
    step: *mut Step,
    variable: *const c_char,
    dimension: u32,
    name: *mut *const c_char,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let all = &found.described(text(variable, "variable")?)?.dimensions;
        let none = || Failure::misuse(format!("dimension {dimension} of {}: they count from 0", all.len()));
        give(name, all.get(dimension as usize).ok_or_else(none)?.as_ptr(), "name")?;
        Ok(Status::Ok)
    })
}

/// Names the dimensions: `count` names, as many as the variable has dimensions, in the order of its shape; an empty one
/// is none. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_dimensions(
    variable: *mut Variable,
    names: *const *const c_char,
    count: u64,
) -> Status {
    guard(|| {
        let names = texts(names, count, "names")?;
        change(variable, |core| {
            let ndims = core.definition().ndims();
            if names.len() != ndims {
                return Err(Failure::misuse(format!("{} names for {ndims} dimensions", names.len())));
            }
            Ok(core.with_dimensions(&names))
        })
    })
}

/// Adds or changes an attribute: a truth value, 0 or another number. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_bool(
    variable: *mut Variable,
    name: *const c_char,
    value: i32,
) -> Status {
    guard(|| attribute(variable, name, value != 0))
}

/// Adds or changes an attribute: an unsigned number. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_unsigned(
    variable: *mut Variable,
    name: *const c_char,
    value: u64,
) -> Status {
    guard(|| attribute(variable, name, value))
}

/// As many values as C says.
fn list<T: Clone>(pointer: *const T, count: u64) -> Result<Vec<T>, Failure> {
    Ok(values(pointer, usize::try_from(count).unwrap_or(usize::MAX), "values")?.to_vec())
}

/// Adds or changes an attribute: `count` signed numbers. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_integers(
    variable: *mut Variable,
    name: *const c_char,
    values: *const i64,
    count: u64,
) -> Status {
    guard(|| attribute(variable, name, list(values, count)?))
}

/// Adds or changes an attribute: `count` real numbers. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_reals(
    variable: *mut Variable,
    name: *const c_char,
    values: *const f64,
    count: u64,
) -> Status {
    guard(|| attribute(variable, name, list(values, count)?))
}

/// Adds or changes an attribute: `count` texts, such as the names of an enumeration. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_texts(
    variable: *mut Variable,
    name: *const c_char,
    values: *const *const c_char,
    count: u64,
) -> Status {
    guard(|| {
        let values: Vec<String> = texts(values, count, "values")?.into_iter().map(str::to_owned).collect();
        attribute(variable, name, values)
    })
}

/// Adds or changes an attribute: `count` opaque bytes. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_bytes(
    variable: *mut Variable,
    name: *const c_char,
    values: *const u8,
    count: u64,
) -> Status {
    guard(|| attribute(variable, name, list(values, count)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_with_kind_and_count() {
        let told = |value: AttributeValue| {
            let kept = Attribute::new("a", &value);
            let told = kept.for_c();
            (told.kind, told.count, told.is_list, told.values.is_null())
        };
        assert_eq!(told(true.into()), (1, 1, 0, false));
        assert_eq!(told(vec![1i64, 2].into()), (2, 2, 1, false));
        assert_eq!(told(vec!["a".to_owned(), "b".to_owned()].into()), (5, 2, 1, false));
        assert_eq!(told(AttributeValue::Bytes(vec![1, 2, 3])), (6, 3, 1, false));
    }
}
