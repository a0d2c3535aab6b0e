//! Times, which Python gives in seconds.

use crate::error::misuse;
use pyo3::prelude::*;
use std::time::Duration;

/// A time that Python gives in seconds.
pub(crate) fn seconds(given: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(given).map_err(|_| {
        misuse(format!(
            "a time of {given} s: give seconds, 0 or more; for no bound give a large number such as 1e9"
        ))
    })
}
