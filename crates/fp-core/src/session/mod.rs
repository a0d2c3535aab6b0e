//! One opening of a stream by this process: what its handle, its steps and its futures share.
//!
//! A session owns the endpoint that the coordinator drives. It knows the data plane, and no public handle.

pub(crate) mod admission;
pub(crate) mod asked;
pub(crate) mod asked_condition;
pub(crate) mod begin;
pub(crate) mod condition;
pub(crate) mod delegation;
pub(crate) mod deployer;
pub(crate) mod derive_budget;
pub(crate) mod derive_failure;
pub(crate) mod derived_variables;
pub(crate) mod deriver;
pub(crate) mod events;
pub(crate) mod gather;
pub(crate) mod life;
pub(crate) mod offers;
pub(crate) mod open_attempt;
pub(crate) mod peek;
pub(crate) mod prepare;
pub(crate) mod publisher;
pub(crate) mod reselect;
pub(crate) mod side_cost;
pub(crate) mod sides;
pub(crate) mod steering;
pub(crate) mod subscriber;
pub(crate) mod sync;
pub(crate) mod taker;
pub(crate) mod wants;
