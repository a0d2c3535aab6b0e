//! How processes, cohorts and fetches are named in a run.

use std::fmt;

/// A process with one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotId(pub(crate) usize);

/// A cohort of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CohortId {
    Publisher(usize),
    Subscriber(usize),
    /// Not a cohort at all: whoever lies or intrudes.
    Stranger(usize),
}

impl CohortId {
    /// Its number among those of its kind.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Publisher(number) | Self::Subscriber(number) | Self::Stranger(number) => number as u32,
        }
    }

    /// The host on which all its ranks are. Subscribers share two.
    pub(crate) fn host(self) -> u32 {
        match self {
            Self::Subscriber(number) => (number % 2) as u32,
            Self::Publisher(_) => 2,
            Self::Stranger(_) => 3,
        }
    }
}

impl fmt::Display for CohortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Publisher(number) => write!(f, "pub{number}"),
            Self::Subscriber(number) => write!(f, "sub{number}"),
            Self::Stranger(number) => write!(f, "stranger{number}"),
        }
    }
}

/// A fetch under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FetchId(pub(crate) u64);
