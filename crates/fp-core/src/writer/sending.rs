//! Sending records through transforms that subscribers ask for by name: block by block, as they are put.
//!
//! As with derivations, the put waits for the registry's threads, and a failure is told beside the variables to those who
//! asked for it.

use super::StepWriter;
use crate::error::{Misuse, PutError};
use crate::records::{RecordBlock, RecordBlockError, TransformProblem, TransformedVariable, only_block};
use crate::statistics::Counters;
use crate::variable::{Variable, VariableError};
use fp_transform::{DeriveError, Native, Placement, Transforms, record_array};
use fp_transport::Payload;
use fp_types::record::RecordSchema;
use fp_types::{ArrayKind, Region, Shape, VariableDef};
use std::sync::Arc;

/// The most names of transforms that a failure lists.
const LIMIT_NAMES: usize = 16;

/// Why a block is not sent through.
#[derive(Debug, thiserror::Error)]
enum SendProblem {
    #[error("this publisher has no transforms registered")]
    NoRegistry,
    #[error("this publisher knows no transform {name:?}; it knows: {known}")]
    Unknown { name: String, known: String },
    #[error("transform {name:?} takes {takes}, and the records are {found}")]
    Type { name: String, takes: String, found: String },
    #[error(
        "transform {name:?} needs all records at once, of which each rank has some: it is not registered as per_block"
    )]
    Whole { name: String },
    #[error("transform {name:?} is to run where the records are wanted")]
    Elsewhere { name: String },
    #[error("{kind}s are not transformed, arrays are")]
    Kind { kind: String },
    #[error("transform {name:?} made {given} of {taken} records, one by one")]
    Count { name: String, taken: u64, given: u64 },
    #[error(transparent)]
    Transform(#[from] TransformProblem),
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

/// A transform with the types that it takes and gives.
struct Known {
    transforms: Transforms,
    native: Native,
    given: RecordSchema,
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
        let known = self.known(asked, variable)?;
        let shape = Shape::new(*region.count()).map_err(DeriveError::from)?;
        let array = record_array(shape, variable.def.order, records.clone())?;
        let given = known.transforms.run(&asked.transform, vec![array]).map_err(TransformProblem::from)?;
        let (shape, bytes) = only_block(&given)?;
        let count = usize::try_from(shape.element_count()).unwrap_or(usize::MAX);
        let block = RecordBlock::encoded(&known.given, count, (**bytes).as_ref().to_vec())?;
        if known.native.is_one_by_one && variable.def.kind == ArrayKind::GlobalArray {
            let (taken, given) = (region.element_count(), shape.element_count());
            if taken != given {
                return Err(SendProblem::Count { name: asked.transform.clone(), taken, given });
            }
            let def = VariableDef::global_array(asked.result(), variable.def.dtype, variable.def.ndims());
            let records = Some(known.given.clone());
            let def = Arc::new(def.with_order(variable.def.order).with_record(&known.given));
            return self.put_result(&Variable { def, shape: variable.shape, records }, region, block);
        }
        let rows = Variable::joined_records(asked.result(), &known.given, &[])?;
        let region = self.rows(&rows, count).map_err(Box::new)?;
        self.put_result(&rows, &region, block)
    }

    /// The transform that is asked for, if it may be run on blocks of this variable.
    fn known(&self, asked: &TransformedVariable, variable: &Variable) -> Result<Known, SendProblem> {
        let transforms = self.shared.options.transforms.clone().ok_or(SendProblem::NoRegistry)?;
        let name = asked.transform.clone();
        let Some(native) = transforms.native(&name) else {
            let names: Vec<String> = transforms.registered().into_iter().map(|native| native.name).collect();
            let known = names.iter().take(LIMIT_NAMES).cloned().collect::<Vec<_>>().join(", ");
            return Err(SendProblem::Unknown { name, known });
        };
        let found = variable.records().map(|schema| schema.record().name.clone()).unwrap_or_default();
        let Some((takes, given)) = native.schemas.clone() else {
            return Err(SendProblem::Type { name, takes: "no records".to_owned(), found });
        };
        if variable.records() != Some(&takes) {
            let takes = takes.record().name.clone();
            return Err(SendProblem::Type { name, takes, found });
        }
        match (native.is_per_block || native.is_one_by_one, native.placement, variable.def.kind) {
            (false, ..) => Err(SendProblem::Whole { name }),
            (_, Placement::Subscriber, _) => Err(SendProblem::Elsewhere { name }),
            (_, _, kind @ (ArrayKind::Scalar | ArrayKind::LocalScalar)) => {
                Err(SendProblem::Kind { kind: kind.to_string() })
            }
            _ => Ok(Known { transforms, native, given }),
        }
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
