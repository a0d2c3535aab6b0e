//! Reads conditions as they are written: `has(particles)`, `max(T[0:64, :]) > 9 and not has("Druck (Pa)")`.

use std::str::FromStr;

use super::parse_error::ParseConditionError;
use super::{
    Condition, LIMIT_CONDITION_BYTES, LIMIT_DEPTH, LIMIT_HELD_STEPS, LIMIT_MEASURES, Measure, Quantity,
};
use crate::name::{NameError, validate_name};

impl TryFrom<&str> for Condition {
    type Error = ParseConditionError;

    fn try_from(text: &str) -> Result<Self, ParseConditionError> {
        text.parse()
    }
}

impl FromStr for Condition {
    type Err = ParseConditionError;

    fn from_str(text: &str) -> Result<Self, ParseConditionError> {
        let mut reading = Reading { text, at: 0, depth: 0 };
        let condition = reading.condition()?;
        reading.skip_space();
        if reading.at < text.len() {
            return Err(reading.expected("the end, \"and\" or \"or\""));
        }
        if condition.measures().len() > LIMIT_MEASURES {
            let (text, what) = (text.to_owned(), "different measures");
            return Err(ParseConditionError::TooLarge { text, what, limit: LIMIT_MEASURES });
        }
        if condition.to_string().len() > LIMIT_TEXT_BYTES {
            let (text, what) = (text.to_owned(), "bytes");
            return Err(ParseConditionError::TooLarge { text, what, limit: LIMIT_TEXT_BYTES });
        }
        Ok(condition)
    }
}

impl FromStr for Measure {
    type Err = ParseConditionError;

    fn from_str(text: &str) -> Result<Self, ParseConditionError> {
        let mut reading = Reading { text, at: 0, depth: 0 };
        let (at, word) = reading.word()?;
        let measure = reading.measure(at, word)?;
        reading.skip_space();
        if reading.at < text.len() { Err(reading.expected("the end")) } else { Ok(measure) }
    }
}

/// Bytes of the longest text: with the word before it, what may travel.
const LIMIT_TEXT_BYTES: usize = LIMIT_CONDITION_BYTES - 64;
/// A text that is read from its start.
pub(super) struct Reading<'t> {
    pub(super) text: &'t str,
    /// The byte that is read next.
    pub(super) at: usize,
    depth: usize,
}

pub(super) type Read<T> = Result<T, ParseConditionError>;

