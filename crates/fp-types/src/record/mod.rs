//! Records as values: their types, how they lie in bytes, reading them without their Rust type, and conversions.
//!
//! | module | what |
//! |---|---|
//! | `types`, `check` | a record type as a program writes it down; its limits |
//! | `layout`, `canonical`, `schema` | where fields lie; the bytes of a type; both with the fingerprint |
//! | `view`, `path`, `value` | reading records from borrowed bytes |
//! | `encode`, `rust` | writing records, and the Rust types that are some |
//! | `element`, `kernels`, `array` | conversions of plain arrays: types, byte order, memory order |
//! | `difference`, `plan`, `columns`, `run` | what two types differ in; the conversion from one to the other |
//!
//! The layout is described in docs/types.md. The idea of a binary form that is its own memory layout, with a
//! description that travels once, is that of FFS (the Flexpath paper, section IV.A).

mod array;
mod canonical;
mod check;
mod columns;
mod difference;
mod element;
mod encode;
mod kernels;
mod layout;
mod path;
mod plan;
mod run;
mod rust;
mod schema;
mod types;
mod value;
mod view;

pub use array::{ArrayConversion, ArrayConversionError};
pub use canonical::{MAX_RECORD_TYPE_BYTES, RecordDecodeError};
pub use check::{MAX_RECORD_BYTES, MAX_RECORD_DEPTH, MAX_RECORD_FIELDS, MAX_VARIANTS, RecordError};
pub use difference::{Difference, DifferenceKind, differences};
pub use element::{ByteOrder, ElementConversion, ElementConversionError, ElementForm, Loss};
pub use encode::{ElementTarget, EncodeError, FieldTarget, RecordTarget, encode_records, encode_with};
pub use path::ReadError;
pub use plan::{Conversion, Incompatible};
pub use run::ConvertError;
pub use rust::{ElementValue, FieldValue, Record, decode_records};
pub use schema::RecordSchema;
pub use types::{Element, EnumType, Extent, Field, RecordType};
pub use value::{ArrayRef, Value};
pub use view::{RecordRef, Records, ValueError};
