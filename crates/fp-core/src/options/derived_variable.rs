//! A derived variable as a subscriber asks for it.

use crate::error::derivation::DerivationError;
use fp_proto::bounds::{LIMIT_DERIVATIONS, LIMIT_DERIVATIONS_BYTES};
use fp_proto::request::Request;
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

/// A derivation that the publisher does; if it may be left, unless its inputs have fewer bytes.
pub(crate) fn request(derivation: &Derivation, may_be_left: bool) -> Request {
    Request::Derivation { derivation: derivation.to_bytes(), may_be_left }
}

impl DerivedVariable {
    /// What publishers are asked for.
    pub(crate) fn request(&self) -> Option<Request> {
        match self.placement {
            CohortSide::Publisher => Some(request(&self.derivation, false)),
            CohortSide::FewerBytes => Some(request(&self.derivation, true)),
            CohortSide::Subscriber => None,
        }
    }
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
        let len = |derivation: &Derivation| derivation.to_bytes().len();
        let len_bytes = len(derivation) + known.iter().map(|of| len(&of.derivation)).sum::<usize>();
        if len_bytes > LIMIT_DERIVATIONS_BYTES {
            return Err(Self::TooLong { len_bytes });
        }
        Ok(())
    }
}
