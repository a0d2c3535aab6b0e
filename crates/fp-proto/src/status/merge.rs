//! Reports of neighbours become one, within the bytes of an answer.

use crate::bounds::{LIMIT_STATUS_BYTES, LIMIT_STATUS_COHORTS, LIMIT_STATUS_ITEMS, LIMIT_STATUS_RANKS};
use crate::codec;
use crate::status::report::{CohortStatus, RankStatus, StatusReport, Unanswered};

/// A neighbour of the own cohort told what it and those beyond it say.
pub(crate) fn merge(report: &mut StatusReport, told: StatusReport) {
    let mut cohorts = told.cohorts.into_iter();
    if let (Some(own), Some(theirs)) = (report.cohorts.first_mut(), cohorts.next()) {
        merge_cohort(own, theirs);
    }
    cohorts.for_each(|cohort| add_cohort(report, cohort));
}

/// A cohort of subscribers.
pub(crate) fn add_cohort(report: &mut StatusReport, cohort: CohortStatus) {
    if report.cohorts.len() < LIMIT_STATUS_COHORTS {
        report.cohorts.push(cohort);
    }
}

fn merge_cohort(own: &mut CohortStatus, theirs: CohortStatus) {
    own.answered = own.answered.saturating_add(theirs.answered);
    own.unnamed = own.unnamed.saturating_add(theirs.unnamed);
    own.ranks.extend(theirs.ranks);
    theirs.unanswered.into_iter().for_each(|silent| add_unanswered(own, silent));
}

/// Somebody did not answer.
pub(crate) fn add_unanswered(cohort: &mut CohortStatus, silent: Unanswered) {
    if cohort.unanswered.len() < LIMIT_STATUS_ITEMS {
        cohort.unanswered.push(silent);
    } else {
        cohort.unnamed = cohort.unnamed.saturating_add(1).saturating_add(silent.beyond);
    }
}

/// Brings a report into order, and leaves out what does not fit: links first, then ranks that wait for nothing.
pub(crate) fn bounded(report: &mut StatusReport) {
    for cohort in &mut report.cohorts {
        cohort.ranks.sort_by_key(|row| row.rank);
        cohort.ranks.dedup_by_key(|row| row.rank);
        cohort.unanswered.sort_by_key(|silent| silent.rank);
        keep(cohort, LIMIT_STATUS_RANKS);
    }
    if len_bytes(report) > LIMIT_STATUS_BYTES {
        rows(report).for_each(leave_links_out);
    }
    loop {
        let len_bytes = len_bytes(report);
        if len_bytes <= LIMIT_STATUS_BYTES {
            return;
        }
        for cohort in &mut report.cohorts {
            let fit = cohort.ranks.len() * LIMIT_STATUS_BYTES / len_bytes;
            keep(cohort, fit.min(cohort.ranks.len().saturating_sub(1)));
        }
    }
}

fn len_bytes(report: &StatusReport) -> usize {
    codec::to_bytes(report).len()
}

fn rows(report: &mut StatusReport) -> impl Iterator<Item = &mut RankStatus> {
    report.cohorts.iter_mut().flat_map(|cohort| cohort.ranks.iter_mut())
}

fn leave_links_out(row: &mut RankStatus) {
    row.links_left_out = row.links_left_out.saturating_add(row.links.len() as u32);
    row.links.clear();
}

/// Keeps so many ranks: those that have waited longest, and of the others the lowest.
fn keep(cohort: &mut CohortStatus, count: usize) {
    if cohort.ranks.len() <= count {
        return;
    }
    let waited = |row: &RankStatus| row.waits.iter().map(|wait| wait.waited_ms).max();
    cohort.ranks.sort_by_key(|row| (std::cmp::Reverse(waited(row)), row.rank));
    cohort.ranks.truncate(count);
    cohort.ranks.sort_by_key(|row| row.rank);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::report::{
        LinkStatus, LinkWith, NoAnswer, ProcessStatus, RankPhase, StepCounts, Wait, WaitOn,
    };
    use fp_types::Rank;

    fn row(rank: u32, waited_ms: Option<u64>, links: usize) -> RankStatus {
        let link = LinkStatus {
            with: LinkWith::Parent,
            unheard_ms: Some(7),
            transport: "shm".to_owned(),
            reason: "r".repeat(100),
        };
        RankStatus {
            rank: Rank(rank),
            phase: RankPhase::Streaming,
            steps: StepCounts::default(),
            waits: waited_ms.map(|waited_ms| Wait { on: WaitOn::Step, waited_ms }).into_iter().collect(),
            subscriptions: Vec::new(),
            subscriptions_left_out: 0,
            links: vec![link; links],
            links_left_out: 0,
            process: ProcessStatus { version: "v".repeat(200), ..ProcessStatus::default() },
        }
    }

    fn report(rows: Vec<RankStatus>) -> StatusReport {
        let size = rows.len() as u32;
        let cohort = CohortStatus { size, answered: size, ranks: rows, ..CohortStatus::default() };
        StatusReport { cohorts: vec![cohort] }
    }

    #[test]
    fn links_are_left_out_before_ranks() {
        let mut merged = report((0..600).rev().map(|rank| row(rank, None, 10)).collect());
        bounded(&mut merged);
        let cohort = &merged.cohorts[0];
        assert_eq!((cohort.ranks.len(), cohort.answered), (600, 600));
        assert!(cohort.ranks.iter().all(|row| row.links.is_empty() && row.links_left_out == 10));
        assert!(cohort.ranks.is_sorted_by_key(|row| row.rank));
        assert!(len_bytes(&merged) <= LIMIT_STATUS_BYTES && merged.check().is_ok());
    }

    #[test]
    fn who_waits_longest_is_kept() {
        let waited = |rank: u32| (rank >= 3_000).then_some(u64::from(rank));
        let mut merged = report((0..4_000).map(|rank| row(rank, waited(rank), 0)).collect());
        bounded(&mut merged);
        let cohort = &merged.cohorts[0];
        assert!(len_bytes(&merged) <= LIMIT_STATUS_BYTES && merged.check().is_ok());
        assert!(cohort.ranks.len() > 900, "{} ranks", cohort.ranks.len());
        assert_eq!((cohort.answered, cohort.told()), (4_000, 4_000), "who is left out has answered");
        assert!(cohort.ranks.iter().any(|row| row.rank == Rank(3_999)));
        let of_waiting = cohort.ranks.iter().filter(|row| !row.waits.is_empty()).count();
        assert!(of_waiting * 10 >= cohort.ranks.len().min(1_000) * 9, "{of_waiting}");
    }

    #[test]
    fn who_is_silent_is_counted_where_it_is_not_named() {
        let mut merged = report(Vec::new());
        merged.cohorts[0].size = 300;
        for rank in 0..100 {
            let silent = Unanswered { rank: Rank(rank), beyond: 2, why: NoAnswer::Lost };
            let mut told = report(Vec::new());
            told.cohorts[0].unanswered.push(silent);
            merge(&mut merged, told);
        }
        bounded(&mut merged);
        assert_eq!(merged.cohorts[0].unanswered.len(), LIMIT_STATUS_ITEMS);
        assert_eq!(merged.cohorts[0].told(), 300);
        assert!(merged.check().is_ok());
    }
}
