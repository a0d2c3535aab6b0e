//! What types a stream provides, and which streams provide a type.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::c_text::clean;
use crate::failure::{Failure, Status, guard};
use crate::keys::Role;
use crate::options::{OptionsHandle, settings};
use crate::raw::{as_len, check_place, give, room, wait};
use crate::schema::{SchemaHandle, built};
use crate::subscriber::{SubscriberHandle, with_core};
use crate::words::of_c;
use fp_core::{FindError, Fit, FoundStream, Provided, Subscriber};
use std::cell::RefCell;
use std::ffi::{CString, c_char};

/// A variable that provides the type that was asked for.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProvidedStruct {
    /// its name
    pub variable: *const c_char,
    /// what its type differs in, a line for each, or the transforms that lead there; empty where it is the same
    pub differences: *const c_char,
    /// 1 if its records are converted or transformed, 0 if they pass as they are
    pub is_converted: i32,
}

/// A stream that was asked for a type.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FoundStruct {
    /// its name
    pub stream: *const c_char,
    /// where its publisher is, as the option `PublisherContact` takes it
    pub contact: *const c_char,
    /// the variable that provides the type best; empty where none does
    pub variable: *const c_char,
    /// what the type of that variable differs in, as in `flexpath_provided`; where none provides it, why not
    pub differences: *const c_char,
    /// how many variables provide it
    pub variable_count: u32,
    /// 1 if the records of that variable are converted or transformed, 0 if they pass as they are
    pub is_converted: i32,
}

thread_local! {
    static TEXTS: RefCell<Vec<CString>> = RefCell::default();
    static FOUND: RefCell<Vec<CString>> = RefCell::default();
}

fn differences(provided: &Provided) -> String {
    match &provided.fit {
        Fit::Same => String::new(),
        Fit::Converted { differences } => {
            differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        }
        Fit::Through(_) | Fit::ThroughPublisher(_) | _ => provided.fit.to_string(),
    }
}

/// Keeps the texts for this thread, in place of those before.
fn keep(all: &[Provided]) -> Vec<ProvidedStruct> {
    let (mut texts, mut told) = (Vec::new(), Vec::new());
    for provided in all {
        let (variable, differences) = (clean(&provided.variable), clean(&differences(provided)));
        told.push(ProvidedStruct {
            variable: variable.as_ptr(),
            differences: differences.as_ptr(),
            is_converted: i32::from(provided.fit != Fit::Same),
        });
        texts.extend([variable, differences]);
    }
    // A thread that is ending has no place for them any more.
    match TEXTS.try_with(|kept| kept.replace(texts)) {
        Ok(_) => told,
        Err(_) => Vec::new(),
    }
}

/// Keeps the texts for this thread, in place of those before.
fn keep_found(all: &[FoundStream]) -> Vec<FoundStruct> {
    let (mut texts, mut told) = (Vec::new(), Vec::new());
    for found in all {
        let best = found.provided.as_ref().ok().and_then(|all| all.first());
        let said = match (&found.provided, best) {
            (_, Some(best)) => differences(best),
            (Err(why), None) => of_c(&why.to_string()),
            (Ok(_), None) => String::new(),
        };
        let variable = best.map_or("", |best| &best.variable);
        let contact = found.entry.contact.to_string();
        let kept = [&found.entry.name, &contact, variable, &said].map(clean);
        let [stream, contact, variable, differences] = kept.each_ref().map(|text| text.as_ptr());
        let variable_count = u32::try_from(found.provided.as_ref().map_or(0, Vec::len)).unwrap_or(u32::MAX);
        let is_converted = i32::from(best.is_some_and(|best| best.fit != Fit::Same));
        told.push(FoundStruct { stream, contact, variable, differences, variable_count, is_converted });
        texts.extend(kept);
    }
    // A thread that is ending has no place for them any more.
    match FOUND.try_with(|kept| kept.replace(texts)) {
        Ok(_) => told,
        Err(_) => Vec::new(),
    }
}

fn not_found(error: FindError) -> Failure {
    Failure::new(Status::NotOpened, error.to_string())
}

/// Finds the streams of the rendezvous that provide records of a type. Of `options`, which are a subscriber's or null,
/// rendezvous, transports, token, TLS and transforms count. Looks at all streams at once, for at most `timeout_ms` and
/// half a second more. Writes how many there are to `count`, and the first `capacity` of them to `found`. Those that
/// provide the type come first, the best before others. The rest follow by name, each with the reason. Their texts are
/// valid until the next call of this function on this thread. The next step of a stream says what it has, so one that
/// publishes nothing meanwhile is among the rest. Each is attached to for that step alone: the publisher keeps nothing
/// for it and never waits. But one that waits for its first subscribers takes it for one of these. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_find(
    options: *const OptionsHandle,
    schema: *const SchemaHandle,
    timeout_ms: u64,
    found: *mut FoundStruct,
    capacity: u64,
    count: *mut u64,
) -> Status {
    guard(|| {
        let (wanted, chosen) = (built(schema)?.schema, settings(options, Role::Subscriber)?.subscriber);
        check_place(count, "count")?;
        let places = room(found, as_len(capacity), "found")?;
        let all = Subscriber::find_schema(&wanted, &chosen, wait(timeout_ms)).map_err(not_found)?;
        places.iter_mut().zip(keep_found(&all)).for_each(|(to, from)| *to = from);
        give(count, all.len() as u64, "count")
    })
}

/// Finds the variables of the stream that provide records of a type, those that fit best first. Writes how many there
/// are to `count`, and the first `capacity` of them to `provided`. Their texts are valid until the next call of this
/// function on this thread. Waits until the first step is here, at most `OpenTimeoutSecs`; that step is still the next
/// one. Returns `FLEXPATH_STATUS_INCOMPATIBLE` where no variable provides the type; the text says of each, field by
/// field, why not. Returns `FLEXPATH_STATUS_END_OF_STREAM` where no step came that could say. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_of(
    subscriber: *mut SubscriberHandle,
    schema: *const SchemaHandle,
    provided: *mut ProvidedStruct,
    capacity: u64,
    count: *mut u64,
) -> Status {
    guard(|| {
        let wanted = built(schema)?.schema;
        let places = room(provided, as_len(capacity), "provided")?;
        let found = with_core(subscriber, |core, _| Ok(core.of_schema(&wanted)?))?;
        places.iter_mut().zip(keep(&found)).for_each(|(to, from)| *to = from);
        give(count, found.len() as u64, "count")
    })
}
