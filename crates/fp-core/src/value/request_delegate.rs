//! Who answers requests in the place of a publisher.

use crate::value::parameter_request::ParameterRequest;
use fp_proto::steering::SteeringOutcome;
use std::fmt;
use std::sync::Arc;

/// Answers what subscribers ask of a stream that comes from another one: it asks there. See
/// [`PublisherOptions::with_request_delegate`](crate::PublisherOptions::with_request_delegate).
#[derive(Clone)]
pub struct RequestDelegate(Arc<dyn Fn(&ParameterRequest) -> SteeringOutcome + Send + Sync>);

impl RequestDelegate {
    /// What it says is what who asked is told. Each request has a thread, so that it may wait for as long as an answer takes. It
    /// should end soon once the request [is awaited](ParameterRequest::is_awaited) no more.
    pub fn new(answer: impl Fn(&ParameterRequest) -> SteeringOutcome + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    /// What becomes of a request. It may take long.
    pub(crate) fn answer(&self, request: &ParameterRequest) -> SteeringOutcome {
        (self.0)(request)
    }
}

impl fmt::Debug for RequestDelegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestDelegate").finish_non_exhaustive()
    }
}
