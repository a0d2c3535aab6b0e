//! Steps as a subscriber has them: what is in them, and gets.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::attribute_value::Attribute;
use crate::c_text::clean;
use crate::elements::{dtype, kind_code, with_type};
use crate::failure::{Failure, Status, guard};
use crate::handles::{Handle, find, take, take_alone};
use crate::measured::Told;
use crate::raw::{as_len, give, patience, room, text, values};
use crate::selection::{SelectionStruct, padded, select};
use fp_core::{BlockId, Dtype, Misuse, ReadError, Region, Selection, StepReader, VariableInfo as CoreInfo};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// A step that is held. Any number of threads may use it at one time.
pub struct StepHandle {
    pub(crate) reader: StepReader,
    pub(crate) fetch_timeout: Duration,
    variables: OnceLock<Vec<Described>>,
    blocks: Mutex<HashMap<String, Blocks>>,
    texts: Mutex<HashMap<String, CString>>,
    told: OnceLock<Told>,
}

/// The blocks of a variable.
type Blocks = Arc<Vec<(BlockId, Region)>>;

impl Handle for StepHandle {
    const NAME: &'static str = "step";
}

/// A variable with its texts as C reads them.
pub(crate) struct Described {
    info: CoreInfo,
    name: CString,
    unit: CString,
    description: CString,
    pub(crate) dimensions: Vec<CString>,
    pub(crate) attributes: Vec<Attribute>,
}

/// What is to be known of a step.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StepInfo {
    /// its number: from 0, or from the publisher's `FirstStep`
    pub step: u64,
    /// steps that the subscription did not get between the one before and this
    pub skipped: u64,
    /// bytes over all publisher ranks
    pub len_bytes: u64,
    /// steps that waited at the publisher behind this one
    pub queued_steps: u32,
    /// 1 if another member of the work-sharing set had it before and is gone, or a member gave it back
    pub is_redelivered: u32,
}

/// What is to be known of a variable of a step. The texts are valid until the step is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VariableStruct {
    /// its name
    pub name: *const c_char,
    /// its unit; empty if it has none
    pub unit: *const c_char,
    /// what it is, for people; empty if nothing is said
    pub description: *const c_char,
    /// one of `flexpath_dtype`
    pub dtype: i32,
    /// one of `flexpath_kind`
    pub kind: i32,
    /// one of `flexpath_order`: how the publisher's blocks lie
    pub order: i32,
    /// number of dimensions
    pub ndims: u32,
    /// the extent in each dimension; 0 for local arrays
    pub shape: [u64; 8],
}

/// One of several gets that are fetched together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GetStruct {
    /// the variable
    pub variable: *const c_char,
    /// what of it; null: everything
    pub selection: *const SelectionStruct,
    /// where the elements go, densely in the selection's order
    pub destination: *mut c_void,
    /// how many elements fit there: as many as the selection has
    pub len: u64,
    /// one of `flexpath_dtype`
    pub dtype: i32,
}

fn optional(text: Option<&String>) -> CString {
    text.map(|text| clean(text)).unwrap_or_default()
}

impl Described {
    fn new(info: CoreInfo) -> Self {
        let name = clean(&info.def.name);
        let (unit, description) = (optional(info.def.unit.as_ref()), optional(info.def.description.as_ref()));
        let dimensions = info.def.dimensions.iter().map(|name| clean(name)).collect();
        let attributes =
            info.def.attributes.iter().map(|(name, value)| Attribute::new(name, value)).collect();
        Self { info, name, unit, description, dimensions, attributes }
    }

    fn for_c(&self) -> VariableStruct {
        let def = &self.info.def;
        let shape = self.info.shape.as_ref().map_or([0; 8], |known| padded(known.dims()));
        VariableStruct {
            name: self.name.as_ptr(),
            unit: self.unit.as_ptr(),
            description: self.description.as_ptr(),
            dtype: i32::from(def.dtype.as_u8()),
            kind: kind_code(def.kind),
            order: i32::from(def.order.as_u8()),
            ndims: u32::try_from(def.ndims()).unwrap_or(u32::MAX),
            shape,
        }
    }
}

impl StepHandle {
    pub(crate) fn new(reader: StepReader, fetch_timeout: Duration) -> Self {
        let (blocks, texts) = (Mutex::default(), Mutex::default());
        let (variables, told) = (OnceLock::new(), OnceLock::new());
        Self { reader, fetch_timeout, variables, blocks, texts, told }
    }

