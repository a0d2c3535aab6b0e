//! Dialling owners: many at a time, and no more than that.

use crate::data::taker::context::Taker;
use crate::value::each::each_of;
use fp_transport::Link;
use std::time::Instant;

/// Dials under way at one time, each on a thread of its own, as most of a dial is waiting for the other side.
const LIMIT_DIALS: usize = 64;

/// A link to each contact, in their order.
pub(crate) fn dial_all(taker: Taker<'_>, contacts: &[&str], deadline: Instant) -> Vec<Result<Link, String>> {
    each_of(contacts, LIMIT_DIALS, |contact| taker.dial(contact, deadline))
        .into_iter()
        .map(|dialled| dialled.unwrap_or_else(|_| Err("the dial panicked".to_owned())))
        .collect()
}
