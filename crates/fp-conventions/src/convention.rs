//! The conventions that are known.

use std::fmt;
use std::str::FromStr;

/// A convention of names, attributes and shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Convention {
    /// The base standard of openPMD, versions 1.0 and 1.1: <https://www.openpmd.org>.
    OpenPmd,
    /// The mesh protocol of Conduit's Blueprint: <https://llnl-conduit.readthedocs.io>.
    Blueprint,
    /// Refined meshes, with the names of openPMD's proposed extension.
    Amr,
}

/// A text that names no convention.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no convention: openpmd, blueprint and amr are")]
pub struct ParseConventionError {
    /// The text.
    pub text: String,
}

impl Convention {
    /// Every convention.
    pub const ALL: [Convention; 3] = [Self::OpenPmd, Self::Blueprint, Self::Amr];

    /// Its name in lower case: what [`FromStr`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenPmd => "openpmd",
            Self::Blueprint => "blueprint",
            Self::Amr => "amr",
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Convention {
    type Err = ParseConventionError;

    fn from_str(text: &str) -> Result<Self, ParseConventionError> {
        let found = Self::ALL.into_iter().find(|convention| convention.name() == text);
        found.ok_or_else(|| ParseConventionError { text: text.to_owned() })
    }
}
