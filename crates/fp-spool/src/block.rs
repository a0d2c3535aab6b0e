//! Which block it is whose bytes follow.

use crate::error::Damage;
use crate::parts::{Parts, put_dims};
use fp_types::{BlockId, Rank, Region};

/// A block of a step: of which variable, from which rank, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockHead {
    /// The number of the variable in [`StepHead::variables`](crate::StepHead::variables), from 0.
    pub variable: u32,
    /// The rank that put it, and its number among the blocks of that rank.
    pub block: BlockId,
    /// Where it lies in the array. In a local array it begins at 0; a scalar has no dimensions.
    pub region: Region,
}

impl BlockHead {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        [self.variable, self.block.rank.0, self.block.index]
            .iter()
            .for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        out.push(self.region.ndims() as u8);
        put_dims(&mut out, self.region.start());
        put_dims(&mut out, self.region.count());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damage> {
        let invalid = || Damage::Invalid("the description of a block means nothing".to_owned());
        let mut parts = Parts(bytes);
        let mut read = || {
            let (variable, rank, index, ndims) = (parts.u32()?, parts.u32()?, parts.u32()?, parts.u8()?);
            let (start, count) = (parts.dims(ndims)?, parts.dims(ndims)?);
            let region = Region::new(start, count).ok()?;
            parts.0.is_empty().then_some(Self { variable, block: BlockId::new(Rank(rank), index), region })
        };
        read().ok_or_else(invalid)
    }
}
