//! Verbs: RDMA between machines, by libibverbs and librdmacm, which are opened at run time and needed for nothing else.
//!
//! A connection is made by address (librdmacm) with a reliable connected queue pair. Over it go the frames of a link,
//! as messages with credit (`stream`), and one-sided READs of memory that the peer registered (`remote_read`). The
//! links of one stream share its [`Domain`].
//!
//! Unsafe code is in the files that call the libraries, each call with its reason.

mod call_outcome;
mod connection;
mod connection_setup;
mod device;
mod device_list;
mod domain;
mod error;
#[cfg(test)]
mod fake;
mod filled_slot;
mod gids;
mod landing_memory;
mod library;
mod protection;
mod queue;
mod read_all;
mod read_requests;
mod registration;
mod remote_read;
mod stream;
#[cfg(not(feature = "testing"))]
mod sys;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod sys;
mod unsettled;

pub use device::VerbsDevice;
pub use device_list::verbs_devices;
pub use domain::{Domain, DomainStats};
pub use error::{Breakage, VerbsTrouble};
pub use landing_memory::{Keys, Landing, ReadTarget};
pub use read_all::{ReadLimit, ReadPlace};
pub use read_requests::{BlockRead, ReadRun};

pub(crate) use connection_setup::{VerbsListener, dial};
pub(crate) use error::ReadTrouble;
pub(crate) use protection::Protection;
pub(crate) use read_all::read_all;
pub(crate) use stream::Stream;
