//! How variables came into a step, and what those are called that no user named.

use serde::{Deserialize, Serialize};

use crate::hash::CanonicalHasher;
use crate::id::Fingerprint;

/// What goes before the content in the hash. A change of the encoding changes the version.
const DOMAIN: &str = "flexpath variable 1";

/// The number of what records refer to, where origins have theirs: it comes as the records do.
const PARTS: u8 = 255;

/// How a variable came into a step. Users know what was put by its name. All else is known to those who asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum VariableOrigin {
    /// A publisher put it.
    #[default]
    Put,
    /// Publisher ranks derived or transformed it of what was put, as a subscription asks.
    Derived,
    /// Texts of publisher ranks that could not: why there is nothing.
    Failed,
    /// Owners make it of their blocks when somebody asks for it. No table has it.
    Made,
}

impl VariableOrigin {
    /// Its number on the wire.
    pub fn as_u8(self) -> u8 {
        match self {
            Self::Put => 0,
            Self::Derived => 1,
            Self::Failed => 2,
            Self::Made => 3,
        }
    }

    /// The origin with that number, if there is one.
    pub fn from_u8(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Put),
            1 => Some(Self::Derived),
            2 => Some(Self::Failed),
            3 => Some(Self::Made),
            _ => None,
        }
    }

    /// The name of a variable that came so of this: of a derivation's id, or of a variable and the transforms that it
    /// goes through. It is a hash. So all who ask for the same find the same, and no other variable is called so.
    pub fn name_of(self, what: &[&str]) -> String {
        hashed(self.as_u8(), what)
    }
}

/// The name of what the records of this variable refer to.
pub(super) fn name_of_parts(variable: &str) -> String {
    hashed(PARTS, &[variable])
}

fn hashed(number: u8, what: &[&str]) -> String {
    let mut hasher = CanonicalHasher::new(DOMAIN);
    hasher.byte(number);
    hasher.count(what.len());
    what.iter().for_each(|text| hasher.text(text));
    Fingerprint(hasher.finish()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::validate_name;

    #[test]
    fn numbers_are_stable() {
        use VariableOrigin::{Derived, Failed, Made, Put};
        assert_eq!([Put, Derived, Failed, Made].map(VariableOrigin::as_u8), [0, 1, 2, 3]);
        let found = [0, 1, 2, 3, 4].map(VariableOrigin::from_u8);
        assert_eq!(found, [Some(Put), Some(Derived), Some(Failed), Some(Made), None]);
    }

    #[test]
    fn what_differs_in_origin_or_content_has_names_of_its_own() {
        let name = VariableOrigin::name_of;
        let mut names = vec![
            name(VariableOrigin::Derived, &["x", "ab", "c"]),
            name(VariableOrigin::Derived, &["x", "a", "bc"]),
            name(VariableOrigin::Failed, &["x", "a", "bc"]),
            name(VariableOrigin::Made, &["x", "a", "bc"]),
            name(VariableOrigin::Derived, &["x"]),
            name_of_parts("x"),
        ];
        assert!(names.iter().all(|name| validate_name(name).is_ok()));
        assert_eq!(names[1], name(VariableOrigin::Derived, &["x", "a", "bc"]));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 6);
    }
}
