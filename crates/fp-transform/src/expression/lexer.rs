//! The words of an expression, each with its position.

use super::ExpressionFault;

/// The longest expression, in bytes.
pub const MAX_EXPRESSION_BYTES: usize = 4096;

/// A word of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// A plain word: a variable, a constant or a function.
    Word(String),
    /// A quoted name: always a variable.
    Quoted(String),
    /// An operator or punctuation.
    Sign(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(name) | Self::Quoted(name) => write!(f, "{name:?}"),
            Self::Sign(sign) => write!(f, "'{sign}'"),
        }
    }
}

/// All signs, the longer before those that begin them.
const SIGNS: &[&str] =
    &["**", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "^", "<", ">", "!", "(", ")", ","];

/// The words of a text, each with the byte at which it begins.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, (usize, ExpressionFault)> {
    if text.len() > MAX_EXPRESSION_BYTES {
        return Err((0, ExpressionFault::TooLong { len_bytes: text.len() }));
    }
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Ok(tokens);
        };
        let (token, len) = token(rest, first).map_err(|fault| (at, fault))?;
        tokens.push((at, token));
        rest = &rest[len..];
    }
}

/// The word that a text begins with, and its length in bytes.
fn token(rest: &str, first: char) -> Result<(Token, usize), ExpressionFault> {
    if first.is_ascii_digit() || first == '.' {
        let len = number_len(rest);
        let number = rest[..len].parse().map_err(|_| ExpressionFault::Number(rest[..len].to_owned()))?;
        return Ok((Token::Number(number), len));
    }
    if first.is_alphabetic() || first == '_' {
        let len = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        return Ok((Token::Word(rest[..len].to_owned()), len));
    }
    if first == '"' {
        let len = rest[1..].find('"').ok_or(ExpressionFault::Quotes)?;
        return Ok((Token::Quoted(rest[1..=len].to_owned()), len + 2));
    }
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
    sign.map(|sign| (Token::Sign(sign), sign.len())).ok_or(ExpressionFault::Character(first))
}

/// What plain words consist of, after a letter or an underscore.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Digits and dots, and an exponent, whose sign belongs to it.
fn number_len(rest: &str) -> usize {
    let mut before = ' ';
    let belongs = |c: char| {
        let inside = is_word(c) || matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        before = c;
        !inside
    };
    rest.find(belongs).unwrap_or(rest.len())
}

/// The text without white space outside quotes. No two words stand side by side in what could be read.
pub(super) fn canonical(text: &str) -> String {
    let mut quoted = false;
    let mut keep = |c: char| {
        quoted ^= c == '"';
        quoted || !c.is_whitespace()
    };
    text.chars().filter(|&c| keep(c)).collect()
}
