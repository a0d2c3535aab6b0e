//! The C interface of Flexpath: what `include/flexpath.h` declares.
//!
//! A handle that C holds is a number in the shape of a pointer. It is looked up in a table and never followed, so a
//! wrong or closed one is an error and no crash. Every function runs inside one guard that no panic passes. Each
//! returns a [`Status`]; the text of the last failure is kept for each thread.
//!
//! The modules are private, as C alone can call the functions. What their comments demand of pointers (valid for what
//! is read or written through them) is C's to keep.

#[cfg(not(panic = "unwind"))]
compile_error!("the guard against panics needs panic = \"unwind\"");

mod asked;
mod attribute_value;
mod attributes;
mod blocks;
mod builder;
mod c_text;
mod callback;
mod cohort;
mod descriptor;
mod elements;
mod events;
mod external;
mod failure;
mod functions;
mod get;
mod handles;
mod judgement;
mod keys;
mod limits;
mod measured;
mod on_step;
mod options;
mod provided;
mod publisher;
mod put;
mod raw;
mod record_set;
mod record_variables;
mod records_as_structs;
mod region;
mod schema;
mod schema_text;
mod selection;
mod statistics;
mod steering;
mod step;
mod struct_layout;
mod subscriber;
mod texts;
mod transforms;
mod value_kind;
mod variable;
mod view;
mod words;

pub use asked::RequestStruct;
pub use attribute_value::{AttributeCode, AttributeStruct};
pub use blocks::BlockStruct;
pub use cohort::{Allgather, Barrier};
pub use elements::{DtypeCode, KindCode, OrderCode};
pub use events::{EventCode, EventStruct};
pub use failure::Status;
pub use measured::MeasuredStruct;
pub use options::PlacementCode;
pub use provided::{FoundStruct, ProvidedStruct};
pub use record_set::ValueStruct;
pub use schema_text::{ExtentCode, FieldStruct};
pub use selection::{ConversionCode, Selected, SelectionStruct};
pub use steering::ParameterCode;
pub use step::{GetStruct, StepInfo, VariableStruct};
pub use subscriber::EndCode;
pub use transforms::Transform;
pub use value_kind::Kind;
