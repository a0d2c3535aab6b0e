//! What a subscription asks for, changed while the stream runs: its variables, and on which side derived ones are made.
//!
//! A change is a new specification of the whole subscription: two passes over the publisher's ranks settle the first
//! step that it holds for, until then ranks do what was asked for before and what is asked for now, and every subscriber
//! rank is told, so that it reads each step by what held for that step.

use crate::derived::{ALWAYS, FEWER_BYTES, with_mark};
use crate::error::{Misuse, ReadError};
use crate::options::SubscriberOptions;
use crate::selected::Wants;
use crate::statistics::Counters;
use crate::subscriber::{Subscriber, SubscriberShared, spec};
use crate::weighing::Scale;
use fp_proto::config::VariableSet;
use fp_transform::Placement;
use fp_types::StepId;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a derived or transformed variable is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlacedVariable {
    /// Its name.
    pub name: String,
    /// What this rank asked for last.
    pub asked: Placement,
    /// What holds for the newest steps: of two names of one derivation the same, on the publisher's side if one of them
    /// is. Of a transformed variable it is the side that does it. Where fewer bytes decide on which side something is
    /// derived, the shapes of each step do: it is the side that they chose in the step in which this rank read it last.
    pub now: Placement,
    /// Since which step.
    pub since: StepId,
    /// How often it was moved.
    pub moves: u64,
    /// Where fewer bytes decide on which side it is transformed, and this is rank 0: the bytes of all ranks that went in
    /// in the step that was measured last, and that came out. Where they decide on which side it is derived: those that
    /// went in in the step that this rank read last, and that came out at most, before compression.
    pub measured_bytes: Option<(u64, u64)>,
}

/// What travels to have a variable made.
struct Placeable {
    name: String,
    always: Vec<u8>,
    /// If shapes decide for each step.
    fewer_bytes: Option<Vec<u8>>,
}

impl Placeable {
    fn all(options: &SubscriberOptions) -> Vec<Self> {
        let derived = options.derivations.iter().map(|of| Self {
            name: of.name.clone(),
            always: with_mark(ALWAYS, &of.derivation),
            fewer_bytes: Some(with_mark(FEWER_BYTES, &of.derivation)),
        });
        let transformed = options.transformed.iter().map(|of| Self {
            name: of.name.clone(),
            always: of.through(),
            fewer_bytes: None,
        });
        derived.chain(transformed).collect()
    }

    fn placement(&self, wants: &Wants) -> Placement {
        match &self.fewer_bytes {
            _ if wants.asks(&self.always) => Placement::Publisher,
            Some(fewer_bytes) if wants.asks(fewer_bytes) => Placement::FewerBytes,
            _ => Placement::Subscriber,
        }
    }
}

/// What is known of a variable over time.
#[derive(Clone, Default)]
pub(crate) struct History {
    since: StepId,
    moves: u64,
    pub(crate) scale: Scale,
    /// Of what is derived where fewer bytes travel: on which side in the step that was read last, and the bytes in and out.
    pub(crate) chosen: Option<(Placement, (u64, u64))>,
}

/// Where the variables of a subscription are made.
pub(crate) struct Placed {
    variables: Vec<Placeable>,
    histories: Mutex<Vec<History>>,
}

