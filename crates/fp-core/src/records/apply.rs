//! A registered transform on blocks of records: the same on either side, so that it matters to nobody where it was run.

use crate::error::transform::TransformProblem;
use fp_transform::{Array, DeriveError, Native, Transforms, record_array};
use fp_transport::Payload;
use fp_types::record::RecordSchema;
use fp_types::{ArrayKind, Dtype, MemoryOrder, Shape, VariableDef, VariableOrigin};

/// The most names of transforms that a failure lists.
const LIMIT_NAMES: usize = 16;

/// Why a block does not go through.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyProblem {
    #[error("this {side} has no transforms registered")]
    NoRegistry { side: &'static str },
    #[error("this {side} knows no transform {name:?}; it knows: {known}")]
    Unknown { side: &'static str, name: String, known: String },
    #[error("transform {name:?} takes {takes}, and the records are {found}")]
    Type { name: String, takes: String, found: String },
    #[error(
        "transform {name:?} needs all records at once, of which each rank has some: it is not registered as per_block"
    )]
    Whole { name: String },
    #[error("{kind}s are not transformed, arrays are")]
    Kind { kind: String },
    #[error("transform {name:?} made {given} of {taken} records, one by one")]
    Count { name: String, taken: u64, given: u64 },
    #[error(transparent)]
    Transform(#[from] TransformProblem),
    #[error(transparent)]
    Array(#[from] DeriveError),
}

/// What a transform gave of a block.
pub(crate) struct Applied {
    pub(crate) count: usize,
    pub(crate) bytes: Vec<u8>,
}

/// A transform with the type that it gives.
pub(crate) struct Applying {
    transforms: Transforms,
    pub(crate) native: Native,
    pub(crate) given: RecordSchema,
    /// Whether what comes of each record has its place in the array.
    pub(crate) keeps_places: bool,
}

impl Applying {
    /// The transform of that name, if it may be run on blocks of such a variable.
    pub(crate) fn find(
        (transforms, side): (Option<&Transforms>, &'static str),
        name: &str,
        (records, kind): (Option<&RecordSchema>, ArrayKind),
    ) -> Result<Self, ApplyProblem> {
        let transforms = transforms.cloned().ok_or(ApplyProblem::NoRegistry { side })?;
        let name = name.to_owned();
        let Some(native) = transforms.native(&name) else {
            let names: Vec<String> = transforms.registered().into_iter().map(|native| native.name).collect();
            let known = names.iter().take(LIMIT_NAMES).cloned().collect::<Vec<_>>().join(", ");
            return Err(ApplyProblem::Unknown { side, name, known });
        };
        let found = records.map(|schema| schema.record().name.clone()).unwrap_or_default();
        let Some((takes, given)) = native.schemas.clone() else {
            return Err(ApplyProblem::Type { name, takes: "no records".to_owned(), found });
        };
        if records != Some(&takes) {
            let takes = takes.record().name.clone();
            return Err(ApplyProblem::Type { name, takes, found });
        }
        if !native.is_per_block && !native.is_one_by_one {
            return Err(ApplyProblem::Whole { name });
        }
        if matches!(kind, ArrayKind::Scalar | ArrayKind::LocalScalar) {
            return Err(ApplyProblem::Kind { kind: kind.to_string() });
        }
        let keeps_places = native.is_one_by_one && kind == ArrayKind::GlobalArray;
        Ok(Self { transforms, native, given, keeps_places })
    }

    /// What it gives of a block, whose records lie in that order.
    pub(crate) fn run(
        &self,
        (shape, order): (Shape, MemoryOrder),
        records: Payload,
    ) -> Result<Applied, ApplyProblem> {
        let array = record_array(shape, order, records)?;
        let given = self.transforms.run(&self.native.name, vec![array]).map_err(TransformProblem::from)?;
        let (given, bytes) = only_block(&given)?;
        let (taken, given) = (shape.element_count(), given.element_count());
        if self.keeps_places && taken != given {
            return Err(ApplyProblem::Count { name: self.native.name.clone(), taken, given });
        }
        let count = usize::try_from(given).unwrap_or(usize::MAX);
        Ok(Applied { count, bytes: (**bytes).as_ref().to_vec() })
    }
}

/// What results are blocks of: records in the places of those that they are made of, or rows one after another.
pub(crate) fn given_def(
    (name, origin): (&str, VariableOrigin),
    of: &VariableDef,
    keeps_places: bool,
    given: &RecordSchema,
) -> VariableDef {
    let def = match keeps_places {
        true => VariableDef::global_array(name, of.dtype, of.ndims()).with_order(of.order),
        false => VariableDef::joined_array(name, of.dtype, 1, 0),
    };
    def.with_record(given).with_origin(origin)
}

/// The one block of the one array of records that there should be.
pub(crate) fn only_block(given: &[Array]) -> Result<(Shape, &fp_transform::SharedBytes), TransformProblem> {
    let no_records = |found| TransformProblem::NoRecords { found };
    let [array] = given else { return Err(no_records(format!("{} arrays", given.len()))) };
    match array.blocks() {
        [block] if array.dtype() == Dtype::Bytes => Ok((*array.shape(), block.payload())),
        [_] => Err(no_records(format!("an array of {}", array.dtype()))),
        blocks => Err(no_records(format!("{} blocks", blocks.len()))),
    }
}
