//! What a subscriber asks the publisher to send through a transform that is registered there, and under which names.
//!
//! It travels among the requests, as derivations do, and the result lies beside the variables as theirs does.
//! Layouts, wants and transports know nothing of it, and all who ask for the same share it.

use crate::error::derivation::DerivationError;
use fp_proto::request::Request;
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
    /// Records of `variable` through `transform`, read by `name`; the publisher does it.
    ///
    /// # Errors
    /// A name that cannot be.
    pub fn new(
        name: impl Into<String>,
        variable: impl Into<String>,
        transform: impl Into<String>,
    ) -> Result<Self, DerivationError> {
        let (name, variable, transform) = (name.into(), variable.into(), transform.into());
        for name in [&name, &variable, &transform] {
            validate_name(name)?;
        }
        Ok(Self::named(name, variable, transform, CohortSide::Publisher))
    }

    /// The same on a side of one's choice. With [`CohortSide::Subscriber`] the first get of a step fetches the
    /// published records, whole. It runs the transform of that name in this process's registry
    /// ([`SubscriberOptions::with_transforms`]) on their blocks. The publisher needs to know nothing of it. Results are
    /// the same, whoever makes them.
    ///
    /// With [`CohortSide::FewerBytes`] the publisher begins. If the transform is known here as well, it is moved to the
    /// side on which fewer bytes travel. Rank 0 decides that: it compares what goes in and what comes out, of all
    /// ranks. It moves the transform after three steps, read one after the other, with an eighth fewer bytes on the
    /// other side. [`Subscriber::placements`] and `Statistics` of both sides say where it is done and how often it was
    /// moved.
    ///
    /// [`Subscriber::placements`]: crate::Subscriber::placements
    /// [`SubscriberOptions::with_transforms`]: crate::SubscriberOptions::with_transforms
    #[must_use]
    pub fn with_placement(self, placement: CohortSide) -> Self {
        Self { placement, ..self }
    }

    fn named(name: String, variable: String, transform: String, placement: CohortSide) -> Self {
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

    /// What publishers are asked for.
    pub(crate) fn request(&self) -> Request {
        self.asked(self.is_here())
    }

    /// What they are asked for where they do it.
    pub(crate) fn through(&self) -> Request {
        self.asked(false)
    }

    fn asked(&self, is_left: bool) -> Request {
        let (variable, transform) = (self.variable.clone(), self.transform.clone());
        Request::Transform { variable, transform, is_left }
    }

    /// What is asked for, on either side; nothing if it is something else, or cannot be.
    pub(crate) fn read(request: &Request) -> Option<Self> {
        let Request::Transform { variable, transform, is_left } = request else { return None };
        let placement = if *is_left { CohortSide::Subscriber } else { CohortSide::Publisher };
        let are_names = [variable, transform].iter().all(|name| validate_name(name).is_ok());
        are_names.then(|| Self::named(String::new(), variable.clone(), transform.clone(), placement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::subscriber::SubscriberOptions;

    #[test]
    fn what_travels_comes_back_and_nothing_else_is_taken_for_it() {
        let asked = TransformedVariable::new("lists", "bonds", "adjacency").expect("names");
        let read = TransformedVariable::read(&asked.request()).expect("what was written");
        assert_eq!((&read.result, &read.failed), (&asked.result, &asked.failed));
        assert_ne!(asked.result, asked.failed);
        let names = |variable: &str, transform: &str| {
            let (variable, transform) = (variable.to_owned(), transform.to_owned());
            TransformedVariable::read(&Request::Transform { variable, transform, is_left: true })
        };
        assert!(names("bonds", "adjacency").is_some_and(|asked| asked.is_here()));
        assert!(names("bonds", "a/b").is_none() && names("", "adjacency").is_none());
        assert!(TransformedVariable::read(&Request::Module { code: Vec::new(), user: None }).is_none());
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
