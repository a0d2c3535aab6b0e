//! Verbs: RDMA between machines, by libibverbs and librdmacm, which are opened at run time and needed for nothing else.
//!
//! A connection is made by address (librdmacm) with a reliable connected queue pair. Over it go the frames of a link, as
//! messages with credit (`stream`), and one-sided READs of memory that the peer registered (`reading`). What is shared
//! by the links of one stream is its [`Domain`].
//!
//! Unsafe code is in the files that call the libraries, each call with its reason.

mod connection;
mod device;
mod domain;
#[cfg(test)]
mod fake;
mod gids;
mod landing;
mod library;
mod meeting;
mod queue;
mod reading;
mod stream;
#[cfg(not(feature = "testing"))]
mod sys;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod sys;
mod trouble;

pub use device::{VerbsDevice, verbs_devices};
pub use domain::{Domain, DomainStats};
pub use landing::{Destination, Keys, Landing};
pub use reading::{ReadRun, RemoteMemory};
pub use trouble::{Breakage, VerbsTrouble};

pub(crate) use domain::{Access, Protection, Registration};
pub(crate) use meeting::{Listening, dial};
pub(crate) use stream::Stream;
