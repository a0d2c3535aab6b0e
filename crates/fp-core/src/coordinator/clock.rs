//! The coordinator's clock: what the machines call a moment.

use fp_proto::time::Moment;
use std::time::{Duration, Instant, SystemTime};

/// Microseconds since the handle was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { origin: Instant::now() }
    }

    pub(crate) fn now(self) -> Moment {
        self.moment(Instant::now())
    }

    /// Where the origin lies on the clock of the world, in microseconds since the Unix epoch: zero if that is set earlier.
    pub(crate) fn origin_micros(self) -> u64 {
        let origin = SystemTime::now().checked_sub(self.origin.elapsed());
        let since = origin.and_then(|origin| origin.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }

    /// What the machines call this instant.
    pub(crate) fn moment(self, instant: Instant) -> Moment {
        let since = instant.saturating_duration_since(self.origin);
        Moment::from_micros(since.as_secs().saturating_mul(1_000_000) + u64::from(since.subsec_micros()))
    }

    /// The moment as the system's clock has it.
    pub(crate) fn instant(self, moment: Moment) -> Instant {
        // A deadline centuries ahead is as good as this one.
        let ahead = Duration::from_micros(moment.as_micros()).min(Duration::from_secs(1 << 30));
        self.origin + ahead
    }
}
