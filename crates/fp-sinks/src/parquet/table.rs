//! Which tables a step has, and which columns they have.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use fp_core::{ArrayKind, BlockId, StepId};

use super::{fields, numbers};
use crate::error::SinkError;
use crate::taken_step::{TakenStep, TakenVariable};

/// Rows of the same blocks.
#[derive(Debug)]
pub(super) struct Table {
    /// What stands for it in the name of its file: its first variable.
    pub(super) name: String,
    /// Which variables of the step have columns in it.
    pub(super) variables: Vec<usize>,
    /// Its blocks with the number of their rows, of which none is 0, in their order.
    pub(super) blocks: Vec<(BlockId, usize)>,
    /// Its columns.
    pub(super) schema: SchemaRef,
}

impl Table {
    /// The columns that are in no variable, for a block.
    pub(super) fn leading_columns(&self, step: StepId, block: BlockId, rows: usize) -> Vec<ArrayRef> {
        let steps = UInt64Array::from_value(step.0, rows);
        vec![Arc::new(steps), Arc::new(UInt32Array::from_value(block.rank.0, rows))]
    }
}

/// Of each variable that was seen with rows, the table that it is in: once and for all steps.
pub(super) type Companions = BTreeMap<String, String>;

/// What becomes a table. Records have one of their own. Others share one if their blocks had the same rows when they
/// were first seen with some.
struct Rows {
    name: String,
    kind: ArrayKind,
    is_shared: bool,
    blocks: Vec<(BlockId, usize)>,
    variables: Vec<usize>,
}

/// The tables of a step. A variable that never had rows has no part in any.
pub(super) fn tables(step: &TakenStep, companions: &mut Companions) -> Result<Vec<Table>, SinkError> {
    let mut tables: Vec<Rows> = Vec::new();
    for (at, variable) in step.variables.iter().enumerate() {
        if !is_table(step, variable)? {
            continue;
        }
        let (blocks, is_shared) = (blocks(variable), variable.records.is_none());
        let (name, kind) = (&variable.def.name, variable.def.kind);
        let found = match companions.get(name) {
            Some(known) => tables.iter().position(|table| table.name == *known),
            None if blocks.is_empty() => continue,
            None => tables.iter().position(|table| {
                is_shared && table.is_shared && table.kind == kind && table.blocks == blocks
            }),
        };
        let Some(table) = found.and_then(|found| tables.get_mut(found)) else {
            let name = companions.entry(name.clone()).or_insert_with(|| name.clone()).clone();
            tables.push(Rows { name, kind, is_shared, blocks, variables: vec![at] });
            continue;
        };
        if table.blocks != blocks {
            let other = &table.name;
            let why = format!(
                "it is in the table of {other:?}, which has other rows here: write one of them alone"
            );
            return Err(step.refusal(variable, why));
        }
        companions.insert(name.clone(), table.name.clone());
        table.variables.push(at);
    }
    let made = tables.into_iter().map(|Rows { name, blocks, variables, .. }| {
        let schema = schema(step, &variables)?;
        Ok(Table { name, variables, blocks, schema })
    });
    made.collect()
}

/// Whether a variable has rows. A scalar has none and is no harm, as it is said of the file as a whole.
fn is_table(step: &TakenStep, variable: &TakenVariable) -> Result<bool, SinkError> {
    let no_table = |what: &str| {
        let why =
            format!("{what} is no table: leave it out with --variables, or write it with --to zarr or hdf5");
        Err(step.refusal(variable, why))
    };
    match variable.def.kind {
        ArrayKind::Scalar if variable.records.is_some() => no_table("a single record"),
        ArrayKind::Scalar => Ok(false),
        ArrayKind::LocalScalar => Ok(true),
        ArrayKind::GlobalArray
            if variable.records.is_some() && variable.def.ndims() > 1 && variable.blocks.len() > 1 =>
        {
            no_table("a global array of records with several dimensions and blocks")
        }
        ArrayKind::GlobalArray | ArrayKind::LocalArray | ArrayKind::JoinedArray { .. }
            if variable.records.is_some() =>
        {
            Ok(true)
        }
        ArrayKind::JoinedArray { joined_dim } => match (variable.def.ndims(), joined_dim) {
            (1 | 2, 0) => Ok(true),
            (1 | 2, _) => no_table("an array that is joined along another dimension than its first"),
            _ => no_table("a joined array of more than two dimensions"),
        },
        ArrayKind::GlobalArray => no_table("a global array"),
        ArrayKind::LocalArray => no_table("a local array"),
    }
}

/// The blocks that have rows.
fn blocks(variable: &TakenVariable) -> Vec<(BlockId, usize)> {
    let rows = |region: &fp_core::Region| match variable.records {
        Some(_) => region.element_count() as usize,
        None => region.count().iter().next().map_or(1, |rows| *rows as usize),
    };
    // The rows of a global array are in its order, others in that of the ranks.
    let place = |region: &fp_core::Region| match variable.def.kind {
        ArrayKind::GlobalArray => region.start().first().copied(),
        ArrayKind::Scalar
        | ArrayKind::LocalScalar
        | ArrayKind::LocalArray
        | ArrayKind::JoinedArray { .. } => None,
    };
    let mut all: Vec<_> =
        variable.blocks.iter().map(|(block, region)| (place(region), *block, rows(region))).collect();
    all.retain(|(_, _, rows)| *rows > 0);
    all.sort();
    all.into_iter().map(|(_, block, rows)| (block, rows)).collect()
}

/// How many numbers a row of an array has.
pub(super) fn width(variable: &TakenVariable) -> usize {
    let shape = variable.shape.as_ref().map(|shape| shape.dims().iter().copied().collect::<Vec<u64>>());
    shape.unwrap_or_default().iter().skip(1).product::<u64>() as usize
}

/// The columns of variables, with those of the step and the rank before them.
fn schema(step: &TakenStep, variables: &[usize]) -> Result<SchemaRef, SinkError> {
    let mut columns: Vec<(usize, Field)> = Vec::new();
    for at in variables {
        let variable = &step.variables[*at];
        let of = match &variable.records {
            Some(schema) => fields::of_records(schema.record()),
            None => Ok(numbers::fields(&variable.def, variable.dtype, width(variable))),
        };
        let of = of.map_err(|why| step.refusal(variable, why))?;
        columns.extend(of.into_iter().map(|field| (*at, field)));
    }
    for (at, (variable, field)) in columns.iter().enumerate() {
        if columns[..at].iter().any(|(_, known)| known.name() == field.name()) {
            let why = format!(
                "two columns have the name {:?}: leave a variable out with --variables",
                field.name()
            );
            return Err(step.refusal(&step.variables[*variable], why));
        }
    }
    // What is published keeps its name. Readers such as DuckDB know no upper and lower case in names.
    let is_taken = |name: &str| columns.iter().any(|(_, field)| field.name().eq_ignore_ascii_case(name));
    let own = |name: &str| if is_taken(name) { format!("flexpath_{name}") } else { name.to_owned() };
    let leading = [(own("step"), DataType::UInt64), (own("rank"), DataType::UInt32)];
    let leading = leading.map(|(name, dtype)| Field::new(name, dtype, false));
    let of_table = step.variables[variables[0]].records.as_ref();
    let description = of_table.and_then(|schema| schema.record().description.clone());
    let metadata: HashMap<String, String> =
        description.map(|text| ("description".to_owned(), text)).into_iter().collect();
    let all: Vec<Field> = leading.into_iter().chain(columns.into_iter().map(|(_, field)| field)).collect();
    Ok(Arc::new(Schema::new(all).with_metadata(metadata)))
}
