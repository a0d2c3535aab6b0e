//! Which certificate this side shows and which authority it trusts: files, named by the program or the environment.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The file of the own certificate chain.
const CERTIFICATE: &str = "FLEXPATH_TLS_CERTIFICATE";
/// The file of its key.
const KEY: &str = "FLEXPATH_TLS_KEY";
/// The file of the authority's certificates.
const AUTHORITY: &str = "FLEXPATH_TLS_AUTHORITY";
/// The name that certificates must hold.
const NAME: &str = "FLEXPATH_TLS_NAME";
/// That name where none is set.
const DEFAULT_NAME: &str = "flexpath";

/// TLS on every tcp link of a handle: control, data and the own cohort's. All files are PEM.
///
/// Every rank dials and is dialled, so each needs a certificate that serves for both. It has both extended key usages
/// (`serverAuth`, `clientAuth`) or none. All ranks of a run may share one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsOptions {
    /// The own certificate, then the ones that lead to the authority, if there are any.
    pub certificate: PathBuf,
    /// The private key of the own certificate.
    pub key: PathBuf,
    /// The authorities. One of them must have signed a peer's certificate.
    pub authority: PathBuf,
    /// The name (DNS, subject alternative) that a peer's certificate must hold. Default `flexpath`.
    pub name: String,
}

impl TlsOptions {
    /// These three files.
    pub fn new(
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
        authority: impl Into<PathBuf>,
    ) -> TlsOptions {
        let (certificate, key, authority) = (certificate.into(), key.into(), authority.into());
        TlsOptions { certificate, key, authority, name: DEFAULT_NAME.to_owned() }
    }

    /// Sets the name that a peer's certificate must hold.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// From `FLEXPATH_TLS_CERTIFICATE`, `FLEXPATH_TLS_KEY`, `FLEXPATH_TLS_AUTHORITY` and, where it is set,
    /// `FLEXPATH_TLS_NAME`. `None` where none of the first three is set.
    ///
    /// # Errors
    /// [`TlsError::Incomplete`]: some are set and some are not.
    pub fn from_environment() -> Result<Option<TlsOptions>, TlsError> {
        TlsOptions::from_variables(|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn from_variables(
        variable: impl Fn(&'static str) -> Option<OsString>,
    ) -> Result<Option<TlsOptions>, TlsError> {
        let names = [CERTIFICATE, KEY, AUTHORITY, NAME];
        let Some(set) = names.into_iter().find(|name| variable(name).is_some()) else { return Ok(None) };
        let path = |missing| variable(missing).ok_or(TlsError::Incomplete { set, missing });
        let options = TlsOptions::new(path(CERTIFICATE)?, path(KEY)?, path(AUTHORITY)?);
        Ok(Some(match variable(NAME) {
            Some(name) => options.with_name(name.to_string_lossy()),
            None => options,
        }))
    }
}

/// Why TLS cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The environment names only a part of the files.
    #[error("{set} is set, but {missing} is not: TLS needs {CERTIFICATE}, {KEY} and {AUTHORITY}")]
    Incomplete {
        /// The variable that is set.
        set: &'static str,
        /// The one that is not.
        missing: &'static str,
    },
    /// A file cannot be read, or holds nothing of the kind.
    #[error("TLS: no {what} can be read from {}: {error}", path.display())]
    File {
        /// What was looked for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
    /// The certificate is out of date, or not valid yet: every peer would refuse it.
    #[error("TLS: the certificate {} cannot be used now: {error}", path.display())]
    OutOfDate {
        /// The file.
        path: PathBuf,
        /// Since or until when.
        error: String,
    },
    /// The certificate and the key do not belong together, or are of a kind that is not supported.
    #[error("TLS: the certificate {} and the key {} cannot be used: {error}", certificate.display(), key.display())]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong.
        error: String,
    },
    /// The expected name is no DNS name.
    #[error("TLS: `{name}` is no name that a certificate could hold")]
    Name {
        /// The name.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&'static str, &str)]) -> Result<Option<TlsOptions>, TlsError> {
        let found = |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        TlsOptions::from_variables(found)
    }

    #[test]
    fn the_environment_is_whole_or_absent() {
        assert_eq!(of(&[]), Ok(None));
        let whole = [(CERTIFICATE, "c.pem"), (KEY, "k.pem"), (AUTHORITY, "a.pem")];
        assert_eq!(of(&whole), Ok(Some(TlsOptions::new("c.pem", "k.pem", "a.pem"))));
        let named = [&whole[..], &[(NAME, "run7")]].concat();
        assert_eq!(of(&named), Ok(Some(TlsOptions::new("c.pem", "k.pem", "a.pem").with_name("run7"))));
        assert_eq!(of(&whole[..2]), Err(TlsError::Incomplete { set: CERTIFICATE, missing: AUTHORITY }));
        assert_eq!(of(&named[3..]), Err(TlsError::Incomplete { set: NAME, missing: CERTIFICATE }));
    }
}
