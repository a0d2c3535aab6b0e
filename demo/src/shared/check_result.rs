//! What a run has shown: the result of a check, with its numbers.

use super::outcome::Outcome;
use super::screen::Screen;

/// Shows the results: how the run ended.
pub(crate) fn show(checks: &[CheckResult], screen: &mut Screen) -> Outcome {
    checks.iter().for_each(|check| screen.line(&check.line()));
    let fails = checks.iter().any(|check| check.status == CheckStatus::Fails);
    if fails { Outcome::Failed } else { Outcome::Held }
}

/// Whether a check holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It could not be made here.
    NotChecked,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// Whether it holds.
    pub status: CheckStatus,
    /// What was checked.
    pub what: &'static str,
    /// What was found.
    pub numbers: String,
}

impl CheckResult {
    /// A result.
    pub fn new(status: CheckStatus, what: &'static str, numbers: String) -> Self {
        CheckResult { status, what, numbers }
    }

    /// A check that could be made.
    pub fn of(holds: bool, what: &'static str, numbers: String) -> Self {
        CheckResult::new(if holds { CheckStatus::Holds } else { CheckStatus::Fails }, what, numbers)
    }

    /// For people.
    pub fn line(&self) -> String {
        let word = match self.status {
            CheckStatus::Holds => "PASS",
            CheckStatus::Fails => "FAIL",
            CheckStatus::NotChecked => "----",
        };
        format!("  {word}  {}: {}", self.what, self.numbers)
    }
}
