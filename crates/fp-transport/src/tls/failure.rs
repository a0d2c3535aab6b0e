//! What can go wrong between two ends that try to speak TLS.

use super::files::Files;
use rustls::{AlertDescription, Error};
use std::io;
use std::path::PathBuf;

/// Why TLS with a peer failed. What it says of the peer is what this end saw, not what the peer is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The peer's certificate was not accepted here: another authority, out of date, another name, no certificate.
    #[error("its certificate is not accepted: {error} (authority {}, name `{name}`)", authority.display())]
    Untrusted {
        /// What is wrong with it.
        error: String,
        /// The file of the authority that it was checked against.
        authority: PathBuf,
        /// The name that it must hold.
        name: String,
    },
    /// The peer did not accept the certificate of this side.
    #[error("it does not accept this side's certificate {}: it says {alert}", certificate.display())]
    Rejected {
        /// What the peer said.
        alert: String,
        /// The file of this side's certificate.
        certificate: PathBuf,
    },
    /// The first bytes were none of TLS.
    #[error("it does not speak TLS, which this side has configured")]
    NotTls,
    /// More bytes came than any handshake has.
    #[error("its TLS handshake is longer than {limit_bytes} bytes")]
    TooLong {
        /// The most that are read.
        limit_bytes: usize,
    },
    /// The bytes made no sense, were changed on the way, or the peer gave up.
    #[error("TLS: {error}")]
    Broken {
        /// What is wrong.
        error: String,
    },
}

impl TlsFailure {
    /// Whether a certificate was not accepted, or one side alone speaks TLS.
    pub(crate) fn is_about_credentials(&self) -> bool {
        match self {
            Self::Untrusted { .. } | Self::Rejected { .. } | Self::NotTls => true,
            Self::TooLong { .. } | Self::Broken { .. } => false,
        }
    }

    /// As an error of the system, in which form links and handshakes pass it on.
    pub(crate) fn into_io(self) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, self)
    }

    /// The failure in an error that was made of one.
    pub(crate) fn of(error: &io::Error) -> Option<&TlsFailure> {
        error.get_ref()?.downcast_ref()
    }

    /// Sorts the library's errors by guilt.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "an enum of rustls: what it adds is nobody's certificate"
    )]
    pub(super) fn new(error: Error, files: &Files) -> TlsFailure {
        match error {
            Error::InvalidCertificate(_) | Error::NoCertificatesPresented => TlsFailure::Untrusted {
                error: error.to_string(),
                authority: files.authority.clone(),
                name: files.name.clone(),
            },
            Error::AlertReceived(alert) if is_about_certificate(alert) => {
                TlsFailure::Rejected { alert: format!("{alert:?}"), certificate: files.certificate.clone() }
            }
            error => TlsFailure::Broken { error: error.to_string() },
        }
    }
}

fn is_about_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::NoCertificate
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::CertificateRequired
            | AlertDescription::DecryptError
    )
}
