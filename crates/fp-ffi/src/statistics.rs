//! Counters by name and not in a struct, so that a new one breaks no program.

use crate::failure::{Failure, Status};
use fp_core::{PoolStats, Statistics, SubscriptionId};

/// Counters with their names.
pub(crate) type Counted = Vec<(&'static str, u64)>;

macro_rules! named {
    ($counted:ident; $($name:ident),* $(,)?) => { vec![$((stringify!($name), $counted.$name)),*] };
}

/// What publishers and subscribers count.
pub(crate) fn all_of(counted: &Statistics) -> Counted {
    named! {
        counted; steps, skipped_steps, begin_opening_ns, begin_skew_ns, begin_subscription_ns, begin_paused_ns, sync_ns,
        next_step_ns, resolve_ns, fetch_ns, payload_bytes, put_copied_bytes, shared_copied_bytes, gathered_bytes,
        get_copied_bytes, stored_read_bytes, received_bytes, staged_bytes, sent_bytes, enciphered_bytes, deciphered_bytes,
        registrations, views, requests, resolves, data_links, types, conversions, handled_records, derivations,
        shared_derivations, left_derivations, failed_derivations, cut_derivations,
        derive_peak_bytes, derived_bytes, derived_ns, transforms,
        shared_transforms, failed_transforms, left_transforms, made_here, moves, dropped_handshakes,
        turned_away, unsettled_reads,
    }
}

/// What the pool of a publisher counts.
pub(crate) fn of_pool(counted: &PoolStats) -> Counted {
    let names = ["pool_segments_made", "pool_recycled", "pool_live_bytes", "pool_kept_bytes"];
    let values = [counted.segments_made, counted.recycled, counted.live_bytes, counted.kept_bytes];
    let mut all: Counted = names.into_iter().zip(values).collect();
    all.push(("pool_retired", counted.retired));
    all.push(("pool_retired_bytes", counted.retired_bytes));
    all.push(("pool_peak_bytes", counted.peak_bytes));
    all
}

/// The most steps that wait for a subscription or are held by its members: at the lead; on other ranks what is live
/// there.
pub(crate) fn of_queues(depths: &[(SubscriptionId, usize)]) -> Counted {
    let most = depths.iter().map(|(_, steps)| *steps as u64).max().unwrap_or(0);
    vec![("queued_steps", most)]
}

/// The counter of that name.
pub(crate) fn value_of(counted: &Counted, name: &str) -> Result<u64, Failure> {
    let found = counted.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = counted.iter().map(|(name, _)| *name).collect();
        Failure::new(Status::BadOption, format!("{name:?} is no counter; there are: {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_counter_is_forgotten() {
        let fields = format!("{:?}", Statistics::default()).matches(": ").count();
        assert_eq!(all_of(&Statistics::default()).len(), fields);
        let fields = format!("{:?}", PoolStats::default()).matches(": ").count();
        assert_eq!(of_pool(&PoolStats::default()).len(), fields);
    }
}