impl<'t> Reading<'t> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The number of the character at a byte.
    pub(super) fn number(&self, at: usize) -> usize {
        self.text[..at].chars().count() + 1
    }

    pub(super) fn expected(&self, expected: &'static str) -> ParseConditionError {
        ParseConditionError::Expected { text: self.text.to_owned(), at: self.number(self.at), expected }
    }

    /// Passes over a sign, if it comes next.
    pub(super) fn take(&mut self, sign: &str) -> bool {
        self.skip_space();
        let comes = self.rest().starts_with(sign);
        self.at += if comes { sign.len() } else { 0 };
        comes
    }

    pub(super) fn must_take(&mut self, sign: &str, expected: &'static str) -> Read<()> {
        if self.take(sign) { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Passes over a word, if it comes next and is not the start of a longer one.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let comes = self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_word_character));
        self.at += if comes { word.len() } else { 0 };
        comes
    }

    /// The word that comes next, and where it begins.
    pub(super) fn word(&mut self) -> Read<(usize, &'t str)> {
        self.skip_space();
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_word_character(c)).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.expected("a condition, as max(T) > 9 or has(particles),"));
        }
        let at = self.at;
        self.at += word.len();
        Ok((at, word))
    }

    fn condition(&mut self) -> Read<Condition> {
        self.list(Self::all_of, "or", Condition::Or)
    }

    fn all_of(&mut self) -> Read<Condition> {
        self.list(Self::term, "and", Condition::And)
    }

    fn list(
        &mut self,
        part: fn(&mut Self) -> Read<Condition>,
        between: &str,
        whole: fn(Vec<Condition>) -> Condition,
    ) -> Read<Condition> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.take_word(between) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() > 1 { whole(parts) } else { parts.remove(0) })
    }

    fn term(&mut self) -> Read<Condition> {
        self.deeper(Self::deeper_term)
    }

    /// What lies one deeper in brackets than what is read.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == LIMIT_DEPTH {
            let (text, what) = (self.text.to_owned(), "conditions in one another");
            return Err(ParseConditionError::TooLarge { text, what, limit: LIMIT_DEPTH });
        }
        self.depth += 1;
        let inside = read(self)?;
        self.depth -= 1;
        Ok(inside)
    }

    fn deeper_term(&mut self) -> Read<Condition> {
        if self.take_word("not") {
            return Ok(Condition::Not(Box::new(self.term()?)));
        }
        if self.take("(") {
            let inside = self.condition()?;
            self.close()?;
            return Ok(inside);
        }
        let (at, word) = self.word()?;
        match word {
            "has" => {
                self.open()?;
                let variable = self.name(&[')'])?;
                self.close()?;
                Ok(Condition::Has { variable })
            }
            "rises" => {
                self.open()?;
                let inside = Box::new(self.condition()?);
                self.close()?;
                Ok(Condition::Rises(inside))
            }
            "hysteresis" => {
                self.open()?;
                let on = Box::new(self.condition()?);
                self.comma()?;
                let off = Box::new(self.condition()?);
                self.close()?;
                Ok(Condition::Hysteresis { on, off })
            }
            "held" => self.held(),
            "every" => {
                self.open()?;
                let steps = self.integer(1..=u32::MAX.into(), "a number of steps, 1 or more,")? as u32;
                self.close()?;
                Ok(Condition::Every { steps })
            }
            word => match self.quantity(at, word)? {
                Quantity::Of(measure) if measure.statistic().is_truth() => Ok(Condition::Measured(measure)),
                #[rustfmt::skip]
                quantity @ (Quantity::Of(_) | Quantity::PlaceOf { .. } | Quantity::ChangeOf(_) | Quantity::WindowOf { .. }) => {
                    let (comparison, threshold) = self.comparison()?;
                    Ok(Condition::Compare { quantity, comparison, threshold })
                }
            },
        }
    }

    fn held(&mut self) -> Read<Condition> {
        self.open()?;
        let condition = Box::new(self.condition()?);
        self.comma()?;
        let count = self.steps(1)?;
        self.comma()?;
        let of = self.steps(count)?;
        self.close()?;
        Ok(Condition::Held { condition, count, of })
    }

    /// A number of steps.
    fn steps(&mut self, least: u8) -> Read<u8> {
        let range = u64::from(least)..=LIMIT_HELD_STEPS.into();
        let expected = "a number of steps from 1 to 64, the second no less than the first,";
        Ok(self.integer(range, expected)? as u8)
    }

    pub(super) fn no_name(&self, at: usize, source: NameError) -> ParseConditionError {
        ParseConditionError::Name { text: self.text.to_owned(), at: self.number(at), source }
    }

    /// The name of a variable, which ends before one of these characters, or with its quotes.
    pub(super) fn name(&mut self, ends: &[char]) -> Read<String> {
        self.skip_space();
        let (at, rest) = (self.at, self.rest());
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut characters = quoted.char_indices();
            while let Some((place, character)) = characters.next() {
                match character {
                    '"' => {
                        self.at = at + 1 + place + 1;
                        return self.checked_name(at + 1, name);
                    }
                    '\\' => name.extend(characters.next().map(|(_, character)| character)),
                    other => name.push(other),
                }
            }
            self.at = self.text.len();
            return Err(self.expected("the closing quote"));
        }
        let name = &rest[..rest.find(|c| ends.contains(&c)).unwrap_or(rest.len())];
        if let Some((place, character)) =
            name.char_indices().find(|(_, character)| matches!(character, '(' | ',' | '"'))
        {
            let (text, at) = (self.text.to_owned(), self.number(at + place));
            return Err(ParseConditionError::Character { text, at, character });
        }
        self.at += name.len();
        self.checked_name(at, name.trim_end().to_owned())
    }

    fn checked_name(&self, at: usize, name: String) -> Read<String> {
        match validate_name(&name) {
            Ok(()) => Ok(name),
            Err(source) => Err(self.no_name(at, source)),
        }
    }

    pub(super) fn open(&mut self) -> Read<()> {
        self.must_take("(", "an opening bracket")
    }

    pub(super) fn close(&mut self) -> Read<()> {
        self.must_take(")", "a closing bracket")
    }

    pub(super) fn comma(&mut self) -> Read<()> {
        self.must_take(",", "a comma")
    }
}

