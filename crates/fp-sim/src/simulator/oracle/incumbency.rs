//! One name, one incumbent.

use super::Oracle;
use super::Rule;
use crate::simulator::names::CohortId;
use fp_proto::event::{OpenFailure, OpenWait};
use fp_proto::outcome::RefusalReason;
use fp_types::Rank;

impl Oracle {
    /// A publisher rank was told that its stream is open.
    pub(crate) fn publisher_opened(&mut self, cohort: CohortId, rank: Rank) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        truth.ranks[rank.0 as usize].opened = true;
        let late = now.since(truth.started_at);
        if rank == Rank::LEAD {
            truth.opened_at = Some(now);
            self.check_incumbents(cohort);
        }
        let in_time = late <= self.open_timeout + self.slack * 2 || self.is_touched(cohort);
        self.demand(in_time, Rule::OpeningEndsByItsDeadline, || {
            format!("{cohort} rank {rank} opened after {late:?}")
        });
    }

    /// Nobody else holds the name.
    fn check_incumbents(&mut self, cohort: CohortId) {
        let holds = |other: &CohortId| {
            let truth = &self.publishers[other];
            let lead = &truth.ranks[0];
            let over = lead.gone.is_some() || lead.close_called.is_some() || lead.told_lost;
            *other != cohort && truth.opened_at.is_some() && !over && !self.is_pair_tainted(*other, cohort)
        };
        let rival = self.publishers.keys().copied().find(holds);
        self.demand(rival.is_none(), Rule::OneIncumbent, || {
            format!("{cohort} opened while {rival:?} holds the name")
        });
    }

    /// A publisher rank gave up opening.
    pub(crate) fn publisher_failed(&mut self, cohort: CohortId, rank: Rank, failure: &OpenFailure) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        truth.ranks[rank.0 as usize].gone = Some(now);
        truth.over_at.get_or_insert(now);
        let late = now.since(truth.started_at);
        let earlier = truth
            .ranks
            .iter()
            .any(|other| other.gone.is_some_and(|gone| gone < now) || other.close_called.is_some());
        let odd = truth.plan.odd_rank.is_some();
        let touched = self.is_touched(cohort);
        let rivals = self.publishers.len() > 1;
        let excused = match failure {
            OpenFailure::Refused(RefusalReason::NameTaken { epoch }) => {
                self.publishers.values().any(|other| other.plan.epoch == *epoch && other.started_at <= now)
            }
            OpenFailure::Refused(_) => odd,
            OpenFailure::TimedOut(OpenWait::Ranks { .. } | OpenWait::Lead | OpenWait::Name { .. }) => {
                odd || rivals
            }
            OpenFailure::TimedOut(OpenWait::Publisher) => false,
            OpenFailure::RankLost { .. } => odd || rivals,
        };
        self.demand(excused || touched || earlier, Rule::WhoCanOpenDoes, || {
            format!("{cohort} rank {rank}: {failure:?}")
        });
        let in_time = late <= self.open_timeout + self.slack * 2 || touched;
        self.demand(in_time, Rule::OpeningEndsByItsDeadline, || {
            format!("{cohort} rank {rank} failed after {late:?}")
        });
    }

    /// At the end of a run: of several healthy publishers of one name at least one opened.
    pub(crate) fn check_somebody_opened(&mut self) {
        let healthy = |cohort: &CohortId| {
            let truth = &self.publishers[cohort];
            truth.plan.odd_rank.is_none() && !self.is_touched(*cohort) && truth.plan.stops_at.is_none()
        };
        let all_healthy = self.publishers.keys().all(healthy);
        let opened = self.publishers.values().any(|truth| truth.opened_at.is_some());
        self.demand(!all_healthy || opened || self.publishers.is_empty(), Rule::OneSurvivor, || {
            "no publisher opened though all were healthy".to_owned()
        });
    }
}
