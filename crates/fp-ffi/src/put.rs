//! Putting blocks: copied, kept where they are, or filled in memory that was lent.
#![allow(unsafe_code, unreachable_pub)] // exported names; memory of C that is read later

use crate::elements::with_type;
use crate::failure::{Failure, Status, guard};
use crate::handles::{Handle, hold, take};
use crate::publisher::{Publisher, with_step};
use crate::raw::{check_place, give, text, values};
use crate::records::{put_external_structs, put_structs};
use crate::selection::dims;
use crate::variable::{Variable, variable as of_handle, with_layout};
use fp_core::{ArrayKind, Dims, Element, Region, StepWriter, Variable as Core};
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// The region that a put means: of a global array where it says, of others from 0; of a joined array the rows are
/// counted and the rest is the variable's.
pub(crate) fn region(variable: &Core, start: *const u64, count: *const u64) -> Result<Region, Failure> {
    let def = variable.definition();
    let ndims = u32::try_from(def.ndims()).unwrap_or(u32::MAX);
    let (start, count) = match def.kind {
        ArrayKind::GlobalArray => (dims(start, ndims, "start")?, dims(count, ndims, "count")?),
        ArrayKind::JoinedArray { .. } => {
            let mut whole = *variable.shape().dims();
            if let (Some(rows), [given, ..]) = (whole.first_mut(), values(count, 1, "count")?) {
                *rows = *given;
            }
            (whole.zeros_like(), whole)
        }
        ArrayKind::LocalArray => {
            let count = dims(count, ndims, "count")?;
            (count.zeros_like(), count)
        }
        ArrayKind::Scalar | ArrayKind::LocalScalar => (Dims::default(), Dims::default()),
    };
    Region::new(start, count).map_err(|error| Failure::misuse(error.to_string()))
}

pub(crate) fn len(region: &Region) -> usize {
    usize::try_from(region.element_count()).unwrap_or(usize::MAX)
}

fn put_copy<T: Element>(
    step: &mut StepWriter,
    variable: &Core,
    region: &Region,
    elements: *const c_void,
) -> Result<(), Failure> {
    let elements = values(elements.cast::<T>(), len(region), "elements")?;
    match (variable.definition().kind, elements) {
        (ArrayKind::Scalar | ArrayKind::LocalScalar, [value]) => Ok(step.put_scalar(variable, *value)?),
        _ => Ok(step.put_copy(variable, region, elements)?),
    }
}

/// Puts a copy of a block into the step that is open. `elements` are as many as `count` makes, densely in the
/// variable's memory order. Of a global array `start` and `count` say where the block lies; of a local array `count`
/// is its extent; of a joined array `count[0]` is the number of rows; of a scalar both may be null. A rank may put
/// several blocks. Of a variable of records `elements` are structs, as `flexpath_schema_set_struct` says. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put(
    publisher: *mut Publisher,
    variable: *const Variable,
    start: *const u64,
    count: *const u64,
    elements: *const c_void,
) -> Status {
    guard(|| {
        let (variable, layout) = with_layout(variable)?;
        let region = region(&variable, start, count)?;
        if variable.records().is_some() {
            let of = (&variable, layout.as_deref());
            return with_step(publisher, |step| put_structs(step, of, &region, elements));
        }
        let dtype = variable.definition().dtype;
        with_step(publisher, |step| with_type!(dtype, T => put_copy::<T>(step, &variable, &region, elements)))
    })
}

/// Puts the value of a scalar that is a text (`FLEXPATH_DTYPE_STRING`) into the step that is open; copied at once. All
/// scalars of a step may have 4096 bytes together, names included. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_text(
    publisher: *mut Publisher,
    variable: *const Variable,
    value: *const c_char,
) -> Status {
    guard(|| {
        let (variable, value) = (of_handle(variable)?, text(value, "value")?);
        with_step(publisher, |step| Ok(step.put_text(&variable, value)?))
    })
}

/// What C calls when its memory is needed no more.
type Release = Option<extern "C" fn(context: *mut c_void)>;

/// The release, owed once. The drop calls it.
pub(crate) struct Owed {
    release: Release,
    context: *mut c_void,
}

// SAFETY: the header asks for a release that may be called on any thread; the context is only handed to it.
unsafe impl Send for Owed {}
// SAFETY: nothing is done through a shared reference.
unsafe impl Sync for Owed {}

impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            release(self.context);
        }
    }
}

/// Memory of C that is read until the release is called.
pub(crate) struct External<T> {
    elements: *const T,
    len: usize,
    _owed: Owed,
    element: PhantomData<T>,
}

