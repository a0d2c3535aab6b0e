//! Times that travel as whole milliseconds and that users read as a `Duration`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// A part of a millisecond counts as a whole one: no wait becomes none.
pub(crate) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let millis = time.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(u64::MAX).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use crate::codec::{from_bytes, to_bytes};
    use crate::config::QueuePolicy;
    use std::time::Duration;

    #[test]
    fn a_wait_travels_in_whole_milliseconds_and_never_becomes_none() {
        let other_side = |wait| {
            let bytes = to_bytes(&QueuePolicy::WaitAtMost { wait });
            from_bytes::<QueuePolicy, 64>(&bytes).expect("a policy")
        };
        for (said, heard) in [
            (Duration::ZERO, Duration::ZERO),
            (Duration::from_nanos(1), Duration::from_millis(1)),
            (Duration::from_micros(1500), Duration::from_millis(2)),
            (Duration::from_secs(60), Duration::from_secs(60)),
            (Duration::MAX, Duration::from_millis(u64::MAX)),
        ] {
            assert_eq!(other_side(said), QueuePolicy::WaitAtMost { wait: heard });
        }
    }
}
