//! Why a derivation cannot be subscribed to.

use fp_proto::bounds::{LIMIT_DERIVATIONS, LIMIT_DERIVATIONS_BYTES, LIMIT_MODULES, LIMIT_MODULES_BYTES};
use fp_transform::{DeriveError, ParseDerivationError};
use fp_types::NameError;
use std::convert::Infallible;

/// Why a derivation cannot be subscribed to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivationError {
    /// The text cannot be read; it says where.
    #[error(transparent)]
    Text(#[from] ParseDerivationError),
    /// No variable can have that name.
    #[error("the name of a derived variable: {0}")]
    Name(NameError),
    /// Something else is called so already.
    #[error("two derived variables are called {name:?}")]
    Twice {
        /// The name.
        name: String,
    },
    /// Several arrays with nothing that makes one of them.
    #[error("{derivation:?} gives {count} arrays, which are variables already")]
    Several {
        /// The derivation.
        derivation: String,
        /// How many.
        count: usize,
    },
    /// More than a subscription may ask for.
    #[error("a subscription asks for {LIMIT_DERIVATIONS} derivations at most")]
    TooMany,
    /// Longer than what a subscription may ask for.
    #[error(
        "the derivations of a subscription take {len_bytes} bytes, and {LIMIT_DERIVATIONS_BYTES} at most are sent"
    )]
    TooLong {
        /// What they take.
        len_bytes: usize,
    },
    /// It needs a module that [`SubscriberOptions::with_module`](crate::SubscriberOptions::with_module) has not named.
    #[error("{0}: with_module names it, before a derivation does")]
    NoModule(DeriveError),
    /// A module's name is no word, or is that of another one.
    #[error("a module cannot be called {name:?}: {what}")]
    ModuleName {
        /// The name.
        name: String,
        /// Why.
        what: &'static str,
    },
    /// More than a subscription may hand over.
    #[error("a subscription hands over {LIMIT_MODULES} modules at most")]
    TooManyModules,
    /// Longer than what a subscription may hand over.
    #[error(
        "the modules of a subscription take {len_bytes} bytes, and {LIMIT_MODULES_BYTES} at most are sent"
    )]
    ModulesTooLong {
        /// What they take.
        len_bytes: usize,
    },
}

impl From<NameError> for DerivationError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<Infallible> for DerivationError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
