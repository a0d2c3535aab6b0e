//! Texts that functions give: kept for each thread until the next one.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Status, guard};
use crate::publisher::{self, Publisher};
use crate::raw::{check_place, give, values};
use crate::subscriber::{self, Subscriber};
use fp_core::ModuleHash;
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

fn tell(place: *mut *const c_char, make: impl FnOnce() -> Result<String, Failure>) -> Status {
    guard(|| {
        check_place(place, "text")?;
        give(place, keep(&make()?), "text")?;
        Ok(Status::Ok)
    })
}

/// Writes to `text` where this rank is reached: what others give as `PublisherContact` or `LeadContact` where no
/// rendezvous directory is shared. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_contact(publisher: *mut Publisher, text: *mut *const c_char) -> Status {
    tell(text, || publisher::with_core(publisher, |core, _| Ok(core.contact().to_string())))
}

/// Writes the epoch of this opening of the stream to `text`. Valid until the next call on this thread that gives a
/// text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_epoch(publisher: *mut Publisher, text: *mut *const c_char) -> Status {
    tell(text, || publisher::with_core(publisher, |core, _| Ok(core.epoch().to_string())))
}

/// Writes to `text` what each data link of this rank runs over, and why nothing better: a line for each peer, none
/// before a peer has fetched anything. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_transports(
    publisher: *mut Publisher,
    text: *mut *const c_char,
) -> Status {
    tell(text, || publisher::with_core(publisher, |core, _| Ok(core.transports().join("\n"))))
}

/// Writes the epoch of the publisher that it is attached to to `text`; empty while a restart is awaited. Valid until
/// the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_epoch(subscriber: *mut Subscriber, text: *mut *const c_char) -> Status {
    tell(text, || {
        let epoch = subscriber::with_core(subscriber, |core, _| Ok(core.epoch()))?;
        Ok(epoch.map(|epoch| epoch.to_string()).unwrap_or_default())
    })
}

/// Writes to `text` what the data link to each publisher rank runs over, and why nothing better: a line for each, none
/// before anything was fetched of it. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_transports(
    subscriber: *mut Subscriber,
    text: *mut *const c_char,
) -> Status {
    tell(text, || {
        let links = subscriber::with_core(subscriber, |core, _| Ok(core.transports()))?;
        let lines: Vec<String> = links.iter().map(|(rank, link)| format!("rank {rank}: {link}")).collect();
        Ok(lines.join("\n"))
    })
}

/// Writes to `text` the hash of a WebAssembly module of `len` bytes: what the option `DeployPolicy` of a publisher lists, 64
/// hex digits, as `b3sum` prints them. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_module_hash(module: *const u8, len: u64, text: *mut *const c_char) -> Status {
    tell(text, || {
        let module = values(module, usize::try_from(len).unwrap_or(usize::MAX), "module")?;
        Ok(ModuleHash::of(module).to_string())
    })
}
