//! Records that are made field by field: those with lists, texts and absent fields.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::elements::dtype;
use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::{Handle, find, hold, take};
use crate::publisher::{PublisherHandle, putting};
use crate::raw::{as_len, check_place, give, text, texts, values};
use crate::region::region;
use crate::schema::{Built, SchemaHandle, built};
use crate::struct_layout::not_plain;
use crate::variable::{VariableHandle, variable as of_handle};
use fp_core::RecordBlock;
use fp_core::record::{RecordBuildError, RecordBuilder};
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Records on their way.
pub struct BuilderHandle {
    built: Built,
    content: Mutex<Content>,
}

/// What was set.
enum Content {
    /// Fields.
    Fields(RecordBuilder),
    /// So many records as they lie.
    Records(usize, Vec<u8>),
}

impl From<RecordBuildError> for Failure {
    fn from(error: RecordBuildError) -> Self {
        let status = match &error {
            RecordBuildError::NoMemory { .. } => Status::System,
            RecordBuildError::Count { .. } => Status::WrongLen,
            RecordBuildError::Element { .. } | RecordBuildError::Unlike { wanted: "text", .. } => {
                Status::WrongDtype
            }
            RecordBuildError::Record { .. }
            | RecordBuildError::Path { .. }
            | RecordBuildError::NoField { .. }
            | RecordBuildError::Indexed { .. }
            | RecordBuildError::Unlike { .. }
            | RecordBuildError::IsRecord { .. }
            | RecordBuildError::Beyond { .. }
            | RecordBuildError::NoTruthValue { .. }
            | RecordBuildError::UnknownName { .. }
            | RecordBuildError::Encode(_)
            | _ => Status::Misuse,
        };
        Self::new(status, error.to_string())
    }
}

impl Handle for BuilderHandle {
    const NAME: &'static str = "builder";
}

impl BuilderHandle {
    pub(crate) fn of(built: &Built, count: usize) -> Result<Self, Failure> {
        let fields = RecordBuilder::new(&built.schema, count)?;
        Ok(Self { built: built.clone(), content: Mutex::new(Content::Fields(fields)) })
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are, and their bytes.
    pub(crate) fn encode(&self) -> Result<(usize, Vec<u8>), Failure> {
        match &*self.content() {
            Content::Records(count, bytes) => Ok((*count, bytes.clone())),
            Content::Fields(fields) => Ok((fields.count(), fields.encode()?)),
        }
    }

    fn block(&self) -> Result<RecordBlock, Failure> {
        let (count, bytes) = self.encode()?;
        RecordBlock::encoded(&self.built.schema, count, bytes).map_err(Failure::misused)
    }
}

/// Makes `count` records of a type with nothing set: numbers are 0, texts and lists empty, optional fields absent. To
/// be freed by `flexpath_builder_free`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_create(
    schema: *const SchemaHandle,
    count: u64,
    builder: *mut *mut BuilderHandle,
) -> Status {
    guard(|| {
        check_place(builder, "builder")?;
        let made = BuilderHandle::of(&built(schema)?, as_len(count))?;
        give(builder, hold(made), "builder")
    })
}

fn change(
    builder: *const BuilderHandle,
    path: *const c_char,
    run: impl FnOnce(&mut RecordBuilder, &str) -> Result<(), RecordBuildError>,
) -> Outcome {
    let (found, path) = (find(builder)?, text(path, "path")?);
    let mut content = found.content();
    let Content::Fields(fields) = &mut *content else {
        return Err(Failure::misuse("the builder has structs: resize it before fields are set"));
    };
    run(fields, path)?;
    Ok(Status::Ok)
}

/// Sets all `len` numbers of a field of the record at `index` (from 0). `len` is one, as many as an array has, or
/// however many for a list. The length field of a list need not be set. `path` is the field's name; in a nested record
/// with a dot, in a list of records with an index: `cell.corner[3].x`. `code` is the type of the elements; the field's
/// own must hold all its values. Opaque bytes are set as `FLEXPATH_DTYPE_U8`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_set(
    builder: *mut BuilderHandle,
    index: u64,
    path: *const c_char,
    code: i32,
    elements: *const c_void,
    len: u64,
) -> Status {
    guard(|| {
        let dtype = dtype(code)?;
        let size = dtype.size_bytes().ok_or_else(|| crate::elements::unusable(dtype))?;
        let len_bytes = as_len(len).saturating_mul(size);
        let bytes = values(elements.cast::<u8>(), len_bytes, "elements")?;
        change(builder, path, |fields, path| fields.set_numbers(as_len(index), path, (dtype, bytes)))
    })
}

/// Sets a text of the record at `index`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_set_text(
    builder: *mut BuilderHandle,
    index: u64,
    path: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| {
        let value = text(value, "value")?;
        change(builder, path, |fields, path| fields.set_texts(as_len(index), path, &[value]))
    })
}

/// Sets all `count` texts of an array or list of texts. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_set_texts(
    builder: *mut BuilderHandle,
    index: u64,
    path: *const c_char,
    all: *const *const c_char,
    count: u64,
) -> Status {
    guard(|| {
        let all = texts(all, count, "texts")?;
        change(builder, path, |fields, path| fields.set_texts(as_len(index), path, &all))
    })
}

/// Sets how many records a list of records has; then their fields are set by paths with an index. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_set_len(
    builder: *mut BuilderHandle,
    index: u64,
    path: *const c_char,
    len: u64,
) -> Status {
    guard(|| change(builder, path, |fields, path| fields.set_len(as_len(index), path, as_len(len))))
}

/// Has a builder make `count` records with nothing set. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_resize(builder: *mut BuilderHandle, count: u64) -> Status {
    guard(|| {
        let found = find(builder)?;
        *found.content() = Content::Fields(RecordBuilder::new(&found.built.schema, as_len(count))?);
        Ok(Status::Ok)
    })
}

/// Has a builder make a copy of `count` structs, which lie as `flexpath_schema_set_struct` says, in place of what was set.
/// Not for records with lists or texts. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_set_structs(
    builder: *mut BuilderHandle,
    structs: *const c_void,
    count: u64,
) -> Status {
    guard(|| {
        let found = find(builder)?;
        let layout = found.built.layout.as_deref().ok_or_else(|| not_plain(&found.built.schema))?;
        let count = as_len(count);
        let bytes = values(structs.cast::<u8>(), layout.len_bytes(count), "structs")?;
        *found.content() = Content::Records(count, layout.gather(bytes));
        Ok(Status::Ok)
    })
}

/// Puts a copy of the records of a builder into the step that is open: as many as `count` makes. The builder stays as
/// it is. Start and count as in `flexpath_publisher_put`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_built(
    publisher: *mut PublisherHandle,
    variable: *const VariableHandle,
    start: *const u64,
    count: *const u64,
    builder: *const BuilderHandle,
) -> Status {
    guard(|| {
        putting(publisher, |step| {
            let (variable, builder) = (of_handle(variable)?, find(builder)?);
            let region = region(&variable, start, count)?;
            Ok(step.put_records(&variable, &region, builder.block()?)?)
        })
    })
}

/// Frees a builder. What was put of it stays. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_builder_free(builder: *mut BuilderHandle) -> Status {
    guard(|| take(builder).map(|_| Status::Ok))
}