/// Whether words may have this character.
pub(super) fn is_word_character(character: char) -> bool {
    character.is_ascii_lowercase() || character == '_'
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
            ("has(\"a\\\"b\")", "a\"b"),
        ] {
            let condition = Condition::Has { variable: name.to_owned() };
            assert_eq!(read(text), Ok(condition.clone()), "{text}");
            assert_eq!(read(&condition.to_string()), Ok(condition));
        }
    }

    #[test]
    fn each_word_has_one_text() {
        for (text, written) in [
            ("max(T)>9", "max(T) > 9.0"),
            ("min( wind speed [0:64, ::2] )<=-1e-3", "min(wind speed[0:64, ::2]) <= -0.001"),
            ("count(T > 5) >= 1e3", "count(T > 5.0) >= 1000.0"),
            ("any(\"a > b\"[-1] < 0)", "any(\"a > b\"[-1] < 0.0)"),
            ("change( sum(T) ) < -inf", "change(sum(T)) < -inf"),
            ("has(a) and (has(b) or has(c))", "has(a) and (has(b) or has(c))"),
            ("has(a) and has(b) or has(c)", "has(a) and has(b) or has(c)"),
            ("((has(a)))", "has(a)"),
            ("not (has(a) and not has(b))", "not (has(a) and not has(b))"),
            ("(has(a) and has(b)) and has(c)", "(has(a) and has(b)) and has(c)"),
            ("rises(all(T>=0))", "rises(all(T >= 0.0))"),
            ("hysteresis(max(T) > 9, max(T) < 5)", "hysteresis(max(T) > 9.0, max(T) < 5.0)"),
            ("held(mean(T) > 1, 3, 5)", "held(mean(T) > 1.0, 3, 5)"),
            ("variance(notes) > 0", "variance(notes) > 0.0"),
        ] {
            let condition = read(text).expect(text);
            assert_eq!(condition.to_string(), written);
            assert_eq!(read(written), Ok(condition));
        }
    }

    #[test]
    fn errors_give_the_character() {
        for (text, at, what) in [
            ("", 1, "a condition"),
            ("  ", 3, "a condition"),
            ("has", 4, "an opening bracket"),
            ("has x", 5, "an opening bracket"),
            ("has(x", 6, "a closing bracket"),
            ("has(x) y", 8, "the end"),
            ("max(T)", 7, "one of >"),
            ("max(T) > x", 10, "a number"),
            ("max(T) > NaN", 10, "a number"),
            ("max(T[0:3) > 1", 15, "a closing square bracket"),
            ("max(T[...]) > 1", 6, "a slice for each dimension"),
            ("any(T) > 1", 6, "one of >"),
            ("change(any(T > 1)) > 1", 8, "a measure that is a number"),
            ("held(has(a), 0, 5)", 14, "a number of steps"),
            ("held(has(a), 6, 5)", 17, "a number of steps"),
            ("held(has(a), 6, 65)", 17, "a number of steps"),
            ("has(\"a)", 8, "the closing quote"),
            ("has(a) and", 11, "a condition"),
            ("hysteresis(has(a))", 18, "a comma"),
        ] {
            let error = read(text).expect_err(text);
            let ParseConditionError::Expected { at: found, expected, .. } = &error else {
                panic!("{text:?}: {error}")
            };
            assert!(*found == at && expected.starts_with(what), "{text:?}: {error}");
        }
        assert!(
            matches!(read("has(a) or above(T)"), Err(ParseConditionError::Word { at: 11, word, .. }) if word == "above")
        );
        let stands = |text: &str, at, character| {
            Err(ParseConditionError::Character { text: text.into(), at, character })
        };
        for (text, at, character) in [("has(ä(b))", 6, '('), ("has(a, b)", 6, ','), ("has(a\")", 6, '"')] {
            assert_eq!(read(text), stands(text, at, character), "{text:?}");
        }
        let unnamed = read("has( )").expect_err("no name");
        assert_eq!(unnamed.to_string(), "\"has( )\", character 6: a name is empty");
        assert!(matches!(read("has(a/b)"), Err(ParseConditionError::Name { at: 5, .. })));
        assert!(matches!(read("max(T[a:]) > 1"), Err(ParseConditionError::Region { at: 6, .. })));
        assert_eq!(
            read("max(T) > 9 and Has(x)").expect_err("refused").to_string(),
            "\"max(T) > 9 and Has(x)\", character 16: a condition, as max(T) > 9 or has(particles), is expected here"
        );
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let deep = format!("{}has(a){}", "(".repeat(40), ")".repeat(40));
        assert!(matches!(read(&deep), Err(ParseConditionError::TooLarge { limit: LIMIT_DEPTH, .. })));
        assert!(matches!(read(&"not ".repeat(40)), Err(ParseConditionError::TooLarge { .. })));
        let long = format!("has({})", "a".repeat(255));
        let long = vec![long; 20].join(" or ");
        assert!(matches!(read(&long), Err(ParseConditionError::TooLarge { what: "bytes", .. })));
        let many =
            |count: usize| (0..count).map(|at| format!("max(v{at}) > 1")).collect::<Vec<_>>().join(" or ");
        assert!(read(&many(LIMIT_MEASURES)).is_ok());
        assert!(matches!(read(&many(LIMIT_MEASURES + 1)), Err(ParseConditionError::TooLarge { .. })));
    }
}
