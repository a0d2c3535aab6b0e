//! What a step is, before its blocks.

use crate::error::{Damage, SpoolError};
use crate::frame::LIMIT_META_BYTES;
use crate::parts::{Parts, put_counted, put_dims};
use fp_proto::table::{decode_schema, encode_schema};
use fp_types::record::RecordSchema;
use fp_types::{Epoch, Schema, Shape, StepId, VariableDef};
use std::time::Duration;

/// In the place of the number of dimensions: there is no shape.
const SHAPELESS: u8 = u8::MAX;

/// A variable of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepVariable {
    /// Name, element type, kind, memory order, unit, attributes.
    pub def: VariableDef,
    /// The global extent; none of a local array.
    pub shape: Option<Shape>,
}

/// A step: where it is from, and which variables it has.
#[derive(Clone, Debug, PartialEq)]
pub struct StepHead {
    /// The stream.
    pub stream: String,
    /// The epoch of its publisher.
    pub epoch: Epoch,
    /// Its number in that epoch.
    pub step: StepId,
    /// When it was taken, since the beginning of 1970 UTC.
    pub taken: Duration,
    /// Its variables. Blocks name them by their places here.
    pub variables: Vec<StepVariable>,
    /// The types of records among the variables.
    pub records: Vec<RecordSchema>,
}

impl StepHead {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, SpoolError> {
        let mut out = Vec::new();
        out.extend_from_slice(&self.epoch.0.to_le_bytes());
        out.extend_from_slice(&self.step.0.to_le_bytes());
        out.extend_from_slice(&self.taken.as_secs().to_le_bytes());
        out.extend_from_slice(&self.taken.subsec_nanos().to_le_bytes());
        let variables = self.variables.iter().map(|variable| variable.def.clone()).collect();
        let schema = encode_schema(&Schema { variables, ..Schema::new(&*self.stream) });
        // What is too long becomes a note of that, which cannot be read.
        let unkept = |why: String| SpoolError::Unkept { step: self.step, why };
        decode_schema(&schema).map_err(|error| unkept(error.to_string()))?;
        let mut fits = put_counted(&mut out, &schema);
        for variable in &self.variables {
            out.push(variable.shape.as_ref().map_or(SHAPELESS, |shape| shape.ndims() as u8));
            variable.shape.iter().for_each(|shape| put_dims(&mut out, shape.dims()));
        }
        out.extend_from_slice(&(self.records.len() as u32).to_le_bytes());
        self.records.iter().for_each(|record| fits &= put_counted(&mut out, record.to_bytes()));
        if fits { Ok(out) } else { Err(unkept(format!("they take more than {LIMIT_META_BYTES} bytes"))) }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damage> {
        let mut parts = Parts(bytes);
        let mut numbers = || {
            let (epoch, step) = (parts.array().map(u128::from_le_bytes)?, parts.u64()?);
            let (seconds, nanos) = (parts.u64()?, parts.u32().filter(|&nanos| nanos < 1_000_000_000)?);
            Some((Epoch(epoch), StepId(step), Duration::new(seconds, nanos), parts.counted()?))
        };
        let (epoch, step, taken, schema) = numbers().ok_or_else(short)?;
        let schema = decode_schema(schema).map_err(|error| Damage::Invalid(error.to_string()))?;
        let variable = |def| Ok(StepVariable { def, shape: shape(&mut parts)? });
        let variables = schema.variables.into_iter().map(variable).collect::<Result<_, Damage>>()?;
        let records = records(&mut parts)?;
        match parts.0.is_empty() {
            true => Ok(Self { stream: schema.stream, epoch, step, taken, variables, records }),
            false => Err(Damage::Invalid("bytes follow the description of a step".to_owned())),
        }
    }
}

/// A description that ends too early, though its bytes are those that were written.
fn short() -> Damage {
    Damage::Invalid("the description of a step is too short".to_owned())
}

fn shape(parts: &mut Parts<'_>) -> Result<Option<Shape>, Damage> {
    let ndims = parts.u8().ok_or_else(short)?;
    if ndims == SHAPELESS {
        return Ok(None);
    }
    let dims = parts.dims(ndims).ok_or_else(short)?;
    Shape::new(dims).map(Some).map_err(|error| Damage::Invalid(error.to_string()))
}

fn records(parts: &mut Parts<'_>) -> Result<Vec<RecordSchema>, Damage> {
    let count = parts.u32().ok_or_else(short)?;
    let mut records = Vec::new();
    for _ in 0..count {
        let bytes = parts.counted().ok_or_else(short)?;
        records.push(RecordSchema::from_bytes(bytes).map_err(|error| Damage::Invalid(error.to_string()))?);
    }
    Ok(records)
}