    /// What is told with the step of why it is here.
    pub(crate) fn told(&self) -> &Told {
        self.told.get_or_init(|| Told::new(self.reader.judgement()))
    }

    fn variables(&self) -> Result<&[Described], Failure> {
        if let Some(known) = self.variables.get() {
            return Ok(known);
        }
        let found = self.reader.variables()?.into_iter().map(Described::new).collect();
        Ok(self.variables.get_or_init(|| found))
    }

    pub(crate) fn described(&self, name: &str) -> Result<&Described, Failure> {
        let of_name = self.variables()?.iter().find(|known| known.info.def.name == name);
        of_name.ok_or_else(|| self.absent(name))
    }

    /// Why there is no such variable, as a get of it says: one that was to be derived has a reason of its own.
    fn absent(&self, name: &str) -> Failure {
        match self.reader.selected_shape(name, &Selection::All) {
            Err(error) => error.into(),
            Ok(_) => Failure::new(Status::UnknownVariable, format!("the step has no variable {name:?}")),
        }
    }

    /// The blocks of a variable: the publisher is asked once.
    pub(crate) fn blocks(&self, variable: &str) -> Result<Blocks, Failure> {
        let known = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blocks) = known().get(variable) {
            return Ok(blocks.clone());
        }
        let found = Arc::new(self.reader.blocks(variable)?);
        known().insert(variable.to_owned(), found.clone());
        Ok(found)
    }

    /// A text of the step, which stays where it is as long as the step.
    pub(crate) fn text(&self, variable: &str) -> Result<*const c_char, Failure> {
        let found = self.reader.text(variable).map_err(|error| self.no_text(variable, error))?;
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(texts.entry(variable.to_owned()).or_insert_with(|| clean(&found)).as_ptr())
    }

    /// Why there is no text: what holds something else is read by another call.
    fn no_text(&self, variable: &str, error: ReadError) -> Failure {
        let ReadError::Misuse { source: Misuse::WrongKind { .. } | Misuse::WrongDtype { .. }, .. } = error
        else {
            return error.into();
        };
        let Ok(known) = self.described(variable) else { return error.into() };
        let def = &known.info.def;
        let text = match (&def.record, def.dtype.size_bytes()) {
            (Some(_), _) => "records and no text: flexpath_step_records reads it".to_owned(),
            (None, None) => return error.into(),
            (None, Some(_)) => {
                let what = if def.dtype == Dtype::Bool { "truth values" } else { "numbers" };
                format!("{what} ({}) and no text: flexpath_step_get reads it", def.dtype)
            }
        };
        Failure::new(Status::WrongDtype, format!("variable {variable:?} holds {text}"))
    }

    /// Fetches all of these together.
    fn fetch(&self, gets: &[GetStruct], timeout_ms: i64) -> Result<Status, Failure> {
        check_apart(gets)?;
        let mut fetch = self.reader.fetch();
        for get in gets {
            let (name, part) = (text(get.variable, "variable")?, select(get.selection)?);
            let len = as_len(get.len);
            fetch = with_type!(dtype(get.dtype)?, T => {
                Ok::<_, Failure>(fetch.get(name, &part, room(get.destination.cast::<T>(), len, "destination")?))
            })?;
        }
        fetch.wait(patience(timeout_ms, self.fetch_timeout))?;
        Ok(Status::Ok)
    }
}

/// No two destinations may have a byte in common: each is written to as if it were alone.
fn check_apart(gets: &[GetStruct]) -> Result<(), Failure> {
    let mut places = Vec::with_capacity(gets.len());
    for get in gets {
        let size = dtype(get.dtype)?.size_bytes().unwrap_or(1);
        let len = as_len(get.len).saturating_mul(size);
        places.push((get.destination.addr(), get.destination.addr().saturating_add(len)));
    }
    places.retain(|(from, to)| from < to);
    places.sort_unstable();
    match places.windows(2).any(|pair| matches!(pair, [(_, end), (next, _)] if next < end)) {
        true => Err(Failure::misuse("destinations of gets that are fetched together overlap")),
        false => Ok(()),
    }
}

