//! What a subscription demands of a step before it gets it: words over the step's table, as text and as bytes.
//!
//! A condition is a word with arguments in brackets, as `has(particles)`. Its bytes spell the word. So whoever does not
//! know it can still say which one it was.

mod canonical;
mod judge;
mod text;

pub use canonical::{ConditionRefusal, LIMIT_CONDITION_BYTES};
pub use judge::{ConditionJudge, TableConditions};
pub use text::ParseConditionError;

/// The longest word, in bytes.
const LIMIT_WORD_BYTES: usize = 32;

/// The words that there are, as they are written.
const WORDS: [&str; 1] = ["has(variable)"];

/// What a step must be like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// `has(particles)`: some rank put that variable in the step, be it without an element.
    Has {
        /// The variable's name.
        variable: String,
    },
}
