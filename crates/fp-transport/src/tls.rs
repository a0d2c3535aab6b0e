//! TLS on tcp links, where it is configured: both ends show a certificate of an authority that both know.
//!
//! Decisions, with the alternative that was rejected:
//!
//! * **One name, not addresses.** A certificate must be of the authority and hold the expected name (`flexpath` unless
//!   set), at both ends. Addresses in certificates were turned down. A contact's address comes from a file or from a
//!   peer: it says where somebody is, not who. Ranks get their addresses when the job starts. A dialler's address is
//!   not known beyond the next translator. A name keeps out other certificates of a site's authority.
//! * **TLS first, then the hello**, so that the token is never seen on the wire. The fixed bytes stay what they were. A
//!   peer that does not speak TLS is refused in plain bytes, which hold nothing secret.
//! * **TLS 1.3 only**, as both ends are this library; no resumption, so that every link is checked in full.
//! * **rustls with `ring`**, driven by whoever drives the link. Its unbuffered interface was turned down: in 0.23 it
//!   copies as often, and leaves alerts and changes of keys to the caller. Keys in the kernel (kTLS) would save the
//!   copies, but not every kernel has it: for later.
//! * **Not rustls with aws-lc**, which needs cmake and builds for longer than the whole workspace.
//! * **No cargo feature**: a binary that cannot be told to encipher is a trap
//!   (`docs/decisions/0014-tls-beneath-the-frames.md`).

mod cipher;
mod failure;
mod files;
mod identity;
mod options;
mod verifier;

pub(crate) use cipher::Cipher;
pub use failure::TlsFailure;
pub use identity::TlsIdentity;
pub use options::{TlsError, TlsOptions};
