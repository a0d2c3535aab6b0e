//! Reads conditions as they are written: `has(particles)`, `has("Druck (Pa)")`.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use super::canonical::is_word_character;
use super::{Condition, WORDS};
use crate::name::{NameError, validate_name};

/// Why a text is no condition. Characters are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseConditionError {
    /// No word with brackets.
    #[error("{text:?}, character {at}: a condition is a word with brackets behind it, as has(particles)")]
    Form {
        /// What was given.
        text: String,
        /// Where something else was expected.
        at: usize,
    },
    /// A word that does not exist.
    #[error("there is no condition {word:?}; there are {}", WORDS.join(", "))]
    Word {
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
    /// A character that stands in quotes only, or a quote without its other half.
    #[error("{text:?}, character {at}: {character:?} stands here; names with such characters go in quotes")]
    Character {
        /// What was given.
        text: String,
        /// Where.
        at: usize,
        /// The character.
        character: char,
    },
}

impl From<Infallible> for ParseConditionError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl TryFrom<&str> for Condition {
    type Error = ParseConditionError;

    fn try_from(text: &str) -> Result<Self, ParseConditionError> {
        text.parse()
    }
}

impl FromStr for Condition {
    type Err = ParseConditionError;

    fn from_str(text: &str) -> Result<Self, ParseConditionError> {
        let start = text.len() - text.trim_start().len();
        let rest = &text[start..];
        let word = &rest[..rest.find(|c| !is_word_character(c)).unwrap_or(rest.len())];
        let behind = start + word.len();
        let form = |at: usize| ParseConditionError::Form { text: text.to_owned(), at: number(text, at) };
        if word.is_empty() {
            return Err(form(start));
        }
        let opened = text[behind..].trim_start();
        let inside = opened.strip_prefix('(').ok_or_else(|| form(text.len() - opened.len()))?;
        let first = text.len() - inside.len();
        let inside = inside.trim_end().strip_suffix(')').ok_or_else(|| form(text.trim_end().len()))?;
        match word {
            "has" => Ok(Self::Has { variable: name(text, first, inside)? }),
            other => Err(ParseConditionError::Word { word: other.to_owned() }),
        }
    }
}

/// The number of the character at this byte.
fn number(text: &str, at: usize) -> usize {
    text[..at].chars().count() + 1
}

/// The variable that is named by what stands in the brackets, which begins at that byte.
fn name(text: &str, first: usize, inside: &str) -> Result<String, ParseConditionError> {
    let first = first + inside.len() - inside.trim_start().len();
    let inside = inside.trim();
    let quoted = inside.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let (name, from) = quoted.map_or((inside, first), |name| (name, first + 1));
    let needs_quotes = |c: char| c == '"' || (quoted.is_none() && matches!(c, '(' | ')' | ','));
    if let Some((at, character)) = name.char_indices().find(|(_, c)| needs_quotes(*c)) {
        let at = number(text, from + at);
        return Err(ParseConditionError::Character { text: text.to_owned(), at, character });
    }
    match validate_name(name) {
        Ok(()) => Ok(name.to_owned()),
        Err(source) => {
            Err(ParseConditionError::Name { text: text.to_owned(), at: number(text, from), source })
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Has { variable } if variable.contains(['(', ')', ',']) => write!(f, "has(\"{variable}\")"),
            Self::Has { variable } => write!(f, "has({variable})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Condition, ParseConditionError> {
        text.parse()
    }

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for (text, name) in [
            ("has(particles)", "particles"),
            (" has ( atom.x ) ", "atom.x"),
            ("has(\"Druck (Pa)\")", "Druck (Pa)"),
            ("has(wind speed)", "wind speed"),
        ] {
            let condition = Condition::Has { variable: name.to_owned() };
            assert_eq!(read(text), Ok(condition.clone()), "{text}");
            assert_eq!(read(&condition.to_string()), Ok(condition));
        }
    }

    #[test]
    fn errors_give_the_character() {
        let form = |text: &str, at| Err(ParseConditionError::Form { text: text.into(), at });
        for (text, at) in
            [("", 1), ("  ", 3), ("(x)", 1), ("has", 4), ("has x", 5), ("has(x", 6), ("has(x) y", 9)]
        {
            assert_eq!(read(text), form(text, at), "{text:?}");
        }
        assert_eq!(read("above(T)"), Err(ParseConditionError::Word { word: "above".into() }));
        let stands = |text: &str, at, character| {
            Err(ParseConditionError::Character { text: text.into(), at, character })
        };
        for (text, at, character) in [("has(ä(b))", 6, '('), ("has(a, b)", 6, ','), ("has(\"a)", 5, '"')] {
            assert_eq!(read(text), stands(text, at, character), "{text:?}");
        }
        let unnamed = read("has( )").expect_err("no name");
        assert_eq!(unnamed.to_string(), "\"has( )\", character 6: a name is empty");
        assert!(matches!(read("has(a/b)"), Err(ParseConditionError::Name { at: 5, .. })));
        assert_eq!(
            read("above(T)").expect_err("refused").to_string(),
            "there is no condition \"above\"; there are has(variable)"
        );
    }
}
