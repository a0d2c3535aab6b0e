//! What a rank, and then a subtree, says of a step on its way up the publisher tree.

use crate::bounds::PART_BYTES;
use fp_types::{Dtype, PutChanges, Rank, SubscriptionId, Unmeasured};
use serde::{Deserialize, Serialize};

/// A value of a global scalar, which rides in the decision of its step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScalarValue {
    /// The variable.
    pub name: String,
    /// The rank that put it.
    pub rank: Rank,
    /// Its element type: what its bytes mean.
    pub dtype: Dtype,
    /// Its bytes, little-endian.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// What the ranks of a subtree know of a measure that conditions ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasurePart {
    /// The measure, as it is written: `max(T)`.
    pub measure: String,
    /// The merged part, which is not looked into here; empty where a rank did not measure.
    #[serde(with = "serde_bytes")]
    pub part: Vec<u8>,
    /// Why there is none, of the lowest rank that did not measure.
    pub unmeasured: Option<Unmeasured>,
}

impl MeasurePart {
    /// The bytes that it takes, or a few more.
    pub(crate) fn len_bytes(&self) -> usize {
        let reason = self.unmeasured.as_ref().map_or(0, |unmeasured| unmeasured.reason.len());
        PART_BYTES + self.measure.len() + self.part.len() + reason
    }
}

/// A subtree's word on a step, on its way up the publisher tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyReport {
    /// The first rank that abandoned the step, if any.
    pub abandoned: Option<Rank>,
    /// Subscriptions for which at least one rank did not keep the step; sorted.
    pub not_kept: Vec<SubscriptionId>,
    /// All that those ranks put whose blocks changed since the step that they reported before. Empty in the steady
    /// state.
    pub changed: PutChanges,
    /// Values of global scalars; of two for one name the higher rank's.
    pub values: Vec<ScalarValue>,
    /// Bytes that the subtree keeps for this step.
    pub len_bytes: u64,
    /// Whether a rank of the subtree has no room in bytes for another step.
    pub full: bool,
    /// What its ranks measured for conditions, by the names of measures; sorted. It travels beside the report.
    #[serde(skip)]
    pub parts: Vec<MeasurePart>,
}
