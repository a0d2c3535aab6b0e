//! Reading what the publisher sent through a transform of its own: as any variable of records, under another name.

use super::{Fit, Misfit, TransformProblem, TransformedVariable};
use crate::error::ReadError;
use crate::options::SubscriberOptions;
use crate::patience::Limit;
use crate::planned::{Planned, names};
use crate::select::Select;
use crate::step::{StepReader, VariableInfo};
use fp_types::record::RecordSchema;
use fp_types::{Dtype, Rank, Selection, StepTable};
use std::sync::Arc;
use std::time::Instant;

impl SubscriberOptions {
    /// What the publisher was asked for under that name.
    pub(crate) fn transformed_variable(&self, name: &str) -> Option<&TransformedVariable> {
        self.transformed.iter().find(|asked| asked.name == name)
    }
}

impl StepReader {
    /// The plan for what the publisher transformed.
    pub(crate) fn planned_received(
        &self,
        asked: &TransformedVariable,
        select: &Select,
        fill: bool,
        dtype: Option<Dtype>,
        deadline: Instant,
    ) -> Result<Arc<Planned>, ReadError> {
        if self.is_made_here(asked) {
            let planned = self.planned_made(asked, select, fill, deadline.into())?;
            self.check_dtype(&planned, dtype)?;
            return Ok(planned);
        }
        let table = self.table(deadline)?;
        if let Some(what) = self.why_not_received(asked, &table, deadline)? {
            return Err(self.not_made(asked, "by the publisher", TransformProblem::Publisher { what }));
        }
        self.weigh_received(asked, &table, deadline);
        let planned = self.planned_as_put(&asked.result(), select, fill, dtype, deadline);
        planned.map_err(|error| error.renamed(&asked.name))
    }

    /// Why there is nothing in this step, if there is nothing.
    fn why_not_received(
        &self,
        asked: &TransformedVariable,
        table: &StepTable,
        deadline: Instant,
    ) -> Result<Option<String>, ReadError> {
        if table.entry(&asked.failed()).is_some() {
            return self.told(&asked.failed(), deadline).map(Some);
        }
        if table.entry(&asked.result()).is_some() {
            return Ok(None);
        }
        Ok(Some(match table.entry(&asked.variable) {
            None => {
                format!("there is no variable {:?}; there are {}", asked.variable, names(table).join(", "))
            }
            Some(entry) if entry.def.record.is_none() => {
                format!("its elements are {}, no records", entry.def.dtype)
            }
            Some(_) => "no rank put any records, or the step began before it was asked for".to_owned(),
        }))
    }

    /// How well that fits which the publisher was asked for, or why it does not.
    pub(super) fn received(
        &self,
        asked: &TransformedVariable,
        wanted: &RecordSchema,
        limit: Limit<'_>,
    ) -> Result<Result<Fit, Misfit>, ReadError> {
        let (table, variable) = (self.table(limit.deadline)?, asked.name.clone());
        if self.is_made_here(asked) {
            return Ok(match self.made_type(asked, limit)? {
                Ok(given) => {
                    super::providing::fit(&given, wanted).map_err(|why| Misfit::Incompatible(variable, why))
                }
                Err(what) => Err(Misfit::NotTransformed(variable, what)),
            });
        }
        if let Some(what) = self.why_not_received(asked, &table, limit.deadline)? {
            return Ok(Err(Misfit::NotTransformed(variable, what)));
        }
        let Some(entry) = table.entry(&asked.result()) else {
            return Ok(Err(Misfit::NotThere(variable, names(&table))));
        };
        let found = self.type_of(&entry.def, self.sender(asked, limit)?, limit)?;
        let fit = super::providing::fit(&found, wanted);
        Ok(fit.map_err(|why| Misfit::Incompatible(variable, why)))
    }

    /// A rank that put a block of it.
    fn sender(&self, asked: &TransformedVariable, limit: Limit<'_>) -> Result<Option<Rank>, ReadError> {
        let all = Selection::All.into();
        let planned = self.planned_as_put(&asked.result(), &all, true, None, limit.deadline)?;
        Ok(planned.plan.pieces.first().map(|piece| piece.block.rank))
    }

    /// What the step has of what the publisher was asked for.
    pub(crate) fn received_infos(&self, table: &StepTable) -> Vec<VariableInfo> {
        let info = |asked: &TransformedVariable| {
            if self.is_made_here(asked) {
                return self.made_info(asked, table);
            }
            let entry = table.entry(&asked.result())?;
            let mut def = (*entry.def).clone();
            def.name.clone_from(&asked.name);
            Some(VariableInfo { def, shape: entry.layout.shape().copied() })
        };
        self.shared().options.transformed.iter().filter_map(info).collect()
    }
}
