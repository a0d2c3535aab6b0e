//! What a test of the suite runs over: a transport, and what goes wrong in it.

use crate::support;
use fp_transport::link::Faults;
use fp_transport::{Link, TransportKind};

/// How to make a connected pair.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) kind: TransportKind,
    pub(crate) tls: bool,
    pub(crate) faults: Faults,
}

impl Case {
    pub(crate) fn pair(self) -> (Link, Link) {
        let (mut one, mut other) = if self.kind == TransportKind::Verbs {
            support::verbs_pair()
        } else if self.tls {
            support::tls_pair()
        } else {
            support::pair(self.kind)
        };
        one.set_faults(self.faults);
        other.set_faults(self.faults);
        (one, other)
    }

    pub(crate) fn passes_descriptors(self) -> bool {
        !matches!(self.kind, TransportKind::Tcp | TransportKind::Verbs)
    }

    /// More than is taken while nobody reads: of a queue pair, which holds less than a socket, less.
    pub(crate) fn more_than_taken(self, len: usize) -> usize {
        if self.kind == TransportKind::Verbs { self.scaled(len) } else { len }
    }

    /// Smaller volumes where every call moves only a few bytes.
    pub(crate) fn scaled(self, len: usize) -> usize {
        if self.faults.send_bytes.is_some() { len / 16 } else { len }
    }
}

pub(crate) fn plain() -> Faults {
    Faults::default()
}

pub(crate) fn throttled() -> Faults {
    Faults { send_bytes: Some(97), receive_bytes: Some(61), ..Faults::default() }
}

pub(crate) fn flaky() -> Faults {
    Faults {
        send_bytes: Some(4099),
        receive_bytes: Some(1021),
        would_block_every: Some(3),
        ..Faults::default()
    }
}
