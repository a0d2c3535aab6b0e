//! Sends records through transforms that subscribers ask for by name: block by block, as they are put. So no block need
//! be kept for it until the step's end.
//!
//! As with derivations, the put waits for the registry's threads. A failure is told beside the variables, to those who
//! asked for it.

use crate::error::PutError;
use crate::error::misuse::Misuse;
use crate::error::record_block::RecordBlockError;
use crate::options::transformed_variable::TransformedVariable;
use crate::publisher::open_step::OpenStep;
use crate::records::apply::{Applied, ApplyProblem, Applying, given_def};
use crate::records::block::RecordBlock;
use crate::session::derive_failure::NotAllowed;
use crate::value::counters::Counters;
use crate::value::variable::Variable;
use fp_proto::request::Request;
use fp_transform::{CohortSide, DeriveError};
use fp_transport::Payload;
use fp_types::{Region, Shape, VariableOrigin};
use std::sync::Arc;
use std::time::Instant;

/// Why a block is not sent through.
#[derive(Debug, thiserror::Error)]
enum SendProblem {
    #[error("transform {name:?} is to run where the records are wanted")]
    Elsewhere { name: String },
    #[error(
        "no room for {len_bytes} bytes of results: live steps take all that this stream may hold (limit_bytes)"
    )]
    NoRoom { len_bytes: usize },
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error(transparent)]
    Apply(#[from] ApplyProblem),
    #[error(transparent)]
    Array(#[from] DeriveError),
    #[error(transparent)]
    Records(#[from] RecordBlockError),
    #[error(transparent)]
    Put(#[from] Box<PutError>),
}

/// What is to be sent through transforms in one step.
#[derive(Default)]
pub(crate) struct StepTransforms {
    asked: Vec<Arc<TransformedVariable>>,
}

impl StepTransforms {
    pub(crate) fn new(requests: &[(Arc<Request>, u32)]) -> Self {
        if requests.is_empty() {
            return Self::default();
        }
        let asked = requests.iter().filter_map(|(request, _)| TransformedVariable::read(request));
        Self { asked: asked.filter(|asked| !asked.is_here()).map(Arc::new).collect() }
    }

    /// What the results of all are called.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().map(|asked| asked.result.as_str())
    }

    pub(crate) fn takes(&self, variable: &str) -> bool {
        self.of(variable).next().is_some()
    }

    fn of<'s>(&'s self, variable: &'s str) -> impl Iterator<Item = &'s Arc<TransformedVariable>> {
        self.asked.iter().filter(move |asked| asked.variable == variable)
    }
}

impl OpenStep {
    /// Sends a block of records through all transforms that are asked for of its variable.
    pub(crate) fn send_through(&mut self, variable: &Variable, region: &Region, records: &Payload) {
        let asked: Vec<_> = self.sending.of(variable.name()).cloned().collect();
        for asked in asked {
            if self.budget.is_missed(&asked.result) {
                continue;
            }
            if self.shared.options.derivations && !self.budget.may_begin(&asked.result) {
                self.budget.note_missed(&asked.result);
                let failure = self.no_time();
                self.tell_cut(&asked.failed, &failure);
                continue;
            }
            let started = Instant::now();
            self.budget.note_begun(&asked.result);
            match self.send_one(&asked, variable, region, records) {
                Ok(()) => Counters::add(&self.shared.counters.transforms, 1),
                Err(problem) => {
                    Counters::add(&self.shared.counters.failed_transforms, 1);
                    self.tell(&asked.failed, &problem.to_string());
                }
            }
            let waited = started.elapsed();
            self.budget.take(waited);
            self.budget.note_cost(&asked.result, waited);
        }
    }

    fn send_one(
        &mut self,
        asked: &TransformedVariable,
        variable: &Variable,
        region: &Region,
        records: &Payload,
    ) -> Result<(), SendProblem> {
        if !self.shared.options.derivations {
            return Err(NotAllowed::Forbidden.into());
        }
        let registry = (self.shared.options.transforms.as_ref(), "publisher");
        let of = (variable.records(), variable.def.kind);
        let applying = Applying::find(registry, &asked.transform, of)?;
        if applying.native.placement == CohortSide::Subscriber {
            return Err(SendProblem::Elsewhere { name: asked.transform.clone() });
        }
        let shape = Shape::new(*region.count()).map_err(DeriveError::from)?;
        let Applied { count, bytes } = applying.run((shape, variable.def.order), records.clone())?;
        let block = RecordBlock::encoded(&applying.given, count, bytes)?;
        let named = (asked.result.as_str(), VariableOrigin::Derived);
        let def = Arc::new(given_def(named, &variable.def, applying.keeps_places, &applying.given));
        let records = Some(applying.given.clone());
        if applying.keeps_places {
            return self.put_result(&Variable { def, shape: variable.shape, records }, region, block);
        }
        let shape = Shape::new([0]).map_err(DeriveError::from)?;
        let rows = Variable { def, shape, records };
        let region = self.rows(&rows, count).map_err(Box::new)?;
        self.put_result(&rows, &region, block)
    }

    fn put_result(
        &mut self,
        variable: &Variable,
        region: &Region,
        block: RecordBlock,
    ) -> Result<(), SendProblem> {
        let len_bytes = block.as_bytes().len();
        if !self.shared.server.room.fits(len_bytes as u64) {
            return Err(SendProblem::NoRoom { len_bytes });
        }
        Counters::add(&self.shared.counters.derived_bytes, len_bytes);
        let put = match self.shared.server.types.learn(block.schema()) {
            true => self.note_records(variable, region, block, true),
            false => Err(self.misuse(Misuse::TooManyTypes { variable: variable.name().to_owned() })),
        };
        put.map_err(|error| SendProblem::Put(Box::new(error)))
    }
}
