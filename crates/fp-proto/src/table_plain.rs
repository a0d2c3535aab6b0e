//! Step tables to bytes and back, until the flatbuffers tables take over.

use fp_types::{BlockId, Layout, Region, Shape, StepTable, TableEntry, VariableDef};
use std::sync::Arc;

type Plain = (VariableDef, Option<Shape>, usize, Vec<(BlockId, Region)>);

/// The bytes of a table.
pub fn encode(table: &StepTable) -> Vec<u8> {
    let plain = |entry: &TableEntry| -> Plain {
        let layout = &entry.layout;
        ((*entry.def).clone(), layout.shape().copied(), layout.ndims(), layout.blocks().collect())
    };
    let all: Vec<Plain> = table.entries().iter().map(plain).collect();
    crate::codec::to_bytes(&all)
}

/// The table of these bytes.
///
/// # Errors
/// If they are none.
pub fn decode(bytes: &[u8]) -> Result<StepTable, String> {
    let all: Vec<Plain> =
        crate::codec::from_bytes::<_, { 256 << 20 }>(bytes).map_err(|error| error.to_string())?;
    let entry = |(def, shape, ndims, blocks): Plain| {
        let layout = match shape {
            Some(shape) => Layout::global(shape, blocks),
            None => Layout::local(ndims, blocks.into_iter().map(|(block, region)| (block, *region.count()))),
        };
        let layout = Arc::new(layout.map_err(|error| error.to_string())?);
        Ok(TableEntry { def: Arc::new(def), layout })
    };
    let entries = all.into_iter().map(entry).collect::<Result<Vec<_>, String>>()?;
    StepTable::new(entries).map_err(|error| error.to_string())
}
