//! Element-wise expressions over variables: `sqrt(vx*vx + vy*vy + vz*vz)`.
//!
//! | | |
//! |---|---|
//! | numbers, names | `2`, `1e-3`, `pi`; a variable's name, in quotes if it is no plain word: `"v x"` |
//! | powers | `a ^ b` or `a ** b`, from right to left; `-a^2` is `-(a^2)` |
//! | signs, products, sums | `-a`, `!a`; `* / %`; `+ -` |
//! | comparisons | `< <= > >= == !=`, which give 1 or 0 and are not chained |
//! | logic | `&&`, then `\|\|`; whatever is not 0 is true |
//! | functions | see [`Function`]; `if(condition, then, else)` |
//!
//! All is computed in `f64`.

mod evaluate;
mod lexer;
mod parser;
mod program;

pub(crate) use evaluate::Evaluation;
pub use lexer::MAX_EXPRESSION_BYTES;
pub(crate) use lexer::is_word;
pub use program::Function;

use std::fmt;

use program::Instruction;

/// The most that operations may be nested, so that neither reading nor computing one needs much room.
pub const MAX_EXPRESSION_DEPTH: usize = 32;

/// An expression that was read and checked, for variables in a certain order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    program: Vec<Instruction>,
}

impl Expression {
    /// Reads an expression over those variables.
    ///
    /// # Errors
    /// The first thing that is wrong, with its position.
    pub fn new(text: &str, variables: &[impl AsRef<str>]) -> Result<Self, ExpressionError> {
        let names: Vec<&str> = variables.iter().map(AsRef::as_ref).collect();
        let fail = |(at, fault)| ExpressionError::new(text, at, fault);
        let tokens = lexer::tokens(text).map_err(fail)?;
        let program = parser::parse(&tokens, text.len(), &names).map_err(fail)?;
        Ok(Self { text: lexer::canonical(text), program })
    }

    /// The text, without white space: equal for expressions that differ in nothing else.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn program(&self) -> &[Instruction] {
        &self.program
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {position} of {text:?}: {fault}")]
pub struct ExpressionError {
    /// The expression, or the beginning of a long one.
    pub text: String,
    /// The character at fault, counted from 1.
    pub position: usize,
    /// What is wrong with it.
    pub fault: ExpressionFault,
}

impl ExpressionError {
    fn new(text: &str, at_byte: usize, fault: ExpressionFault) -> Self {
        let position = text.char_indices().take_while(|(byte, _)| *byte < at_byte).count() + 1;
        Self { text: text.chars().take(200).collect(), position, fault }
    }
}

/// What can be wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionFault {
    /// More than [`MAX_EXPRESSION_BYTES`].
    #[error("an expression of {len_bytes} bytes is longer than {MAX_EXPRESSION_BYTES}")]
    TooLong {
        /// How long it is.
        len_bytes: usize,
    },
    /// Nested deeper than [`MAX_EXPRESSION_DEPTH`].
    #[error("nested deeper than {MAX_EXPRESSION_DEPTH}")]
    TooDeep,
    /// A character that begins nothing.
    #[error("{0:?} is nothing that an expression has")]
    Character(char),
    /// Digits that are no number.
    #[error("{0:?} is no number")]
    Number(String),
    /// A quoted name without its end.
    #[error("the quotes are not closed")]
    Quotes,
    /// Something else was wanted.
    #[error("{wanted} is wanted here, not {found}")]
    Unexpected {
        /// What could stand here.
        wanted: &'static str,
        /// What does.
        found: String,
    },
    /// A name that is no variable of this derivation.
    #[error("{name:?} is none of the variables {variables}")]
    UnknownVariable {
        /// The name.
        name: String,
        /// Those that there are.
        variables: String,
    },
    /// A function that does not exist.
    #[error("there is no function {0:?}")]
    UnknownFunction(String),
    /// A function with the wrong number of arguments.
    #[error("{function} takes {wanted} arguments, not {found}")]
    Arguments {
        /// The function.
        function: Function,
        /// How many it takes.
        wanted: usize,
        /// How many it got.
        found: usize,
    },
    /// One comparison after the other.
    #[error("comparisons are not chained: write a < b && b < c")]
    Chained,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, ExpressionFault) {
        let error = Expression::new(text, &["a", "b"]).expect_err(text);
        (error.position, error.fault)
    }

    #[test]
    fn faults_have_positions() {
        use ExpressionFault::*;
        assert!(matches!(fault("a + c"), (5, UnknownVariable { .. })));
        assert!(matches!(fault("a + "), (5, Unexpected { wanted: "a value", .. })));
        assert!(matches!(fault("a b"), (3, Unexpected { .. })));
        assert!(matches!(fault("(a"), (3, Unexpected { wanted: "')'", .. })));
        assert!(matches!(fault("a)"), (2, Unexpected { .. })));
        assert_eq!(fault("ä"), (1, UnknownVariable { name: "ä".into(), variables: "a, b".into() }));
        assert_eq!(fault("\"ü\" + §"), (7, Character('§')));
        assert_eq!(fault("a & b"), (3, Character('&')));
        assert_eq!(fault("1.5.2 + a"), (1, Number("1.5.2".into())));
        assert_eq!(fault("a + \"b"), (5, Quotes));
        assert_eq!(fault("2 * sinus(a)"), (5, UnknownFunction("sinus".into())));
        assert!(matches!(fault("pow(a)"), (1, Arguments { wanted: 2, found: 1, .. })));
        assert!(matches!(fault("if(a, b)"), (1, Arguments { wanted: 3, found: 2, .. })));
        assert!(matches!(fault("sqrt()"), (6, Unexpected { .. })));
        assert_eq!(fault("a < b < 3"), (7, Chained));
        let shown = Expression::new("a + c", &["a", "b"]).unwrap_err().to_string();
        assert_eq!(shown, "at character 5 of \"a + c\": \"c\" is none of the variables a, b");
    }

    #[test]
    fn bombs_are_refused() {
        for start in ["(", "-", "!", "sqrt(", "a^", "a**", "-(", "if(a,b,", "a+("] {
            let bomb = start.repeat(MAX_EXPRESSION_BYTES / start.len());
            assert_eq!(fault(&bomb).1, ExpressionFault::TooDeep, "{start}");
        }
        let long = "a+".repeat(MAX_EXPRESSION_BYTES);
        assert_eq!(fault(&long), (1, ExpressionFault::TooLong { len_bytes: long.len() }));
        let wide = "a+".repeat(MAX_EXPRESSION_BYTES / 2 - 1) + "a";
        assert!(Expression::new(&wide, &["a"]).is_ok(), "long sums are not deep");
    }

    #[test]
    fn white_space_makes_no_difference() {
        let spaced = Expression::new(" a  *( \"a\" +1 ) ", &["a"]).unwrap();
        assert_eq!(spaced, Expression::new("a*(\"a\"+1)", &["a"]).unwrap());
        assert_eq!(spaced.to_string(), "a*(\"a\"+1)");
    }
}
