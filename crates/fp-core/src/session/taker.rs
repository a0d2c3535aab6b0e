//! A subscriber rank as one that takes blocks: what it knows of tables, and what fetches may ask of it.

use crate::data::taker::context::{Subscription, Taker};
use crate::error::ReadError;
use crate::session::resolve;
use crate::session::subscriber::SubscriberSession;
use fp_proto::message::MemberId;
use fp_types::{Epoch, Rank, Selection, StepId, StepTable, SubscriptionId, TableId};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Tables (definitions alone) that are kept.
const LIMIT_TABLES: usize = 64;

impl SubscriberSession {
    /// The variables of a table, without blocks.
    pub(crate) fn definitions(
        &self,
        (step, epoch): (StepId, Option<Epoch>),
        id: TableId,
        deadline: Instant,
    ) -> Result<Arc<StepTable>, ReadError> {
        if let Some(table) = self.known_definitions(epoch, id) {
            return Ok(table);
        }
        let table = Arc::new(resolve::resolve(self, (step, epoch), id, Vec::new(), deadline)?);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= LIMIT_TABLES {
            tables.clear();
        }
        tables.insert((epoch, id), table.clone());
        Ok(table)
    }

    /// The same, if they were asked for before.
    pub(crate) fn known_definitions(&self, epoch: Option<Epoch>, id: TableId) -> Option<Arc<StepTable>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).get(&(epoch, id)).cloned()
    }

    /// What fetches work with.
    pub(crate) fn taker(&self) -> Taker<'_> {
        Taker {
            stream: &self.stream,
            owners: &self.owners,
            counters: &self.counters,
            subscription: self,
            dial: &self.endpoint.dial,
            busy_poll: self.options.link.busy_poll,
        }
    }
}

impl Subscription for SubscriberSession {
    fn learn_contacts(
        &self,
        step: (StepId, Option<Epoch>),
        ranks: Vec<Rank>,
        deadline: Instant,
    ) -> Result<(), ReadError> {
        resolve::learn_contacts(self, step, ranks, deadline)
    }

    fn membership(&self) -> Option<(SubscriptionId, MemberId)> {
        self.endpoint.inspect(|state| state.machine.membership())
    }

    /// The standing selection of a variable, if the options name one.
    fn standing(&self, variable: &str) -> Option<Selection> {
        let is_it = |name: &str| {
            name == variable || self.derived.find(name).is_some_and(|(asked, _)| asked.variable == variable)
        };
        let of_it = self.options.selections.iter().find(|(name, _)| is_it(name));
        of_it.map(|(_, selection)| selection.clone())
    }
}
