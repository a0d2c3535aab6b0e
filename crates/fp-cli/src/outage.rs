//! A rendezvous that is away for a while, as `flexpath meet` between two runs: that is told once, and waited for.

use std::fmt::Display;

/// What is known of a rendezvous that is looked at again and again.
#[derive(Default)]
pub(crate) struct Outage {
    /// Whether it was ever there.
    was_there: bool,
    /// Why it is away, as was told.
    told: Option<String>,
}

impl Outage {
    /// Of one that was there before, or was not looked at yet.
    pub(crate) fn of(was_there: bool) -> Self {
        Self { was_there, told: None }
    }

    /// What a look found; none while it is away, which is told.
    ///
    /// # Errors
    /// It was never there.
    pub(crate) fn passed<T, E: Display>(&mut self, look: Result<T, E>) -> Result<Option<T>, E> {
        match look {
            Ok(found) => {
                *self = Self::of(true);
                Ok(Some(found))
            }
            Err(error) if !self.was_there => Err(error),
            Err(error) => {
                let why = error.to_string();
                if self.told.as_ref() != Some(&why) {
                    eprintln!("flexpath: {why}");
                }
                self.told = Some(why);
                Ok(None)
            }
        }
    }
}
