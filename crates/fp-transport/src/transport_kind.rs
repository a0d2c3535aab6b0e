//! The kinds of link that there are, best first.

use std::fmt;

/// A kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TransportKind {
    /// Within one process and one copy of the library: payload handles cross.
    Inproc,
    /// Within one host: segments are mapped by the peer.
    Shm,
    /// Between RDMA devices: frames by queue pairs, payload by one-sided READs.
    Verbs,
    /// Anywhere: bytes through a socket.
    Tcp,
}

impl TransportKind {
    /// All of them, best first.
    pub const ALL: [TransportKind; 4] =
        [TransportKind::Inproc, TransportKind::Shm, TransportKind::Verbs, TransportKind::Tcp];

    /// As printed and as written in `FLEXPATH_TRANSPORTS`.
    pub fn name(self) -> &'static str {
        match self {
            TransportKind::Inproc => "inproc",
            TransportKind::Shm => "shm",
            TransportKind::Verbs => "verbs",
            TransportKind::Tcp => "tcp",
        }
    }

    /// Why this transport is not enciphered where TLS is configured.
    pub(crate) fn without_tls(self) -> &'static str {
        match self {
            TransportKind::Inproc => "without TLS: same process",
            TransportKind::Shm => "without TLS: same host and user",
            TransportKind::Verbs | TransportKind::Tcp => "",
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            TransportKind::Inproc => 1,
            TransportKind::Shm => 2,
            TransportKind::Tcp => 3,
            TransportKind::Verbs => 4,
        }
    }

    /// Whether both ends can have the same memory before them.
    pub fn shares_memory(self) -> bool {
        matches!(self, TransportKind::Inproc | TransportKind::Shm)
    }

    /// Whether descriptors can go with a frame.
    pub(crate) fn passes_descriptors(self) -> bool {
        self.shares_memory()
    }

    pub(crate) fn from_code(code: u8) -> Option<TransportKind> {
        TransportKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
