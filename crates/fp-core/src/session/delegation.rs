//! Requests that somebody else answers, each on a thread of its own: whoever drives the machine does not wait.

use crate::coordinator::dial::{Letter, Mailbox};
use crate::value::parameter_request::ParameterRequest;
use crate::value::request_delegate::RequestDelegate;
use fp_proto::steering::{LIMIT_DELEGATED, SteeringOutcome, SteeringRefusal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Has a delegate answer a request, by a letter. Those of who has left have a thread too, until the delegate has heard of it.
pub(crate) fn hand_on(delegate: &RequestDelegate, request: ParameterRequest, mailbox: &Arc<Mailbox>) {
    let (delegate, change, post) = (delegate.clone(), request.change, mailbox.clone());
    let Some(place) = delegate.begin() else {
        let refusal = SteeringRefusal::Busy { limit: LIMIT_DELEGATED as u32 };
        return mailbox.post(Letter::Answered(change, SteeringOutcome::Refused(refusal)));
    };
    let answer = move || {
        let answered = catch_unwind(AssertUnwindSafe(|| delegate.answer(&request)));
        let outcome = answered.unwrap_or_else(|_| {
            let reason = "what was to hand it on panicked".to_owned();
            SteeringOutcome::Unanswered { reason }
        });
        drop(place);
        post.post(Letter::Answered(change, outcome));
    };
    let thread = std::thread::Builder::new().name("flexpath-request".to_owned()).spawn(answer);
    if let Err(error) = thread {
        let reason = format!("what publishes here can start no thread for it: {error}");
        let outcome = SteeringOutcome::Refused(SteeringRefusal::Unreachable { reason });
        mailbox.post(Letter::Answered(change, outcome));
    }
}
