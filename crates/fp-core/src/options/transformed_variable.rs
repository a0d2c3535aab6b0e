//! What a subscriber asks the publisher to send through a transform that is registered there, and under which names.
//!
//! It travels as derivations do, with a mark of its own, and the result lies beside the variables as theirs does.
//! Layouts, wants and transports know nothing of it, and all who ask for the same share it.

use crate::error::derivation::DerivationError;
use crate::options::derived_variable::{LEFT, THROUGH};
use fp_transform::CohortSide;
use fp_types::{VariableOrigin, validate_name};

/// Records that a subscriber has transformed by the publisher.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransformedVariable {
    /// What they are read by.
    pub name: String,
    /// The published variable.
    pub variable: String,
    /// What the transform is called in the registry of the side that does it.
    pub transform: String,
    /// On which side.
    pub placement: CohortSide,
    /// Where fewer bytes decide: whether the subscriber does it, by what was measured until now.
    pub(crate) is_moved: bool,
    /// What the result is called in steps.
    pub(crate) result: String,
    /// The name of the texts that say why there is none.
    pub(crate) failed: String,
}

impl TransformedVariable {
    /// Records of `variable` through `transform`, read by `name`.
    pub(crate) fn new(name: String, variable: String, transform: String, placement: CohortSide) -> Self {
        let named = |origin: VariableOrigin| origin.name_of(&[&variable, &transform]);
        let (result, failed) = (named(VariableOrigin::Derived), named(VariableOrigin::Failed));
        Self { name, variable, transform, placement, is_moved: false, result, failed }
    }

    /// Whether the subscriber does it, of steps that begin when this is agreed.
    pub(crate) fn is_here(&self) -> bool {
        match self.placement {
            CohortSide::Publisher => false,
            CohortSide::Subscriber => true,
            CohortSide::FewerBytes => self.is_moved,
        }
    }

    /// What travels.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        if self.is_here() { self.marked(LEFT) } else { self.through() }
    }

    /// What travels where the publisher does it.
    pub(crate) fn through(&self) -> Vec<u8> {
        self.marked(THROUGH)
    }

    fn marked(&self, mark: u8) -> Vec<u8> {
        let len = u8::try_from(self.variable.len()).unwrap_or(u8::MAX);
        [&[mark, len], self.variable.as_bytes(), self.transform.as_bytes()].concat()
    }

    /// What such bytes ask the publisher to do; nothing if they ask for something else, or for nothing.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::read(bytes).filter(|asked| !asked.is_here())
    }

    /// What such bytes ask for, on either side.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (placement, len, names) = match bytes {
            [THROUGH, len, names @ ..] => (CohortSide::Publisher, len, names),
            [LEFT, len, names @ ..] => (CohortSide::Subscriber, len, names),
            _ => return None,
        };
        let (variable, transform) = names.split_at_checked(usize::from(*len))?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let (variable, transform) = (text(variable)?, text(transform)?);
        let asked = Self::new(String::new(), variable, transform, placement);
        let names = [&asked.variable, &asked.transform].map(|name| validate_name(name));
        names.iter().all(Result::is_ok).then_some(asked)
    }

    pub(crate) fn check(&self) -> Result<(), DerivationError> {
        for name in [&self.name, &self.variable, &self.transform] {
            validate_name(name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::subscriber::SubscriberOptions;

    #[test]
    fn what_travels_comes_back_and_nothing_else_is_taken_for_it() {
        let options = SubscriberOptions::default().with_transformed("lists", "bonds", "adjacency");
        let asked = options.expect("names").transformed[0].clone();
        let bytes = asked.to_bytes();
        let read = TransformedVariable::from_bytes(&bytes).expect("what was written");
        assert_eq!((&read.result, &read.failed), (&asked.result, &asked.failed));
        assert_ne!(asked.result, asked.failed);
        for len in 0..bytes.len() {
            let cut = TransformedVariable::from_bytes(&bytes[..len]);
            assert!(cut.is_none_or(|cut| cut.variable == "bonds" && cut.transform != "adjacency"), "{len}");
        }
        assert!(TransformedVariable::from_bytes(&[THROUGH, 1, b'/', b'x']).is_none());
        assert!(TransformedVariable::from_bytes(&[THROUGH, 1, 0xff, b'x']).is_none());
        assert!(TransformedVariable::from_bytes(&[0, 1, b'a', b'x']).is_none());
        assert!(TransformedVariable::from_bytes(&[&[THROUGH, 0][..], &[b'a'; 256]].concat()).is_none());
    }

    #[test]
    fn names_that_cannot_be_are_refused_at_once() {
        let options =
            || SubscriberOptions::default().with_transformed("lists", "bonds", "adjacency").expect("names");
        let twice = options().with_transformed("lists", "bonds", "other").expect_err("the name is there");
        assert_eq!(twice, DerivationError::Twice { name: "lists".to_owned() });
        assert!(options().with_derivation("lists", "x | max").is_err());
        assert!(options().with_transformed("more", "bonds", "a/b").is_err());
    }
}
