//! Asks the simulation in the place of those who subscribe to a stream that comes from it by way of a stager or a gate.

use std::sync::Arc;
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    AttributeValue, Epoch, Interrupt as Asked, ParameterRequest, RequestDelegate, RequestError,
    SteeringOutcome, SteeringRefusal, Subscriber,
};

use crate::credentials::Credentials;
use crate::request::asker;

/// How long the stream is looked for. Who asked is told before he gives up.
const OPEN: Duration = Duration::from_secs(5);

/// How long leaving may take: who asked waits for it.
const CLOSE: Duration = Duration::from_secs(1);

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
    /// Asks the run of that opening, and waits for what becomes of it: for as long as anybody does. The steps that who asks has
    /// may be of a run that is over, and another one has its name now.
    pub(crate) fn ask(
        &self,
        (parameter, value): (&str, AttributeValue),
        (by, is_urgent): (&str, bool),
        epoch: Option<Epoch>,
        is_awaited: impl Fn() -> bool + Send + Sync + 'static,
    ) -> SteeringOutcome {
        let is_over = self.is_over.clone();
        let mut options = asker(Asked::new(move || is_over() || !is_awaited()), OPEN)
            .with_rendezvous(self.rendezvous.clone())
            .with_close_timeout(CLOSE)
            .with_name(by);
        self.credentials.set(&mut options.link);
        let mut subscriber = match Subscriber::open(&self.stream, options) {
            Ok(subscriber) => subscriber,
            Err(error) => return unreachable(error),
        };
        if epoch.is_some_and(|epoch| subscriber.epoch() != Some(epoch)) {
            return unreachable("the run that these steps are of is over there, or begins anew just now");
        }
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

    /// The same for a publisher, whose steps are of the run that `epoch` says.
    pub(crate) fn of_publisher(
        self,
        epoch: impl Fn() -> Option<Epoch> + Send + Sync + 'static,
    ) -> RequestDelegate {
        RequestDelegate::new(move |request: &ParameterRequest| {
            let asked = (request.parameter(), request.value().clone());
            let awaited = request.clone();
            let whom = (request.by(), request.is_urgent());
            self.ask(asked, whom, epoch(), move || awaited.is_awaited())
        })
    }
}
