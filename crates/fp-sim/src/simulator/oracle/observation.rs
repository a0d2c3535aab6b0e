//! Observers hold nobody up, cost a bounded number of messages, and are told who is silent.

use super::Oracle;
use super::Rule;
use crate::simulator::names::CohortId;
use fp_proto::bounds::{LIMIT_STATUS_BYTES, OBSERVER_QUESTIONS};
use fp_proto::status::report::{CohortStatus, NoAnswer, StatusReport, StatusScope};
use fp_proto::time::Moment;
use fp_types::Rank;
use std::collections::BTreeSet;
use std::time::Duration;

/// A question of an observer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedStatus {
    pub(crate) at: Moment,
    pub(crate) scope: StatusScope,
}

/// Ranks that slept all the while.
pub(crate) type Sleeps = BTreeSet<Rank>;

/// Bytes that an answer has for each rank it tells of, at most: the ranks here have few links and subscriptions.
const LIMIT_RANK_BYTES: u64 = 2048;

/// Questions of one observer that may be answered in so long a time.
pub(crate) fn allowed(since: Duration, heartbeat: Duration) -> u64 {
    let each = u128::from(OBSERVER_QUESTIONS);
    (each + 1 + each * since.as_micros() / heartbeat.as_micros()) as u64
}

impl Oracle {
    /// An observer has so many answers by now.
    pub(crate) fn check_answers(&mut self, answers: u64, came: Moment, heartbeat: Duration) {
        let most = allowed(self.now.since(came), heartbeat);
        self.demand(answers <= most, Rule::ObserversCostBoundedNumberOfMessages, || {
            format!("an observer was answered {answers} times, {most} would do")
        });
    }

    /// An answer tells of every rank that it was asked for, once.
    pub(crate) fn check_status(
        &mut self,
        asked: AskedStatus,
        (cohort, rank): (CohortId, Rank),
        report: &StatusReport,
        len_bytes: usize,
    ) {
        let told: u64 = report.cohorts.iter().map(|of| 1 + u64::from(of.size)).sum();
        let most = (LIMIT_STATUS_BYTES as u64).min(told * LIMIT_RANK_BYTES) + 32;
        self.demand(len_bytes as u64 <= most, Rule::ObserversCostBoundedNumberOfBytes, || {
            format!("{cohort} rank {rank} answered with {len_bytes} bytes, {most} would do")
        });
        let own = &report.cohorts[0];
        let whole = match asked.scope {
            StatusScope::Rank(wanted) => tells_of(own, wanted),
            StatusScope::Cohort | StatusScope::Stream => {
                own.told() == u64::from(own.size) && report.cohorts.iter().all(is_whole)
            }
        };
        self.demand(whole, Rule::AnswerNamesWhoIsSilent, || {
            format!("{cohort} rank {rank}, asked for {:?}: {report:?}", asked.scope)
        });
    }

    /// Who slept all the while has not answered.
    pub(crate) fn check_sleepers(&mut self, report: &StatusReport, sleeps: &Sleeps) {
        let answered = report.cohorts[0].ranks.iter().find(|row| sleeps.contains(&row.rank));
        let answered = answered.map(|row| row.rank);
        self.demand(answered.is_none(), Rule::AnswerNamesWhoIsSilent, || {
            format!("rank {answered:?} slept, and is said to have answered")
        });
    }

    /// Nobody was kept from answering: nobody is named as silent.
    pub(crate) fn check_quiet(&mut self, cohort: CohortId, report: &StatusReport) {
        let silent = |why: NoAnswer| matches!(why, NoAnswer::Silent { .. });
        let named = report.cohorts[0].unanswered.iter().find(|named| silent(named.why)).copied();
        self.demand(named.is_none(), Rule::WhoIsNamedAsSilentIsSilent, || format!("{cohort}: {named:?}"));
    }
}

fn is_whole(cohort: &CohortStatus) -> bool {
    cohort.told() == u64::from(cohort.size) && cohort.ranks.len() == cohort.answered as usize
}

/// Of one rank alone: its own words, or who on the way to it said nothing.
fn tells_of(cohort: &CohortStatus, wanted: Rank) -> bool {
    match (&cohort.ranks[..], &cohort.unanswered[..]) {
        ([row], []) => row.rank == wanted && cohort.answered == 1,
        ([], [silent]) => (silent.beyond == 0) == (silent.rank == wanted),
        _ => false,
    }
}
