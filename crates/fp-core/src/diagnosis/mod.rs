//! Whether a transport works between two processes, and how fast. Real bytes go over a link of the kind that carries
//! streams, and every one of them is checked.
//!
//! One process answers ([`Answering`]), another probes it ([`probe`]), both with the options that a stream would have.
//! Bytes go as those of a step do. Within the process the handle crosses, and over shm the sealed segment is mapped.
//! Over verbs the bytes are READ, and over tcp the body comes through the link. In the end they lie in an array of the
//! one who probes.
//!
//! The probe opens no stream: a failure would only say that opening timed out.

mod answer;
mod probe;
pub mod status;
pub(crate) mod words;

pub use answer::Answering;
pub use fp_transport::memory::seals_supported;
pub use fp_transport::{ListenError, PolicyError, Reason};
pub use probe::{Measured, Probed, probe, probe_own_verbs};

use crate::options::link::LinkOptions;
use fp_transport::{
    DialError, LinkError, ListenAddressError, TlsError, TlsIdentity, TokenFileError, TransportKind,
    TransportPolicy, VerbsTrouble,
};

/// Why a transport does not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// `FLEXPATH_TRANSPORTS` cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// TLS is configured and cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The token of the run cannot be read.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// `FLEXPATH_LISTEN` is no address.
    #[error(transparent)]
    Address(#[from] ListenAddressError),
    /// The answering side cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// There is no link of this kind to the contact.
    #[error("{0}")]
    Refused(Reason),
    /// The link did not come about in time.
    #[error("the deadline is over while waiting for {waiting_for}")]
    Deadline {
        /// What was waited for.
        waiting_for: &'static str,
    },
    /// The link broke while bytes went over it.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The other side has no memory for the bytes, or this side cannot map it.
    #[error(transparent)]
    Memory(#[from] fp_transport::MemoryError),
    /// RDMA cannot be had here, or memory cannot be registered for it.
    #[error(transparent)]
    Verbs(#[from] VerbsTrouble),
    /// The other side said what it never says.
    #[error("the answer makes no sense: {what}")]
    Answer {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The bytes that came are not those that were sent.
    #[error("wrong bytes: word {at} of {words} is {found:#018x}, it should be {expected:#018x}")]
    Content {
        /// The first wrong word, of 8 bytes.
        at: usize,
        /// How many words were sent.
        words: usize,
        /// What it should be.
        expected: u64,
        /// What it is.
        found: u64,
    },
}

impl ProbeError {
    /// What a failed dial says of the one transport that was dialled.
    fn of_dial(error: DialError, transport: TransportKind) -> ProbeError {
        let reason = error.refused().iter().rev().find(|(kind, _)| *kind == transport);
        match (&error, reason) {
            (DialError::Deadline { waiting_for, .. }, _) => ProbeError::Deadline { waiting_for },
            (DialError::Refused { refusal, .. }, _) => ProbeError::Refused(Reason::Refused(*refusal)),
            (_, Some((_, reason))) => ProbeError::Refused(reason.clone()),
            (_, None) => ProbeError::Refused(Reason::NotAllowed),
        }
    }
}

/// The transports that a stream with these options would use.
fn policy_of(link: &LinkOptions) -> Result<TransportPolicy, PolicyError> {
    match &link.transports {
        Some(given) => Ok(given.clone()),
        None => TransportPolicy::from_environment(),
    }
}

/// TLS as a stream with these options would have it.
fn tls_of(link: &LinkOptions) -> Result<Option<TlsIdentity>, TlsError> {
    link.tls_options()?.map(|options| options.load()).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::answer::Answering;
    use crate::diagnosis::probe::Probed;
    use crate::diagnosis::probe::probe;
    use crate::diagnosis::probe::probe_own_verbs;
    use fp_transport::{Refusal, Token};
    use std::sync::atomic::{AtomicBool, Ordering};

    fn options() -> LinkOptions {
        LinkOptions { transports: Some(TransportPolicy::default()), ..LinkOptions::default() }
    }

    /// Probes an answering side of this process.
    fn probe_here(
        answering: &LinkOptions,
        asking: &LinkOptions,
        kind: TransportKind,
    ) -> Result<Probed, ProbeError> {
        let side = Answering::listen(answering)?;
        let (contact, over) = (side.contact().clone(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let over = &over;
            let served = scope.spawn(move || side.serve(&|| over.load(Ordering::Relaxed)));
            let probed = probe(&contact, kind, asking);
            over.store(true, Ordering::Relaxed);
            served.join().expect("no panic").expect("the listener is sound");
            probed
        })
    }

    #[test]
    fn every_transport_brings_the_right_bytes() {
        for kind in [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp] {
            let probed = probe_here(&options(), &options(), kind).expect("it works");
            assert!(probed.link.starts_with(&format!("transport={kind}")), "{probed:?}");
            let measured = probed.measured.expect("figures");
            assert!(measured.checked_bytes >= 16 << 20 && measured.bandwidth_bytes_per_s > 0.0);
            assert!(measured.latency > std::time::Duration::ZERO);
        }
    }

    #[test]
    fn rdma_brings_the_right_bytes_or_says_why_it_is_not_there() {
        match (fp_transport::verbs_devices(), probe_own_verbs(&options())) {
            (Ok(_), Ok(probed)) => {
                assert!(probed.link.starts_with("transport=verbs "), "{probed:?}");
                assert!(probed.measured.expect("figures").checked_bytes >= 16 << 20);
            }
            (Err(expected), Err(ProbeError::Verbs(trouble))) => assert_eq!(trouble, expected),
            (devices, probed) => panic!("{devices:?}: {probed:?}"),
        }
        let tcp = TransportPolicy::only(TransportKind::Tcp);
        let error = probe_own_verbs(&LinkOptions { transports: Some(tcp), ..options() });
        assert!(matches!(error, Err(ProbeError::Refused(Reason::NotAllowed))), "{error:?}");
    }

    #[test]
    fn what_is_forbidden_or_refused_says_why() {
        let tcp = TransportPolicy::only(TransportKind::Tcp);
        let forbidden = LinkOptions { transports: Some(tcp), ..options() };
        let error = probe_here(&options(), &forbidden, TransportKind::Shm).expect_err("not allowed");
        assert!(matches!(error, ProbeError::Refused(Reason::NotAllowed)), "{error}");
        let guarded = LinkOptions { token: Token::new([7; 32]), ..options() };
        let error = probe_here(&guarded, &options(), TransportKind::Tcp).expect_err("no token");
        assert!(matches!(error, ProbeError::Refused(Reason::Refused(Refusal::Token))), "{error}");
    }
}
