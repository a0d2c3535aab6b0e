//! What the application decides when it opens a stream: bounds, policies and deadlines.

use crate::parameter::Parameter;
use crate::request::Request;
use crate::tree;
use fp_types::{Epoch, MeasureParts, NoMeasures, Rank, StepId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The printable address of a rank; opaque here, dialled by the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContactText(pub String);

/// How a rank gets its place in the cohort's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CohortPosition {
    /// It looks for the lead, by the cohort's name or at `lead_contact`, and asks it.
    Searched,
    /// The lead of a cohort whose launcher gathers contacts: it waits for `gathered`, and lets nobody join.
    Gathered,
    /// Another rank of such a cohort: it hangs itself under its parent at once.
    Under {
        /// Where the parent is.
        parent: ContactText,
        /// The epoch that the lead drew.
        epoch: Epoch,
    },
}

/// A rank's place in its cohort and the timing rules that all its links share.
#[derive(Clone, Debug)]
pub struct CohortConfig {
    /// The name under which the cohort's lead is found.
    pub name: String,
    /// This rank, from 0.
    pub rank: Rank,
    /// Ranks in the cohort, at least 1.
    pub size: u32,
    /// This rank's own contact.
    pub contact: ContactText,
    /// The number of a publisher cohort's first step, on which its ranks agree. Who says it says that the numbers go on
    /// from epoch to epoch. Without it steps count from 0 in every epoch.
    pub first_step: Option<StepId>,
    /// Where the lead is, if the launcher knows (MPI); otherwise the rendezvous is asked.
    pub lead_contact: Option<ContactText>,
    /// How this rank gets its place in the tree.
    pub position: CohortPosition,
    /// Children of an inner rank in the cohort tree.
    pub fan_out: u32,
    /// The longest that opening may take.
    pub open_timeout: Duration,
    /// The longest that closing may take.
    pub close_timeout: Duration,
    /// A link on which nothing was sent for this long gets a heartbeat.
    pub heartbeat: Duration,
    /// A peer that was silent for this long is lost.
    pub silence: Duration,
    /// How often the rendezvous is asked again while what we look for is not there.
    pub lookup_interval: Duration,
    /// Bytes of one fragment of a message that is longer than that, at most `codec::LIMIT_MESSAGE_BYTES` less a few.
    pub fragment_bytes: usize,
    /// Bytes of the longest message in fragments, the same for all who speak with one another.
    pub long_bytes: usize,
}

impl CohortConfig {
    /// A cohort of one with the default timing.
    pub fn alone(name: impl Into<String>, contact: ContactText) -> Self {
        Self::ranked(name, contact, Rank(0), 1)
    }

    /// Rank `rank` of `size` with the default timing.
    pub fn ranked(name: impl Into<String>, contact: ContactText, rank: Rank, size: u32) -> Self {
        Self {
            name: name.into(),
            rank,
            size,
            contact,
            first_step: None,
            lead_contact: None,
            position: CohortPosition::Searched,
            fan_out: tree::DEFAULT_FAN_OUT,
            open_timeout: Duration::from_secs(60),
            close_timeout: Duration::from_secs(30),
            heartbeat: Duration::from_secs(1),
            silence: Duration::from_secs(10),
            lookup_interval: Duration::from_millis(50),
            fragment_bytes: crate::bounds::FRAGMENT_BYTES,
            long_bytes: crate::bounds::LIMIT_LONG_BYTES,
        }
    }
}