impl<T> External<T> {
    /// The elements were checked before.
    pub(crate) fn new(elements: *const T, len: usize, owed: Owed) -> Self {
        Self { elements, len, _owed: owed, element: PhantomData }
    }
}

// SAFETY: the header asks for memory that stays, unchanged and readable from any thread, until its release.
unsafe impl<T: Element> Send for External<T> {}
// SAFETY: as above; it is only read.
unsafe impl<T: Element> Sync for External<T> {}

impl<T: Element> AsRef<[T]> for External<T> {
    fn as_ref(&self) -> &[T] {
        // Checked before it was made; a failure cannot come.
        values(self.elements, self.len, "elements").unwrap_or_default()
    }
}

fn put_external<T: Element>(
    step: &mut StepWriter,
    variable: &Core,
    region: &Region,
    elements: *const c_void,
    owed: Owed,
) -> Result<(), Failure> {
    let (elements, len) = (elements.cast::<T>(), len(region));
    values(elements, len, "elements")?;
    Ok(step.put_external(variable, region, External::new(elements, len, owed))?)
}

/// Puts a block without a copy (but for the one that a subscriber on the same machine may need, which is counted):
/// `elements` stay the caller's memory, must not change until `release(context)` is called, and `release` is called
/// exactly once, whatever this returns: perhaps before it returns, perhaps later and on another thread. `release` may
/// be null for memory that outlives the stream. It must not call Flexpath, throw or longjmp. The rest is as in
/// `flexpath_publisher_put`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_external(
    publisher: *mut Publisher,
    variable: *const Variable,
    start: *const u64,
    count: *const u64,
    elements: *const c_void,
    release: Option<extern "C" fn(context: *mut c_void)>,
    context: *mut c_void,
) -> Status {
    let owed = Owed { release, context };
    guard(|| {
        let (variable, layout) = with_layout(variable)?;
        let region = region(&variable, start, count)?;
        if variable.records().is_some() {
            let of = (&variable, layout.as_deref());
            return with_step(publisher, |step| put_external_structs(step, of, &region, (elements, owed)));
        }
        let dtype = variable.definition().dtype;
        with_step(
            publisher,
            |step| with_type!(dtype, T => put_external::<T>(step, &variable, &region, elements, owed)),
        )
    })
}

/// The loan, on its way into its step.
type PutLater = Box<dyn FnOnce(&mut StepWriter) -> Result<(), Failure> + Send>;

/// Memory that Flexpath lends, to be filled and put.
pub struct Loan {
    put: Mutex<Option<PutLater>>,
}

impl Handle for Loan {
    const NAME: &'static str = "loan";
}

fn lend<T: Element>(
    step: &mut StepWriter,
    variable: &Core,
    region: &Region,
) -> Result<(Loan, *mut c_void), Failure> {
    let mut lent = step.loan::<T>(variable, region)?;
    let memory = lent.as_mut_ptr().cast();
    let put: PutLater = Box::new(move |step| Ok(step.put_loan(lent)?));
    Ok((Loan { put: Mutex::new(Some(put)) }, memory))
}

/// Lends memory for a block of the step that is open: writes its handle to `loan` and its address to `memory`, where
/// as many elements fit as `count` makes. Fill all of it and put it by `flexpath_publisher_put_loan`: no copy is made.
/// The address is valid until then. Start and count as in `flexpath_publisher_put`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_loan(
    publisher: *mut Publisher,
    variable: *const Variable,
    start: *const u64,
    count: *const u64,
    loan: *mut *mut Loan,
    memory: *mut *mut c_void,
) -> Status {
    guard(|| {
        check_place(loan, "loan")?;
        check_place(memory, "memory")?;
        let variable = of_handle(variable)?;
        let region = region(&variable, start, count)?;
        if variable.records().is_some() {
            return Err(Failure::misuse(
                "no memory is lent for records: put them, or keep them by put_external",
            ));
        }
        let dtype = variable.definition().dtype;
        with_step(publisher, |step| {
            let (lent, address) = with_type!(dtype, T => lend::<T>(step, &variable, &region))?;
            give(loan, hold(lent), "loan")?;
            give(memory, address, "memory")
        })
    })
}

/// Puts a loan of the step that is open. The loan's handle is no more, whatever this returns. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_loan(publisher: *mut Publisher, loan: *mut Loan) -> Status {
    guard(|| {
        let put = take(loan)?.put.lock().unwrap_or_else(PoisonError::into_inner).take();
        let put = put.ok_or_else(|| Failure::misuse("the loan was put before"))?;
        with_step(publisher, put)
    })
}

/// Gives a loan back without putting it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_loan_free(loan: *mut Loan) -> Status {
    guard(|| take(loan).map(|_| Status::Ok))
}
