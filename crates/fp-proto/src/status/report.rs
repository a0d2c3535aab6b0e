//! What a rank says of itself, and what a cohort's ranks say together: pure values.

use crate::access::Denial;
use crate::bounds::{LIMIT_NAME_BYTES, LIMIT_STATUS_COHORTS, LIMIT_STATUS_ITEMS, LIMIT_STATUS_RANKS};
use crate::config::QueuePolicy;
use fp_types::{Epoch, Rank, StepId, SubscriptionId};
use serde::{Deserialize, Serialize};

/// How far a question of an observer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StatusScope {
    /// To this rank of the cohort that is asked.
    Rank(Rank),
    /// To every rank of the cohort.
    Cohort,
    /// To every rank of the cohort. A publisher's lead asks the cohorts of its subscribers as well.
    Stream,
}

/// The answer to an observer: the cohort that was asked comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusReport {
    /// The cohort that was asked, and those of its subscribers.
    pub cohorts: Vec<CohortStatus>,
}

/// What the ranks of one cohort said, and who said nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CohortStatus {
    /// The name of the stream, or of a subscriber cohort.
    pub name: String,
    /// Whether it publishes.
    pub publishes: bool,
    /// The publisher's epoch, once it is known.
    pub epoch: Option<Epoch>,
    /// Ranks in the cohort.
    pub size: u32,
    /// Ranks that answered.
    pub answered: u32,
    /// What they said, rising by rank. Some may be left out, for the bound of an answer's bytes.
    pub ranks: Vec<RankStatus>,
    /// Ranks that did not answer in time, and why.
    pub unanswered: Vec<Unanswered>,
    /// Further ranks that did not answer, which are not named one by one.
    pub unnamed: u32,
}

/// A rank that did not answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// The rank.
    pub rank: Rank,
    /// Ranks beyond it that were asked through it.
    pub beyond: u32,
    /// Why.
    pub why: NoAnswer,
}

/// Why a rank did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoAnswer {
    /// Its link is there, and it says nothing.
    Silent {
        /// How long nothing was heard of it.
        unheard_ms: u64,
    },
    /// Its link is gone.
    Lost,
    /// Its link is not there yet: the cohort assembles.
    NotLinked,
    /// Too many questions are under way: it was not asked.
    Busy,
}

/// One rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankStatus {
    /// The rank.
    pub rank: Rank,
    /// Where it stands.
    pub phase: RankPhase,
    /// Its steps.
    pub steps: StepCounts,
    /// What it waits for.
    pub waits: Vec<Wait>,
    /// Subscriptions that it serves (publishers), those that are furthest behind.
    pub subscriptions: Vec<SubscriptionStatus>,
    /// Subscriptions that are left out.
    pub subscriptions_left_out: u32,
    /// Its links.
    pub links: Vec<LinkStatus>,
    /// Links that are left out.
    pub links_left_out: u32,
    /// Its process.
    pub process: ProcessStatus,
}

/// Where a rank stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankPhase {
    /// Its cohort assembles.
    Opening,
    /// It looks for its publisher (subscribers).
    Attaching,
    /// Steps flow.
    Streaming,
    /// The stream is over; steps can still be read (subscribers).
    Ended,
    /// Its application has closed.
    Closing,
    /// A rank of its cohort is lost.
    Lost {
        /// That rank.
        rank: Rank,
    },
    /// Nothing more will happen.
    Closed,
}

/// The steps of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCounts {
    /// Publisher: the next step to begin. Subscriber: the step after the last that came.
    pub next: StepId,
    /// Publisher: steps that it began and that are not decided.
    pub undecided: u32,
    /// Publisher: steps that are stored here. Subscriber: steps that are here and not released by all below.
    pub live: u32,
    /// Publisher: bytes of those that a reader needs.
    pub live_bytes: u64,
    /// Subscriber: steps that wait for the application.
    pub queued: u32,
    /// Subscriber: steps that the application holds.
    pub held: u32,
}

/// Something that a rank waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// What, and for whom.
    pub on: WaitOn,
    /// For how long already.
    pub waited_ms: u64,
}

