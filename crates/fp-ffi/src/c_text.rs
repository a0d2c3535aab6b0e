//! Texts as C reads them, and the one that each thread keeps until the next.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    static TEXT: RefCell<CString> = RefCell::default();
}

/// A text as C reads it: a zero byte inside would end it.
pub(crate) fn clean(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Keeps a text for this thread, in place of the one before; where it is.
pub(crate) fn keep(text: &str) -> *const c_char {
    let text = clean(text);
    let address = text.as_ptr();
    // A thread that is ending has no place for it any more.
    match TEXT.try_with(|kept| kept.replace(text)) {
        Ok(_) => address,
        Err(_) => c"".as_ptr(),
    }
}