/// What a publisher rank promises to keep and for how long it waits.
#[derive(Clone, Debug)]
pub struct PublisherConfig {
    /// The cohort.
    pub cohort: CohortConfig,
    /// The epoch of this opening; drawn by the lead, learnt by the others.
    pub epoch: Epoch,
    /// Steps that a rank may be ahead of the slowest rank of its cohort, at least 1.
    pub skew_steps: u32,
    /// Bytes of live steps on this rank over all subscriptions.
    pub limit_bytes: u64,
    /// The last steps that are kept for newcomers, without any subscription.
    pub reserve_steps: u32,
    /// Bytes over all ranks: if the kept steps take more, the oldest leave. The last one stays. A step counts 4 KiB at
    /// least.
    pub reserve_bytes: u64,
    /// What a step of the reserve is like: the canonical bytes of a condition. Steps that are known to be otherwise are not
    /// kept in it. The same on all ranks.
    pub reserve_when: Option<Vec<u8>>,
    /// Whether the first step is kept for every newcomer.
    pub precious_first: bool,
    /// Live steps that each subscription may have whose policy waits, whatever lower bound it asks for.
    pub least_limit_steps: u32,
    /// Subscriptions at one time, work-sharing members not counted.
    pub limit_subscriptions: u32,
    /// Members at one time that one peer may have: all that come from one user of the host, or from one address.
    pub limit_peer_subscriptions: u32,
    /// The longest that any subscription may hold `begin_step` up between two of its releases, whatever its policy says.
    pub limit_wait: Duration,
    /// How long a rank of the cohort may be late with a step before it is named.
    pub lag_report: Duration,
    /// Where the origin of the machine's clock lies: microseconds since the Unix epoch.
    pub clock_origin_micros: u64,
    /// Who knows what conditions of subscriptions have measured.
    pub measures: Arc<dyn MeasureParts>,
    /// What subscribers may ask of the simulation. The lead's are those that count.
    pub parameters: Vec<Parameter>,
    /// How many requests reach the simulation within a second, at most. Those that have it go on are not counted, unless they
    /// are handed on.
    pub limit_requests_per_second: u32,
    /// Whether somebody else answers requests, from whom this stream comes. They are handed on as they are, and `parameters`
    /// do not count. The lead's counts.
    pub delegates_requests: bool,
    /// The mutation that a checker must catch; nothing in production.
    #[cfg(feature = "mutations")]
    pub mutation: Option<crate::mutation::Mutation>,
}

impl PublisherConfig {
    /// The defaults: 4 steps of skew, 1 GiB, no reserve, 64 subscriptions, waits of 60 s, conditions on tables.
    pub fn new(cohort: CohortConfig, epoch: Epoch) -> Self {
        Self {
            cohort,
            epoch,
            skew_steps: 4,
            limit_bytes: 1 << 30,
            reserve_steps: 0,
            reserve_bytes: u64::MAX,
            reserve_when: None,
            precious_first: false,
            least_limit_steps: 0,
            limit_subscriptions: 64,
            limit_peer_subscriptions: u32::MAX,
            limit_wait: Duration::from_secs(60),
            lag_report: Duration::from_millis(200),
            clock_origin_micros: 0,
            measures: Arc::new(NoMeasures),
            parameters: Vec::new(),
            limit_requests_per_second: 1000,
            delegates_requests: false,
            #[cfg(feature = "mutations")]
            mutation: None,
        }
    }
}

/// What happens at the bound of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum QueuePolicy {
    /// Lossless: the publisher waits at most `max_wait` (none: not at all), then the subscription is detached.
    EveryStep {
        /// The longest wait of the publisher, in whole milliseconds; parts count as whole.
        #[serde(with = "crate::millis")]
        max_wait: Duration,
    },
    /// The oldest step that nobody was assigned gives way to the new one. The newest always waits.
    DropOldest,
    /// The new step is not kept.
    DropNewest,
    /// Of the steps that nobody was assigned the newest alone waits.
    LatestOnly,
    /// Every k-th of the steps since the subscription's first, evenly spaced. Those are kept losslessly, as in
    /// `EveryStep`: the publisher waits.
    EveryKth {
        /// The stride, at least 1.
        every: u64,
        /// The longest wait of the publisher, in whole milliseconds; parts count as whole.
        #[serde(with = "crate::millis")]
        max_wait: Duration,
    },
    /// The publisher waits at most this long for room, then the new step is not kept.
    WaitAtMost {
        /// The longest wait, in whole milliseconds; parts count as whole.
        #[serde(with = "crate::millis")]
        wait: Duration,
    },
}

impl QueuePolicy {
    /// Whether a step that the subscription wants may be dropped at its bound. The others are lossless: the publisher
    /// waits, and what can wait no longer is detached.
    pub fn may_drop(self) -> bool {
        match self {
            Self::EveryStep { .. } | Self::EveryKth { .. } => false,
            Self::DropOldest | Self::DropNewest | Self::LatestOnly | Self::WaitAtMost { .. } => true,
        }
    }