/// What a rank waits for, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitOn {
    /// Ranks of its cohort that have not come.
    Ranks {
        /// How many there are.
        present: u32,
        /// How many there should be.
        size: u32,
    },
    /// The lead of its cohort.
    Lead,
    /// A publisher to subscribe to.
    Publisher,
    /// The next step cannot begin before this one is decided.
    Decision {
        /// That step.
        step: StepId,
        /// The rank that lags, once it is known.
        lagging: Option<Rank>,
    },
    /// The next step cannot begin before this subscription releases one.
    Release {
        /// Which.
        subscription: SubscriptionId,
        /// Who it says it is, where that is known: at the lead.
        label: String,
        /// Its live steps on this rank.
        live_steps: u32,
        /// Bytes live on this rank.
        live_bytes: u64,
    },
    /// The application has asked for a step, and none has come since.
    Step,
    /// It cannot close before this subscription has released its steps.
    Close {
        /// Which.
        subscription: SubscriptionId,
        /// Who it says it is, where that is known: at the lead.
        label: String,
        /// Steps that it has or waits for.
        steps: u32,
    },
    /// It cannot close before the other ranks of its cohort have.
    Others,
    /// The simulation is paused.
    Pause {
        /// Who asked for it.
        by: String,
    },
    /// The ranks agree at which step they see an urgent request.
    Request {
        /// What is asked for.
        parameter: String,
        /// Who asks.
        by: String,
    },
}

/// A subscription as a publisher rank sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionStatus {
    /// Which.
    pub subscription: SubscriptionId,
    /// Who its members say they are: at the lead.
    pub label: String,
    /// Its members, at the lead; 0 elsewhere.
    pub members: u32,
    /// What happens at its bound.
    pub policy: QueuePolicy,
    /// Steps that it may have.
    pub limit_steps: u32,
    /// Steps that are live for it on this rank.
    pub live_steps: u32,
    /// Steps that wait for a member: at the lead.
    pub queued: u32,
    /// Steps that members hold: at the lead.
    pub held: u32,
    /// How far its oldest step that is not released is behind the newest of this rank.
    pub lag_steps: u64,
}

/// A link of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStatus {
    /// Who is at the other end.
    pub with: LinkWith,
    /// How long nothing was heard there; not known of data links.
    pub unheard_ms: Option<u64>,
    /// How bytes go, as was agreed.
    pub transport: String,
    /// Why it is not a faster transport; empty if there is none.
    pub reason: String,
}

/// Who is at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LinkWith {
    /// The parent in the own cohort's tree.
    Parent,
    /// A child there.
    Child(Rank),
    /// The lead of a subscriber cohort.
    Subscriber,
    /// A publisher rank.
    Publisher,
    /// A subscriber rank that asks about layouts.
    Asker,
    /// An observer.
    Observer,
    /// Somebody whose part is not known yet, or who leaves.
    Stranger,
    /// Data goes over it.
    Data,
}

/// The process of a rank, as its coordinator knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessStatus {
    /// Its number on its host.
    pub pid: u32,
    /// The version of the library.
    pub version: String,
    /// Memory that it has.
    pub resident_bytes: u64,
    /// Counters of this handle, by name.
    pub counters: Vec<(String, u64)>,
}

/// Why an observer is refused an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum StatusRefusal {
    /// It asks too often, or all observers together do.
    #[error("too many questions; the next one is answered in {retry_ms} ms")]
    TooOften {
        /// After so long another question is answered.
        retry_ms: u32,
    },
    /// Too many observers have a link to this rank.
    #[error("{limit} observers have links to this rank, and there may be no more")]
    TooManyObservers {
        /// So many may have.
        limit: u32,
    },
    /// The cohort has no such rank.
    #[error("the cohort has {size} ranks")]
    NoSuchRank {
        /// Its size.
        size: u32,
    },
    /// The publisher's access list does not allow it.
    #[error("{0}")]
    Denied(Denial),
}

impl CohortStatus {
    /// Ranks that were told of, answered or not.
    pub fn told(&self) -> u64 {
        let unanswered = self.unanswered.iter().map(|silent| 1 + u64::from(silent.beyond));
        u64::from(self.answered) + u64::from(self.unnamed) + unanswered.sum::<u64>()
    }

    fn check(&self) -> Result<(), &'static str> {
        let fits = self.name.len() <= LIMIT_NAME_BYTES
            && self.ranks.len() <= LIMIT_STATUS_RANKS
            && self.unanswered.len() <= LIMIT_STATUS_ITEMS
            && self.ranks.is_sorted_by(|one, next| one.rank < next.rank)
            && self.told() <= u64::from(self.size);
        if fits { self.ranks.iter().try_for_each(RankStatus::check) } else { Err("status.cohorts") }
    }
}

impl RankStatus {
    fn check(&self) -> Result<(), &'static str> {
        let lens =
            [self.waits.len(), self.subscriptions.len(), self.links.len(), self.process.counters.len()];
        if lens.iter().all(|&len| len <= LIMIT_STATUS_ITEMS) { Ok(()) } else { Err("status.ranks") }
    }
}

impl StatusReport {
    /// Whether every count is within its bound; otherwise the part that is not.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.cohorts.is_empty() || self.cohorts.len() > LIMIT_STATUS_COHORTS {
            return Err("status.cohorts");
        }
        self.cohorts.iter().try_for_each(CohortStatus::check)
    }
}
