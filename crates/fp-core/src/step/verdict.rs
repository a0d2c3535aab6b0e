//! What is to become of a step that is let go.

use std::sync::atomic::{AtomicU8, Ordering};

/// Nothing was said.
const UNSAID: u8 = 0;
/// It is done.
const DONE: u8 = 1;
/// A member of the set is to have it again.
const GIVEN_BACK: u8 = 2;

/// What the application said of a step. Its last word counts.
#[derive(Default)]
pub(crate) struct Verdict(AtomicU8);

impl Verdict {
    pub(crate) fn done(&self) {
        self.0.store(DONE, Ordering::Relaxed);
    }

    pub(crate) fn give_back(&self) {
        self.0.store(GIVEN_BACK, Ordering::Relaxed);
    }

    /// Whether the step goes back. Where nothing was said, it does in a panic, and `unsaid` decides otherwise.
    pub(crate) fn is_given_back(&self, unsaid: bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            UNSAID => unsaid || std::thread::panicking(),
            said => said == GIVEN_BACK,
        }
    }
}
