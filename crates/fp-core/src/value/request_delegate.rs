//! Who answers requests in the place of a publisher.

use crate::value::parameter_request::ParameterRequest;
use fp_proto::steering::{LIMIT_DELEGATED, SteeringOutcome};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Answers what subscribers ask of a stream that comes from another one: it asks there. See
/// [`PublisherOptions::with_request_delegate`](crate::PublisherOptions::with_request_delegate).
#[derive(Clone)]
pub struct RequestDelegate {
    answer: Arc<dyn Fn(&ParameterRequest) -> SteeringOutcome + Send + Sync>,
    /// Requests that are being answered, each by a thread. Whoever asked may have left.
    answering: Arc<AtomicUsize>,
}

impl RequestDelegate {
    /// What it says is what who asked is told. Each request has a thread, so that it may wait for as long as an answer takes. It
    /// should end soon once the request [is awaited](ParameterRequest::is_awaited) no more. At most 32 have a thread
    /// at one time, of all clones of a delegate together. Others are refused as busy.
    pub fn new(answer: impl Fn(&ParameterRequest) -> SteeringOutcome + Send + Sync + 'static) -> Self {
        Self { answer: Arc::new(answer), answering: Arc::default() }
    }

    /// What becomes of a request. It may take long.
    pub(crate) fn answer(&self, request: &ParameterRequest) -> SteeringOutcome {
        (self.answer)(request)
    }

    /// Takes a place among the requests that are being answered, until it is dropped; `None` if there is none.
    pub(crate) fn begin(&self) -> Option<AnsweringPlace> {
        let place = AnsweringPlace(self.answering.clone());
        let before = self.answering.fetch_add(1, Ordering::Relaxed);
        (before < LIMIT_DELEGATED).then_some(place)
    }
}

/// A place among the requests that are being answered.
pub(crate) struct AnsweringPlace(Arc<AtomicUsize>);

impl Drop for AnsweringPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for RequestDelegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestDelegate").finish_non_exhaustive()
    }
}
