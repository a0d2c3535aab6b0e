//! Requests that somebody else answers, each on a thread of its own: whoever drives the machine does not wait.

use crate::coordinator::dial::{Letter, Mailbox};
use crate::value::parameter_request::ParameterRequest;
use crate::value::request_delegate::RequestDelegate;
use fp_proto::steering::{SteeringOutcome, SteeringRefusal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Has a delegate answer a request, by a letter.
pub(crate) fn hand_on(delegate: &RequestDelegate, request: ParameterRequest, mailbox: &Arc<Mailbox>) {
    let (delegate, change, post) = (delegate.clone(), request.change, mailbox.clone());
    let answer = move || {
        let answered = catch_unwind(AssertUnwindSafe(|| delegate.answer(&request)));
        let outcome = answered.unwrap_or_else(|_| {
            let reason = "what was to hand it on panicked".to_owned();
            SteeringOutcome::Unanswered { reason }
        });
        post.post(Letter::Answered(change, outcome));
    };
    let thread = std::thread::Builder::new().name("flexpath-request".to_owned()).spawn(answer);
    if let Err(error) = thread {
        let reason = format!("what publishes here can start no thread for it: {error}");
        let outcome = SteeringOutcome::Refused(SteeringRefusal::Unreachable { reason });
        mailbox.post(Letter::Answered(change, outcome));
    }
}
