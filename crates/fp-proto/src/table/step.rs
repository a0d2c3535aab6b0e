//! Step tables: each layout once, and each variable with the place of its layout.

use std::collections::BTreeMap;
use std::sync::Arc;

use fp_types::{LayoutId, MAX_VARIABLES, StepTable, TableEntry};
use fp_wire::flatbuffers::WIPOffset;
use fp_wire::wire;

use super::{Builder, TableDecodeError, layout, schema};

pub(super) fn encode<'a>(builder: &mut Builder<'a>, table: &StepTable) -> WIPOffset<wire::StepTable<'a>> {
    let distinct = table.layouts();
    let places: BTreeMap<LayoutId, u32> = distinct.iter().map(|layout| layout.id()).zip(0..).collect();
    let layouts: Vec<_> = distinct.iter().map(|distinct| layout::encode(builder, distinct)).collect();
    let layouts = builder.create_vector(&layouts);
    let mut entries = Vec::with_capacity(table.entries().len());
    for entry in table.entries() {
        let layout = places.get(&entry.layout.id()).copied().unwrap_or_default();
        let variable = Some(schema::encode_variable(builder, &entry.def));
        entries.push(wire::TableEntry::create(builder, &wire::TableEntryArgs { variable, layout }));
    }
    let entries = builder.create_vector(&entries);
    let table = wire::StepTableArgs { layouts: Some(layouts), entries: Some(entries) };
    wire::StepTable::create(builder, &table)
}

pub(super) fn decode(encoded: wire::StepTable<'_>) -> Result<StepTable, TableDecodeError> {
    let limit = |what, found| match found {
        0..=MAX_VARIABLES => Ok(()),
        found => Err(TableDecodeError::Count { what, found, expected: MAX_VARIABLES }),
    };
    limit("layouts of a table", encoded.layouts().map_or(0, |layouts| layouts.len()))?;
    limit("variables of a table", encoded.entries().map_or(0, |entries| entries.len()))?;
    let layouts =
        encoded.layouts().into_iter().flatten().map(|encoded| layout::decode(encoded).map(Arc::new));
    let layouts = layouts.collect::<Result<Vec<_>, _>>()?;
    let entry = |encoded: wire::TableEntry<'_>| {
        let def = schema::decode_variable(encoded.variable())?;
        def.validate()?;
        let found = layouts.get(encoded.layout() as usize);
        let missing = TableDecodeError::NoSuchLayout { index: encoded.layout(), layouts: layouts.len() };
        Ok(TableEntry { def: Arc::new(def), layout: Arc::clone(found.ok_or(missing)?) })
    };
    let entries =
        encoded.entries().into_iter().flatten().map(entry).collect::<Result<Vec<_>, TableDecodeError>>()?;
    Ok(StepTable::new(entries)?)
}
