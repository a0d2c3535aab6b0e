//! On which side a transform runs, and why.

use std::fmt;
use std::time::Duration;

use super::Cost;

/// On which side a transform is to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CohortSide {
    /// Where the data are made.
    Publisher,
    /// Where they are wanted.
    Subscriber,
    /// Where fewer bytes have to travel: decided by what was measured, or, before, by what was declared.
    #[default]
    FewerBytes,
}

/// The side that was decided for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedSide {
    /// Where the data are made.
    Publisher,
    /// Where they are wanted.
    Subscriber,
}

/// Where a transform runs, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideDecision {
    /// Where.
    pub place: DecidedSide,
    /// Why.
    pub reason: SideReason,
}

/// Why a transform runs on a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SideReason {
    /// It was asked to.
    Asked,
    /// What it was seen to make of its input.
    Measured {
        /// Bytes that went in, of all calls.
        input_bytes: u64,
        /// Bytes that came out.
        output_bytes: u64,
    },
    /// What it was said to make of each byte.
    Declared {
        /// Bytes out for each byte in.
        output_ratio: f64,
    },
}

/// What was measured of a transform's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeasuredCalls {
    /// Calls that ended well.
    pub calls: u64,
    /// Bytes that went in.
    pub input_bytes: u64,
    /// Bytes that came out.
    pub output_bytes: u64,
    /// How long they took together.
    pub time: Duration,
    /// Calls that failed, panicked or ran too long.
    pub failed: u64,
}

impl MeasuredCalls {
    /// Counts a call that ended well.
    pub fn add(&mut self, input_bytes: u64, output_bytes: u64, time: Duration) {
        self.calls += 1;
        self.input_bytes = self.input_bytes.saturating_add(input_bytes);
        self.output_bytes = self.output_bytes.saturating_add(output_bytes);
        self.time = self.time.saturating_add(time);
    }

    /// The cost that was measured, or what was declared as long as nothing was.
    pub fn cost(&self, declared: Cost) -> Cost {
        if self.input_bytes == 0 {
            return declared;
        }
        let input = self.input_bytes as f64;
        Cost {
            nanos_per_byte: self.time.as_nanos() as f64 / input,
            output_ratio: self.output_bytes as f64 / input,
        }
    }

    /// Where a transform runs that was declared so.
    pub fn decide(&self, placement: CohortSide, declared: Cost) -> SideDecision {
        let fewer = |shrinks| if shrinks { DecidedSide::Publisher } else { DecidedSide::Subscriber };
        let (input_bytes, output_bytes) = (self.input_bytes, self.output_bytes);
        match placement {
            CohortSide::Publisher => {
                SideDecision { place: DecidedSide::Publisher, reason: SideReason::Asked }
            }
            CohortSide::Subscriber => {
                SideDecision { place: DecidedSide::Subscriber, reason: SideReason::Asked }
            }
            CohortSide::FewerBytes if input_bytes > 0 => SideDecision {
                place: fewer(output_bytes < input_bytes),
                reason: SideReason::Measured { input_bytes, output_bytes },
            },
            CohortSide::FewerBytes => SideDecision {
                place: fewer(declared.output_ratio < 1.0),
                reason: SideReason::Declared { output_ratio: declared.output_ratio },
            },
        }
    }
}

impl fmt::Display for SideDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            DecidedSide::Publisher => "publisher",
            DecidedSide::Subscriber => "subscriber",
        };
        match self.reason {
            SideReason::Asked => write!(f, "{place}: as asked"),
            SideReason::Measured { input_bytes, output_bytes } => {
                write!(f, "{place}: {input_bytes} bytes became {output_bytes}")
            }
            SideReason::Declared { output_ratio } => {
                write!(f, "{place}: each byte becomes {output_ratio}, as declared")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_overrules_what_was_said() {
        let declared = Cost { nanos_per_byte: 1.0, output_ratio: 0.1 };
        let mut measured = MeasuredCalls::default();
        let said = measured.decide(CohortSide::FewerBytes, declared);
        assert_eq!(said.to_string(), "publisher: each byte becomes 0.1, as declared");
        measured.add(100, 300, Duration::from_nanos(250));
        let seen = measured.decide(CohortSide::FewerBytes, declared);
        assert_eq!(seen.to_string(), "subscriber: 100 bytes became 300");
        assert_eq!(measured.cost(declared), Cost { nanos_per_byte: 2.5, output_ratio: 3.0 });
        let asked = measured.decide(CohortSide::Publisher, declared);
        assert_eq!(asked, SideDecision { place: DecidedSide::Publisher, reason: SideReason::Asked });
    }
}
