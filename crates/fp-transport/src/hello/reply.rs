//! The listener's answer, before and after the proof.

use super::refusal::{Refusal, TransportRefusal};
use super::{u16_at, u32_at, u128_at};
use crate::identity::{HostId, ProcessId};

/// Bytes of a reply.
pub const REPLY_LEN: usize = 96;
pub(crate) const REPLY_MAGIC: [u8; 4] = *b"FLXR";

/// What a listener answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Accepted with this version, or refused.
    pub outcome: Result<u16, Refusal>,
    /// Chosen by the listener's owner.
    pub state: u8,
    /// Lowest version it speaks.
    pub version_lowest: u16,
    /// Highest version it speaks.
    pub version_highest: u16,
    /// Its process number.
    pub pid: u32,
    /// Its epoch; zero where the token was wrong.
    pub epoch: u128,
    /// Its copy of the library.
    pub process: ProcessId,
    /// Its host.
    pub host: HostId,
    /// What the proof answers to.
    pub challenge: u128,
}

impl Reply {
    /// The fixed bytes.
    pub fn encode(&self) -> [u8; REPLY_LEN] {
        let mut bytes = [0; REPLY_LEN];
        bytes[0..4].copy_from_slice(&REPLY_MAGIC);
        match &self.outcome {
            Ok(version) => bytes[6..8].copy_from_slice(&version.to_le_bytes()),
            Err(refusal) => bytes[4] = refusal.code(),
        }
        if let Err(Refusal::Transport { reason }) = &self.outcome {
            bytes[80] = reason.code();
        }
        bytes[5] = self.state;
        bytes[8..10].copy_from_slice(&self.version_lowest.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.version_highest.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.pid.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[32..48].copy_from_slice(&self.process.0.to_le_bytes());
        bytes[48..64].copy_from_slice(&self.host.0.to_le_bytes());
        bytes[64..80].copy_from_slice(&self.challenge.to_le_bytes());
        bytes
    }

    /// Reads the fixed bytes of any version. `None`: they are no reply.
    pub fn decode(bytes: &[u8; REPLY_LEN]) -> Option<Reply> {
        if bytes[0..4] != REPLY_MAGIC {
            return None;
        }
        let mut reply = Reply {
            outcome: Ok(u16_at(bytes, 6)),
            state: bytes[5],
            version_lowest: u16_at(bytes, 8),
            version_highest: u16_at(bytes, 10),
            pid: u32_at(bytes, 12),
            epoch: u128_at(bytes, 16),
            process: ProcessId(u128_at(bytes, 32)),
            host: HostId(u128_at(bytes, 48)),
            challenge: u128_at(bytes, 64),
        };
        if bytes[4] != 0 {
            reply.outcome = Err(reply.refusal(bytes[4], bytes[80]));
        }
        Some(reply)
    }

    fn refusal(&self, code: u8, detail: u8) -> Refusal {
        match code {
            1 => {
                Refusal::Version { theirs_lowest: self.version_lowest, theirs_highest: self.version_highest }
            }
            2 => Refusal::Epoch { theirs: self.epoch },
            3 => Refusal::Token,
            4 => Refusal::Transport { reason: TransportRefusal::from_code(detail) },
            5 => Refusal::Uid,
            6 => Refusal::Malformed,
            7 => Refusal::Busy,
            8 => Refusal::Probe,
            9 => Refusal::TlsNeeded,
            10 => Refusal::TlsAbsent,
            code => Refusal::Unknown { code },
        }
    }
}
