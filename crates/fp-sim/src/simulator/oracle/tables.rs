//! Layouts that return: no rank tells its parent again what that remembers, and none asks again for a table that it
//! remembers itself.

use super::Oracle;
use super::Rule;
use crate::simulator::names::CohortId;
use fp_proto::bounds::LIMIT_RECENT;
use fp_proto::message::{Decision, ReadyReport};
use fp_types::{Rank, TableId};

impl Oracle {
    /// A rank tells its parent what its subtree put.
    pub(crate) fn put_told(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        again: Option<u64>,
        report: &ReadyReport,
    ) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        let at = match again {
            Some(number) => own.recent_told.iter().position(|(known, _)| *known == number),
            None => own.recent_told.iter().position(|(_, told)| *told == report.changed),
        };
        if again.is_none() && report.changed.is_empty() {
            return;
        }
        let entry = match at {
            Some(at) => own.recent_told.remove(at),
            None => (own.told, report.changed.clone()),
        };
        own.told += u64::from(again.is_none());
        own.recent_told.insert(0, entry);
        own.recent_told.truncate(LIMIT_RECENT);
        self.demand(again.is_some() == at.is_some(), Rule::LayoutThatReturnsIsToldByItsNumber, || {
            format!("{cohort} rank {rank} tells {again:?}, {:?}", report.changed)
        });
    }

    /// A rank was told what its lead decided.
    pub(crate) fn tables_decided(&mut self, cohort: CohortId, rank: Rank, entries: &[Decision]) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        for entry in entries {
            if let Decision::Decided { table: Some(table), .. } = entry {
                own.recent_tables.retain(|known| known != table);
                own.recent_tables.insert(0, *table);
                own.recent_tables.truncate(LIMIT_RECENT);
            }
        }
        let recent = &own.recent_tables;
        own.sent_tables.retain(|table| recent.contains(table));
    }

    /// A rank was sent a table.
    pub(crate) fn table_sent(&mut self, cohort: CohortId, rank: Rank, table: TableId) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        if own.recent_tables.contains(&table) {
            own.sent_tables.insert(table);
        }
    }

    /// A rank asks its parent for a table.
    pub(crate) fn table_asked(&mut self, cohort: CohortId, rank: Rank, table: TableId) {
        let Some(truth) = self.publishers.get(&cohort) else { return };
        let has_it = truth.ranks[rank.0 as usize].sent_tables.contains(&table);
        self.demand(!has_it, Rule::TableThatReturnsIsNotAskedForAgain, || {
            format!("{cohort} rank {rank} asks for table {table}, which it was sent")
        });
    }
}
