//! Counters of a handle. Copies are counted where they are made: "zero-copy" is a number.

use fp_transport::{Domain, Link, ListenCounts, OutFrame};
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What a handle has counted since it was opened.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Statistics { $($(#[$doc])* pub $name: u64,)* }

        impl Statistics {
            /// What was counted, by name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }

        #[derive(Debug, Default)]
        pub(crate) struct Counters { $(pub(crate) $name: AtomicU64,)* }

        impl Counters {
            /// What was counted, by name.
            pub(crate) fn named(&self) -> Vec<(String, u64)> {
                vec![$((stringify!($name).to_owned(), self.$name.load(Ordering::Relaxed)),)*]
            }

            /// What was counted, here and in what the links of the handle share over verbs.
            pub(crate) fn read(&self, domain: &Domain, listened: &ListenCounts) -> Statistics {
                self.dropped_handshakes.store(listened.dropped(), Ordering::Relaxed);
                self.turned_away.store(listened.turned_away(), Ordering::Relaxed);
                self.registrations.store(domain.stats().registrations, Ordering::Relaxed);
                self.unsettled_reads.store(domain.stats().unsettled_reads, Ordering::Relaxed);
                Statistics { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Steps ended (publisher) or taken (subscriber).
    steps,
    /// Steps that the subscription did not get.
    skipped_steps,
    /// How long `begin_step` waited for the cohort to be complete, in nanoseconds.
    begin_opening_ns,
    /// How long `begin_step` waited for a rank of the cohort that lags, or for its word on an urgent request, in nanoseconds.
    begin_skew_ns,
    /// How long `begin_step` waited for a subscription to release a step, in nanoseconds.
    begin_subscription_ns,
    /// How long `begin_step` waited as somebody had paused the simulation, in nanoseconds.
    begin_paused_ns,
    /// How long `sync` waited, in nanoseconds.
    sync_ns,
    /// How long `next_step` waited for a step, in nanoseconds.
    next_step_ns,
    /// How long gets waited for layouts, in nanoseconds; those of several threads add up.
    resolve_ns,
    /// How long gets waited for elements and copied them, in nanoseconds; those of several threads add up.
    fetch_ns,
    /// Bytes put, or delivered to the application.
    payload_bytes,
    /// Bytes copied by `put_copy`.
    put_copied_bytes,
    /// Bytes copied because owned memory had to become shareable.
    shared_copied_bytes,
    /// Bytes gathered into a message because they lay in too many runs.
    gathered_bytes,
    /// Bytes copied out of shared or received memory into the application's.
    get_copied_bytes,
    /// Bytes of stored blocks that were read as somebody asked for them.
    stored_read_bytes,
    /// Bytes received straight into the application's memory.
    received_bytes,
    /// Bytes received into memory of ours first.
    staged_bytes,
    /// Bytes sent over a connection.
    sent_bytes,
    /// Bytes of blocks copied as TLS enciphered them, on their way to a subscriber.
    enciphered_bytes,
    /// Bytes of blocks copied from where TLS deciphered them, instead of being received straight.
    deciphered_bytes,
    /// Calls that registered memory with an RDMA device, one for each link's own messages included: none once pools are
    /// warm.
    registrations,
    /// Reads whose RDMA device could not be stopped by ending their connection: their memory was taken from it, or given
    /// up.
    unsettled_reads,
    /// Views that cost no copy.
    views,
    /// Requests that a fetch had to send: none in the steady state.
    requests,
    /// Questions about layouts.
    resolves,
    /// Data links dialled.
    data_links,
    /// Types of records sent, or asked for and received: one for each type and link at most.
    types,
    /// Conversions between types of records that were worked out: one for each pair.
    conversions,
    /// Records that were written, read or converted one by one.
    handled_records,
    /// Derivations done on this side: one for each step, however many subscriptions asked for it.
    derivations,
    /// Subscriptions that shared the result of a derivation with another that asked for the same.
    shared_derivations,
    /// Derivations that a publisher left to its subscribers, as so fewer bytes travel.
    left_derivations,
    /// Derivations that failed.
    failed_derivations,
    /// What was not computed for subscribers in a step, or not to its end, as the time was used up that the owner gives
    /// for that: derivations, and transforms by name.
    cut_derivations,
    /// The most bytes that the derivations of a step took at one time: what they gave, and what they needed meanwhile.
    derive_peak_bytes,
    /// Bytes that derivations gave.
    derived_bytes,
    /// How long the ends of steps waited for derivations, in nanoseconds.
    derived_ns,
    /// Paths of registered transforms that records of a step were sent through; of a publisher those of each block.
    transforms,
    /// Gets that shared what transforms gave with another that asked for the same in the same step.
    shared_transforms,
    /// Paths of registered transforms that failed.
    failed_transforms,
    /// Transforms that a publisher was asked for by name and left to the subscriber, once in each step.
    left_transforms,
    /// How many variables this side makes as of now. A publisher counts those that it sends through transforms by name.
    /// A subscriber counts those that are derived or transformed by it whatever their sizes.
    made_here,
    /// How often such a variable was moved to the other side: because somebody asked for it, or because fewer bytes
    /// travel so. A publisher counts those that it sends through transforms.
    moves,
    /// Connections that were given up for newer ones, as they had not said who they are.
    dropped_handshakes,
    /// Connections that were told to come again, as there was no room or no descriptor for them.
    turned_away,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, amount: usize) {
        counter.fetch_add(amount as u64, Ordering::Relaxed);
    }

    /// A frame goes over a connection; TLS copies what it enciphers.
    pub(crate) fn count_sent(&self, link: &Link, frame: &OutFrame) {
        let len = frame.body_len() as usize;
        Self::add(&self.sent_bytes, len);
        if link.is_encrypted() {
            Self::add(&self.enciphered_bytes, len);
        }
    }

    /// The bytes of a piece came to where they were wanted of the connection: straight, or from where TLS deciphered
    /// them.
    pub(crate) fn count_received(&self, link: &Link, len: usize) {
        let counter = if link.is_encrypted() { &self.deciphered_bytes } else { &self.received_bytes };
        Self::add(counter, len);
    }

    /// The bytes of a piece came into memory of ours first.
    pub(crate) fn count_staged(&self, link: &Link, len: usize) {
        Self::add(&self.staged_bytes, len);
        if link.is_encrypted() {
            Self::add(&self.deciphered_bytes, len);
        }
    }
}
