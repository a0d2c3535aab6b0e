//! Waiting for a step, as a task.

use crate::error::ReadError;
use crate::session::peek::look_for_step;
use crate::session::subscriber::SubscriberSession;
use crate::subscriber::{NextStep, taken};
use crate::value::limit::after;
use crate::value::stopwatch::Stopwatch;
use std::sync::Arc;
use std::time::Duration;

/// The next step, waiting up to `timeout` for one.
pub(crate) async fn next_step(
    shared: &Arc<SubscriberSession>,
    timeout: Duration,
) -> Result<NextStep, ReadError> {
    shared.check_fork()?;
    let watch = Stopwatch::start(&shared.counters.next_step_ns);
    let came = shared.endpoint.wait_async(after(watch.started, timeout), look_for_step).await;
    drop(watch);
    taken(shared, came)
}
