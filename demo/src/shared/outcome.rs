//! How a supervisor's run ended.

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every check held.
    Held,
    /// Everything held, but nothing could be held against LAMMPS.
    WithoutLammps,
    /// Something failed.
    Failed,
    /// The user ended it.
    Interrupted,
}

impl Outcome {
    /// The exit status that says so.
    pub fn status(self) -> u8 {
        match self {
            Outcome::Held => 0,
            Outcome::Failed => 1,
            Outcome::WithoutLammps => 77,
            Outcome::Interrupted => 130,
        }
    }
}
