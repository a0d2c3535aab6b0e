//! What is asked of a simulation: a number.

use fp_proto::steering::SteeringRequest;
use fp_types::AttributeValue;

/// The number that is asked for; 0 if it is none.
pub(crate) fn value_of(request: &SteeringRequest) -> u64 {
    if let AttributeValue::Integer(value) = request.value {
        u64::try_from(value).unwrap_or_default()
    } else {
        0
    }
}
