//! The shared secret of a run.

use std::fmt;
use std::io;
use std::str::FromStr;

/// 32 secret bytes that every rank and subscriber of a run knows; written as 64 hexadecimal digits. Never printed.
/// Over tcp without TLS it travels in clear: it keeps strangers out, not listeners on the wire.
#[derive(Clone)]
pub struct Token([u8; 32]);

/// A token that is not 64 hexadecimal digits, or zero. The text is not repeated: it may be nearly a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token is 64 hexadecimal digits, not all zero; this has {len} characters")]
pub struct TokenError {
    /// Number of characters.
    pub len: usize,
}

impl Token {
    /// A token of these bytes. `None` if all are zero, which means "none" on the wire.
    pub fn new(bytes: [u8; 32]) -> Option<Token> {
        (bytes != [0; 32]).then_some(Token(bytes))
    }

    /// A token of the system's random bytes.
    ///
    /// # Errors
    /// What the system said, where it has none.
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Token::new(bytes).ok_or_else(|| io::ErrorKind::Other.into())
    }

    /// The bytes, to hand them to another rank.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 digits, to hand them to another rank.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Compared in a time that does not depend on where they differ.
    pub fn matches(&self, other: Option<&Token>) -> bool {
        let theirs = other.map_or(&[0; 32], |token| &token.0);
        let differing = self.0.iter().zip(theirs).fold(0, |all, (ours, theirs)| all | (ours ^ theirs));
        std::hint::black_box(differing) == 0
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Token) -> bool {
        self.matches(Some(other))
    }
}

impl Eq for Token {}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(digits: &str) -> Result<Token, TokenError> {
        let wrong = TokenError { len: digits.len() };
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong)?;
        }
        Token::new(bytes).ok_or(wrong)
    }
}
