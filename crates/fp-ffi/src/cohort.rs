//! Cohorts that come together through a launcher's collectives, given as C functions.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Status, guard};
use crate::options::{OptionsHandle, change, links};
use fp_core::{Cohort, CollectiveFailure, Collectives, SharedCollectives};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Writes the `len_bytes` at `own` of every rank to `all`, one after the other, rising by rank. Returns 0, or a number
/// of the launcher's for the text of the failure.
pub type Allgather = Option<
    extern "C" fn(context: *mut c_void, own: *const c_void, len_bytes: usize, all: *mut c_void) -> i32,
>;

/// Returns when every rank has called it: 0, or a number of the launcher's for the text of the failure.
pub type Barrier = Option<extern "C" fn(context: *mut c_void) -> i32>;

/// What C gave. The context is only ever handed back to it, on the thread that opens.
struct OfC {
    allgather: extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void) -> i32,
    barrier: extern "C" fn(*mut c_void) -> i32,
    context: AtomicPtr<c_void>,
    size: u32,
}

/// The number that a C function returned in place of 0.
#[derive(Debug, thiserror::Error)]
#[error("it returned {0}")]
struct Returned(i32);

fn done(returned: i32) -> Result<(), CollectiveFailure> {
    if returned == 0 { Ok(()) } else { Err(Box::new(Returned(returned))) }
}

impl Collectives for OfC {
    fn allgather(&self, own: &[u8]) -> Result<Vec<u8>, CollectiveFailure> {
        let mut all = vec![0u8; own.len() * self.size as usize];
        let context = self.context.load(Ordering::Relaxed);
        done((self.allgather)(context, own.as_ptr().cast(), own.len(), all.as_mut_ptr().cast()))?;
        Ok(all)
    }

    fn barrier(&self) -> Result<(), CollectiveFailure> {
        done((self.barrier)(self.context.load(Ordering::Relaxed)))
    }
}

/// Gives what an opening needs. Where it cannot be had the other ranks are told why: they would wait for this one in
/// their launcher's collectives for ever.
pub(crate) fn or_decline<T>(options: *const OptionsHandle, needed: Result<T, Failure>) -> Result<T, Failure> {
    if let (Err(failure), Ok(link)) = (&needed, links(options)) {
        link.decline(&failure.text);
    }
    needed
}

/// Says that this process is `rank` of the `size` ranks that open the stream together. Gives the launcher's collectives
/// over just these ranks: they find one another by them alone. Each open calls `allgather` once and then `barrier`
/// once, with `context`, on the thread that calls open and before open returns. It does so too where this rank cannot
/// open, so that the others learn why. Neither is called at any other time. They must not throw or jump out, and
/// `context` must stay valid until the last open with these options has returned. `flexpath_mpi.h` does this for an MPI
/// communicator. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_set_cohort_collectives(
    options: *mut OptionsHandle,
    rank: u32,
    size: u32,
    allgather: Allgather,
    barrier: Barrier,
    context: *mut c_void,
) -> Status {
    guard(|| {
        let cohort = Cohort::of(rank, size).map_err(Failure::misused)?;
        let missing = |what| Failure::new(Status::BadPointer, format!("{what} is null"));
        let allgather = allgather.ok_or_else(|| missing("allgather"))?;
        let barrier = barrier.ok_or_else(|| missing("barrier"))?;
        let of_c = OfC { allgather, barrier, context: AtomicPtr::new(context), size };
        let collectives = SharedCollectives::new(of_c);
        change(options, |state| {
            Ok(state.links(|link| {
                link.cohort = cohort;
                link.collectives = Some(collectives.clone());
            }))
        })
    })
}
