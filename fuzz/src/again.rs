//! What is read and said again means the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Reads and says again. Whoever reads that says the same bytes. Whether the bytes were believed.
pub(crate) fn bytes(bytes: &[u8], again: impl Fn(&[u8]) -> Option<Vec<u8>>) -> bool {
    let Some(said) = again(bytes) else { return false };
    let repeated = again(&said);
    assert_eq!(repeated.as_ref(), Some(&said), "what is said again is read as something else");
    true
}

/// The same of what has one form: only these bytes mean it.
pub(crate) fn canonical(bytes: &[u8], again: impl Fn(&[u8]) -> Option<Vec<u8>>) -> bool {
    let Some(said) = again(bytes) else { return false };
    assert_eq!(said, bytes, "bytes in another than the canonical form are believed");
    true
}

/// A text that is read and printed is read as the same.
pub(crate) fn text<T: FromStr<Err: Display> + Display + PartialEq + Debug>(text: &str) -> bool {
    let read = match text.parse::<T>() {
        Ok(read) => read,
        // Every complaint can be printed.
        Err(error) => {
            let _ = error.to_string();
            return false;
        }
    };
    let printed = read.to_string();
    match printed.parse::<T>() {
        Ok(again) => assert_eq!(again, read, "printed as {printed:?}"),
        Err(error) => panic!("{text:?} is read, and printed as {printed:?}, which is not: {error}"),
    }
    true
}
