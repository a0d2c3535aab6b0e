//! What transforms make of a step here: once, however often it is asked for.

use crate::error::ReadError;
use crate::error::transform::TransformProblem;
use crate::value::counters::Counters;
use fp_transform::{ShareError, Shared};
use std::sync::Arc;
use std::time::Instant;

/// What was made of one step, by a text that says what it is.
pub(crate) struct Once<T>(Shared<T, TransformProblem, String>);

/// What was made, and whether this call did it; or why a transform gave nothing.
pub(crate) type MadeOnce<T> = Result<(Arc<T>, bool), TransformProblem>;

impl<T> Once<T> {
    /// For so many results.
    pub(crate) fn new(limit: usize) -> Self {
        Self(Shared::new(limit))
    }

    /// Forgets all of it.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What that key stands for; counted. Where nothing comes of what goes in, that error is the caller's alone.
    pub(crate) fn of(
        &self,
        counters: &Counters,
        key: String,
        deadline: Instant,
        make: impl FnOnce() -> Result<Result<T, TransformProblem>, ReadError>,
    ) -> Result<MadeOnce<T>, ReadError> {
        let (mut failed, mut is_new) = (None, false);
        let left = deadline.saturating_duration_since(Instant::now());
        let done = self.0.derive_as(key.clone(), left, || {
            is_new = true;
            make().unwrap_or_else(|error| {
                let what = error.to_string();
                failed = Some(error);
                Err(TransformProblem::Elsewhere { what })
            })
        });
        if let Some(error) = failed {
            // Another get may have more luck.
            self.0.discard(&key);
            return Err(error);
        }
        let counter = match (is_new, &done) {
            (true, Ok(_)) => &counters.transforms,
            (true, Err(_)) => &counters.failed_transforms,
            (false, _) => &counters.shared_transforms,
        };
        Counters::add(counter, 1);
        Ok(done.map(|done| (done, is_new)).map_err(|error| match error {
            ShareError::Failed(problem) => problem,
            late @ ShareError::TimedOut { .. } => TransformProblem::Elsewhere { what: late.to_string() },
        }))
    }
}
