//! Status codes, the text of the last failure, and the guard around every function.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::c_text::clean;
use crate::words;
use fp_core::{
    BeginError, CloseError, ConditionError, Misuse, OpenError, PutError, ReadError, RecordProblem,
    RefusalReason, RequestError, SteeringRefusal, SyncError, VariableError, own_pid,
};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a function returns: 0 done, above 0 a value that is no failure, below 0 a failure. `flexpath_last_error` has
/// the text of a failure.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// Nothing came within the time given.
    NotYet = 1,
    /// The stream is over; `flexpath_subscriber_end` says why.
    EndOfStream = 2,
    /// The call goes against the rules; the text says which.
    Misuse = -1,
    /// The handle is none, of another kind, or closed.
    BadHandle = -2,
    /// A pointer is null or not aligned, or a text is no UTF-8.
    BadPointer = -3,
    /// There is no such option, or its value makes no sense.
    BadOption = -4,
    /// The element type differs from the variable's, or cannot be used here.
    WrongDtype = -5,
    /// The step has no such variable, or the subscription did not ask for it.
    UnknownVariable = -6,
    /// Another number of elements than the region or selection has.
    WrongLen = -7,
    /// The time was up; nothing is written into the caller's memory any more.
    TimedOut = -8,
    /// A rank, or its data, is lost.
    Lost = -9,
    /// The stream could not be opened.
    NotOpened = -10,
    /// No memory, or the system refused something.
    System = -11,
    /// A peer broke the protocol.
    PeerMisbehaved = -12,
    /// The handle was opened before a fork, in the parent.
    Forked = -13,
    /// Closed, but somebody still held steps, or the cohort was lost before.
    NotClean = -14,
    /// A fault of Flexpath itself. The handle should be closed.
    Internal = -15,
    /// A derived variable could not be derived in this step, or records not transformed; the next may have them.
    NotDerived = -16,
    /// Records of another type, which do not become the one that is wanted; the text says why, field by field.
    Incompatible = -17,
    /// The publisher's access list does not allow what was asked for; the text names the rule and the peer.
    Denied = -18,
    /// The simulation does not take what was asked of it; the text says who declined it, or what it takes.
    NotTaken = -19,
}

/// A failure on its way to the caller.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) text: String,
}

/// What a guarded function gives.
pub(crate) type Outcome = Result<Status, Failure>;

impl Failure {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(crate) fn misuse(text: impl Into<String>) -> Self {
        Self::new(Status::Misuse, text)
    }

    /// An index of one of so many that there are.
    pub(crate) fn beyond(what: &str, index: u64, count: usize) -> Self {
        Self::misuse(format!("{what} {index} of {count}: they count from 0"))
    }

    /// An error that says which rule was broken.
    pub(crate) fn misused(error: impl Display) -> Self {
        Self::misuse(error.to_string())
    }
}

/// Whether this is the process that opened something: a forked child has copies of locks that nobody there gives back.
pub(crate) fn check_process(opened_by: u32) -> Result<(), Failure> {
    match own_pid() == opened_by {
        true => Ok(()),
        false => Err(Failure::new(Status::Forked, Misuse::Forked.to_string())),
    }
}

fn of_misuse(misuse: &Misuse) -> Status {
    match misuse {
        Misuse::Forked => Status::Forked,
        Misuse::Closed => Status::BadHandle,
        Misuse::WrongDtype { .. } | Misuse::NoConversion { .. } | Misuse::NoNumbers { .. } => {
            Status::WrongDtype
        }
        Misuse::WrongRecord { .. } => Status::Incompatible,
        Misuse::WrongLen { .. } | Misuse::WrongLenBytes { .. } => Status::WrongLen,
        Misuse::UnknownVariable { .. } | Misuse::NotSubscribed { .. } | Misuse::NotPlaced { .. } => {
            Status::UnknownVariable
        }
        Misuse::StepOpen(_)
        | Misuse::StepNotOpen(_)
        | Misuse::OutsideShape { .. }
        | Misuse::PutTwice { .. }
        | Misuse::WrongKind { .. }
        | Misuse::Selection { .. }
        | Misuse::SelectionText { .. }
        | Misuse::Command(_)
        | Misuse::StepTooLarge { .. }
        | Misuse::PromiseBroken { .. }
        | Misuse::StepIncomplete { .. }
        | Misuse::NoTruthValue { .. }
        | Misuse::NoText { .. }
        | Misuse::NoRecords { .. }
        | Misuse::TooManyTypes { .. }
        | Misuse::NoTransformHere { .. }
        | Misuse::NotViewable { .. }
        | _ => Status::Misuse,
    }
}

fn of_problem(problem: &RecordProblem) -> Status {
    match problem {
        RecordProblem::NoRecords(_) => Status::WrongDtype,
        RecordProblem::Bytes(_) => Status::PeerMisbehaved,
        RecordProblem::Convert(_) => Status::Incompatible,
        RecordProblem::Type(_) | RecordProblem::Value(_) | _ => Status::Misuse,
    }
}

/// Why a stream does not have the types that its opening asked for.
fn of_types(error: &ReadError) -> Status {
    let is_other = matches!(error, ReadError::NotProvided { .. } | ReadError::Incompatible { .. });
    if is_other { Status::Incompatible } else { Status::NotOpened }
}

