//! Which transports may be used between a pair of ranks, and in which order they are tried.

use crate::transport_kind::TransportKind;
use std::str::FromStr;

/// Which transports may be used, in which order.
///
/// ```
/// # use fp_transport as flexpath;
/// use flexpath::{TransportKind, TransportPolicy};
///
/// let policy: TransportPolicy = "tcp".parse()?;
/// assert_eq!(policy.allow, [TransportKind::Tcp]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportPolicy {
    /// Candidates, tried in this order.
    pub allow: Vec<TransportKind>,
    /// Whether a candidate that applies to the pair but cannot be used is an error, instead of a reason to try the
    /// next. A candidate that never applied (shm to another host) is passed over all the same.
    pub forbid_fallback: bool,
}

impl Default for TransportPolicy {
    fn default() -> Self {
        TransportPolicy { allow: TransportKind::ALL.to_vec(), forbid_fallback: false }
    }
}

impl TransportPolicy {
    /// Only this transport.
    pub fn only(kind: TransportKind) -> TransportPolicy {
        TransportPolicy { allow: vec![kind], ..TransportPolicy::default() }
    }

    /// Sets whether a fallback is an error.
    #[must_use]
    pub fn with_forbid_fallback(mut self, forbid_fallback: bool) -> Self {
        self.forbid_fallback = forbid_fallback;
        self
    }

    /// From `FLEXPATH_TRANSPORTS`, a list such as `shm,tcp`; the default where it is not set.
    ///
    /// # Errors
    /// [`PolicyError`], naming the word that is no transport.
    pub fn from_environment() -> Result<TransportPolicy, PolicyError> {
        match std::env::var("FLEXPATH_TRANSPORTS") {
            Ok(list) => list.parse(),
            Err(_) => Ok(TransportPolicy::default()),
        }
    }
}

/// A list of transports that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no transport: a list of inproc, shm, verbs and tcp, such as `shm,tcp`")]
pub struct PolicyError {
    /// The word that is none.
    pub word: String,
}

impl FromStr for TransportPolicy {
    type Err = PolicyError;

    fn from_str(list: &str) -> Result<TransportPolicy, PolicyError> {
        let allow: Result<Vec<_>, _> = list.split(',').map(|word| kind_of(word.trim())).collect();
        Ok(TransportPolicy { allow: allow?, ..TransportPolicy::default() })
    }
}

fn kind_of(word: &str) -> Result<TransportKind, PolicyError> {
    let found = TransportKind::ALL.into_iter().find(|kind| kind.name() == word);
    found.ok_or_else(|| PolicyError { word: word.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_read_from_a_list() {
        let policy: TransportPolicy = "tcp, shm".parse().expect("a list");
        assert_eq!(policy.allow, [TransportKind::Tcp, TransportKind::Shm]);
        assert_eq!("rdma".parse::<TransportPolicy>(), Err(PolicyError { word: "rdma".into() }));
    }
}
