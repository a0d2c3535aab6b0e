//! Pointers of C, checked as far as they can be, become Rust values here.
#![allow(unsafe_code)] // that C passes valid pointers is what the header asks of it

use crate::c_text::keep;
use crate::elements::unusable;
use crate::failure::{Failure, Outcome, Status, guard};
use fp_core::Dtype;
use std::ffi::{CStr, c_char, c_void};
use std::time::Duration;

/// A century is no time that a clock could not count.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

const UNALIGNED: &str = "is not aligned to its elements";

fn bad(what: &str, why: &str) -> Failure {
    Failure::new(Status::BadPointer, format!("{what} {why}"))
}

fn check<T>(pointer: *const T, what: &str) -> Result<(), Failure> {
    match pointer {
        _ if pointer.is_null() => Err(bad(what, "is null")),
        _ if !pointer.is_aligned() => Err(bad(what, UNALIGNED)),
        _ => Ok(()),
    }
}

/// A number of elements as Rust counts them. No memory holds as many as the largest.
pub(crate) fn as_len(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// A text that ends with a zero byte.
pub(crate) fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    check(pointer, what)?;
    // SAFETY: not null; the header asks for a text that ends with a zero byte and stays during the call.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| bad(what, "is no UTF-8"))
}

/// `count` texts.
pub(crate) fn texts<'a>(
    pointer: *const *const c_char,
    count: u64,
    what: &str,
) -> Result<Vec<&'a str>, Failure> {
    let all = values(pointer, as_len(count), what)?;
    all.iter().map(|&one| text(one, what)).collect()
}

/// How long to wait.
pub(crate) fn wait(timeout_ms: u64) -> Duration {
    Duration::from_millis(timeout_ms).min(LONGEST)
}

/// How long to wait; below 0 as long as the options say.
pub(crate) fn patience(timeout_ms: i64, otherwise: Duration) -> Duration {
    u64::try_from(timeout_ms).map_or(otherwise, Duration::from_millis).min(LONGEST)
}

/// `len` values that C has written.
pub(crate) fn values<'a, T>(pointer: *const T, len: usize, what: &str) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    check(pointer, what)?;
    check_len::<T>(len, what)?;
    // SAFETY: not null, aligned, no longer than a slice may be; the header asks for `len` values that stay unchanged
    // during the call.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// The bytes of `len` elements of a type that is known only at run time.
#[inline]
pub(crate) fn elements<'a>(pointer: *const c_void, len: usize, dtype: Dtype) -> Result<&'a [u8], Failure> {
    let size = dtype.size_bytes().ok_or_else(|| unusable(dtype))?;
    if len > 0 && !pointer.addr().is_multiple_of(dtype.alignment_bytes()) {
        return Err(bad("elements", UNALIGNED));
    }
    values(pointer.cast(), len.saturating_mul(size), "elements")
}

/// Room for `len` values. Memory from the other side of the C interface has some value in every byte, whether C has
/// written it or not. The compiler sees neither where it came from nor what happened to it.
pub(crate) fn room<'a, T>(pointer: *mut T, len: usize, what: &str) -> Result<&'a mut [T], Failure> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(pointer, what)?;
    check_len::<T>(len, what)?;
    // SAFETY: as in `values`, and the header asks for memory that nobody else uses during the call.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, len) })
}

fn check_len<T>(len: usize, what: &str) -> Result<(), Failure> {
    let len_bytes = len.checked_mul(size_of::<T>()).filter(|&len| isize::try_from(len).is_ok());
    len_bytes.map(drop).ok_or_else(|| bad(what, "is longer than any memory"))
}

/// Writes a result where C wants it.
pub(crate) fn give<T>(to: *mut T, value: T, what: &str) -> Outcome {
    check(to, what)?;
    // SAFETY: not null, aligned; the header asks for a place for one value.
    unsafe { to.write(value) };
    Ok(Status::Ok)
}

/// Whether a result can be written there: before anything is done that would be lost.
pub(crate) fn check_place<T>(to: *mut T, what: &str) -> Result<(), Failure> {
    check(to, what)
}

/// Makes a text, keeps it for this thread, and writes where it is.
pub(crate) fn give_text(to: *mut *const c_char, make: impl FnOnce() -> Result<String, Failure>) -> Status {
    guard(|| {
        check_place(to, "text")?;
        give(to, keep(&make()?), "text")
    })
}
