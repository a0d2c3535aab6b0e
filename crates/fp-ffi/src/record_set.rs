//! Records of whatever type, as they were taken of a step: read field by field.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::c_text::keep;
use crate::elements::{dtype, unusable};
use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::{Handle, find, hold, take};
use crate::raw::{as_len, check_place, give, room, text};
use crate::schema::{Built, SchemaHandle, built};
use crate::selection::{SelectionStruct, select};
use crate::step::StepHandle;
use crate::struct_layout::{Layout, not_plain};
use crate::value_kind::Kind;
use fp_core::record::{RecordReadError, RecordSchema, Value};
use fp_core::{Dtype, RecordSet};
use std::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};

/// Records of a step, which is held as long, or those that a transform is given. Any number of threads may read them.
pub struct RecordsHandle {
    set: Source,
    /// How the structs lie that they were asked for as.
    layout: Option<Arc<Layout>>,
    /// A copy of records that do not lie where a struct may.
    aligned: OnceLock<Vec<u128>>,
}

impl Handle for RecordsHandle {
    const NAME: &'static str = "set of records";
}

/// Where records are.
enum Source {
    Taken(RecordSet),
    Given { schema: RecordSchema, count: usize, bytes: Arc<dyn AsRef<[u8]> + Send + Sync> },
}

impl Source {
    fn records(&self) -> Result<fp_core::record::Records<'_>, Failure> {
        let records = fp_core::record::Records::new(self.schema(), self.as_bytes(), self.count());
        records.map_err(|error| Failure::new(Status::PeerMisbehaved, error.to_string()))
    }

    fn schema(&self) -> &RecordSchema {
        match self {
            Self::Taken(set) => set.schema(),
            Self::Given { schema, .. } => schema,
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Taken(set) => set.count(),
            Self::Given { count, .. } => *count,
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Taken(set) => set.as_bytes(),
            Self::Given { bytes, .. } => (**bytes).as_ref(),
        }
    }

    fn is_zero_copy(&self) -> bool {
        matches!(self, Self::Taken(set) if set.is_zero_copy())
    }
}

/// What is to be known of a value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ValueStruct {
    /// one of `flexpath_value_kind`
    pub kind: i32,
    /// one of `flexpath_dtype`: what the elements are; 0 for records and where there is no value
    pub dtype: i32,
    /// how many elements there are
    pub count: u64,
}

pub(crate) fn unreadable(error: &RecordReadError) -> Failure {
    let status = match error {
        RecordReadError::Utf8 { .. }
        | RecordReadError::NoTruthValue { .. }
        | RecordReadError::UnknownName { .. } => Status::PeerMisbehaved,
        RecordReadError::Path { .. }
        | RecordReadError::NoField { .. }
        | RecordReadError::NoFieldIndex { .. }
        | RecordReadError::NotRecord { .. }
        | RecordReadError::NotIndexed { .. }
        | RecordReadError::OutOfRange { .. }
        | RecordReadError::Type { .. }
        | RecordReadError::Range { .. }
        | RecordReadError::Element(_)
        | RecordReadError::Value(_)
        | RecordReadError::Record(_)
        | RecordReadError::OtherType { .. } => Status::Misuse,
    };
    Failure::new(status, error.to_string())
}

/// Why a value is no number of the type that was asked for.
fn not_number(path: &str, error: &RecordReadError) -> Failure {
    let is_truth = matches!(error, RecordReadError::NoTruthValue { .. });
    let status = if is_truth { Status::PeerMisbehaved } else { Status::WrongDtype };
    Failure::new(status, format!("{path:?}: {error}"))
}

