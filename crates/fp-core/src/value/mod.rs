//! Pure values. They know errors, and nothing else of this crate.

pub(crate) mod bool_check;
pub(crate) mod cohort;
pub(crate) mod collectives;
pub(crate) mod counters;
pub(crate) mod derivation_inputs;
pub(crate) mod derive_pool;
pub(crate) mod derived_names;
pub(crate) mod each;
pub(crate) mod element;
pub(crate) mod event;
pub(crate) mod fill_target;
pub(crate) mod interrupt;
pub(crate) mod limit;
pub(crate) mod log;
pub(crate) mod owned_bytes;
pub(crate) mod packed;
pub(crate) mod parameter_request;
pub(crate) mod puts;
pub(crate) mod request_delegate;
pub(crate) mod select;
pub(crate) mod spare;
pub(crate) mod step_hold;
pub(crate) mod stopwatch;
pub(crate) mod stored_bytes;
pub(crate) mod variable;
pub(crate) mod view;
