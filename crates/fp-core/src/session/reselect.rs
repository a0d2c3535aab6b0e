//! Changing what a subscription asks for while the stream runs: its variables, and on which side derived ones are made.

use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::options::subscriber::{SubscriberOptions, spec};
use crate::options::transformed_variable::TransformedVariable;
use crate::session::side_cost::Identity;
use crate::session::sides::{History, Placeable, VariablePlacement};
use crate::session::subscriber::SubscriberSession;
use crate::value::counters::Counters;
use fp_transform::CohortSide;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

impl SubscriberSession {
    pub(crate) fn asking(&self) -> MutexGuard<'_, SubscriberOptions> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn check_place(&self, variable: &str, placement: CohortSide) -> Result<(), Misuse> {
        let variables = &self.sides.variables;
        if !variables.iter().any(|of| of.name == variable) {
            let known = variables.iter().map(|of| of.name.clone()).collect();
            return Err(Misuse::NotPlaced { variable: variable.to_owned(), known });
        }
        match self.options.transformed_variable(variable) {
            Some(asked)
                if placement == CohortSide::Subscriber && !self.options.knows_transform_of(variable) =>
            {
                let natives = self.options.transforms.iter().flat_map(|known| known.registered());
                let known = natives.map(|native| native.name).collect();
                let (variable, transform) = (variable.to_owned(), asked.transform.clone());
                Err(Misuse::NoTransformHere { variable, transform, known })
            }
            _ => Ok(()),
        }
    }

    /// Asks for something else than until now; only what the lead asks for is sent.
    pub(crate) fn ask(&self, change: impl FnOnce(&mut SubscriberOptions)) -> Result<(), ReadError> {
        let mut asking = self.asking();
        let mut changed = asking.clone();
        change(&mut changed);
        let mut asked = spec(&changed);
        let done = self.endpoint.drive(|state, now| {
            // The condition is another matter.
            asked.when = state.machine.condition().map(<[u8]>::to_vec);
            state.machine.reselect(now, asked)
        });
        done.map_err(|error| self.misuse(Misuse::Command(error)))?;
        *asking = changed;
        Ok(())
    }

    pub(crate) fn placements(&self) -> Vec<VariablePlacement> {
        let (asking, wants) = (self.asking().clone(), self.selected.latest());
        let of = |(variable, history): (&Placeable, &History)| {
            let (placement, chosen) = (variable.requests.placement(&wants), history.chosen);
            let is_up_to_bytes = placement == CohortSide::FewerBytes;
            let chosen = chosen.filter(|(_, bytes)| is_up_to_bytes || bytes.is_none());
            let now = chosen.map_or(placement, |(side, _)| side);
            VariablePlacement {
                name: variable.name.clone(),
                asked: asking.asked_placement(&variable.name).unwrap_or(now),
                now,
                since: history.since,
                moves: history.moves,
                measured_bytes: chosen.and_then(|(_, bytes)| bytes).or(history.scale.measured),
            }
        };
        self.sides.variables.iter().zip(self.sides.lock().iter()).map(of).collect()
    }

    /// Counts where variables are made.
    pub(crate) fn count_placements(&self, counters: &Counters) {
        let wants = self.selected.latest();
        let here = |of: &&Placeable| of.requests.placement(&wants) == CohortSide::Subscriber;
        let here = self.sides.variables.iter().filter(here).count() as u64;
        counters.made_here.store(here, Ordering::Relaxed);
        let moves = self.sides.lock().iter().map(|history| history.moves).sum();
        counters.moves.store(moves, Ordering::Relaxed);
    }
}

impl SubscriberSession {
    /// Whether this rank measures it: the lead does, where fewer bytes decide.
    pub(crate) fn weighs(&self, asked: &TransformedVariable) -> bool {
        let is_decided = |of: &TransformedVariable| of.placement == CohortSide::FewerBytes;
        self.options.link.cohort.rank().is_lead()
            && self.asking().transformed_variable(&asked.name).is_some_and(is_decided)
    }

    /// So many bytes went in and came out in a step, on the side that this says.
    pub(crate) fn weigh(
        &self,
        asked: &TransformedVariable,
        step: Identity,
        is_here: bool,
        sizes: (u64, u64),
    ) {
        if !self.weighs(asked) {
            return;
        }
        let is_due = self.sides.with_history(&asked.name, |of| of.scale.weigh(step, is_here, sizes));
        let is_asked = |of: &TransformedVariable| of.is_here() == is_here;
        // A move that is under way is waited for.
        let is_settled = self.asking().transformed_variable(&asked.name).is_some_and(is_asked);
        if is_due != Some(true) || !is_settled || !self.options.knows_transform_of(&asked.name) {
            return;
        }
        let moved = self.ask(|asking| {
            if let Some(of) = asking.transformed_mut(&asked.name) {
                of.is_moved = !is_here;
            }
        });
        self.sides.with_history(&asked.name, |of| of.scale.against = 0);
        match moved {
            Ok(()) => tracing::debug!(variable = asked.name, ?sizes, from_here = is_here, "moved"),
            // The stream has ended: nothing is left to be moved.
            Err(error) => tracing::debug!(variable = asked.name, %error, "not moved"),
        }
    }
}
