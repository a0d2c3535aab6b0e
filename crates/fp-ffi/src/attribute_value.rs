//! An attribute with its values as C reads them.
#![allow(unreachable_pub)] // exported names

use crate::c_text::clean;
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
    pub(crate) name: CString,
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

    pub(crate) fn for_c(&self) -> AttributeStruct {
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
