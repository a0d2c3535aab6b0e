//! What a step asks the publisher for: what its variables are, and which blocks selections touch.

use crate::data::taker::fetch_plan::names;
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::step::held::HeldStep;
use crate::value::counters::Counters;
use crate::value::stopwatch::Stopwatch;
use fp_proto::event::ResolveOutcome;
use fp_proto::message::{NoTable, ResolveQuery};
use fp_proto::table;
use fp_types::{StepTable, TableEntry};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Tables (definitions alone) that are kept.
const LIMIT_TABLES: usize = 64;

impl HeldStep {
    /// The definitions of the step's variables, without blocks.
    pub(crate) fn table(&self, deadline: Instant) -> Result<Arc<StepTable>, ReadError> {
        if let Some(table) = self.known_table() {
            return Ok(table);
        }
        let table = Arc::new(self.resolve(Vec::new(), deadline)?);
        let mut tables = self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= LIMIT_TABLES {
            tables.clear();
        }
        tables.insert((self.epoch, self.assignment.table), table.clone());
        Ok(table)
    }

    /// The same, if they were asked for before.
    pub(crate) fn known_table(&self) -> Option<Arc<StepTable>> {
        let tables = self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.get(&(self.epoch, self.assignment.table)).cloned()
    }

    /// What a table says of a variable.
    pub(crate) fn entry<'t>(
        &self,
        table: &'t StepTable,
        variable: &str,
    ) -> Result<&'t TableEntry, ReadError> {
        table.entry(variable).ok_or_else(|| self.unknown(table, variable))
    }

    /// The table has no such variable.
    pub(crate) fn unknown(&self, table: &StepTable, variable: &str) -> ReadError {
        let (step, variable, known) = (self.step(), variable.to_owned(), names(table));
        self.misuse(Misuse::UnknownVariable { step, variable, known })
    }

    /// Asks the publisher which blocks the selections touch.
    pub(crate) fn resolve(
        &self,
        queries: Vec<ResolveQuery>,
        deadline: Instant,
    ) -> Result<StepTable, ReadError> {
        let (shared, epoch, id) = (&self.shared, self.epoch, self.assignment.table);
        let watch = Stopwatch::start(&shared.counters.resolve_ns);
        Counters::add(&shared.counters.resolves, 1);
        let (stream, step) = (shared.stream.clone(), self.step());
        let (rank, asked) = shared.endpoint.drive(|state, now| {
            let of_epoch = state.machine.attachment() == epoch;
            let request = of_epoch.then(|| state.machine.resolve(now, id, queries).ok()).flatten();
            (state.machine.answering_rank(), request)
        });
        let lost = |what: &str| ReadError::Lost { stream: stream.clone(), step, rank, what: what.to_owned() };
        let request = asked.ok_or_else(|| lost("its opening of the stream is over"))?;
        let answer =
            shared.endpoint.wait(deadline, |state, _| state.role.answers.remove(&request).ok_or(None));
        match answer {
            Some(ResolveOutcome::Table { encoded, owners }) => {
                shared.owners.learn(epoch, owners);
                table::decode(&encoded).map_err(|error| self.misbehaved(rank, format!("its table: {error}")))
            }
            Some(ResolveOutcome::Unknown) => Err(lost("its layout is not known any more: the step is gone")),
            Some(ResolveOutcome::Refused(NoTable::Denied(denial))) => {
                Err(ReadError::Denied { stream, step, rank, denial })
            }
            Some(ResolveOutcome::Refused(source)) => Err(ReadError::NoLayout { stream, step, source }),
            Some(ResolveOutcome::Lost) => Err(lost("nobody is left to ask for its layout")),
            None => {
                let waits_for = "the publisher's answer about the layout".to_owned();
                let waited = watch.started.elapsed();
                Err(ReadError::TimedOut { stream, step, waited, waits_for })
            }
        }
    }
}
