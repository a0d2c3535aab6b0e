//! The hash of a token: names it where the token itself should not stand.

use super::{Token, TokenError};
use std::fmt;
use std::str::FromStr;

/// The BLAKE3 hash of a token's 32 bytes. It tells nothing of the token, which is random. Written as 64 hexadecimal
/// digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Of a token.
    pub fn of(token: &Token) -> TokenHash {
        TokenHash(*blake3::hash(token.as_bytes()).as_bytes())
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHash({self})")
    }
}

impl FromStr for TokenHash {
    type Err = TokenError;

    /// It has the form of a token, and is never zero.
    fn from_str(digits: &str) -> Result<TokenHash, TokenError> {
        digits.parse::<Token>().map(|form| TokenHash(*form.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_as_it_is_read_and_is_not_the_token() {
        let token = Token::new([0x5a; 32]).expect("a token");
        let hash = TokenHash::of(&token);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_ne!(hash.to_string(), token.to_hex());
        assert_ne!(hash, TokenHash::of(&Token::new([0x5b; 32]).expect("a token")));
        assert!("5a".parse::<TokenHash>().is_err());
    }
}
