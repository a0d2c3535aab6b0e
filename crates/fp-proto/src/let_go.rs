//! What is said with the release of a step.

/// How ranks let go of a step: what any of them says holds for the cohort.
#[derive(Clone, Copy, Default)]
pub(crate) struct LetGo {
    /// Whether a rank that closed may still look at it.
    pub(crate) retire: bool,
    /// Whether a rank gave it back.
    pub(crate) given_back: bool,
}

impl LetGo {
    /// What another rank says holds too.
    pub(crate) fn merge(&mut self, other: Self) {
        self.retire |= other.retire;
        self.given_back |= other.given_back;
    }
}
