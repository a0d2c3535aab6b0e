//! Asking the simulation for something, and waiting for the word of all its ranks.

use crate::error::misuse::Misuse;
use crate::error::request::RequestError;
use crate::session::subscriber::SubscriberSession;
use crate::value::limit::after;
use fp_proto::parameter::Parameter;
use fp_proto::steering::{SteeringOutcome, SteeringRefusal, Urgency};
use fp_types::{AttributeValue, StepId};
use std::time::{Duration, Instant};

impl SubscriberSession {
    /// Asks, and waits until all ranks have left the step at which they saw it.
    pub(crate) fn request(
        &self,
        parameter: &str,
        value: AttributeValue,
        urgency: Urgency,
        patience: Duration,
    ) -> Result<StepId, RequestError> {
        if !self.options.policy.may_drop() {
            return Err(RequestError::Misuse { stream: self.stream.clone(), source: Misuse::RequestHoldsUp });
        }
        self.steer(parameter, value, urgency, patience)
    }

    /// What there is to ask for. No parameter has the empty name, and who asks for it is told those that there are.
    pub(crate) fn parameters(&self, patience: Duration) -> Result<Vec<Parameter>, RequestError> {
        let started = Instant::now();
        match self.steer("", true.into(), Urgency::Ahead, patience) {
            Err(RequestError::Refused { refusal: SteeringRefusal::Unknown { known }, .. }) => Ok(known),
            #[rustfmt::skip]
            Err(
                RequestError::NoAnswer { stream, .. }
                | RequestError::Over { stream, .. }
                | RequestError::Unanswered { stream, .. },
            ) => Err(RequestError::NoParameters { stream, waited: started.elapsed() }),
            Err(other) => Err(other),
            Ok(_) => Ok(Vec::new()),
        }
    }

    fn steer(
        &self,
        parameter: &str,
        value: AttributeValue,
        urgency: Urgency,
        patience: Duration,
    ) -> Result<StepId, RequestError> {
        let misuse = |source| RequestError::Misuse { stream: self.stream.clone(), source };
        if self.endpoint.is_forked() {
            return Err(misuse(Misuse::Forked));
        }
        let rank = self.options.link.cohort.rank();
        if !rank.is_lead() {
            return Err(misuse(Misuse::NotLead { rank }));
        }
        let asked = self.endpoint.drive(|state, now| {
            let id = state.machine.steer(now, parameter, value, urgency)?;
            state.role.steering.insert(id, None);
            Ok((id, state.machine.attachment()))
        });
        let (id, attachment) = asked.map_err(|error| misuse(Misuse::Command(error)))?;
        let started = Instant::now();
        let answer = self.await_answer(attachment, after(started, patience), |role| {
            role.steering.get_mut(&id).and_then(Option::take)
        });
        self.endpoint.inspect(|state| state.role.steering.remove(&id));
        let (stream, parameter) = (self.stream.clone(), parameter.to_owned());
        match answer {
            Some(Some(SteeringOutcome::Applied { step })) => Ok(step),
            Some(Some(SteeringOutcome::Declined { step, rank, reason })) => {
                Err(RequestError::Declined { stream, parameter, step, rank, reason })
            }
            Some(Some(SteeringOutcome::Refused(refusal))) => {
                Err(RequestError::Refused { stream, parameter, refusal })
            }
            Some(Some(SteeringOutcome::Unanswered { reason })) => {
                Err(RequestError::Unanswered { stream, parameter, reason })
            }
            Some(None | Some(SteeringOutcome::Over)) => Err(RequestError::Over { stream, parameter }),
            None => Err(RequestError::NoAnswer { stream, parameter, waited: started.elapsed() }),
        }
    }
}