    /// Whether the publisher waits at the bound.
    pub fn waits(self) -> bool {
        match self {
            Self::EveryStep { .. } | Self::EveryKth { .. } | Self::WaitAtMost { .. } => true,
            Self::DropOldest | Self::DropNewest | Self::LatestOnly => false,
        }
    }

    /// Whether a new step displaces older ones that nobody was assigned.
    pub fn keeps_newest(self) -> bool {
        match self {
            Self::DropOldest | Self::LatestOnly => true,
            Self::EveryStep { .. } | Self::DropNewest | Self::EveryKth { .. } | Self::WaitAtMost { .. } => {
                false
            }
        }
    }
}

/// How a work-sharing set hands its steps to its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ShareMode {
    /// Each member has its turn, in the order in which the members joined. A turn waits for the member's credit.
    RoundRobin,
    /// The member with credit that has waited longest has the next step.
    OnDemand,
}

/// Membership of a work-sharing set: one subscription whose members each get some of the steps.
///
/// ```
/// # use fp_proto::config as flexpath;
/// use flexpath::{Share, ShareMode};
///
/// let share = Share::new("workers").with_mode(ShareMode::RoundRobin).with_redelivery();
/// assert!(share.redeliver);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Share {
    /// The name of the set.
    pub set: String,
    /// How steps are handed out; the first member decides, a later one must agree.
    pub mode: ShareMode,
    /// Whether a step that its member gave back, or whose member is gone, is handed out again (out of order then).
    pub redeliver: bool,
}

impl Share {
    /// Membership of the set of that name: who is ready gets the next step, and what a member does not finish is lost.
    pub fn new(set: impl Into<String>) -> Self {
        Self { set: set.into(), mode: ShareMode::OnDemand, redeliver: false }
    }

    /// Sets how steps are handed out.
    #[must_use]
    pub fn with_mode(self, mode: ShareMode) -> Self {
        Self { mode, ..self }
    }

    /// Has a step that a member gives back, or whose member is gone, handed out again.
    #[must_use]
    pub fn with_redelivery(self) -> Self {
        Self { redeliver: true, ..self }
    }
}

/// Which variables a subscription wants kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VariableSet {
    /// Every variable of the stream.
    All,
    /// These, by name, sorted and without repetition.
    Named(Vec<String>),
}

impl VariableSet {
    /// The set of these names, in any order.
    pub fn named(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort();
        names.dedup();
        Self::Named(names)
    }

    /// What is in any of these.
    pub(crate) fn of_all<'s>(sets: impl Iterator<Item = &'s Self>) -> Self {
        let mut all = std::collections::BTreeSet::new();
        for set in sets {
            match set {
                Self::All => return Self::All,
                Self::Named(names) => all.extend(names),
            }
        }
        Self::Named(all.into_iter().cloned().collect())
    }

    /// What is in the one or the other.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Named(one), Self::Named(other)) => Self::named(one.into_iter().chain(other)),
        }
    }

    /// Whether `variable` is in the set.
    pub fn contains(&self, variable: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.binary_search_by(|name| name.as_str().cmp(variable)).is_ok(),
        }
    }
}

/// Where a newcomer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StartAt {
    /// At the first step that begins on every rank after the attachment.
    Next,
    /// At the oldest step of the reserve that every rank still holds; as `Next` where there is none.
    OldestReserved,
    /// At the first step with a higher number than this one. What the reserve has of such steps is given. What is gone
    /// already is counted as skipped, and what is to come is awaited.
    After(StepId),
}

impl StartAt {
    /// The lowest number that is wanted, where it is a matter of numbers.
    pub(crate) fn lowest(self) -> Option<StepId> {
        match self {
            Self::Next | Self::OldestReserved => None,
            Self::After(step) => Some(StepId(step.0.saturating_add(1))),
        }
    }
}

/// What a subscriber cohort (or one work-sharing set of them) asks of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubscriptionSpec {
    /// The variables to keep for it.
    pub variables: VariableSet,
    /// What happens at the bound.
    pub policy: QueuePolicy,
    /// Live steps of this subscription, undecided ones included; at least 1. A queue that keeps the newest has two at
    /// least: one place for what is assigned, one for what waits.
    pub limit_steps: u32,
    /// Where it starts.
    pub start_at: StartAt,
    /// The work-sharing set, if it is a member of one.
    pub share: Option<Share>,
    /// What else it asks for in every step: sorted and without repetition.
    pub requests: Vec<Request>,
    /// Which steps it is about: the canonical bytes of a condition, not looked into here. Of the others it hears nothing,
    /// and they count as none that it missed. `None`: every step.
    #[serde(with = "serde_bytes")]
    pub when: Option<Vec<u8>>,
}

