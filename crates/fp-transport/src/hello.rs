//! The first bytes on any link, laid out by hand. This layout never changes, in no version of the protocol. So two
//! ranks of different versions can always tell each other that they are.
//!
//! Integers are little endian. The dialler sends a hello of 128 bytes:
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | `FLXP` |
//! | 4..6, 6..8 | lowest and highest version it speaks |
//! | 8..24 | epoch it expects; zero: any |
//! | 24..56 | token; zero: none |
//! | 56..72 | process id |
//! | 72..88 | host id |
//! | 88..92 | process number |
//! | 92 | purpose: 1 control, 2 data, 3 probe |
//! | 93 | transport wanted: 1 inproc, 2 shm, 3 tcp, 4 verbs |
//! | 94..128 | reserved: zero, not looked at |
//!
//! The listener answers with 96 bytes, over shm with a memfd beside them. The dialler then proves with 16 bytes that
//! the transport works. The listener answers once more:
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | `FLXR` |
//! | 4 | 0 accepted, else the refusal |
//! | 5 | state, chosen by the listener's owner |
//! | 6..8 | version chosen |
//! | 8..10, 10..12 | lowest and highest version it speaks |
//! | 12..16 | process number |
//! | 16..32 | its epoch; zero where the token was wrong |
//! | 32..48 | process id |
//! | 48..64 | host id |
//! | 64..80 | challenge, by transport (see below) |
//! | 80 | why the transport was refused |
//! | 81..96 | reserved: zero, not looked at |
//!
//! The challenge is a nonce over tcp, and a key of the process-wide table over inproc. Over shm it is zero, as the
//! challenge is in the memfd. Over verbs it is the address and key of memory to READ.

mod refusal;
mod reply;
mod token;
mod token_hash;

pub use refusal::{Refusal, TransportRefusal};
pub(crate) use reply::REPLY_MAGIC;
pub use reply::{REPLY_LEN, Reply};
pub use token::{Token, TokenError, TokenFileError};
pub use token_hash::TokenHash;

use crate::identity::{HostId, ProcessId};
use crate::transport_kind::TransportKind;

/// Lowest protocol version that this library speaks.
pub const VERSION_LOWEST: u16 = 2;
/// Highest protocol version that this library speaks.
pub const VERSION_HIGHEST: u16 = 2;
/// Bytes of a hello.
pub const HELLO_LEN: usize = 128;
/// Bytes of the proof.
pub const PROOF_LEN: usize = 16;
pub(crate) const HELLO_MAGIC: [u8; 4] = *b"FLXP";

/// What a link is for. Control and bulk never share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// Coordination.
    Control = 1,
    /// Payload.
    Data = 2,
    /// Asking who is there, and nothing more.
    Probe = 3,
}

impl Purpose {
    fn code(self) -> u8 {
        self as u8
    }

    fn from_code(code: u8) -> Option<Purpose> {
        [Purpose::Control, Purpose::Data, Purpose::Probe].into_iter().find(|purpose| purpose.code() == code)
    }
}

/// What a dialler says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Lowest version it speaks.
    pub version_lowest: u16,
    /// Highest version it speaks.
    pub version_highest: u16,
    /// The epoch it expects, if it expects one.
    pub epoch: Option<u128>,
    /// Its token, if it has one.
    pub token: Option<Token>,
    /// Its copy of the library.
    pub process: ProcessId,
    /// Its host.
    pub host: HostId,
    /// Its process number.
    pub pid: u32,
    /// What the link is for.
    pub purpose: Purpose,
    /// The candidate that is tried.
    pub transport: TransportKind,
}

impl Hello {
    /// The fixed bytes.
    pub fn encode(&self) -> [u8; HELLO_LEN] {
        let mut bytes = [0; HELLO_LEN];
        bytes[0..4].copy_from_slice(&HELLO_MAGIC);
        bytes[4..6].copy_from_slice(&self.version_lowest.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.version_highest.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.epoch.unwrap_or(0).to_le_bytes());
        if let Some(token) = &self.token {
            bytes[24..56].copy_from_slice(token.as_bytes());
        }
        bytes[56..72].copy_from_slice(&self.process.0.to_le_bytes());
        bytes[72..88].copy_from_slice(&self.host.0.to_le_bytes());
        bytes[88..92].copy_from_slice(&self.pid.to_le_bytes());
        bytes[92] = self.purpose.code();
        bytes[93] = self.transport.code();
        bytes
    }

    /// Reads the fixed bytes of any version.
    ///
    /// # Errors
    /// [`Refusal::Malformed`], if they are no hello.
    pub fn decode(bytes: &[u8; HELLO_LEN]) -> Result<Hello, Refusal> {
        if bytes[0..4] != HELLO_MAGIC {
            return Err(Refusal::Malformed);
        }
        let epoch = u128_at(bytes, 8);
        Ok(Hello {
            version_lowest: u16_at(bytes, 4),
            version_highest: u16_at(bytes, 6),
            epoch: (epoch != 0).then_some(epoch),
            token: Token::new(array_at(bytes, 24)),
            process: ProcessId(u128_at(bytes, 56)),
            host: HostId(u128_at(bytes, 72)),
            pid: u32_at(bytes, 88),
            purpose: Purpose::from_code(bytes[92]).ok_or(Refusal::Malformed)?,
            transport: TransportKind::from_code(bytes[93])
                .ok_or(Refusal::Transport { reason: TransportRefusal::Unknown })?,
        })
    }
}

/// The highest version that both speak.
pub(crate) fn choose_version(lowest: u16, highest: u16) -> Option<u16> {
    let chosen = highest.min(VERSION_HIGHEST);
    (chosen >= lowest.max(VERSION_LOWEST)).then_some(chosen)
}

/// `N` bytes from `at`, which the fixed layouts keep in bounds; zeros elsewhere.
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u128_at(bytes: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(array_at(bytes, at))
}

#[cfg(test)]
mod tests;
