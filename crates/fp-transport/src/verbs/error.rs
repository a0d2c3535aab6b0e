//! Why verbs cannot be used here or with a peer, and what to do about it.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;

/// A reason against verbs. Each says what to do, where there is something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerbsTrouble {
    /// The libraries of rdma-core are not here.
    #[error(
        "{library} cannot be opened ({error}): install rdma-core's libraries (Debian: libibverbs1, librdmacm1, \
         ibverbs-providers)"
    )]
    NoLibrary {
        /// The library, or the symbol of it that is missing.
        library: &'static str,
        /// What the loader said.
        error: String,
    },
    /// The kernel has no verbs.
    #[error("the kernel has no verbs ({error}): load the modules ib_uverbs and rdma_ucm")]
    NoKernel {
        /// What the system said.
        error: String,
    },
    /// There is no RDMA device.
    #[error(
        "this machine has no RDMA device (`rdma link` lists them): a card needs its driver, soft-RoCE `rdma link add`"
    )]
    NoDevice,
    /// A device file cannot be opened by this user.
    #[error("{path} cannot be opened ({error}): the user needs read and write access to it")]
    NoPermission {
        /// The file.
        path: String,
        /// What the system said.
        error: String,
    },
    /// TLS is configured.
    #[error(
        "TLS is configured here, and verbs carries bytes in clear: leave TLS out where the fabric is trusted"
    )]
    Tls,
    /// No device leads to the address.
    #[error(
        "no RDMA device leads to {address} ({error}): it must be an address of a link that has one, not loopback"
    )]
    NoRoute {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: String,
    },
    /// Another device than the one that was asked for.
    #[error("the device {wanted} was asked for, and {found} leads there")]
    OtherDevice {
        /// The device of the options.
        wanted: String,
        /// The one that the address belongs to.
        found: String,
    },
    /// The device of the options does not exist.
    #[error("the device {wanted} was asked for, and this machine has {found}: correct the option")]
    NotThere {
        /// The device of the options.
        wanted: String,
        /// Those that there are.
        found: String,
    },
    /// Nobody could dial the device.
    #[error("{device} has no IP address: give one to the network link under it (`ip address add`)")]
    NoAddress {
        /// The device.
        device: String,
    },
    /// The port is not active.
    #[error(
        "port {port} of {device} is not active (state {state}): see `rdma link` and the cable or link under it"
    )]
    PortDown {
        /// The device.
        device: String,
        /// Its port, from 1.
        port: u8,
        /// The state, as `ibv_port_state` counts it: 1 down, 2 initialised, 3 armed.
        state: u32,
    },
    /// Memory cannot be locked.
    #[error(
        "{needed_bytes} bytes of memory must be locked and {limit_bytes} is the limit: raise it (`ulimit -l unlimited`, \
         memlock in /etc/security/limits.conf, LimitMEMLOCK= of a service)"
    )]
    MemoryLock {
        /// Bytes of this one registration.
        needed_bytes: u64,
        /// `RLIMIT_MEMLOCK`.
        limit_bytes: u64,
    },
    /// A fork would part the caller's memory from what the device writes to.
    #[error(
        "memory of the program's own is not registered, as a fork might part it from the device ({error}): set \
         RDMAV_FORK_SAFE=1 before the program starts, or use Linux 5.12 or later"
    )]
    Fork {
        /// What the library said.
        error: String,
    },
    /// The peer turned the connection down before a word was said.
    #[error("nobody takes verbs connections at {address} (status {status})")]
    Rejected {
        /// Who was dialled.
        address: SocketAddr,
        /// As librdmacm says it.
        status: i32,
    },
    /// It took too long.
    #[error("no answer over verbs within {waited_ms} ms")]
    Silent {
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// The connection broke.
    #[error("the verbs connection broke: {0}")]
    Broken(Breakage),
    /// The peer may go on to read memory of this side.
    #[error("the peer's access could not be ended: {first}; {second}. What it can read is not used again")]
    StillOpen {
        /// Why the queue pair is not in the error state.
        first: String,
        /// Why it was not destroyed.
        second: String,
    },
    /// A call failed.
    #[error("{call} failed: {error}")]
    Call {
        /// Its name.
        call: &'static str,
        /// What the system said.
        error: String,
    },
}

impl VerbsTrouble {
    /// A call that left its error in `errno`.
    pub(super) fn call(call: &'static str) -> VerbsTrouble {
        VerbsTrouble::of_call(call)(io::Error::last_os_error())
    }

    /// A call with the error that it gave.
    pub(super) fn of_call<E: Display>(call: &'static str) -> impl Fn(E) -> VerbsTrouble {
        move |error| VerbsTrouble::Call { call, error: error.to_string() }
    }
}

/// Why a verbs connection is of no more use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Breakage {
    /// The peer closed it, or is gone.
    #[error("the peer is gone")]
    Gone,
    /// This side ended it.
    #[error("this side ended it")]
    Ended,
    /// The device is gone, or its port is down.
    #[error("the device or its port went down")]
    Device,
    /// The peer said what cannot be.
    #[error("the peer broke the rules of credit")]
    Misbehaved,
    /// A request failed.
    #[error("a request failed with status {status} of ibv_wc_status")]
    Status {
        /// The number: 10 is a remote access error, 12 no answer, 13 no receive posted.
        status: u32,
    },
}

/// Why READs did not bring what they were asked for.
#[derive(Debug)]
pub(crate) enum ReadTrouble {
    /// A run lies outside its memory, or the memory cannot be read to: nothing was read.
    Outside {
        /// What is wrong.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value it may have.
        limit: u64,
    },
    /// The deadline is over.
    Deadline,
    /// The connection broke.
    Lost(io::Error),
}

impl ReadTrouble {
    pub(super) fn broken(breakage: Breakage) -> ReadTrouble {
        ReadTrouble::Lost(io::Error::other(VerbsTrouble::Broken(breakage)))
    }
}
