//! Putting blocks: copied, kept where they are, or filled in memory that was lent.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::external::{External, Owed};
use crate::failure::{Failure, Status, guard};
use crate::handles::{Handle, hold, take};
use crate::publisher::{PublisherHandle, putting};
use crate::raw::{check_place, elements, give, text, values};
use crate::region::{len, region};
use crate::struct_layout::{Layout, not_plain};
use crate::variable::{VariableHandle, variable as of_handle, with_layout};
use fp_core::{LoanBytes, Region, StepWriter, Variable as Core};
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, PoisonError};

/// A block of C's.
struct Block<'a> {
    variable: &'a Core,
    layout: Option<&'a Layout>,
    region: &'a Region,
    elements: *const c_void,
}

impl<'a> Block<'a> {
    /// Its bytes, where C has them.
    #[inline]
    fn bytes(&self) -> Result<&'a [u8], Failure> {
        let count = len(self.region);
        match (self.layout, self.variable.records()) {
            (Some(layout), _) => values(self.elements.cast(), layout.len_bytes(count), "elements"),
            (None, Some(schema)) => Err(not_plain(schema)),
            (None, None) => elements(self.elements, count, self.variable.definition().dtype),
        }
    }

    /// Puts a copy, or what C keeps until its release. Structs that lie otherwise than their records are copied.
    #[inline]
    fn put(&self, step: &mut StepWriter, owed: Option<Owed>) -> Result<(), Failure> {
        let (bytes, variable, region) = (self.bytes()?, self.variable, self.region);
        let put = match (self.layout.filter(|layout| !layout.is_same()), owed) {
            (Some(layout), _) => step.put_external_bytes(variable, region, layout.gather(bytes)),
            (None, Some(owed)) => step.put_external_bytes(variable, region, External::new(bytes, owed)),
            (None, None) => step.put_bytes(variable, region, bytes),
        };
        Ok(put?)
    }
}

fn put(
    publisher: *mut PublisherHandle,
    variable: *const VariableHandle,
    (start, count, elements): (*const u64, *const u64, *const c_void),
    owed: Option<Owed>,
) -> Status {
    guard(|| {
        putting(publisher, |step| {
            let (variable, layout) = with_layout(variable)?;
            let region = region(&variable, start, count)?;
            let block = Block { variable: &variable, layout: layout.as_deref(), region: &region, elements };
            block.put(step, owed)
        })
    })
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
    put(publisher, variable, (start, count, elements), None)
}

/// Puts the value of a scalar that is a text (`FLEXPATH_DTYPE_STRING`) into the step that is open. The text is copied
/// at once. All scalars of a step together may have 4096 bytes, names included. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_put_text(
    publisher: *mut PublisherHandle,
    variable: *const VariableHandle,
    value: *const c_char,
) -> Status {
    guard(|| putting(publisher, |step| Ok(step.put_text(&of_handle(variable)?, text(value, "value")?)?)))
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
    put(publisher, variable, (start, count, elements), Some(Owed::new(release, context)))
}

/// Memory that Flexpath lends, to be filled and put.
pub struct LoanHandle {
    lent: Mutex<Option<LoanBytes>>,
}

impl Handle for LoanHandle {
    const NAME: &'static str = "loan";
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
        putting(publisher, |step| {
            let variable = of_handle(variable)?;
            let region = region(&variable, start, count)?;
            if variable.records().is_some() {
                let instead = "no memory is lent for records: put them, or keep them by put_external";
                return Err(Failure::misuse(instead));
            }
            let mut lent = step.loan_bytes(&variable, &region)?;
            let address = lent.as_mut_ptr().cast();
            give(loan, hold(LoanHandle { lent: Mutex::new(Some(lent)) }), "loan")?;
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
        // Closed also where there is no step.
        let lent = take(loan).and_then(|loan| {
            let lent = loan.lent.lock().unwrap_or_else(PoisonError::into_inner).take();
            lent.ok_or_else(|| Failure::misuse("the loan was put before"))
        });
        putting(publisher, |step| Ok(step.put_loan(lent?)?))
    })
}

/// Gives a loan back without putting it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_loan_free(loan: *mut LoanHandle) -> Status {
    guard(|| take(loan).map(|_| Status::Ok))
}
