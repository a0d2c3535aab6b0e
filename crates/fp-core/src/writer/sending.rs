//! Sending records through transforms that subscribers ask for by name: block by block, as they are put.
//!
//! As with derivations, the put waits for the registry's threads, and a failure is told beside the variables to those who
//! asked for it.

use super::StepWriter;
use crate::error::{Misuse, PutError};
use crate::records::{Applied, ApplyProblem, Applying, RecordBlock, RecordBlockError, TransformedVariable};
use crate::statistics::Counters;
use crate::variable::{Variable, VariableError};
use fp_transform::{DeriveError, Placement};
use fp_transport::Payload;
use fp_types::{Region, Shape, VariableDef};
use std::sync::Arc;

/// Why a block is not sent through.
#[derive(Debug, thiserror::Error)]
enum SendProblem {
    #[error("transform {name:?} is to run where the records are wanted")]
    Elsewhere { name: String },
    #[error(transparent)]
    Apply(#[from] ApplyProblem),
    #[error(transparent)]
    Array(#[from] DeriveError),
    #[error(transparent)]
    Records(#[from] RecordBlockError),
    #[error(transparent)]
    Variable(#[from] VariableError),
    #[error(transparent)]
    Put(#[from] Box<PutError>),
}

/// What is to be sent through transforms in one step.
pub(super) struct Sending {
    asked: Vec<Arc<TransformedVariable>>,
}

impl Sending {
    pub(super) fn new(derivations: &[(Arc<[u8]>, u32)]) -> Self {
        let asked = derivations.iter().filter_map(|(bytes, _)| TransformedVariable::from_bytes(bytes));
        Self { asked: asked.map(Arc::new).collect() }
    }

    pub(super) fn takes(&self, variable: &str) -> bool {
        self.of(variable).next().is_some()
    }

    fn of<'s>(&'s self, variable: &'s str) -> impl Iterator<Item = &'s Arc<TransformedVariable>> {
        self.asked.iter().filter(move |asked| asked.variable == variable)
    }
}

impl StepWriter {
    /// Sends a block of records through all transforms that are asked for of its variable.
    pub(super) fn send_through(&mut self, variable: &Variable, region: &Region, records: &Payload) {
        let asked: Vec<_> = self.sending.of(variable.name()).cloned().collect();
        for asked in asked {
            match self.send_one(&asked, variable, region, records) {
                Ok(()) => Counters::add(&self.shared.counters.transforms, 1),
                Err(problem) => {
                    Counters::add(&self.shared.counters.failed_transforms, 1);
                    self.tell(&asked.failed(), &problem.to_string());
                }
            }
        }
    }

    fn send_one(
        &mut self,
        asked: &TransformedVariable,
        variable: &Variable,
        region: &Region,
        records: &Payload,
    ) -> Result<(), SendProblem> {
        let registry = (self.shared.options.transforms.as_ref(), "publisher");
        let of = (variable.records(), variable.def.kind);
        let applying = Applying::find(registry, &asked.transform, of)?;
        if applying.native.placement == Placement::Subscriber {
            return Err(SendProblem::Elsewhere { name: asked.transform.clone() });
        }
        let shape = Shape::new(*region.count()).map_err(DeriveError::from)?;
        let Applied { count, bytes } = applying.run((shape, variable.def.order), records.clone())?;
        let block = RecordBlock::encoded(&applying.given, count, bytes)?;
        if applying.keeps_places {
            let def = VariableDef::global_array(asked.result(), variable.def.dtype, variable.def.ndims());
            let records = Some(applying.given.clone());
            let def = Arc::new(def.with_order(variable.def.order).with_record(&applying.given));
            return self.put_result(&Variable { def, shape: variable.shape, records }, region, block);
        }
        let rows = Variable::joined_records(asked.result(), &applying.given, &[])?;
        let region = self.rows(&rows, count).map_err(Box::new)?;
        self.put_result(&rows, &region, block)
    }

    fn put_result(
        &mut self,
        variable: &Variable,
        region: &Region,
        block: RecordBlock,
    ) -> Result<(), SendProblem> {
        Counters::add(&self.shared.counters.derived_bytes, block.as_bytes().len());
        let put = match self.shared.server.types.learn(block.schema()) {
            true => self.note_records(variable, region, block, true),
            false => Err(self.misuse(Misuse::TooManyTypes { variable: variable.name().to_owned() })),
        };
        put.map_err(|error| SendProblem::Put(Box::new(error)))
    }
}
