//! Putting blocks: copied, kept where they are, or filled in memory that was lent.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::elements::with_type;
use crate::external::{External, Owed};
use crate::failure::{Failure, Status, guard};
use crate::handles::{Handle, hold, take};
use crate::publisher::{PublisherHandle, with_step};
use crate::raw::{check_place, give, text, values};
use crate::records_as_structs::{put_external_structs, put_structs};
use crate::region::{len, region};
use crate::variable::{VariableHandle, variable as of_handle, with_layout};
use fp_core::{ArrayKind, Element, Region, StepWriter, Variable as Core};
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, PoisonError};

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
/// variable's memory order. For a global array `start` and `count` say where the block lies. For a local array `count`
/// is its extent. For a joined array `count[0]` is the number of rows. For a scalar both may be null. A rank may put
/// several blocks. For a variable of records `elements` are structs, as `flexpath_schema_set_struct` says. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put(
    publisher: *mut PublisherHandle,
    variable: *const VariableHandle,
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

/// Puts the value of a scalar that is a text (`FLEXPATH_DTYPE_STRING`) into the step that is open. The text is copied
/// at once. All scalars of a step together may have 4096 bytes, names included. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_text(
    publisher: *mut PublisherHandle,
    variable: *const VariableHandle,
    value: *const c_char,
) -> Status {
    guard(|| {
        let (variable, value) = (of_handle(variable)?, text(value, "value")?);
        with_step(publisher, |step| Ok(step.put_text(&variable, value)?))
    })
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

/// Puts a block without a copy, but for the one that a subscriber on the same machine may need, which is counted.
/// `elements` stay the caller's memory and must not change until `release(context)` is called. `release` is called
/// exactly once, whatever this returns: perhaps before it returns, perhaps later and on another thread. `release` may
/// be null for memory that outlives the stream. It must not call Flexpath, throw or longjmp. The rest is as in
/// `flexpath_publisher_put`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_external(
    publisher: *mut PublisherHandle,
    variable: *const VariableHandle,
    start: *const u64,
    count: *const u64,
    elements: *const c_void,
    release: Option<extern "C" fn(context: *mut c_void)>,
    context: *mut c_void,
) -> Status {
    let owed = Owed::new(release, context);
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
pub struct LoanHandle {
    put: Mutex<Option<PutLater>>,
}

impl Handle for LoanHandle {
    const NAME: &'static str = "loan";
}

fn lend<T: Element>(
    step: &mut StepWriter,
    variable: &Core,
    region: &Region,
) -> Result<(LoanHandle, *mut c_void), Failure> {
    let mut lent = step.loan::<T>(variable, region)?;
    let memory = lent.as_mut_ptr().cast();
    let put: PutLater = Box::new(move |step| Ok(step.put_loan(lent)?));
    Ok((LoanHandle { put: Mutex::new(Some(put)) }, memory))
}

/// Lends memory for a block of the step that is open. Writes its handle to `loan` and its address to `memory`, where as
/// many elements fit as `count` makes. Fill all of it and put it by `flexpath_publisher_put_loan`: no copy is made. The
/// address is valid until then. Start and count as in `flexpath_publisher_put`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_loan(
    publisher: *mut PublisherHandle,
    variable: *const VariableHandle,
    start: *const u64,
    count: *const u64,
    loan: *mut *mut LoanHandle,
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

/// Puts a loan of the step that is open. The loan's handle is closed, whatever this returns. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_loan(
    publisher: *mut PublisherHandle,
    loan: *mut LoanHandle,
) -> Status {
    guard(|| {
        let put = take(loan)?.put.lock().unwrap_or_else(PoisonError::into_inner).take();
        let put = put.ok_or_else(|| Failure::misuse("the loan was put before"))?;
        with_step(publisher, put)
    })
}

/// Gives a loan back without putting it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_loan_free(loan: *mut LoanHandle) -> Status {
    guard(|| take(loan).map(|_| Status::Ok))
}