/// Conversions of the errors of one operation each, by their guilt.
macro_rules! failures {
    ($($error:ident: $found:ident => $status:expr;)*) => {
        $(impl From<$error> for Failure {
            fn from($found: $error) -> Self {
                let status = $status;
                Self::new(status, words::of_c(&$found.to_string()))
            }
        })*
    };
}

failures! {
    OpenError: error => if let OpenError::Types { source } = &error {
        of_types(source)
    } else if matches!(error, OpenError::Denied { .. }) {
        Status::Denied
    } else {
        Status::NotOpened
    };
    VariableError: _error => Status::Misuse;
    BeginError: error => match &error {
        BeginError::Misuse { source, .. } => of_misuse(source),
        BeginError::Lost { .. } => Status::Lost,
        BeginError::TimedOut { .. } => Status::TimedOut,
        BeginError::Closed { .. } => Status::Misuse,
        BeginError::Coordinator { .. } | _ => Status::Internal,
    };
    PutError: error => match &error {
        PutError::Misuse { source, .. } => of_misuse(source),
        PutError::Memory { .. } | PutError::Unreadable { .. } => Status::System,
        PutError::Lost { .. } => Status::Lost,
        _ => Status::Internal,
    };
    ReadError: error => match &error {
        ReadError::Misuse { source, .. } => of_misuse(source),
        ReadError::Plan { .. } => Status::Misuse,
        ReadError::Lost { .. } | ReadError::Gone { .. } => Status::Lost,
        ReadError::Denied { .. } => Status::Denied,
        ReadError::TimedOut { .. } => Status::TimedOut,
        ReadError::PeerMisbehaved { .. } => Status::PeerMisbehaved,
        ReadError::NotDerived { .. } | ReadError::NotTransformed { .. } => Status::NotDerived,
        ReadError::Incompatible { .. } | ReadError::NotProvided { .. } => Status::Incompatible,
        ReadError::Records { source, .. } => of_problem(source),
        ReadError::NoStep { .. } => Status::EndOfStream,
        ReadError::NoLayout { .. } | ReadError::Coordinator { .. } | _ => Status::Internal,
    };
    SyncError: error => match &error {
        SyncError::Misuse { source, .. } => of_misuse(source),
        SyncError::Held { .. } => Status::TimedOut,
        SyncError::Lost { .. } => Status::Lost,
        SyncError::Coordinator { .. } | _ => Status::Internal,
    };
    RequestError: error => match &error {
        RequestError::Refused { refusal: SteeringRefusal::Denied(_), .. } => Status::Denied,
        RequestError::Refused { .. } | RequestError::Declined { .. } => Status::NotTaken,
        RequestError::NoAnswer { .. } | RequestError::NoParameters { .. } => Status::TimedOut,
        RequestError::Over { .. } | RequestError::Unanswered { .. } => Status::Lost,
        RequestError::Misuse { source, .. } => of_misuse(source),
        _ => Status::Internal,
    };
    ConditionError: error => match &error {
        ConditionError::Text { .. } => Status::BadOption,
        ConditionError::Refused { reason: RefusalReason::Denied(_), .. } => Status::Denied,
        ConditionError::Refused { .. } => Status::NotTaken,
        ConditionError::NoAnswer { .. } => Status::TimedOut,
        ConditionError::Over { .. } => Status::Lost,
        ConditionError::Misuse { source, .. } => of_misuse(source),
        _ => Status::Internal,
    };
    CloseError: error => match &error {
        CloseError::Misuse { source, .. } => of_misuse(source),
        CloseError::Held { .. } | CloseError::Lost { .. } => Status::NotClean,
        CloseError::Coordinator { .. } | _ => Status::Internal,
    };
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the text of a failure for this thread.
pub(crate) fn remember(failure: Failure) -> Status {
    // A thread that is ending has no place for it any more.
    let _ = LAST.try_with(|last| last.replace(clean(&failure.text)));
    failure.status
}

/// The text of the last failure on this thread.
fn last() -> String {
    LAST.try_with(|last| last.borrow().to_string_lossy().into_owned()).unwrap_or_default()
}

/// What a function of C's that failed says: its number, and the failure on this thread that may have led to it.
pub(crate) fn returned(number: i32) -> String {
    match last() {
        none if none.is_empty() => format!("it returned {number}"),
        text => format!("it returned {number} ({text})"),
    }
}

/// Runs what a function does; no panic passes.
pub(crate) fn guard(run: impl FnOnce() -> Outcome) -> Status {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => remember(failure),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            // What a panic carries may panic as it is dropped.
            std::mem::forget(panic);
            remember(Failure::new(Status::Internal, format!("a fault of Flexpath itself: {text}")))
        }
    }
}

/// The text of the last failure on this thread; empty if there was none. Valid until the next call that fails on this
/// thread. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The version of the library, such as `0.1.0`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_with_its_text() {
        assert_eq!(guard(|| panic!("of {}", 7)), Status::Internal);
        let text = LAST.with(|last| last.borrow().clone());
        assert_eq!(text.as_c_str(), c"a fault of Flexpath itself: of 7");
        assert_eq!(guard(|| Ok(Status::NotYet)), Status::NotYet);
    }
}
