//! What reaches the supervisor of a run.

use super::super::report::Line;

/// What reaches the supervisor.
pub(super) enum Notice {
    /// A part said something.
    Said(Box<Line>),
    /// A process wrote something else.
    Noise { label: String, text: String },
    /// A process will write no more.
    Silent,
    /// CSym judged a step.
    Judged(Judged),
    /// CSym has ended, or could not be followed.
    WatchEnded(Result<(), String>),
}

/// What CSym says of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    /// The time step.
    pub(super) time_step: i64,
    /// Whether the material has torn.
    pub(super) torn: bool,
    /// How many atoms are torn.
    pub(super) torn_atoms: i64,
    /// Of how many.
    pub(super) atoms: i64,
    /// Bonds among them.
    pub(super) bonds: i64,
}
