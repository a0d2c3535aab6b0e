//! Time as an argument: the machines never read a clock.

use std::time::Duration;

/// A moment on the coordinator's monotonic clock, in microseconds since an origin of the coordinator's choosing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);

    /// The moment `micros` microseconds after the origin.
    pub fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the origin.
    #[inline]
    pub fn as_micros(self) -> u64 {
        self.0
    }

    /// The moment `delay` later; saturates at the end of time.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX)))
    }

    /// How long ago `earlier` was; zero if it lies in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// Looks for the first of several moments. The end of time never comes.
#[derive(Clone, Copy)]
pub(crate) struct Earliest(u64);

impl Earliest {
    /// The first of this one, if it is one, and those to be named.
    #[inline]
    pub(crate) fn of(moment: Option<Moment>) -> Self {
        Self(moment.map_or(u64::MAX, |moment| moment.0))
    }

    /// And this one.
    #[inline]
    pub(crate) fn and(self, moment: Option<Moment>) -> Self {
        Self(self.0.min(Self::of(moment).0))
    }

    /// Which it is, if there is any.
    #[inline]
    pub(crate) fn moment(self) -> Option<Moment> {
        (self.0 < u64::MAX).then_some(Moment(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_found() {
        let at = |micros| Some(Moment::from_micros(micros));
        assert_eq!(Earliest::of(at(3)).and(None).and(at(2)).and(at(9)).moment(), at(2));
        assert_eq!(Earliest::of(None).and(None).moment(), None);
        assert_eq!(Earliest::of(at(u64::MAX)).moment(), None, "the end of time never comes");
    }

    #[test]
    fn after_and_since_are_inverse_and_saturate() {
        let start = Moment::from_micros(5);
        let later = start.after(Duration::from_millis(2));
        assert_eq!(later.since(start), Duration::from_millis(2));
        assert_eq!(start.since(later), Duration::ZERO);
        assert_eq!(Moment::from_micros(u64::MAX).after(Duration::from_secs(1)).as_micros(), u64::MAX);
    }
}
