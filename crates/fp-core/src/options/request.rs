//! What a subscription asks for besides variables: one kind of value, whatever is asked for.

use crate::options::derived_variable::DerivedVariable;
use crate::options::transformed_variable::TransformedVariable;
use crate::options::wanted_type::WantedType;
use fp_proto::request::Request;
use fp_transform::CohortSide;

/// One thing that a subscription asks for besides variables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SubscriptionRequest {
    /// A variable that is derived of published ones.
    Derived(DerivedVariable),
    /// Records that go through a transform.
    Transformed(TransformedVariable),
    /// A type that the stream must have for it to attach.
    Type(WantedType),
}

impl From<DerivedVariable> for SubscriptionRequest {
    fn from(derived: DerivedVariable) -> Self {
        Self::Derived(derived)
    }
}

impl From<TransformedVariable> for SubscriptionRequest {
    fn from(transformed: TransformedVariable) -> Self {
        Self::Transformed(transformed)
    }
}

impl From<WantedType> for SubscriptionRequest {
    fn from(wanted: WantedType) -> Self {
        Self::Type(wanted)
    }
}

impl SubscriptionRequest {
    /// What the variable is read by that it asks for; a type is no variable.
    pub(crate) fn variable(&self) -> Option<&str> {
        match self {
            Self::Derived(of) => Some(&of.name),
            Self::Transformed(of) => Some(&of.name),
            Self::Type(_) => None,
        }
    }

    /// On which side it is asked for.
    pub(crate) fn placement(&self) -> Option<CohortSide> {
        match self {
            Self::Derived(of) => Some(of.placement),
            Self::Transformed(of) => Some(of.placement),
            Self::Type(_) => None,
        }
    }

    pub(crate) fn place(&mut self, placement: CohortSide) {
        match self {
            Self::Derived(of) => of.placement = placement,
            Self::Transformed(of) => {
                // It stays where it is until something is measured.
                of.is_moved = of.is_here();
                of.placement = placement;
            }
            Self::Type(_) => {}
        }
    }

    /// What publishers are asked for.
    pub(crate) fn of_publisher(&self) -> Option<Request> {
        match self {
            Self::Derived(of) => of.request(),
            Self::Transformed(of) => Some(of.request()),
            Self::Type(_) => None,
        }
    }

    /// The bytes of it that count for the bound.
    pub(crate) fn len_bytes(&self) -> usize {
        match self {
            Self::Derived(of) => of.derivation.to_bytes().len(),
            Self::Transformed(of) => of.variable.len() + of.transform.len(),
            Self::Type(_) => 0,
        }
    }
}
