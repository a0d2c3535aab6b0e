//! How many bytes a transform takes in and gives in a step, as the layouts say it.

use crate::error::ReadError;
use crate::options::transformed_variable::TransformedVariable;
use crate::session::sides::History;
use crate::step::held::HeldStep;
use crate::value::derived_names::entry_not_put;
use fp_proto::message::ResolveQuery;
use fp_types::{Layout, Selection, StepTable, VariableDef};
use std::time::Instant;

/// Measures what the publisher made of a step, where that is to be known.
pub(crate) fn weigh_received(
    held: &HeldStep,
    asked: &TransformedVariable,
    table: &StepTable,
    deadline: Instant,
) {
    let is_new = |of: &mut History| of.scale.last != Some(held.identity());
    if !held.shared.weighs(asked) || held.shared.sides.with_history(&asked.name, is_new) != Some(true) {
        return;
    }
    // Where they cannot be had, reading it will say what is wrong.
    if let Ok(Some(sizes)) = sizes(held, asked, table, deadline) {
        held.shared.weigh(asked, held.identity(), false, sizes);
    }
}

/// The bytes of all blocks of all ranks that went in and came out.
pub(crate) fn sizes(
    held: &HeldStep,
    asked: &TransformedVariable,
    table: &StepTable,
    deadline: Instant,
) -> Result<Option<(u64, u64)>, ReadError> {
    let (Some(input), Some(output)) = (table.entry(&asked.variable), entry_not_put(table, &asked.result))
    else {
        return Ok(None);
    };
    let names = [&input.def, &output.def].map(|def| (def.clone(), def.parts().map(|parts| parts.name)));
    let wanted = names.iter().flat_map(|(def, parts)| [Some(def.name.clone()), parts.clone()]).flatten();
    let query = |variable| ResolveQuery { variable, selection: Selection::All };
    let queries = wanted.filter(|name| table.entry(name).is_some()).map(query).collect();
    let answer = held.resolve(queries, deadline)?;
    let len = |name: &str, each: u64| answer.entry(name).map_or(0, |entry| elements(&entry.layout) * each);
    let [input, output] = names
        .map(|(def, parts)| len(&def.name, size_of_record(&def)) + parts.map_or(0, |parts| len(&parts, 1)));
    Ok(Some((input, output)))
}

fn size_of_record(def: &VariableDef) -> u64 {
    def.record.as_ref().map_or(1, |record| record.size_bytes)
}

fn elements(layout: &Layout) -> u64 {
    layout.blocks().map(|(_, region)| region.element_count()).sum()
}
