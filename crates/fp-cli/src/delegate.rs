//! Asks the simulation in the place of those who subscribe to a stream that comes from it by way of a stager or a gate.

use std::sync::Arc;
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    AttributeValue, Interrupt as Asked, ParameterRequest, RequestDelegate, RequestError, SteeringOutcome,
    SteeringRefusal, Subscriber,
};

use crate::credentials::Credentials;
use crate::request::asker;

/// How long the stream is looked for. Who asked is told before he gives up.
const OPEN: Duration = Duration::from_secs(5);

/// How long an answer is awaited: of a simulation that is paused, for as long as that.
const PATIENCE: Duration = Duration::from_secs(600);

/// Asks a stream, each time by a subscriber that is there for that alone. So a simulation that nobody asks notices nothing, and
/// no request waits for another.
pub(crate) struct Delegate {
    pub(crate) stream: String,
    pub(crate) rendezvous: Rendezvous,
    pub(crate) credentials: Credentials,
    pub(crate) is_over: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// It never reached the simulation.
pub(crate) fn unreachable(reason: impl ToString) -> SteeringOutcome {
    SteeringOutcome::Refused(SteeringRefusal::Unreachable { reason: reason.to_string() })
}

impl Delegate {
    /// Asks, and waits for what becomes of it.
    pub(crate) fn ask(
        &self,
        (parameter, value): (&str, AttributeValue),
        by: &str,
        is_urgent: bool,
    ) -> SteeringOutcome {
        let is_over = self.is_over.clone();
        let mut options =
            asker(Asked::new(move || is_over()), OPEN).with_rendezvous(self.rendezvous.clone()).with_name(by);
        self.credentials.set(&mut options.link);
        let mut subscriber = match Subscriber::open(&self.stream, options) {
            Ok(subscriber) => subscriber,
            Err(error) => return unreachable(error),
        };
        let asked = match is_urgent {
            true => subscriber.request_now(parameter, value, PATIENCE),
            false => subscriber.request(parameter, value, PATIENCE),
        };
        // How it was left says nothing of what became of the request.
        let _ = subscriber.close();
        match asked {
            Ok(step) => SteeringOutcome::Applied { step },
            // Who asked is not the one who may not.
            Err(RequestError::Refused { refusal: SteeringRefusal::Denied(denial), .. }) => {
                unreachable(format!("who hands it on may not ask for it: {denial}"))
            }
            Err(error) => error.into_outcome(),
        }
    }
}

impl From<Delegate> for RequestDelegate {
    fn from(delegate: Delegate) -> Self {
        Self::new(move |request: &ParameterRequest| {
            let asked = (request.parameter(), request.value().clone());
            delegate.ask(asked, request.by(), request.is_urgent())
        })
    }
}
