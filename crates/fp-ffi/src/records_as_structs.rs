//! Records that are plain structs of C: got as they lie.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::find;
use crate::raw::{as_len, room, text};
use crate::schema::{SchemaHandle, built};
use crate::selection::{SelectionStruct, select};
use crate::step::StepHandle;
use crate::struct_layout::not_plain;
use fp_core::Select;
use std::ffi::{c_char, c_void};

/// Structs of C that are to be filled.
struct Wanted {
    schema: *const SchemaHandle,
    destination: *mut c_void,
    count: u64,
}

impl Wanted {
    fn fill(&self, step: *mut StepHandle, variable: *const c_char, selected: Select) -> Outcome {
        let (step, name, built) = (find(step)?, text(variable, "variable")?, built(self.schema)?);
        let layout = built.layout.as_deref().ok_or_else(|| not_plain(&built.schema))?;
        let count = as_len(self.count);
        let structs = room(self.destination.cast::<u8>(), layout.len_bytes(count), "destination")?;
        if layout.is_same() {
            step.reader.get_record_bytes(name, selected, &built.schema, structs)?;
            return Ok(Status::Ok);
        }
        let set = step.reader.records_as(name, selected, &built.schema)?;
        if set.count() != count {
            let text = format!("variable {name:?}: {} records are selected, but {count} fit", set.count());
            return Err(Failure::new(Status::WrongLen, text));
        }
        layout.scatter(set.as_bytes(), structs);
        Ok(Status::Ok)
    }
}

/// Takes the selected records (`selection` null: everything) as structs of the type `schema`, which lie as
/// `flexpath_schema_set_struct` says. They go densely into `destination`, where `count` fit: as many as are selected.
/// Where the publisher's type is the same, and the structs lie as records do, nothing is done for each record. Where it
/// is another, they are converted: fields by name, numbers to types that hold them. Where that cannot be, this returns
/// `FLEXPATH_STATUS_INCOMPATIBLE`, and the text says why, field by field. Records with lists or texts are taken by
/// `flexpath_step_records`. Waits at most as long as `FetchTimeoutSecs` says. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_get_records(
    step: *mut StepHandle,
    variable: *const c_char,
    selection: *const SelectionStruct,
    schema: *const SchemaHandle,
    destination: *mut c_void,
    count: u64,
) -> Status {
    guard(|| Wanted { schema, destination, count }.fill(step, variable, select(selection)?))
}

/// As `flexpath_step_get_records`, with the selection in words, as by `flexpath_step_get_by_text`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_get_records_by_text(
    step: *mut StepHandle,
    variable: *const c_char,
    selection: *const c_char,
    schema: *const SchemaHandle,
    destination: *mut c_void,
    count: u64,
) -> Status {
    guard(|| {
        let selected = text(selection, "selection")?.into();
        Wanted { schema, destination, count }.fill(step, variable, selected)
    })
}
