//! What a run has shown: a check with its numbers.

/// Whether a check holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It could not be made here.
    NotChecked,
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Whether it holds.
    pub standing: Standing,
    /// What was checked.
    pub what: &'static str,
    /// What was found.
    pub numbers: String,
}

impl Finding {
    /// A finding.
    pub fn new(standing: Standing, what: &'static str, numbers: String) -> Self {
        Finding { standing, what, numbers }
    }

    /// A check that could be made.
    pub fn of(holds: bool, what: &'static str, numbers: String) -> Self {
        Finding::new(if holds { Standing::Holds } else { Standing::Fails }, what, numbers)
    }

    /// For people.
    pub fn line(&self) -> String {
        let word = match self.standing {
            Standing::Holds => "PASS",
            Standing::Fails => "FAIL",
            Standing::NotChecked => "----",
        };
        format!("  {word}  {}: {}", self.what, self.numbers)
    }
}
