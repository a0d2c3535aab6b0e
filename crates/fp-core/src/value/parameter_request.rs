//! What somebody asks of the simulation.

use fp_proto::message::ChangeId;
use fp_proto::steering::{Awaited, SteeringRequest, Urgency};
use fp_types::AttributeValue;
use std::sync::Arc;

/// A value that somebody asks the simulation to take for one of its parameters. All ranks see it at the same step. Where it is
/// handed on ([`RequestDelegate`](crate::RequestDelegate)) it is as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterRequest {
    pub(crate) change: ChangeId,
    request: Arc<SteeringRequest>,
    awaited: Option<Awaited>,
}

impl ParameterRequest {
    pub(crate) fn new((change, request): (ChangeId, Arc<SteeringRequest>)) -> Self {
        Self { change, request, awaited: None }
    }

    /// One that is handed on.
    pub(crate) fn handed_on(change: ChangeId, request: SteeringRequest, awaited: Awaited) -> Self {
        Self { change, request: Arc::new(request), awaited: Some(awaited) }
    }

    /// Whether somebody waits for what becomes of it. Who asked for one that is handed on may leave before, or the stream end.
    pub fn is_awaited(&self) -> bool {
        self.awaited.as_ref().is_none_or(Awaited::is_so)
    }

    /// The parameter.
    pub fn parameter(&self) -> &str {
        &self.request.name
    }

    /// The value, of the parameter's kind and within its range unless it is handed on.
    pub fn value(&self) -> &AttributeValue {
        &self.request.value
    }

    /// The value of a number.
    pub fn as_f64(&self) -> Option<f64> {
        if let AttributeValue::Integer(number) = self.request.value {
            return Some(number as f64);
        }
        if let AttributeValue::Real(number) = self.request.value { Some(number.0) } else { None }
    }

    /// Whether the ranks are to wait for one another, so that they see it at the next step that none has begun.
    pub fn is_urgent(&self) -> bool {
        self.request.urgency == Urgency::Now
    }

    /// Who asks: the name of the subscriber.
    pub fn by(&self) -> &str {
        &self.request.by
    }
}