impl RecordsHandle {
    /// What a transform is given.
    pub(crate) fn given(from: &Built, count: usize, bytes: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Self {
        let (schema, layout) = (from.schema.clone(), from.layout.clone());
        Self { set: Source::Given { schema, count, bytes }, layout, aligned: OnceLock::new() }
    }

    /// Runs something with the value that a path leads to.
    fn value<T>(
        &self,
        index: u64,
        path: &str,
        run: impl FnOnce(Value<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (records, count) = (self.set.records()?, self.set.count());
        let at = records.record(as_len(index)).ok_or_else(|| Failure::beyond("record", index, count))?;
        run(at.value(path).map_err(|error| unreadable(&error))?)
    }

    /// The numbers of a field of several records, one after another.
    fn fill(&self, first: u64, count: u64, path: &str, to: (Dtype, &mut [u8])) -> Result<(), Failure> {
        let records = self.set.records()?;
        let (dtype, destination) = to;
        let size = dtype.size_bytes().ok_or_else(|| unusable(dtype))?;
        let (len, mut rest) = (destination.len() / size, destination);
        let wrong_len = |found: usize| {
            let text = format!("{path:?} of {count} records has {found} elements or more, but {len} fit");
            Failure::new(Status::WrongLen, text)
        };
        for index in first..first.saturating_add(count) {
            let none = || Failure::beyond("record", index, self.set.count());
            let at = records.record(as_len(index)).ok_or_else(none)?;
            let value = at.value(path).map_err(|error| unreadable(&error))?;
            let elements = value.count();
            let done = len - rest.len() / size;
            let (place, others) = rest
                .split_at_mut_checked(elements.saturating_mul(size))
                .ok_or_else(|| wrong_len(done.saturating_add(elements)))?;
            value.convert_into(dtype, place).map_err(|error| not_number(path, &error))?;
            rest = others;
        }
        match rest.len() / size {
            0 => Ok(()),
            more => {
                let text = format!("{path:?} of {count} records has {} elements, but {len} fit", len - more);
                Err(Failure::new(Status::WrongLen, text))
            }
        }
    }

    /// Where the records are, at a place where structs may be.
    fn address(&self) -> *const c_void {
        let bytes = self.set.as_bytes();
        if bytes.as_ptr().addr().is_multiple_of(self.set.schema().alignment_bytes()) {
            return bytes.as_ptr().cast();
        }
        let copy = || {
            let chunks = bytes.chunks(size_of::<u128>());
            let whole = chunks.map(|chunk| {
                let mut padded = [0; size_of::<u128>()];
                padded.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
                u128::from_ne_bytes(padded)
            });
            whole.collect()
        };
        self.aligned.get_or_init(copy).as_ptr().cast()
    }
}

fn take_records(
    (step, variable): (*mut StepHandle, *const c_char),
    select: fp_core::Select,
    schema: *const SchemaHandle,
    records: *mut *mut RecordsHandle,
) -> Outcome {
    check_place(records, "records")?;
    let (step, name) = (find(step)?, text(variable, "variable")?);
    let (set, layout) = match schema.is_null() {
        true => (step.reader.records(name, select)?, None),
        false => {
            let built = built(schema)?;
            (step.reader.records_as(name, select, &built.schema)?, built.layout)
        }
    };
    let set = Source::Taken(set);
    give(records, hold(RecordsHandle { set, layout, aligned: OnceLock::new() }), "records")
}

/// Takes the selected records (`selection` null: everything). They come as those of the type `schema`, converted if
/// need be as by `flexpath_step_get_records`, or as they are where `schema` is null. To be released by
/// `flexpath_records_release`. Waits at most as long as `FetchTimeoutSecs` says. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_records(
    step: *mut StepHandle,
    variable: *const c_char,
    selection: *const SelectionStruct,
    schema: *const SchemaHandle,
    records: *mut *mut RecordsHandle,
) -> Status {
    guard(|| take_records((step, variable), select(selection)?, schema, records))
}

/// As `flexpath_step_records`, with the selection in words, as by `flexpath_step_get_by_text`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_records_by_text(
    step: *mut StepHandle,
    variable: *const c_char,
    selection: *const c_char,
    schema: *const SchemaHandle,
    records: *mut *mut RecordsHandle,
) -> Status {
    guard(|| take_records((step, variable), text(selection, "selection")?.into(), schema, records))
}

