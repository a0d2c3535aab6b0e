//! How bytes move: contacts, links, segments, and the inproc, shm, verbs and tcp transports.
//!
//! This crate knows frames and memory, not steps. `contact` says where a rank is. `dial` and `listener` agree on a
//! transport with real bytes. `link` carries frames, and `memory` holds the bytes that are published.
//!
//! Decisions, with the alternative that was rejected:
//!
//! * **No runtime.** Sockets are non-blocking and driven by whoever holds the lock of the handle; every object exposes
//!   a descriptor (`AsFd`). A task of an async runtime would cost a thread hop, which is the wake of an idle core (20
//!   µs). Also, the thread that waits in a call must be able to wait on the link's own descriptor.
//! * **Straight-line dialling.** `dial` blocks the thread that its caller chose, with one deadline. Accepting is driven
//!   by events, because one bad peer must not hold up the others. `Dialling` never blocks: its caller hears the answer
//!   among other descriptors. It is for candidates of this host that need a socket alone, and leaves others to `dial`.
//! * **The link does not know what a payload is for.** Bulk and control use the same [`Link`] type over different
//!   connections, so that bulk never delays a heartbeat.
//! * **TLS** lies under the frames of tcp links, in `tls`, with its reasons there; a link without it pays a branch for
//!   each system call.
//! * **Unsafe code** lives in `credentials` (one call), in `page` and in files of `memory` and `verbs`, each with its
//!   reason; everything else denies it.
//!
//! Layers, lowest first; each knows only those before it:
//!
//! 1. `lock`, `page`, `credentials`, `secret_file`, `transport_kind`, `identity`: what needs nothing else here;
//! 2. `memory`, then `frame`, then `socket`;
//! 3. `verbs` and `tls`, which carry bytes or encipher them;
//! 4. `contact`, `hello`, `listen_address`, `transport_policy`, `negotiation`: what two ends say to each other before
//!    they agree;
//! 5. `channel`, then `link`, and `probe`;
//! 6. `listener` and `dial`, the two ends, which do not know each other.
#![deny(unsafe_code)]

mod channel;
pub mod contact;
mod credentials;
pub mod dial;
pub mod frame;
mod head;
pub mod hello;
pub mod identity;
pub mod link;
mod listen_address;
pub mod listener;
mod lock;
pub mod memory;
pub mod negotiation;
mod page;
mod peer_proof;
mod probe;
mod secret_file;
mod socket;
pub mod tls;
mod transport_kind;
mod transport_policy;
pub mod verbs;

pub use contact::{Contact, ContactError, Endpoint};
pub use dial::{Candidates, DialError, DialOptions, DialStep, Dialling, dial};
pub use frame::{FrameLimits, InFrame, OutFrame};
pub use head::Head;
pub use hello::{Hello, Purpose, Refusal, Token, TokenError, TokenFileError, TokenHash, TransportRefusal};
pub use identity::{HostId, PeerIdentity, ProcessId, own_pid};
pub use link::{Flushed, Link, LinkError, MemoryRegistrar};
pub use listen_address::{ListenAddress, ListenAddressError};
pub use listener::{Accepted, ListenCounts, ListenError, ListenOptions, Listener};
pub use memory::{
    Arena, InprocKey, Location, MappedSegment, MappedSlice, MemoryError, Payload, Pool, PoolMemory,
    PoolOptions, PoolStats, ProcessWatch, RemoteMemory, SegmentDescriptor, SegmentId, inproc, ring,
    ring::RingWatch,
};
pub use negotiation::{Negotiated, Reason};
pub use peer_proof::{Origin, PeerProof, ShownToken};
pub use tls::{TlsError, TlsFailure, TlsIdentity, TlsOptions};
pub use transport_kind::TransportKind;
pub use transport_policy::{PolicyError, TransportPolicy};
pub use verbs::{
    BlockRead, Breakage, Domain, DomainStats, Keys, Landing, ReadLimit, ReadPlace, ReadRun, ReadTarget,
    VerbsDevice, VerbsTrouble, verbs_devices,
};

/// Handles are moved between threads and shared under a lock.
const _: () = {
    const fn shared<T: Send + Sync + 'static>() {}
    shared::<Link>();
    shared::<Listener>();
    shared::<Pool>();
    shared::<Arena>();
    shared::<PoolMemory>();
    shared::<Payload>();
    shared::<MappedSegment>();
    shared::<ring::RingSender>();
    shared::<ring::RingReceiver>();
};
