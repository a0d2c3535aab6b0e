//! Asking the simulation for something, and waiting for the word of all its ranks.

use crate::error::misuse::Misuse;
use crate::error::request::RequestError;
use crate::session::subscriber::SubscriberSession;
use crate::value::limit::after;
use fp_proto::steering::{SteeringOutcome, Urgency};
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
        let misuse = |source| RequestError::Misuse { stream: self.stream.clone(), source };
        if self.endpoint.is_forked() {
            return Err(misuse(Misuse::Forked));
        }
        let rank = self.options.link.cohort.rank();
        if !rank.is_lead() {
            return Err(misuse(Misuse::NotLead { rank }));
        }
        if !self.options.policy.may_drop() {
            return Err(misuse(Misuse::RequestHoldsUp));
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
            Some(None | Some(SteeringOutcome::Over)) => Err(RequestError::Over { stream, parameter }),
            None => Err(RequestError::NoAnswer { stream, parameter, waited: started.elapsed() }),
        }
    }
}
