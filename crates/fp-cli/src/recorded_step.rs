//! A step of a stream as a record, and back.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::SystemTime;

use fp_core::record::RecordSchema;
use fp_core::{
    ArrayKind, BlockId, Dims, Dtype, Rank, Region, Select, Selection, StepReader, StepWriter, Variable,
    VariableError, VariableInfo, VariableOrigin,
};
use fp_spool::{BlockHead, StepHead, StepVariable};

use crate::failure::Failure;

/// What a step is, with these of its variables.
pub(crate) fn head(step: &StepReader, variables: &[VariableInfo]) -> Result<StepHead, Failure> {
    let mut records: BTreeMap<[u8; 16], RecordSchema> = BTreeMap::new();
    for info in variables {
        if let Some(id) = &info.def.record
            && !records.contains_key(&id.fingerprint.0)
        {
            records.insert(id.fingerprint.0, step.record_schema(&info.def.name)?);
        }
    }
    let variable = |info: &VariableInfo| StepVariable { def: info.def.clone(), shape: info.shape };
    Ok(StepHead {
        stream: step.stream().to_owned(),
        epoch: step.epoch().unwrap_or_default(),
        step: step.step(),
        taken: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
        variables: variables.iter().map(variable).collect(),
        records: records.into_values().collect(),
    })
}

/// The variables of a step that somebody put: what was derived is not among them.
pub(crate) fn variables(step: &StepReader) -> Result<Vec<VariableInfo>, Failure> {
    let is_put = |info: &VariableInfo| info.def.origin == VariableOrigin::Put;
    Ok(step.variables()?.into_iter().filter(is_put).collect())
}

/// Their blocks, in the order of the variables, each with the name of its variable and how it is asked for.
pub(crate) fn all_blocks<'v>(
    step: &StepReader,
    variables: &'v [VariableInfo],
) -> Result<Vec<(BlockHead, &'v str, Select)>, Failure> {
    let mut all = Vec::new();
    for (variable, info) in (0..).zip(variables) {
        let of =
            |(block, region, select)| (BlockHead { variable, block, region }, info.def.name.as_str(), select);
        all.extend(blocks(step, info)?.into_iter().map(of));
    }
    Ok(all)
}

/// The blocks of a variable, and how each is asked for: in the order in which its elements lie.
pub(crate) fn blocks(
    step: &StepReader,
    info: &VariableInfo,
) -> Result<Vec<(BlockId, Region, Select)>, Failure> {
    if info.def.kind == ArrayKind::Scalar {
        // Its value came with the step, and is no rank's.
        let point = Region::new(Dims::default(), Dims::default())
            .map_err(|error| Failure::Usage(error.to_string()))?;
        return Ok(vec![(BlockId::new(Rank(0), 0), point, Selection::All.into())]);
    }
    let of =
        |(block, region): (BlockId, Region)| (block, region, Select::from(block).with_order(info.def.order));
    Ok(step.blocks(&info.def.name)?.into_iter().map(of).collect())
}

/// The variable of a record, to be put again.
pub(crate) fn variable(head: &StepHead, of: &StepVariable) -> Result<Variable, VariableError> {
    let fingerprint = of.def.record.as_ref().map(|id| id.fingerprint);
    let is_its = |schema: &&RecordSchema| fingerprint == Some(schema.fingerprint());
    Variable::from_definition(of.def.clone(), of.shape, head.records.iter().find(is_its).cloned())
}

/// Puts a block of a step: its bytes as they were put before.
pub(crate) fn put(
    writer: &mut StepWriter,
    variable: &Variable,
    of: &BlockHead,
    bytes: &[u8],
) -> Result<(), Box<dyn Error + Send + Sync>> {
    if variable.definition().dtype == Dtype::String {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|error| format!("variable {:?} is no text: {error}", variable.name()))?;
        return Ok(writer.put_text(variable, text)?);
    }
    Ok(writer.put_bytes(variable, &placed(variable, &of.region)?, bytes)?)
}

/// Where a block is put. Rows of a joined array go where those of the blocks before end.
pub(crate) fn placed(variable: &Variable, region: &Region) -> Result<Region, Box<dyn Error + Send + Sync>> {
    match variable.definition().kind {
        ArrayKind::JoinedArray { .. } => {
            Ok(Region::new(Dims::from_slice(&vec![0; region.ndims()])?, *region.count())?)
        }
        ArrayKind::Scalar | ArrayKind::LocalScalar | ArrayKind::GlobalArray | ArrayKind::LocalArray => {
            Ok(*region)
        }
    }
}
