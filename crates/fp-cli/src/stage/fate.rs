//! What becomes of steps that are on disk as a staged stream opens, and of those that come meanwhile.

use std::sync::atomic::{AtomicU8, Ordering};

/// What becomes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Subscribers are awaited: those of before a kill, or as many as were asked for.
    Undecided,
    /// They are published: all are there, or were awaited long enough.
    Published,
    /// They stay on disk, as another run of the stream is there.
    Left,
}

/// The fate of one opening of a staged stream. It is decided once, and is the same on all ranks.
pub(super) struct OpeningFate(AtomicU8);

impl OpeningFate {
    /// That of an opening which awaits so many subscribers.
    pub(super) fn awaiting(subscribers: u32) -> Self {
        let fate = if subscribers == 0 { Fate::Published } else { Fate::Undecided };
        Self(AtomicU8::new(fate as u8))
    }

    /// What holds now.
    pub(super) fn now(&self) -> Fate {
        match self.0.load(Ordering::SeqCst) {
            fate if fate == Fate::Published as u8 => Fate::Published,
            fate if fate == Fate::Left as u8 => Fate::Left,
            _ => Fate::Undecided,
        }
    }

    /// Decides that, unless it is decided; says what holds.
    pub(super) fn decide(&self, fate: Fate) -> Fate {
        let undecided = Fate::Undecided as u8;
        let _ = self.0.compare_exchange(undecided, fate as u8, Ordering::SeqCst, Ordering::SeqCst);
        self.now()
    }
}
