//! A derived variable as a subscriber asks for it.

use crate::error::derivation::DerivationError;
use fp_proto::request::Request;
use fp_transform::{CohortSide, Derivation};
use fp_types::validate_name;

/// A variable that a subscriber has derived.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::{CohortSide, DerivedVariable, SubscriberOptions};
///
/// let hot = DerivedVariable::new("hot", "temperature | count(> 1800)")?.with_placement(CohortSide::Publisher);
/// let options = SubscriberOptions::default().with_request(hot)?;
/// # let _ = options;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// What is derived so is read by `name`; the publisher derives it.
    ///
    /// # Errors
    /// A text that cannot be read, with the position; a name that cannot be; several arrays that nothing makes one of.
    pub fn new<D>(name: impl Into<String>, derivation: D) -> Result<Self, DerivationError>
    where
        D: TryInto<Derivation>,
        DerivationError: From<D::Error>,
    {
        let (name, derivation) = (name.into(), derivation.try_into()?);
        validate_name(&name)?;
        let count = derivation.inputs().len();
        if derivation.operations().is_empty() && count > 1 {
            return Err(DerivationError::Several { derivation: derivation.to_string(), count });
        }
        Ok(Self { name, derivation, placement: CohortSide::Publisher })
    }

    /// The same on a side of one's choice. A subscriber that derives fetches the published variables, whole. With
    /// [`CohortSide::FewerBytes`] it derives in those steps in which the variables have fewer bytes than the result. In
    /// all others the publisher derives. `Statistics` of either side says how often it derived. The publisher's also
    /// says how often it left that to subscribers.
    #[must_use]
    pub fn with_placement(self, placement: CohortSide) -> Self {
        Self { placement, ..self }
    }

    /// What publishers are asked for.
    pub(crate) fn request(&self) -> Option<Request> {
        match self.placement {
            CohortSide::Publisher => Some(request(&self.derivation, false)),
            CohortSide::FewerBytes => Some(request(&self.derivation, true)),
            CohortSide::Subscriber => None,
        }
    }
}
