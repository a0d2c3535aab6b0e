//! Records in streams: variables of them, putting and taking them, and finding the variables that provide a type.
//!
//! | module | what |
//! |---|---|
//! | `variables` | variables whose elements are records |
//! | `block` | records on their way into a step |
//! | `types` | types that were put or heard of, and the conversions between them: each worked out once |
//! | `reading`, `whole` | taking records, as they lie or as another type; those with lists and texts |
//! | `route`, `through` | the cheapest way to a type over registered transforms; taking it, once in a step |
//! | `there` | the same over transforms that the publisher offers, made there when they are asked for |
//! | `filling` | taking records into memory of the caller's |
//! | `asked`, `received` | what publishers are asked to send through transforms of theirs; reading it |
//! | `wanted` | types that must be there for a subscriber to attach |
//! | `applying`, `made` | a transform on blocks, on either side; what was asked of publishers, made here instead |
//! | `set` | records that were taken, with their type |
//! | `providing` | which variables of a stream provide a type, and why the others do not |
//!
//! The fixed parts of records are the elements of their variable. What lists and texts they refer to is a block of
//! bytes beside each block, of a variable of its own that users do not see ([`fp_types::VariableDef::parts`]).

mod applying;
mod asked;
mod block;
mod filling;
mod made;
mod providing;
mod reading;
mod received;
mod route;
mod set;
mod there;
mod through;
mod types;
mod variables;
mod wanted;
mod whole;

pub(crate) use applying::{Applied, ApplyProblem, Applying};
pub use asked::TransformedVariable;
pub(crate) use block::plain_schema;
pub use block::{RecordBlock, RecordBlockError};
pub(crate) use made::{Made, MadeOnce};
pub(crate) use providing::list;
pub use providing::{Fit, Misfit, Provided};
pub use reading::RecordProblem;
pub use set::RecordSet;
pub(crate) use there::{KnownOffers, MadeThere};
pub use through::TransformProblem;
pub(crate) use through::Transformed;
use through::only_block;
pub(crate) use types::Types;
pub use wanted::WantedType;
