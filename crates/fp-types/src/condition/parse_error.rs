//! Why a text is no condition.

use std::convert::Infallible;

use super::WORDS;
use crate::name::NameError;
use crate::selection::ParseSelectionError;

/// Why a text is no condition. Characters are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseConditionError {
    /// Something else than what belongs there.
    #[error("{text:?}, character {at}: {expected} is expected here")]
    Expected {
        /// What was given.
        text: String,
        /// Where something else was expected.
        at: usize,
        /// What.
        expected: &'static str,
    },
    /// A word that does not exist.
    #[error("{text:?}, character {at}: there is no condition {word:?}; there are {}", WORDS.join(", "))]
    Word {
        /// What was given.
        text: String,
        /// Where the word begins.
        at: usize,
        /// The word.
        word: String,
    },
    /// What stands in the brackets names no variable.
    #[error("{text:?}, character {at}: {source}")]
    Name {
        /// What was given.
        text: String,
        /// Where the name begins.
        at: usize,
        /// What is wrong with it.
        r#source: NameError,
    },
    /// A character that stands in quotes only.
    #[error("{text:?}, character {at}: {character:?} stands here; names with such characters go in quotes")]
    Character {
        /// What was given.
        text: String,
        /// Where.
        at: usize,
        /// The character.
        character: char,
    },
    /// What stands in the square brackets selects no region.
    #[error("{text:?}, character {at}: {source}")]
    Region {
        /// What was given.
        text: String,
        /// Where the region begins.
        at: usize,
        /// What is wrong with it.
        r#source: ParseSelectionError,
    },
    /// A module that nobody has handed over under that name.
    #[error(
        "the condition calls module({name}, ...), and no module is called so: hand it over before the condition \
         (with_module)"
    )]
    NoModule {
        /// The name.
        name: String,
    },
    /// More than a condition may have.
    #[error("{text:?}: a condition has at most {limit} {what}")]
    TooLarge {
        /// What was given.
        text: String,
        /// Of what it has too many.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
}

impl From<Infallible> for ParseConditionError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
