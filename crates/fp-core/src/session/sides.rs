//! What a subscription asks for, changed while the stream runs: its variables, and on which side derived ones are made.
//!
//! A change is a new specification of the whole subscription. Two passes over the publisher's ranks settle the first
//! step that it holds for. Until then ranks do both what was asked for before and what is asked for now. Every
//! subscriber rank is told, so that it reads each step by what held for that step.

use crate::options::derived_variable::request;
use crate::options::subscriber::SubscriberOptions;
use crate::session::side_cost::Scale;
use crate::session::wants::Wants;
use fp_proto::request::Request;
use fp_transform::{CohortSide, Derivation};
use fp_types::StepId;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a derived or transformed variable is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariablePlacement {
    /// Its name.
    pub name: String,
    /// What this rank asked for last.
    pub asked: CohortSide,
    /// What holds for the newest steps. Two names of one derivation have the same side: the publisher's, if one of them
    /// is there. Of a transformed variable it is the side that does it. Where fewer bytes decide on which side
    /// something is derived, the shapes of each step do. Then it is the side that they chose in the step in which this
    /// rank last read it. What no rank knows enough of to derive it is made by the subscriber, whatever was asked for.
    pub now: CohortSide,
    /// Since which step.
    pub since: StepId,
    /// How often it was moved.
    pub moves: u64,
    /// Where fewer bytes decide: the bytes that went in, and those that came out. For a transformed variable they are
    /// those of all ranks in the step that was measured last; only rank 0 has them. For a derived variable they are
    /// those of the step in which this rank last read it. What came out is then the most that it can be, before
    /// compression.
    pub measured_bytes: Option<(u64, u64)>,
}

/// What publishers are asked for to make a variable.
pub(crate) struct SideRequests {
    always: Request,
    /// If shapes decide for each step.
    fewer_bytes: Option<Request>,
}

impl SideRequests {
    pub(crate) fn of(derivation: &Derivation) -> Self {
        Self { always: request(derivation, false), fewer_bytes: Some(request(derivation, true)) }
    }

    /// On which side it is made where that is asked for. Where two names stand for the same on several sides, any of
    /// them is as good.
    pub(crate) fn placement(&self, wants: &Wants) -> CohortSide {
        match &self.fewer_bytes {
            _ if wants.asks(&self.always) => CohortSide::Publisher,
            Some(fewer_bytes) if wants.asks(fewer_bytes) => CohortSide::FewerBytes,
            _ => CohortSide::Subscriber,
        }
    }
}

/// A variable that may be made on either side.
pub(crate) struct Placeable {
    pub(crate) name: String,
    pub(crate) requests: SideRequests,
}

impl Placeable {
    fn all(options: &SubscriberOptions) -> Vec<Self> {
        let derived = options
            .derived()
            .map(|of| Self { name: of.name.clone(), requests: SideRequests::of(&of.derivation) });
        let transformed = options.transformed().map(|of| Self {
            name: of.name.clone(),
            requests: SideRequests { always: of.through(), fewer_bytes: None },
        });
        derived.chain(transformed).collect()
    }
}

/// What is known of a variable over time.
#[derive(Clone, Default)]
pub(crate) struct History {
    pub(crate) since: StepId,
    pub(crate) moves: u64,
    pub(crate) scale: Scale,
    /// Of what is derived where fewer bytes travel, or where alone it can be: its side in the step that was read last.
    /// With it the bytes in and out, where their number decided.
    pub(crate) chosen: Option<(CohortSide, Option<(u64, u64)>)>,
}

/// Where the variables of a subscription are made.
pub(crate) struct Sides {
    pub(crate) variables: Vec<Placeable>,
    histories: Mutex<Vec<History>>,
}

impl Sides {
    pub(crate) fn new(options: &SubscriberOptions) -> Self {
        let variables = Placeable::all(options);
        let histories = Mutex::new(vec![History::default(); variables.len()]);
        Self { variables, histories }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<History>> {
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked for has changed.
    pub(crate) fn changed(&self, first: StepId, before: &Wants, now: &Wants) {
        for (variable, history) in self.variables.iter().zip(self.lock().iter_mut()) {
            if variable.requests.placement(before) != variable.requests.placement(now) {
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
