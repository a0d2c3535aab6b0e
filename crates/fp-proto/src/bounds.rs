//! The bounds of every count in a message (`docs/protocol.md`, section 12): numbers and nothing else.

/// Bytes of a name or label.
pub const LIMIT_NAME_BYTES: usize = 255;
/// Bytes of a contact.
pub const LIMIT_CONTACT_BYTES: usize = 1024;
/// Names in a `VariableSet`, queries in a `Resolve`, entries in a `Log`.
pub const LIMIT_ITEMS: usize = 4096;
/// Subscriptions of a stream at one time, at most.
pub const LIMIT_SUBSCRIPTIONS: u32 = 1024;
/// Ranks whose contacts are asked for in one message.
pub const LIMIT_CONTACTS: usize = 128;
/// Bytes of one fragment of a message that is longer than that, unless a cohort is told otherwise.
pub const FRAGMENT_BYTES: usize = 1 << 20;
/// The longest message that travels in one frame, in bytes.
pub const LIMIT_MESSAGE_BYTES: usize = 16 << 20;
/// The longest encoding of a table that is sent, and taken.
pub const MAX_ENCODED_BYTES: usize = 256 << 20;
/// Bytes of a message that travels in fragments: the longest table, and what goes with it.
pub const LIMIT_LONG_BYTES: usize = MAX_ENCODED_BYTES + LIMIT_MESSAGE_BYTES;
/// Ranks and blocks that a `Ready` tells of, over all variables. They are no more than its bytes, though a scalar takes
/// none.
pub const LIMIT_CHANGED_ITEMS: u64 = LIMIT_LONG_BYTES as u64;
/// Derivations of a subscription.
pub const LIMIT_DERIVATIONS: usize = 64;
/// Bytes of all derivations of a subscription. One may be as long as the longest ever is, and each of the others has a
/// kilobyte.
pub const LIMIT_DERIVATIONS_BYTES: usize = LIMIT_DERIVATION_BYTES + (LIMIT_DERIVATIONS - 1) * 1024;
/// Modules that go with the derivations of a subscription, and their bytes.
pub const LIMIT_MODULES: usize = 8;
/// Bytes of all modules of a subscription.
pub const LIMIT_MODULES_BYTES: usize = 1 << 20;
/// Bytes of the longest derivation.
pub const LIMIT_DERIVATION_BYTES: usize = 96 << 10;
/// Layouts that a rank remembers beside those of live steps. They are the last tables and, over each link of the tree,
/// what the last reports told.
pub const LIMIT_RECENT: usize = 8;
/// Bytes that these take together in a message, of tables but for the latest.
pub const LIMIT_RECENT_BYTES: usize = 8 << 20;
/// Bytes of all scalar values of a step.
pub const LIMIT_VALUES_BYTES: usize = 4096;
/// Bytes of what is measured of one step for all conditions, on each edge of the publisher tree.
pub const LIMIT_PARTS_BYTES: usize = 64 << 10;
/// What a part of a measure counts there beside its texts and bytes.
pub(crate) const PART_BYTES: usize = 16;
/// Bytes of one answer to an observer.
pub const LIMIT_STATUS_BYTES: usize = 256 << 10;
/// Ranks that one answer to an observer has in full.
pub const LIMIT_STATUS_RANKS: usize = 4096;
/// Cohorts of one answer to an observer: the publisher's, and those of its subscribers.
pub const LIMIT_STATUS_COHORTS: usize = 65;
/// Waits, subscriptions, links or counters of one rank in an answer to an observer, and ranks that did not answer.
pub const LIMIT_STATUS_ITEMS: usize = 64;
/// Observers that have a link to one rank.
pub const LIMIT_OBSERVERS: usize = 16;
/// Questions of one observer that are answered within a heartbeat.
pub const OBSERVER_QUESTIONS: u32 = 4;
/// Questions of all observers of one rank that are answered within a heartbeat.
pub const RANK_QUESTIONS: u32 = 16;
/// Questions of one observer that are refused, one after the other, before its link is closed.
pub const LIMIT_REFUSED_QUESTIONS: u32 = 64;
/// Questions about status that wait for neighbours at one rank.
pub const LIMIT_STATUS_PASSED: usize = 64;
/// Bytes of a text that is asked of a simulation, or of a reason why it declines.
pub const LIMIT_STEERING_TEXT_BYTES: usize = 1024;
