//! What a subscriber asks the publisher to send through a transform that is registered there, and under which names.
//!
//! It travels as derivations do, with a mark of its own, and the result lies beside the variables as theirs does: layouts,
//! wants and transports know nothing of it, and who asks for the same shares it.

use crate::derived::{DerivationError, LEFT, THROUGH, derived_name_of, failed_name_of};
use crate::options::{PublisherOptions, SubscriberOptions};
use fp_proto::bounds::LIMIT_DERIVATIONS;
use fp_transform::{Placement, Transforms};
use fp_types::validate_name;

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
    pub placement: Placement,
    /// Where fewer bytes decide: whether the subscriber does it, by what was measured until now.
    pub(crate) is_moved: bool,
}

impl TransformedVariable {
    pub(crate) fn base(&self) -> String {
        format!("{}({})", self.transform, self.variable)
    }

    /// What the result is called in steps.
    pub(crate) fn result(&self) -> String {
        derived_name_of(&self.base())
    }

    /// What the texts are called that say why there is none.
    pub(crate) fn failed(&self) -> String {
        failed_name_of(&self.base())
    }

    /// Whether the subscriber does it, of steps that begin when this is agreed.
    pub(crate) fn is_here(&self) -> bool {
        match self.placement {
            Placement::Publisher => false,
            Placement::Subscriber => true,
            Placement::FewerBytes => self.is_moved,
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

    /// What such bytes ask for, of whichever side.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (placement, len, names) = match bytes {
            [THROUGH, len, names @ ..] => (Placement::Publisher, len, names),
            [LEFT, len, names @ ..] => (Placement::Subscriber, len, names),
            _ => return None,
        };
        let (variable, transform) = names.split_at_checked(usize::from(*len))?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let (variable, transform) = (text(variable)?, text(transform)?);
        let asked = Self { name: String::new(), variable, transform, placement, is_moved: false };
        let names = [&asked.variable, &asked.transform, &asked.result()].map(|name| validate_name(name));
        names.iter().all(Result::is_ok).then_some(asked)
    }

    fn check(&self) -> Result<(), DerivationError> {
        for name in [&self.name, &self.variable, &self.transform, &self.result()] {
            validate_name(name)?;
        }
        Ok(())
    }
}

impl SubscriberOptions {
    /// Has records become types that they have no conversion to, by transforms that this process registered:
    /// [`Subscriber::of`](crate::Subscriber::of) finds the cheapest path of them, and
    /// [`StepReader::get_records`](crate::StepReader::get_records) and its like take it, on the threads of the registry
    /// and within its limits. What is registered later counts from then on.
    #[must_use]
    pub fn with_transforms(mut self, transforms: &Transforms) -> Self {
        self.transforms = Some(transforms.clone());
        self
    }

    /// Has the records of a variable go through a transform that the publisher registered under that name
    /// ([`PublisherOptions::with_transforms`]), where they are put: only the result is kept and sent. It is read by its
    /// own name as any variable of records. The transform must be able to do with a block at a time: see
    /// [`Native::per_block`](crate::Native::per_block).
    ///
    /// What cannot be, such as a name that the publisher does not know, is told by
    /// [`Subscriber::of`](crate::Subscriber::of) and when the variable is read. Published variables are kept besides only
    /// if [`SubscriberOptions::with_variables`] names them.
    ///
    /// # Errors
    /// A name that cannot be, or is there already; too many.
    pub fn with_transformed(
        self,
        name: impl Into<String>,
        variable: impl Into<String>,
        transform: impl Into<String>,
    ) -> Result<Self, DerivationError> {
        self.with_transformed_at(name, variable, transform, Placement::Publisher)
    }

