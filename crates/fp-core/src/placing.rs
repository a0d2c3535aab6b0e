//! On which side derived variables are made, changed while the stream runs.
//!
//! A change is a new specification of the whole subscription, as other variables are: two passes over the publisher's
//! ranks settle the first step that it holds for, until then ranks do what was asked for before and what is asked for
//! now, and every subscriber rank is told, so that it reads each step by what held for that step.

use crate::error::{Misuse, ReadError};
use crate::options::SubscriberOptions;
use crate::subscriber::{Subscriber, SubscriberShared, spec};
use fp_transform::Placement;
use std::sync::PoisonError;

impl Subscriber {
    /// Has a derived variable of [`SubscriberOptions`] made on another side from now on, for the whole cohort: only the
    /// lead's call is sent. `Event::Reselected` says from which step on it is so; steps before that are read as they were
    /// asked for. No step is lost by it, and gets are the same on either side.
    ///
    /// # Errors
    /// Nothing is derived by that name; the stream is not attached.
    pub fn place(&mut self, variable: &str, placement: Placement) -> Result<(), ReadError> {
        self.shared.check_fork().map_err(|source| self.shared.misuse(source))?;
        self.shared.place(variable, placement)
    }
}

impl SubscriberOptions {
    /// What is made by that name, to be placed elsewhere.
    fn placement_mut(&mut self, variable: &str) -> Option<&mut Placement> {
        let derived = self.derivations.iter_mut().find(|of| of.name == variable);
        derived.map(|of| &mut of.placement)
    }
}

impl SubscriberShared {
    fn place(&self, variable: &str, placement: Placement) -> Result<(), ReadError> {
        let known = || self.options.derivations.iter().map(|of| of.name.clone()).collect();
        let unknown = || Misuse::NotPlaced { variable: variable.to_owned(), known: known() };
        if !self.options.derivations.iter().any(|of| of.name == variable) {
            return Err(self.misuse(unknown()));
        }
        self.ask(|asking| {
            if let Some(place) = asking.placement_mut(variable) {
                *place = placement;
            }
        })
    }

    /// Asks for something else than until now; only what the lead asks for is sent.
    pub(crate) fn ask(&self, change: impl FnOnce(&mut SubscriberOptions)) -> Result<(), ReadError> {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = asking.clone();
        change(&mut changed);
        let asked = spec(&changed);
        let done = self.endpoint.drive(|state, now| state.machine.reselect(now, asked));
        done.map_err(|error| self.misuse(Misuse::Command(error)))?;
        *asking = changed;
        Ok(())
    }
}
