//! What a handle is in words: where a rank is reached, the epoch, the links; the hash of a module.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::Status;
use crate::publisher::{self, PublisherHandle};
use crate::raw::{as_len, give_text, values};
use crate::subscriber::{self, SubscriberHandle};
use fp_core::ModuleHash;
use std::ffi::c_char;

/// Writes to `text` where this rank is reached: what others give as `PublisherContact` or `LeadContact` where no
/// rendezvous directory is shared. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_contact(
    publisher: *mut PublisherHandle,
    text: *mut *const c_char,
) -> Status {
    give_text(text, || publisher::with_core(publisher, |core, _| Ok(core.contact().to_string())))
}

/// Writes the epoch of this opening of the stream to `text`. Valid until the next call on this thread that gives a
/// text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_epoch(
    publisher: *mut PublisherHandle,
    text: *mut *const c_char,
) -> Status {
    give_text(text, || publisher::with_core(publisher, |core, _| Ok(core.epoch().to_string())))
}

/// Writes to `text` what each data link of this rank runs over, and why nothing better. There is a line for each peer,
/// and none before a peer has fetched anything. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_transports(
    publisher: *mut PublisherHandle,
    text: *mut *const c_char,
) -> Status {
    give_text(text, || publisher::with_core(publisher, |core, _| Ok(core.transports().join("\n"))))
}

/// Writes to `text` the epoch of the publisher that this subscriber is attached to. It is empty while a restart is
/// awaited. Valid until the next call on this thread that gives a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_epoch(
    subscriber: *mut SubscriberHandle,
    text: *mut *const c_char,
) -> Status {
    give_text(text, || {
        let epoch = subscriber::with_core(subscriber, |core, _| Ok(core.epoch()))?;
        Ok(epoch.map(|epoch| epoch.to_string()).unwrap_or_default())
    })
}

/// Writes to `text` what the data link to each publisher rank runs over, and why nothing better. There is a line for
/// each, and none before anything was fetched from it. Valid until the next call on this thread that gives a text. Any
/// thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_transports(
    subscriber: *mut SubscriberHandle,
    text: *mut *const c_char,
) -> Status {
    give_text(text, || {
        let links = subscriber::with_core(subscriber, |core, _| Ok(core.transports()))?;
        let lines: Vec<String> = links.iter().map(|(rank, link)| format!("rank {rank}: {link}")).collect();
        Ok(lines.join("\n"))
    })
}

/// Writes to `text` the hash of a WebAssembly module of `len` bytes. It is what the option `DeployPolicy` of a
/// publisher lists: 64 hex digits, as `b3sum` prints them. Valid until the next call on this thread that gives a text.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_module_hash(module: *const u8, len: u64, text: *mut *const c_char) -> Status {
    give_text(text, || {
        let module = values(module, as_len(len), "module")?;
        Ok(ModuleHash::of(module).to_string())
    })
}
