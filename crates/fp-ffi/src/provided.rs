//! What types a stream provides.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::c_text::clean;
use crate::failure::{Status, guard};
use crate::raw::{as_len, give, room};
use crate::schema::{SchemaHandle, built};
use crate::subscriber::{SubscriberHandle, with_core};
use fp_core::{Fit, Provided};
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

thread_local! {
    static TEXTS: RefCell<Vec<CString>> = RefCell::default();
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
