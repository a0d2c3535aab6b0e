//! The oracles: what must be true of every run, judged by their own books. They see what applications did and were
//! told, and who was hit by which fault; they know nothing of how the machines work.

mod assignment;
mod closure;
mod delivery;
mod displacement;
mod incumbency;
mod liveness;
mod observation;
mod publication;
mod reclamation;
mod reselection;
mod resumption;
mod rule;
mod steering;
mod tables;
mod traffic;
mod truth;

pub(crate) use observation::{AskedStatus, Sleeps, allowed};
pub use rule::Rule;
pub(crate) use traffic::Traffic;
pub(crate) use truth::{
    Attachment, MemberTruth, PublisherTruth, RankStep, SubscriberTruth, SubscriptionTruth,
};

use crate::simulator::names::CohortId;
use fp_proto::time::Moment;
use fp_types::SubscriptionId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// Something that must never be.
#[derive(Clone, Debug)]
pub struct Violation {
    /// When.
    pub at: Moment,
    /// Which rule.
    pub rule: Rule,
    /// What happened instead.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:.6} s: {}", self.rule, self.at.as_micros() as f64 / 1e6, self.text)
    }
}

/// The books of one run.
pub(crate) struct Oracle {
    pub(crate) now: Moment,
    pub(crate) publishers: BTreeMap<CohortId, PublisherTruth>,
    pub(crate) subscribers: BTreeMap<CohortId, SubscriberTruth>,
    /// Cohorts whose loss is somebody's fault, and since when.
    tainted: BTreeMap<CohortId, Moment>,
    /// Pairs of cohorts between which a link was hit.
    pairs: BTreeSet<(CohortId, CohortId)>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) traffic: Traffic,
    /// How long news may take from any rank to any other.
    pub(crate) slack: Duration,
    pub(crate) open_timeout: Duration,
    pub(crate) close_timeout: Duration,
    /// Who looks for a publisher looks that often.
    lookup_interval: Duration,
}

impl Oracle {
    pub(crate) fn new(slack: Duration, timing: &crate::simulator::scenario::Timing) -> Self {
        Self {
            now: Moment::ZERO,
            publishers: BTreeMap::new(),
            subscribers: BTreeMap::new(),
            tainted: BTreeMap::new(),
            pairs: BTreeSet::new(),
            violations: Vec::new(),
            traffic: Traffic::default(),
            slack,
            open_timeout: timing.open_timeout,
            close_timeout: timing.close_timeout,
            lookup_interval: timing.lookup_interval,
        }
    }

    /// Notes a violation.
    pub(crate) fn violated(&mut self, rule: Rule, text: String) {
        self.violations.push(Violation { at: self.now, rule, text });
    }

    /// Notes a violation unless `holds`.
    pub(crate) fn demand(&mut self, holds: bool, rule: Rule, text: impl FnOnce() -> String) {
        if !holds {
            self.violated(rule, text());
        }
    }

    /// A fault hit this cohort: it may be lost from now on.
    pub(crate) fn taint(&mut self, cohort: CohortId) {
        self.tainted.entry(cohort).or_insert(self.now);
    }

    /// A fault hit a link between these two cohorts.
    pub(crate) fn taint_pair(&mut self, one: CohortId, other: CohortId) {
        if one == other {
            self.taint(one);
        } else {
            self.pairs.insert((one.min(other), one.max(other)));
        }
    }

    /// Whether a fault hit this cohort.
    pub(crate) fn is_tainted(&self, cohort: CohortId) -> bool {
        self.tainted.contains_key(&cohort)
    }

    /// Whether a fault hit either cohort or a link between them.
    pub(crate) fn is_pair_tainted(&self, one: CohortId, other: CohortId) -> bool {
        let pair = (one.min(other), one.max(other));
        self.is_tainted(one) || self.is_tainted(other) || self.pairs.contains(&pair)
    }

    /// Whether a fault hit this cohort or any link from it to another.
    pub(crate) fn is_touched(&self, cohort: CohortId) -> bool {
        self.is_tainted(cohort) || self.pairs.iter().any(|&(one, other)| one == cohort || other == cohort)
    }

    /// Whether a fault hit this publisher cohort or anybody who has a subscription of it.
    pub(crate) fn is_disturbed(&self, publisher: CohortId, subscription: SubscriptionId) -> bool {
        let members = self.publishers.get(&publisher).into_iter().flat_map(|truth| truth.members.values());
        let mut of_it = members.filter(|member| member.subscription == subscription);
        self.is_touched(publisher) || of_it.any(|member| self.is_touched(member.cohort))
    }

    /// The moment before which something must have been known everywhere by now.
    pub(crate) fn long_ago(&self) -> Moment {
        let now = self.now.as_micros();
        let slack = u64::try_from(self.slack.as_micros()).unwrap_or(u64::MAX);
        Moment::from_micros(now.saturating_sub(slack))
    }
}
