//! Records as values: their types, how they lie in bytes, reading them without their Rust type, and conversions.
//!
//! | module | what |
//! |---|---|
//! | `types`, `check` | a record type as a program writes it down; its limits |
//! | `layout`, `canonical`, `schema` | where fields lie; the bytes of a type; both with the fingerprint |
//! | `byte_order`, `bytes` | the order of a number's bytes; presence bits, references and integers in them |
//! | `field_place` | where a number lies in each record, by its path |
//! | `view` | reading records from borrowed bytes, by paths and as values |
//! | `rust` | the Rust types that are records, and writing them |
//! | `builder` | records of a type that is known only at run time, set field by field |
//! | `element`, `kernels`, `array` | conversions of plain arrays: types, byte order, memory order |
//! | `difference`, `conversion` | what two types differ in; the conversion from one to the other |
//!
//! The layout is described in docs/types.md. FFS (the Flexpath paper, section IV.A) had the idea of a binary form that
//! is its own memory layout, with a description that travels once.

mod array;
mod builder;
mod byte_order;
mod bytes;
mod canonical;
mod check;
mod conversion;
mod difference;
mod element;
mod field_place;
mod kernels;
mod layout;
mod rust;
mod schema;
mod types;
mod view;

pub use array::{ArrayConversion, ArrayConversionError};
pub use builder::{RecordBuildError, RecordBuilder};
pub use byte_order::ByteOrder;
pub use canonical::{MAX_RECORD_TYPE_BYTES, RecordDecodeError};
pub use check::{MAX_RECORD_BYTES, MAX_RECORD_DEPTH, MAX_RECORD_FIELDS, MAX_VARIANTS, RecordError};
pub use conversion::{Conversion, ConvertError, Incompatible};
pub use difference::{Difference, DifferenceKind, differences};
pub use element::{ElementConversion, ElementConversionError, ElementForm, Loss};
pub use field_place::{FieldPathError, FieldPlace};
pub use rust::{
    ElementTarget, ElementValue, EncodeError, FieldTarget, FieldValue, PlainForm, Record, RecordTarget,
    decode_records, encode_records, encode_with, plain_bytes, plain_number,
};
pub use schema::RecordSchema;
pub use types::{EnumType, Extent, Field, FieldElement, RecordType};
pub use view::{ArrayRef, RecordReadError, RecordRef, Records, Value, ValueError};
