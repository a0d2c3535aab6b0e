//! Guest's part: a careless onlooker. It attaches to the atoms, takes steps and releases none. So it shows what becomes
//! of a subscriber that holds the simulation up. The simulation waits once, as long as is allowed, and then goes on
//! without it.

use flexpath::{EndReason, ExpulsionCause, NextStep, QueuePolicy, Subscriber, SubscriberOptions};

use super::error::PartError;
use super::part::Part;
use super::reach::subscribing;
use super::report::{Report, say};
use super::settings::Settings;
use super::streams::{ATOMS, TIME_STEP};
use crate::shared::error::StreamError;
use std::time::Duration;

/// How long the simulation waits for this one. The others have much longer.
pub const ALLOWED_MS: u64 = 250;

/// Attach, and hold whatever comes until the stream is over.
///
/// # Errors
/// The stream could not be attached to, or ended otherwise than by detaching this subscriber.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    let options = subscribing(settings, None, SubscriberOptions::default())?
        .with_name(format!("{}.{ATOMS}", Part::Guest.name()))
        .with_variables([TIME_STEP, "id"])
        .with_policy(QueuePolicy::EveryStep { max_wait: Duration::from_millis(ALLOWED_MS) });
    let mut subscriber = Subscriber::open(ATOMS, options)?;
    let (mut held, waited) = (Vec::new(), settings.step_patience());
    let reason = loop {
        match subscriber.next_step(waited)? {
            NextStep::Step(step) => held.push(step),
            NextStep::Ended(ending) => break ending.reason,
            NextStep::NotYet => return Err(StreamError::NoStep { stream: ATOMS, waited }.into()),
        }
    };
    let EndReason::Expelled { cause: ExpulsionCause::Unreleased { waited: held_up }, .. } = reason else {
        return Err(StreamError::Ended { stream: ATOMS, reason }.into());
    };
    let report = Report::Detached {
        held: held.len(),
        waited_ms: held_up.as_millis() as u64,
        reason: reason.to_string(),
    };
    say(Part::Guest, 0, report);
    drop(held);
    Ok(subscriber.close()?)
}
