//! How streams are joined: by what, and what is done where a partner is missing.

use std::time::Duration;

use fp_core::Subscriber;

use crate::error::WindowError;
use crate::join::Missing;
use crate::key::KeyOf;

/// How long a stream that gives nothing is waited for, unless it is said.
const HOLD: Duration = Duration::from_secs(10);

/// What is done with a key that not every stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingPartner {
    /// It is left out and counted: an inner join.
    Skip,
    /// Its stream is waited for until it has passed the key, or has given nothing for that long. Then it is told, by
    /// [`NextWindow::Missing`](crate::NextWindow::Missing), and left out.
    Wait(Duration),
    /// The last step of that stream stands in for it: a join as of that key. Every key of any stream then has a row, from
    /// the first one on by which each stream has given a step.
    Last,
}

impl MissingPartner {
    pub(crate) fn rule(self) -> Missing {
        match self {
            Self::Skip => Missing::Skip,
            Self::Wait(_) => Missing::Tell,
            Self::Last => Missing::Last,
        }
    }
}

/// Streams that are to be joined, and how. [`Join::tumbling`] and [`Join::sliding`] begin.
///
/// [`Join::tumbling`]: crate::Join::tumbling
/// [`Join::sliding`]: crate::Join::sliding
pub struct Join {
    pub(crate) streams: Vec<Subscriber>,
    pub(crate) key: KeyOf,
    pub(crate) missing: MissingPartner,
    pub(crate) hold: Duration,
}

impl Join {
    /// Joins by the number of the step, and skips what has no partner.
    pub(crate) fn new(streams: Vec<Subscriber>) -> Self {
        Self { streams, key: KeyOf::Step, missing: MissingPartner::Skip, hold: HOLD }
    }

    /// Joins by the value of a global scalar that each stream publishes under that name: of integers, reals or a truth value.
    /// It comes with the step's announcement, whatever is subscribed to.
    #[must_use]
    pub fn by(self, scalar: impl Into<String>) -> Self {
        self.by_key(KeyOf::Scalar(scalar.into()))
    }

    /// Joins by the value of an attribute, of whichever variables have it. Where it changes with each step, each stream's
    /// publisher is asked once a step.
    #[must_use]
    pub fn by_attribute(self, attribute: impl Into<String>) -> Self {
        self.by_key(KeyOf::Attribute(attribute.into()))
    }

    /// Joins by that. Default: the number of the step.
    #[must_use]
    pub fn by_key(mut self, key: KeyOf) -> Self {
        self.key = key;
        self
    }

    /// Sets what is done with a key that not every stream has. Default: it is left out.
    #[must_use]
    pub fn with_missing(mut self, missing: MissingPartner) -> Self {
        self.missing = missing;
        self
    }

    /// Sets how long a stream that others wait for may give nothing. Then nothing is expected of it until it gives a step, so
    /// that it does not hold up the publishers of the others. Default 10 s; with [`MissingPartner::Wait`] its time counts.
    #[must_use]
    pub fn with_hold(mut self, hold: Duration) -> Self {
        self.hold = hold;
        self
    }

    /// How long a stream may give nothing.
    pub(crate) fn patience(&self) -> Duration {
        match self.missing {
            MissingPartner::Wait(patience) => patience,
            MissingPartner::Skip | MissingPartner::Last => self.hold,
        }
    }

    /// Whether windows of that length, so many rows apart, can be made of these streams.
    pub(crate) fn check(&self, length: usize, hop: usize) -> Result<(), WindowError> {
        if self.streams.is_empty() {
            return Err(WindowError::NoStreams);
        }
        if hop == 0 || hop > length {
            return Err(WindowError::Length { length, hop });
        }
        let least = least_credit(length);
        let short = self.streams.iter().find(|stream| u64::from(stream.options().held_steps()) < least);
        short.map_or(Ok(()), |short| {
            let (stream, credit) = (short.stream().to_owned(), short.options().held_steps());
            Err(WindowError::Credit { stream, credit, length, least })
        })
    }
}

/// Steps that a stream may have to give before a window of that length is complete: those of its rows, and one that no row
/// has yet or that stands in for later ones.
fn least_credit(length: usize) -> u64 {
    (length as u64).saturating_add(1)
}
