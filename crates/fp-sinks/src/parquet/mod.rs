//! Steps as Parquet files: what is a table in a step becomes the rows and columns of a file.
//!
//! Records become rows with a column for each field, whatever is nested in them. Joined arrays that the ranks put with
//! the same numbers of rows become one table, with a column each. So do local scalars, with one row a rank. The first
//! columns of each table are `step` and `rank`, the publisher's. Rows are in the order of its ranks and of their puts.
//!
//! | what is published | what a column holds |
//! |---|---|
//! | integers, `f32`, `f64`, truth values, texts | the same |
//! | `f16`, `bf16` | `f32`, which holds each of them |
//! | complex numbers | a structure of `re` and `im` |
//! | an enumeration | the names |
//! | a record in a record | a structure |
//! | lists and fixed arrays | a list, row by row; the shape of fixed ones is in the column's metadata |
//! | a joined array of `k` columns | `NAME_0` to `NAME_k-1`; from 17 on one column of lists |
//!
//! Units, descriptions and attributes are metadata of the columns. Global scalars are metadata of the file.
//!
//! Ranks take and convert their parts side by side. Rank 0 compresses and writes the file when all have come, so the
//! order is that of the publisher. Until then the parts lie in memory as Arrow's arrays. They take as many bytes as
//! the step, and the column writers keep a group of at most a million rows. While a block of records is converted, each
//! element of it takes some 50 bytes.

mod fields;
mod files;
mod numbers;
mod records;
mod table;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use arrow::array::{ArrayRef, RecordBatch};
use fp_core::{BlockId, StepId};

use self::files::TableFiles;
use self::table::{Companions, Table};
use crate::error::SinkError;
use crate::part::Part;
use crate::sink::Sink;
use crate::step_file::StepFiles;
use crate::taken_step::TakenStep;

/// Files of Parquet.
pub(crate) struct ParquetSink {
    files: TableFiles,
    last_step: Option<StepId>,
    durable: bool,
    pending: Mutex<Pending>,
    companions: Mutex<Companions>,
}

/// A step that is not committed yet.
#[derive(Default)]
struct Pending {
    tables: Vec<Table>,
    /// The columns of each part that was written, by its variable and block.
    columns: BTreeMap<(usize, BlockId), Vec<ArrayRef>>,
}

impl ParquetSink {
    /// Looks which files there are.
    pub(crate) fn open(pattern: &Path, append: bool, durable: bool) -> Result<Self, SinkError> {
        let files = TableFiles::of(pattern)?;
        let last_step = files.open(append, durable)?;
        Ok(Self { files, last_step, durable, pending: Mutex::default(), companions: Mutex::default() })
    }
}

impl Sink for ParquetSink {
    fn last_step(&self) -> Option<StepId> {
        self.last_step
    }

    fn begin(&self, step: &TakenStep, ranks: u32) -> Result<Vec<Vec<Part>>, SinkError> {
        let mut companions = self.companions.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = table::tables(step, &mut companions)?;
        drop(companions);
        if !self.files.has_tables() && tables.len() > 1 {
            return Err(more_than_one(step, &tables));
        }
        let mut parts = vec![Vec::new(); ranks as usize];
        let mut rank = 0;
        for table in &tables {
            for (block, _) in &table.blocks {
                for variable in &table.variables {
                    let known = step.variables[*variable].blocks.iter().find(|(known, _)| known == block);
                    parts[rank].extend(known.map(|(_, region)| Part::block(*variable, *block, *region)));
                }
                rank = (rank + 1) % ranks as usize;
            }
        }
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) =
            Pending { tables, columns: BTreeMap::new() };
        Ok(parts)
    }

    fn write(&self, step: &TakenStep, part: &Part, bytes: &[u8]) -> Result<(), SinkError> {
        let variable = &step.variables[part.variable];
        let wrong = |why: String| step.refusal(variable, why);
        let columns = match &variable.records {
            Some(schema) => records::columns(schema, bytes, part.region.element_count() as usize),
            None => numbers::columns(variable.dtype, table::width(variable), bytes),
        };
        let columns = columns.map_err(wrong)?;
        if let Some(block) = part.block {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            pending.columns.insert((part.variable, block), columns);
        }
        Ok(())
    }

    fn commit(&self, step: &TakenStep) -> Result<(), SinkError> {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let Pending { tables, mut columns } = pending;
        // All are whole before the first has its name: what is killed between two of them is finished later.
        let files = tables.iter().map(|table| self.files.of_table(step.step, &table.name));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let mut written = tables.iter().zip(&files);
        let whole = written
            .try_for_each(|(table, files)| write_table(step, table, files, &mut columns))
            .and_then(|()| files.iter().filter(|_| self.durable).try_for_each(|files| files.sync(step.step)));
        if let Err(error) = whole {
            // What had no room keeps none. If a file stays, the next run removes it.
            files.iter().for_each(|files| drop(fs::remove_file(files.unfinished(step.step))));
            return Err(error);
        }
        files.iter().try_for_each(|files| files.finish(step.step, self.durable))
    }
}

/// Writes a table to the file that it has until it is whole.
fn write_table(
    step: &TakenStep,
    table: &Table,
    files: &StepFiles,
    columns: &mut BTreeMap<(usize, BlockId), Vec<ArrayRef>>,
) -> Result<(), SinkError> {
    let path = files.unfinished(step.step);
    let file = File::create(&path).map_err(SinkError::file(&path))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("flexpath tee {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(file_metadata(step)))
        .build();
    let write = || {
        let mut writer = ArrowWriter::try_new(file, table.schema.clone(), Some(properties))?;
        for (block, rows) in &table.blocks {
            let mut arrays = table.leading_columns(step.step, *block, *rows);
            for variable in &table.variables {
                arrays.extend(columns.remove(&(*variable, *block)).unwrap_or_default());
            }
            writer.write(&RecordBatch::try_new(table.schema.clone(), arrays)?)?;
        }
        writer.close()?;
        Ok(())
    };
    write().map_err(SinkError::format::<ParquetError>(&path))
}

/// A step of several tables, where the name of a file stands for one.
fn more_than_one(step: &TakenStep, tables: &[Table]) -> SinkError {
    let of = |table: &Table| -> Vec<String> {
        table.variables.iter().map(|at| step.variables[*at].def.name.clone()).collect()
    };
    let tables: Vec<String> = tables.iter().map(|table| format!("({})", of(table).join(", "))).collect();
    let (count, tables) = (tables.len(), tables.join(" "));
    SinkError::Target(format!(
        "step {} has {count} tables: {tables}. Each needs a file: write %V in the name, as in run_%V_%06T.parquet, for \
         the table's first variable, or name the variables of one table with --variables",
        step.step
    ))
}

/// What is said of a file as a whole.
fn file_metadata(step: &TakenStep) -> Vec<KeyValue> {
    let pair = |key: String, value: String| KeyValue::new(key, value);
    let mut all = vec![
        pair("flexpath.stream".to_owned(), step.stream.clone()),
        pair("flexpath.step".to_owned(), step.step.to_string()),
    ];
    for variable in &step.variables {
        let Some(value) = variable.value.as_ref().filter(|_| variable.records.is_none()) else { continue };
        let name = &variable.def.name;
        all.push(pair(name.clone(), numbers::text(variable.def.dtype, value)));
        all.extend(variable.def.unit.iter().map(|unit| pair(format!("{name}.unit"), unit.clone())));
    }
    all
}
