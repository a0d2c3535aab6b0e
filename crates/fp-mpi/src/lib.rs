//! A cohort from an MPI communicator, for Rust programs that use rsmpi (the crate `mpi`).
//!
//! ```no_run
//! let universe = mpi::initialize().expect("MPI starts");
//! let world = universe.world();
//! let options = fp_core::PublisherOptions::default();
//! let publisher = fp_mpi::open_publisher(&world, "heat", options)?;
//! # Ok::<(), fp_core::OpenError>(())
//! ```
//!
//! MPI is called only while a stream opens: one `MPI_Allgather` of 512 bytes a rank and one `MPI_Barrier`, on the
//! thread that opens it. Nothing of it is called in a step or in `close`, so `Threading::Single` will do. The handle
//! may be used on any thread and after `MPI_Finalize`.
//!
//! This package is a workspace of its own. As a member, every `cargo test --workspace` would want an MPI and libclang.
//! Also, cargo would keep what it built against one MPI for the other
//! (`docs/decisions/0021-the-c-library-knows-no-mpi.md`).

use fp_core::{
    Cohort, CohortError, CollectiveFailure, Collectives, OpenError, Publisher, PublisherOptions, Subscriber,
    SubscriberOptions,
};
use mpi::datatype::Equivalence;
use mpi::raw::AsRaw;
use mpi::topology::Communicator;
use std::ffi::{c_int, c_void};

/// A communicator during one call that borrows it.
struct Borrowed(mpi::ffi::MPI_Comm);

// SAFETY: a handle without a drop; it is used only inside `open_publisher` and `open_subscriber`, on the thread that
// called them, as `Collectives` promises. Other threads can only drop it.
#[allow(unsafe_code)]
unsafe impl Send for Borrowed {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Borrowed {}

/// What MPI returned where it should have been `MPI_SUCCESS`.
#[derive(Debug, thiserror::Error)]
enum MpiFailure {
    #[error("MPI returned error {0}")]
    Code(c_int),
    #[error("{0} bytes are more than MPI counts")]
    TooMany(usize),
}

fn done(code: c_int) -> Result<(), CollectiveFailure> {
    if code == 0 { Ok(()) } else { Err(Box::new(MpiFailure::Code(code))) }
}

impl Borrowed {
    fn size(&self) -> Result<usize, CollectiveFailure> {
        let mut size: c_int = 0;
        // SAFETY: the communicator is borrowed by the call that this one is inside of; `size` is a place for an int.
        #[allow(unsafe_code)]
        let code = unsafe { mpi::ffi::MPI_Comm_size(self.0, &raw mut size) };
        done(code)?;
        Ok(usize::try_from(size)?)
    }
}

impl Collectives for Borrowed {
    fn allgather(&self, own: &[u8]) -> Result<Vec<u8>, CollectiveFailure> {
        let count = c_int::try_from(own.len()).map_err(|_| MpiFailure::TooMany(own.len()))?;
        let mut all = vec![0u8; own.len() * self.size()?];
        let (given, gathered) = (own.as_ptr().cast::<c_void>(), all.as_mut_ptr().cast::<c_void>());
        let byte = u8::equivalent_datatype();
        let (comm, byte) = (self.0, byte.as_raw());
        // SAFETY: `own` has `count` bytes and `all` as many for each rank; the communicator is borrowed meanwhile.
        #[allow(unsafe_code)]
        let code = unsafe { mpi::ffi::MPI_Allgather(given, count, byte, gathered, count, byte, comm) };
        done(code)?;
        Ok(all)
    }

    fn barrier(&self) -> Result<(), CollectiveFailure> {
        // SAFETY: the communicator is borrowed meanwhile.
        #[allow(unsafe_code)]
        let code = unsafe { mpi::ffi::MPI_Barrier(self.0) };
        done(code)
    }
}

fn place(communicator: &impl Communicator) -> Result<(Cohort, Borrowed), OpenError> {
    let number = |value: mpi::topology::Rank| u32::try_from(value).unwrap_or(0);
    let cohort: Result<Cohort, CohortError> =
        Cohort::of(number(communicator.rank()), number(communicator.size()));
    Ok((cohort?, Borrowed(communicator.as_raw())))
}

/// Opens a stream whose publishers are the ranks of `communicator`: each of them calls this.
///
/// # Errors
/// As `Publisher::open`. If a rank cannot open its part, all ranks get an error with that rank and why.
pub fn open_publisher(
    communicator: &impl Communicator,
    stream: &str,
    options: PublisherOptions,
) -> Result<Publisher, OpenError> {
    let (cohort, collectives) = place(communicator)?;
    Publisher::open(stream, options.with_collectives(cohort, collectives))
}

/// Attaches the ranks of `communicator` to a stream, as one cohort: each of them calls this.
///
/// # Errors
/// As `Subscriber::open`. If a rank cannot open its part, all ranks get an error with that rank and why.
pub fn open_subscriber(
    communicator: &impl Communicator,
    stream: &str,
    options: SubscriberOptions,
) -> Result<Subscriber, OpenError> {
    let (cohort, collectives) = place(communicator)?;
    Subscriber::open(stream, options.with_collectives(cohort, collectives))
}
