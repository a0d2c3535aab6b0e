//! A derived variable as a subscriber asks for it, and the bytes that travel for it.

use crate::error::derivation::DerivationError;
use fp_proto::bounds::{LIMIT_DERIVATIONS, LIMIT_DERIVATIONS_BYTES};
use fp_transform::{CohortSide, Derivation};
use fp_types::validate_name;

/// A variable that a subscriber has derived.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DerivedVariable {
    /// What it is read by.
    pub name: String,
    /// What it is derived by.
    pub derivation: Derivation,
    /// On which side.
    pub placement: CohortSide,
}

/// Marks a derivation that is done by the publisher.
pub(crate) const ALWAYS: u8 = 0;

/// Marks one that is done by the publisher unless its inputs have fewer bytes.
pub(crate) const FEWER_BYTES: u8 = 1;

/// Marks a module that derivations name.
pub(crate) const MODULE: u8 = 2;

/// Marks records that go through a transform of the publisher's, before the lengths of two names and the names.
pub(crate) const THROUGH: u8 = 3;

/// Marks the same where the subscriber does it, of the variable that is kept for it.
pub(crate) const LEFT: u8 = 4;

/// What travels to have that derived.
pub(crate) fn with_mark(mark: u8, derivation: &Derivation) -> Vec<u8> {
    [&[mark], &derivation.to_bytes()[..]].concat()
}

/// Whether that is a module, and nothing that is derived.
pub(crate) fn is_module(marked: &[u8]) -> bool {
    marked.first() == Some(&MODULE)
}

impl DerivationError {
    /// Whether one more goes with those that are asked for.
    pub(crate) fn check(known: &[DerivedVariable], name: &str, derivation: &Derivation) -> Result<(), Self> {
        validate_name(name)?;
        let count = derivation.inputs().len();
        if known.iter().any(|other| other.name == name) {
            return Err(Self::Twice { name: name.to_owned() });
        }
        if derivation.operations().is_empty() && count > 1 {
            return Err(Self::Several { derivation: derivation.to_string(), count });
        }
        if known.len() >= LIMIT_DERIVATIONS {
            return Err(Self::TooMany);
        }
        let len = |derivation: &Derivation| 1 + derivation.to_bytes().len();
        let len_bytes = len(derivation) + known.iter().map(|of| len(&of.derivation)).sum::<usize>();
        if len_bytes > LIMIT_DERIVATIONS_BYTES {
            return Err(Self::TooLong { len_bytes });
        }
        Ok(())
    }
}