impl SubscriptionSpec {
    /// Whether it differs in nothing but what may change while steps flow: variables, requests, and one condition for
    /// another.
    pub(crate) fn is_reselection_of(&self, other: &Self) -> bool {
        let (variables, requests) = (other.variables.clone(), other.requests.clone());
        let when = if self.when.is_some() { other.when.clone() } else { None };
        self.when.is_some() == other.when.is_some()
            && Self { variables, requests, when, ..self.clone() } == *other
    }

    /// Whether it is lossless and about some steps only. Of those that are not, it costs its publisher next to nothing.
    pub(crate) fn is_watch(&self) -> bool {
        self.when.is_some() && matches!(self.policy, QueuePolicy::EveryStep { .. })
    }

    /// Whether a member of its set gets again what another did not finish.
    pub fn redelivers(&self) -> bool {
        self.share.as_ref().is_some_and(|share| share.redeliver)
    }
}

impl Default for SubscriptionSpec {
    fn default() -> Self {
        Self {
            variables: VariableSet::All,
            policy: QueuePolicy::EveryStep { max_wait: Duration::from_secs(60) },
            limit_steps: 4,
            start_at: StartAt::Next,
            share: None,
            requests: Vec::new(),
            when: None,
        }
    }
}

/// What a subscriber does when the publisher cohort is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// The stream has ended.
    End,
    /// It looks for the publisher again for this long. That is the same epoch where only the way to it was lost, or else
    /// a new one.
    AwaitRestart(Duration),
}

/// How many ranks may ask one publisher rank. With them, its tree and its own subscribers' leads it stays under 64
/// control links, however many ranks subscribe.
pub const ASKERS_EACH: u32 = 32;

/// What a subscriber rank asks for.
#[derive(Clone, Debug)]
pub struct SubscriberConfig {
    /// The subscriber's own cohort; its name is used only where it has more than one rank.
    pub cohort: CohortConfig,
    /// The epoch of the subscriber cohort's own opening.
    pub epoch: Epoch,
    /// The stream to attach to.
    pub stream: String,
    /// The publisher's lead, if known; otherwise the rendezvous is asked.
    pub publisher_contact: Option<ContactText>,
    /// What to keep and what happens at the bound.
    pub spec: SubscriptionSpec,
    /// Steps that this cohort takes ahead of what it released (its credit), at least 1.
    pub credit_steps: u32,
    /// What to do when the publisher is lost.
    pub on_loss: OnLoss,
    /// Whether steps that a rank holds as the publisher is lost come again, of one that goes on with the numbers.
    pub takes_held_again: bool,
    /// The epoch and the number with which it goes on, for a cohort that was attached before in processes that are gone.
    pub resumption: Option<(Epoch, StepId)>,
    /// Whether a step that a rank holds as it closes is given back where nothing was said of it. Otherwise it is released.
    pub gives_back_held: bool,
    /// At most so many ranks of this cohort ask one publisher rank about layouts. The others ask through the tree. The
    /// cohort's lead decides.
    pub askers_each: u32,
    /// The mutation that a checker must catch; nothing in production.
    #[cfg(feature = "mutations")]
    pub mutation: Option<crate::mutation::Mutation>,
}

impl SubscriberConfig {
    /// The defaults: every step of all variables, two steps of credit, ends with the publisher.
    pub fn new(cohort: CohortConfig, epoch: Epoch, stream: impl Into<String>) -> Self {
        Self {
            cohort,
            epoch,
            stream: stream.into(),
            publisher_contact: None,
            spec: SubscriptionSpec::default(),
            credit_steps: 2,
            on_loss: OnLoss::End,
            takes_held_again: false,
            resumption: None,
            gives_back_held: false,
            askers_each: ASKERS_EACH,
            #[cfg(feature = "mutations")]
            mutation: None,
        }
    }
}
