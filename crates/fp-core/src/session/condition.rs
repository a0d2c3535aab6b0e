//! Another condition for a subscription that is served.

use crate::error::condition::ConditionError;
use crate::error::misuse::Misuse;
use crate::options::subscriber::spec;
use crate::session::asked_condition::AskedCondition;
use crate::session::subscriber::SubscriberSession;
use crate::value::limit::after;
use fp_types::{Condition, ParseConditionError, StepId};
use std::time::{Duration, Instant};

impl SubscriberSession {
    /// Asks, and waits until the publisher's lead says from which step on.
    pub(crate) fn set_condition<C>(&self, condition: C, patience: Duration) -> Result<StepId, ConditionError>
    where
        C: TryInto<Condition>,
        ParseConditionError: From<C::Error>,
    {
        let stream = || self.stream.clone();
        let misuse = |source| ConditionError::Misuse { stream: stream(), source };
        self.check_condition().map_err(misuse)?;
        let changed = self.asking().clone().with_condition(condition);
        let changed = changed.map_err(|source| ConditionError::Text { stream: stream(), source })?;
        let asked = spec(&changed);
        let attachment = self.endpoint.drive(|state, now| {
            let bytes = asked.when.clone();
            state.machine.reselect(now, asked)?;
            state.role.asked_condition = Some(AskedCondition::new(bytes));
            Ok(state.machine.attachment())
        });
        let attachment = attachment.map_err(|error| misuse(Misuse::Command(error)))?;
        let started = Instant::now();
        let answer = self.await_answer(attachment, after(started, patience), |role| {
            role.asked_condition.as_mut().and_then(|asked| asked.answer.take())
        });
        self.endpoint.inspect(|state| state.role.asked_condition = None);
        match answer {
            Some(Some(Ok(first))) => {
                self.asking().condition = changed.condition;
                Ok(first)
            }
            Some(Some(Err(reason))) => Err(ConditionError::Refused { stream: stream(), reason }),
            Some(None) => Err(ConditionError::Over { stream: stream() }),
            None => {
                self.asking().condition = changed.condition;
                Err(ConditionError::NoAnswer { stream: stream(), waited: started.elapsed() })
            }
        }
    }

    fn check_condition(&self) -> Result<(), Misuse> {
        let rank = self.options.link.cohort.rank();
        match () {
            () if self.endpoint.is_forked() => Err(Misuse::Forked),
            () if !rank.is_lead() => Err(Misuse::NotLead { rank }),
            () if self.options.condition.is_none() => Err(Misuse::NoCondition),
            () => Ok(()),
        }
    }
}
