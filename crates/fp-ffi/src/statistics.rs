//! Counters by name: a name more breaks no program.

use crate::failure::{Failure, Status};
use fp_core::Statistics;

macro_rules! names {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// The counter of that name.
        pub(crate) fn value_of(counted: &Statistics, name: &str) -> Result<u64, Failure> {
            match name {
                $(stringify!($name) => Ok(counted.$name),)*
                _ => Err(Failure::new(
                    Status::BadOption,
                    format!("{name:?} is no counter; there are: {}", NAMES.join(", ")),
                )),
            }
        }
    };
}

names! {
    steps, skipped_steps, payload_bytes, put_copied_bytes, shared_copied_bytes, gathered_bytes, get_copied_bytes,
    received_bytes, staged_bytes, sent_bytes, views, requests, resolves, data_links,
}