    /// The same on a side of one's choice. With [`Placement::Subscriber`] the first get of a step fetches the published
    /// records, whole, and runs the transform of that name in this process's registry
    /// ([`SubscriberOptions::with_transforms`]) on their blocks; the publisher needs to know nothing of it. Results are
    /// the same, whoever makes them.
    ///
    /// With [`Placement::FewerBytes`] the publisher begins, and where the transform is known here as well, it is moved to
    /// the side on which fewer bytes travel whenever rank 0 has seen, in three steps that it read one after the other, an
    /// eighth fewer on the other side: what goes in and what comes out, of all ranks. [`Subscriber::placements`] and
    /// `Statistics` of both sides say where it is done and how often it was moved.
    ///
    /// [`Subscriber::placements`]: crate::Subscriber::placements
    ///
    /// # Errors
    /// As [`SubscriberOptions::with_transformed`].
    pub fn with_transformed_at(
        mut self,
        name: impl Into<String>,
        variable: impl Into<String>,
        transform: impl Into<String>,
        placement: Placement,
    ) -> Result<Self, DerivationError> {
        let (name, variable, transform) = (name.into(), variable.into(), transform.into());
        let asked = TransformedVariable { name, variable, transform, placement, is_moved: false };
        asked.check()?;
        self.check_free(&asked.name)?;
        self.transformed.push(asked);
        Ok(self)
    }

    /// Whether there is room for one more derived variable, of that name.
    pub(crate) fn check_free(&self, name: &str) -> Result<(), DerivationError> {
        let derived = self.derivations.iter().map(|of| of.name.as_str());
        if derived.chain(self.transformed.iter().map(|of| of.name.as_str())).any(|known| known == name) {
            return Err(DerivationError::Twice { name: name.to_owned() });
        }
        if self.derivations.len() + self.transformed.len() >= LIMIT_DERIVATIONS {
            return Err(DerivationError::TooMany);
        }
        Ok(())
    }
}

impl PublisherOptions {
    /// Registers transforms that subscribers may ask for by name ([`SubscriberOptions::with_transformed`]), or by the types
    /// that they lead to ([`Subscriber::of`](crate::Subscriber::of)), and that derivations call
    /// ([`SubscriberOptions::with_derivation`]): those that are registered now, and later.
    #[must_use]
    pub fn with_transforms(mut self, transforms: &Transforms) -> Self {
        self.transforms = Some(transforms.clone());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_travels_comes_back_and_nothing_else_is_taken_for_it() {
        let options = SubscriberOptions::default().with_transformed("lists", "bonds", "adjacency");
        let asked = options.expect("names").transformed[0].clone();
        let bytes = asked.to_bytes();
        let read = TransformedVariable::from_bytes(&bytes).expect("what was written");
        assert_eq!((read.result(), read.failed()), (asked.result(), asked.failed()));
        assert_eq!(asked.result(), "adjacency(bonds)#derived");
        for len in 0..bytes.len() {
            let cut = TransformedVariable::from_bytes(&bytes[..len]);
            assert!(cut.is_none_or(|cut| cut.variable == "bonds" && cut.transform != "adjacency"), "{len}");
        }
        assert!(TransformedVariable::from_bytes(&[THROUGH, 1, b'/', b'x']).is_none());
        assert!(TransformedVariable::from_bytes(&[THROUGH, 1, 0xff, b'x']).is_none());
        assert!(TransformedVariable::from_bytes(&[0, 1, b'a', b'x']).is_none());
        assert!(TransformedVariable::from_bytes(&[&[THROUGH, 200][..], &[b'a'; 255]].concat()).is_none());
    }

    #[test]
    fn names_that_cannot_be_are_refused_at_once() {
        let options =
            || SubscriberOptions::default().with_transformed("lists", "bonds", "adjacency").expect("names");
        let twice = options().with_transformed("lists", "bonds", "other").expect_err("the name is there");
        assert_eq!(twice, DerivationError::Twice { name: "lists".to_owned() });
        assert!(options().with_derivation("lists", "x | max").is_err());
        assert!(options().with_transformed("more", "bonds", "a/b").is_err());
        assert!(options().with_transformed("more", "b".repeat(200), "a".repeat(200)).is_err());
    }
}
