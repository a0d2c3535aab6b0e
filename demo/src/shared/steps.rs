//! The steps of a stream, one after the other.

use std::time::Duration;

use flexpath::{EndReason, NextStep, StepReader, Subscriber};

use super::error::StreamError;

/// The next step; none when the publisher has closed the stream.
///
/// # Errors
/// Any other end, no step in time.
pub(crate) fn next_step(
    subscriber: &mut Subscriber,
    stream: &'static str,
    waited: Duration,
) -> Result<Option<StepReader>, StreamError> {
    match subscriber.next_step(waited)? {
        NextStep::Step(step) => Ok(Some(step)),
        NextStep::Ended(ending) if ending.reason == EndReason::Closed => Ok(None),
        NextStep::Ended(ending) => Err(StreamError::Ended { stream, reason: ending.reason }),
        NextStep::NotYet => Err(StreamError::NoStep { stream, waited }),
    }
}