/// Writes what is to be known of a step to `info`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_describe(step: *mut StepHandle, info: *mut StepInfo) -> Status {
    guard(|| {
        let found = find(step)?;
        let reader = &found.reader;
        let told = StepInfo {
            step: reader.step().0,
            skipped: reader.skipped(),
            len_bytes: reader.len_bytes(),
            queued_steps: reader.queued_steps(),
            is_redelivered: u32::from(reader.is_redelivered()),
        };
        give(info, told, "info")
    })
}

/// Writes how many variables the step has to `count`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_variable_count(step: *mut StepHandle, count: *mut u64) -> Status {
    guard(|| give(count, find(step)?.variables()?.len() as u64, "count"))
}

/// Writes what is to be known of the variable at `index` (from 0, by name) to `info`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_variable_at(
    step: *mut StepHandle,
    index: u64,
    info: *mut VariableStruct,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let variables = found.variables()?;
        let none = || Failure::beyond("variable", index, variables.len());
        give(info, variables.get(as_len(index)).ok_or_else(none)?.for_c(), "info")
    })
}

/// Writes what is to be known of the variable of that name to `info`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_variable(
    step: *mut StepHandle,
    name: *const c_char,
    info: *mut VariableStruct,
) -> Status {
    guard(|| {
        let (found, name) = (find(step)?, text(name, "name")?);
        give(info, found.described(name)?.for_c(), "info")
    })
}

/// Takes the selected elements (`selection` null: everything) into `destination`, densely in the selection's `order`
/// (null: row-major), whatever the publisher's order. `len` is how many elements fit there, and must be as many as are
/// selected. Waits at most `timeout_ms` milliseconds for them (below 0: `FetchTimeoutSecs`). Returns, also when the
/// time is up, only when nothing can write to `destination` any more. For a new selection the publisher is asked first,
/// for at most `FetchTimeoutSecs`. `dtype` is the variable's own type, or another number type where the selection's
/// `conversion` allows it. Otherwise `FLEXPATH_STATUS_WRONG_DTYPE`, and the text names both types. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_get(
    step: *mut StepHandle,
    variable: *const c_char,
    selection: *const SelectionStruct,
    dtype: i32,
    destination: *mut c_void,
    len: u64,
    timeout_ms: i64,
) -> Status {
    guard(|| {
        let found = find(step)?;
        found.fetch(&[GetStruct { variable, selection, destination, len, dtype }], timeout_ms)
    })
}

/// Does `count` gets together, with one message to each owner. Otherwise as `flexpath_step_get`; destinations must not
/// overlap, and where one get is wrong none is done. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_get_all(
    step: *mut StepHandle,
    gets: *const GetStruct,
    count: u64,
    timeout_ms: i64,
) -> Status {
    guard(|| {
        let found = find(step)?;
        found.fetch(values(gets, as_len(count), "gets")?, timeout_ms)
    })
}

/// Releases a step: the publisher needs its memory for others. Views of it stay valid, and hold it until they are
/// released too. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_release(step: *mut StepHandle) -> Status {
    guard(|| take(step).map(|_| Status::Ok))
}

/// Releases a step that is done: no member of a work-sharing set gets it again. That differs from
/// `flexpath_step_release` where the option `ShareExplicitDone` is set. While another call uses the step,
/// `FLEXPATH_STATUS_MISUSE`, and it is still held. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_done(step: *mut StepHandle) -> Status {
    guard(|| take_alone(step).map(|handle| handle.reader.done()).map(|()| Status::Ok))
}

/// Gives a step back to its work-sharing set (`ShareRedeliver`): a member gets it again, be it this one, and its
/// `is_redelivered` is 1. It goes back with its last view. In a set that does not redeliver, or in none, it is released
/// and this is `FLEXPATH_STATUS_MISUSE`. So it is while another call uses the step, which is still held then. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_give_back(step: *mut StepHandle) -> Status {
    guard(|| {
        take_alone(step)?.reader.give_back()?;
        Ok(Status::Ok)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(place: usize, len: u64) -> GetStruct {
        let destination = std::ptr::without_provenance_mut(place);
        GetStruct { variable: std::ptr::null(), selection: std::ptr::null(), destination, len, dtype: 12 }
    }

    #[test]
    fn overlapping_destinations_are_refused() {
        assert!(check_apart(&[to(0x1000, 2), to(0x1010, 2), to(0x1008, 0)]).is_ok());
        assert!(check_apart(&[to(0x1010, 2), to(0x1000, 3)]).is_err());
    }
}