/// Writes how many records there are to `count`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_records_count(records: *const RecordsHandle, count: *mut u64) -> Status {
    guard(|| give(count, find(records)?.set.count() as u64, "count"))
}

/// Makes a schema of the type of these records, to be freed by `flexpath_schema_free`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_records_schema(
    records: *const RecordsHandle,
    schema: *mut *mut SchemaHandle,
) -> Status {
    guard(|| {
        check_place(schema, "schema")?;
        give(schema, hold(SchemaHandle::of(find(records)?.set.schema())), "schema")
    })
}

/// Writes what is to be known of a value of the record at `index` (from 0) to `value`. `path` is the field's name; in a
/// nested record with a dot, in an array or list with an index: `cell.corner[3].x`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_records_describe(
    records: *const RecordsHandle,
    index: u64,
    path: *const c_char,
    value: *mut ValueStruct,
) -> Status {
    guard(|| {
        let (found, path) = (find(records)?, text(path, "path")?);
        let told = found.value(index, path, |value| {
            let (kind, dtype) = Kind::of(&value);
            Ok(ValueStruct { kind: kind as i32, dtype, count: value.count() as u64 })
        })?;
        give(value, told, "value")
    })
}

/// Takes the numbers that `path` leads to in `count` records from `first` on into `destination`, one after another.
/// `len` is the room there, and must be exactly as many as there are. `code` is what they become, and must hold every
/// value. A field that is absent and has no default gives no element. Opaque bytes are taken as `FLEXPATH_DTYPE_U8`.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_records_get(
    records: *const RecordsHandle,
    first: u64,
    count: u64,
    path: *const c_char,
    code: i32,
    destination: *mut c_void,
    len: u64,
) -> Status {
    guard(|| {
        let (found, path, dtype) = (find(records)?, text(path, "path")?, dtype(code)?);
        let size = dtype.size_bytes().ok_or_else(|| unusable(dtype))?;
        let len_bytes = as_len(len).saturating_mul(size);
        found.fill(first, count, path, (dtype, room(destination.cast::<u8>(), len_bytes, "destination")?))?;
        Ok(Status::Ok)
    })
}

/// Writes the text that `path` leads to, or the name of an enumeration, to `value`. Valid until the next call on this thread
/// that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_records_text(
    records: *const RecordsHandle,
    index: u64,
    path: *const c_char,
    value: *mut *const c_char,
) -> Status {
    guard(|| {
        check_place(value, "value")?;
        let (found, path) = (find(records)?, text(path, "path")?);
        let address = found.value(index, path, |of| {
            let text = of.as_text();
            text.map(keep).ok_or_else(|| Failure::new(Status::WrongDtype, format!("{path:?} is no text")))
        })?;
        give(value, address, "value")
    })
}

/// Writes to `elements` where the records lie. They lie as the structs that were asked for, or as their type says. They
/// are valid until the records are released. Writes 1 to `is_zero_copy`, unless that is null, if they were not copied.
/// This is not for records with lists or texts. Nor is it for structs that lie otherwise than their records:
/// `flexpath_step_get_records` fills those. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_records_elements(
    records: *const RecordsHandle,
    elements: *mut *const c_void,
    is_zero_copy: *mut i32,
) -> Status {
    guard(|| {
        let found = find(records)?;
        if !found.set.schema().is_plain() {
            return Err(not_plain(found.set.schema()));
        }
        if found.layout.as_ref().is_some_and(|layout| !layout.is_same()) {
            return Err(Failure::misuse(
                "the structs lie otherwise than their records: fill some of your own",
            ));
        }
        give(elements, found.address(), "elements")?;
        if !is_zero_copy.is_null() {
            let is_one = found.set.is_zero_copy() && found.aligned.get().is_none();
            give(is_zero_copy, i32::from(is_one), "is_zero_copy")?;
        }
        Ok(Status::Ok)
    })
}

/// Releases records; what was told of them is not to be read any more. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_records_release(records: *mut RecordsHandle) -> Status {
    guard(|| take(records).map(|_| Status::Ok))
}
