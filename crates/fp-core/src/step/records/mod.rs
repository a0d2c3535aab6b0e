//! Records of a step: in the type that is wanted, whichever way leads to it.
//!
//! | file | what |
//! |---|---|
//! | `record_type` | the type that a variable has |
//! | `matched`, `whole`, `taken` | records as they were put, or converted |
//! | `route`, `offered` | the cheapest way over transforms, on either side |
//! | `through`, `made_by_owner` | records that went such a way |
//! | `take` | the first of these that leads to the type |
//! | `provide` | which variables lead to it at all |

pub(crate) mod made_by_owner;
pub(crate) mod matched;
pub(crate) mod offered;
pub(crate) mod provide;
pub(crate) mod record_type;
pub(crate) mod route;
pub(crate) mod take;
pub(crate) mod taken;
pub(crate) mod through;
pub(crate) mod whole;
pub(crate) mod whole_block;
