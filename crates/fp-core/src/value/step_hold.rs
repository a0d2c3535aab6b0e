//! What keeps a step from being released.

use crate::value::counters::Counters;
use std::any::Any;
use std::sync::Arc;

/// A share of a held step: the step is released when the last share is dropped.
pub(crate) struct StepHold {
    _step: Arc<dyn Any + Send + Sync>,
    /// Where copies out of the step are counted.
    pub(crate) counters: Arc<Counters>,
}

impl StepHold {
    pub(crate) fn new(step: Arc<dyn Any + Send + Sync>, counters: Arc<Counters>) -> Self {
        Self { _step: step, counters }
    }
}
