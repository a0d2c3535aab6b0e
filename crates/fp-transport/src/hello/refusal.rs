//! Why a listener turned a hello down: readable by every version.

/// A listener's refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No common version.
    #[error(
        "it speaks protocol versions {theirs_lowest} to {theirs_highest}, this library {} to {}",
        super::VERSION_LOWEST,
        super::VERSION_HIGHEST
    )]
    Version {
        /// Lowest version of the listener.
        theirs_lowest: u16,
        /// Highest version of the listener.
        theirs_highest: u16,
    },
    /// It is another opening of a stream.
    #[error("it is of epoch {theirs:032x}")]
    Epoch {
        /// The listener's epoch.
        theirs: u128,
    },
    /// The token is missing or wrong.
    #[error("the token is missing or wrong")]
    Token,
    /// This transport cannot be used.
    #[error("transport refused: {reason}")]
    Transport {
        /// Why.
        reason: TransportRefusal,
    },
    /// Another user.
    #[error("it runs as another user")]
    Uid,
    /// The hello could not be read.
    #[error("it could not read the hello")]
    Malformed,
    /// Too many handshakes at once, or no descriptor left there.
    #[error("it is busy with other handshakes or out of descriptors")]
    Busy,
    /// The proof was wrong.
    #[error("the probe failed")]
    Probe,
    /// It speaks TLS only; this side has none configured.
    #[error(
        "it speaks TLS only, and this side has none configured (with_tls, or FLEXPATH_TLS_CERTIFICATE, \
         FLEXPATH_TLS_KEY and FLEXPATH_TLS_AUTHORITY)"
    )]
    TlsNeeded,
    /// It has no TLS configured; this side has.
    #[error(
        "it has no TLS configured, and this side has (with_tls, or FLEXPATH_TLS_CERTIFICATE, FLEXPATH_TLS_KEY and \
         FLEXPATH_TLS_AUTHORITY)"
    )]
    TlsAbsent,
    /// A refusal of a later version.
    #[error("refused with code {code}, which this version does not know")]
    Unknown {
        /// The code.
        code: u8,
    },
}

impl Refusal {
    /// Whether another transport to the same contact would be refused just so.
    pub fn is_final(&self) -> bool {
        matches!(self, Refusal::Version { .. } | Refusal::Epoch { .. } | Refusal::Token)
    }

    pub(super) fn code(&self) -> u8 {
        match self {
            Refusal::Version { .. } => 1,
            Refusal::Epoch { .. } => 2,
            Refusal::Token => 3,
            Refusal::Transport { .. } => 4,
            Refusal::Uid => 5,
            Refusal::Malformed => 6,
            Refusal::Busy => 7,
            Refusal::Probe => 8,
            Refusal::TlsNeeded => 9,
            Refusal::TlsAbsent => 10,
            Refusal::Unknown { code } => *code,
        }
    }
}

/// Why a listener refused a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportRefusal {
    /// A transport that this version does not know.
    #[error("not known there")]
    Unknown = 0,
    /// The owner switched it off.
    #[error("switched off there")]
    SwitchedOff = 1,
    /// It came over the wrong kind of socket.
    #[error("asked for over the wrong kind of socket")]
    WrongSocket = 2,
    /// The kernel cannot seal shared memory.
    #[error("the kernel there has no F_SEAL_FUTURE_WRITE")]
    NoSeals = 3,
    /// The process could not be watched: retired memory could never be freed.
    #[error("the process cannot be watched from there (other pid namespace)")]
    NoWatch = 4,
    /// The user is shown as the overflow id.
    #[error("the user is not known in its user namespace")]
    OverflowUid = 5,
    /// There was no memory for the probe.
    #[error("no memory for the probe there")]
    NoRoom = 6,
    /// It is another process (inproc only).
    #[error("other process")]
    OtherProcess = 7,
}

const TRANSPORT_REFUSALS: [TransportRefusal; 7] = [
    TransportRefusal::SwitchedOff,
    TransportRefusal::WrongSocket,
    TransportRefusal::NoSeals,
    TransportRefusal::NoWatch,
    TransportRefusal::OverflowUid,
    TransportRefusal::NoRoom,
    TransportRefusal::OtherProcess,
];

impl TransportRefusal {
    pub(super) fn code(self) -> u8 {
        self as u8
    }

    pub(super) fn from_code(code: u8) -> TransportRefusal {
        let known = TRANSPORT_REFUSALS.into_iter().find(|refusal| refusal.code() == code);
        known.unwrap_or(TransportRefusal::Unknown)
    }
}
