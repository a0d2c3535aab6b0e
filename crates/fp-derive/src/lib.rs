//! `#[derive(Record)]`: Rust structs and enumerations as records of streams.
//!
//! A struct becomes a record type with a field for each of its own; an enumeration without data becomes an element
//! type of names. What is derived is safe code over the public interface of `fp_types::record`.
//!
//! ```
//! use fp_types::record::{decode_records, encode_records, Record as _, Records};
//!
//! #[derive(fp_derive::Record, Debug, PartialEq)]
//! #[record(crate = fp_types)]
//! struct Atom {
//!     id: u64,
//!     #[record(unit = "angstrom")]
//!     position: [f64; 3],
//!     bonds: u32,
//!     #[record(sized_by = "bonds", description = "ids of the atoms that it is bound to")]
//!     bound_to: Vec<u64>,
//!     #[record(default = 1.0)]
//!     mass: Option<f64>,
//! }
//!
//! let atoms = [Atom { id: 7, position: [0.0, 1.5, 3.0], bonds: 2, bound_to: vec![8, 9], mass: None }];
//! let bytes = encode_records(&atoms)?;
//! let schema = Atom::schema()?;
//! let records = Records::new(&schema, &bytes, atoms.len())?;
//! let first = records.record(0).expect("there is one");
//! assert_eq!(first.value("position[1]")?.as_f64(), Some(1.5));
//! assert_eq!(first.value("mass")?.as_f64(), Some(1.0));
//! let read: Vec<Atom> = decode_records(&records)?;
//! assert_eq!(read[0].bound_to, [8, 9]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Record`](macro@Record) names the attributes.
#![forbid(unsafe_code)]

mod attributes;
mod enumeration;
mod structure;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, Error, parse_macro_input};

/// Makes a struct a record, or an enumeration without data an element of records.
///
/// | attribute | of | means |
/// |---|---|---|
/// | `name = "T"` | all | another name than Rust's |
/// | `description = "..."` | structs, fields | a text for people |
/// | `unit = "m"` | fields | the unit of the values |
/// | `default = 1.0` | fields | what the field is where it is missing |
/// | `sized_by = "n"` | `Vec` fields | the earlier field that holds the length |
/// | `indexes = "nodes"` | fields | the values are indices into that array |
/// | `dtype = "u8"` | enumerations | the integer type; else that of `#[repr(..)]`, else `i32` |
/// | `crate = path` | structs, enumerations | where the module `record` is; `::flexpath` unless said |
///
/// Types of fields are numbers, `bool`, `String`, other records and such enumerations. Arrays `[T; N]`, lists `Vec<T>` and
/// `Option<T>` of them are fields too. Errors of the record's rules, such as two fields of one name, are those of
/// `Record::schema`.
#[proc_macro_derive(Record, attributes(record))]
pub fn derive_record(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a record has no parameters: it is one type"));
    }
    match &input.data {
        Data::Struct(data) => structure::expand(input, data),
        Data::Enum(data) => enumeration::expand(input, data),
        Data::Union(data) => Err(Error::new_spanned(data.union_token, "a union is no record")),
    }
}