impl Placed {
    pub(crate) fn new(options: &SubscriberOptions) -> Self {
        let variables = Placeable::all(options);
        let histories = Mutex::new(vec![History::default(); variables.len()]);
        Self { variables, histories }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<History>> {
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked for has changed.
    pub(crate) fn changed(&self, first: StepId, before: &Wants, now: &Wants) {
        for (variable, history) in self.variables.iter().zip(self.lock().iter_mut()) {
            if variable.placement(before) != variable.placement(now) {
                history.since = first;
                history.moves += 1;
            }
        }
    }

    /// Changes what is known of a variable.
    pub(crate) fn with_history<T>(&self, name: &str, change: impl FnOnce(&mut History) -> T) -> Option<T> {
        let at = self.variables.iter().position(|variable| variable.name == name)?;
        self.lock().get_mut(at).map(change)
    }
}

impl Subscriber {
    /// Asks for other variables, for the whole cohort; only the lead's call is sent. From which step on they come is
    /// told by `Event::Reselected`. What is derived stays as it is.
    ///
    /// # Errors
    /// The stream is not attached.
    pub fn select_variables(
        &mut self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<(), ReadError> {
        self.shared.check_fork().map_err(|source| self.shared.misuse(source))?;
        let variables = VariableSet::named(names);
        self.shared.ask(|asking| asking.variables = variables)
    }

    /// Has a derived or transformed variable of [`SubscriberOptions`] made on another side from now on, for the whole
    /// cohort: only the lead's call is sent. `Event::Reselected` says from which step on it is so; steps before that are
    /// read as they were asked for. No step is lost by it, and gets are the same on either side; but of rows that a deployed
    /// module gives there is one for each block of a publisher rank, and for the whole array where the subscriber derives.
    ///
    /// # Errors
    /// Nothing is derived by that name; a transform that this process does not know; the stream is not attached.
    pub fn place(&mut self, variable: &str, placement: Placement) -> Result<(), ReadError> {
        self.shared.check_fork().map_err(|source| self.shared.misuse(source))?;
        self.shared.check_place(variable, placement).map_err(|source| self.shared.misuse(source))?;
        self.shared.ask(|asking| asking.place(variable, placement))
    }

    /// Where each derived and each transformed variable is made, in the order of the options.
    pub fn placements(&self) -> Vec<PlacedVariable> {
        self.shared.placements()
    }
}

impl SubscriberOptions {
    fn place(&mut self, variable: &str, placement: Placement) {
        if let Some(of) = self.derivations.iter_mut().find(|of| of.name == variable) {
            of.placement = placement;
        }
        if let Some(of) = self.transformed.iter_mut().find(|of| of.name == variable) {
            // It stays where it is until something is measured.
            of.is_moved = of.is_here();
            of.placement = placement;
        }
    }

    fn asked_placement(&self, variable: &str) -> Option<Placement> {
        let derived = self.derivations.iter().find(|of| of.name == variable).map(|of| of.placement);
        derived.or_else(|| self.transformed_variable(variable).map(|of| of.placement))
    }

    /// Whether this process knows the transform that makes the variable, if one does.
    pub(crate) fn knows_transform_of(&self, variable: &str) -> bool {
        let Some(asked) = self.transformed_variable(variable) else { return true };
        self.transforms.as_ref().is_some_and(|known| known.native(&asked.transform).is_some())
    }
}

impl SubscriberShared {
    pub(crate) fn asking(&self) -> MutexGuard<'_, SubscriberOptions> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_place(&self, variable: &str, placement: Placement) -> Result<(), Misuse> {
        let variables = &self.placed.variables;
        if !variables.iter().any(|of| of.name == variable) {
            let known = variables.iter().map(|of| of.name.clone()).collect();
            return Err(Misuse::NotPlaced { variable: variable.to_owned(), known });
        }
        match self.options.transformed_variable(variable) {
            Some(asked)
                if placement == Placement::Subscriber && !self.options.knows_transform_of(variable) =>
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
        let asked = spec(&changed);
        let done = self.endpoint.drive(|state, now| state.machine.reselect(now, asked));
        done.map_err(|error| self.misuse(Misuse::Command(error)))?;
        *asking = changed;
        Ok(())
    }

    fn placements(&self) -> Vec<PlacedVariable> {
        let (asking, wants) = (self.asking().clone(), self.selected.latest());
        let of = |(variable, history): (&Placeable, &History)| {
            let (placement, chosen) = (variable.placement(&wants), history.chosen);
            let chosen = chosen.filter(|_| placement == Placement::FewerBytes);
            let now = chosen.map_or(placement, |(side, _)| side);
            PlacedVariable {
                name: variable.name.clone(),
                asked: asking.asked_placement(&variable.name).unwrap_or(now),
                now,
                since: history.since,
                moves: history.moves,
                measured_bytes: chosen.map(|(_, bytes)| bytes).or(history.scale.measured()),
            }
        };
        self.placed.variables.iter().zip(self.placed.lock().iter()).map(of).collect()
    }

    /// Counts where variables are made.
    pub(crate) fn count_placements(&self, counters: &Counters) {
        let wants = self.selected.latest();
        let here = |of: &&Placeable| of.placement(&wants) == Placement::Subscriber;
        let here = self.placed.variables.iter().filter(here).count() as u64;
        counters.made_here.store(here, Ordering::Relaxed);
        let moves = self.placed.lock().iter().map(|history| history.moves).sum();
        counters.moves.store(moves, Ordering::Relaxed);
    }
}
