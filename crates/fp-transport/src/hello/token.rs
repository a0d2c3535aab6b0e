//! The shared secret of a run.

use crate::secret_file;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The variable of the environment that names the file of the token.
const VARIABLE: &str = "FLEXPATH_TOKEN_FILE";
/// Far more than a file of a token has.
const LIMIT_FILE_BYTES: u64 = 4096;

/// 32 secret bytes that every rank and subscriber of a run knows; written as 64 hexadecimal digits. Never printed.
/// Over tcp without TLS it travels in clear: it keeps strangers out, not listeners on the wire.
///
/// ```
/// # use fp_transport as flexpath;
/// let token: flexpath::Token = "5e".repeat(32).parse()?;
/// # let _ = token;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Token([u8; 32]);

/// A token that is not 64 hexadecimal digits, or zero. The text is not repeated: it may be nearly a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token is 64 hexadecimal digits, not all zero; this has {len} characters")]
pub struct TokenError {
    /// Number of characters.
    pub len: usize,
}

/// Why a file gives no token. What it holds is not repeated: it may be nearly a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFileError {
    /// It cannot be read.
    #[error("no token can be read from {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        r#source: io::Error,
    },
    /// It holds the bytes of a token, and not their digits.
    #[error(
        "no token can be read from {file}: it holds 32 bytes as they are, and a token file has 64 hexadecimal digits. \
         `od -An -v -tx1 {file} | tr -d ' \\n'` prints those of this one",
        file = path.display()
    )]
    Bytes {
        /// The file.
        path: PathBuf,
    },
    /// It holds something else.
    #[error("no token can be read from {}: {source} (`flexpath token --out FILE` makes a file)", path.display())]
    Digits {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        r#source: TokenError,
    },
}

impl Token {
    /// The token that a file holds: 64 hexadecimal digits, and a line's end after them or none. The log has a warning
    /// if others than its owner may read it.
    ///
    /// # Errors
    /// [`TokenFileError`], naming the file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Token, TokenFileError> {
        let path = path.as_ref();
        let read = secret_file::read("token", path, LIMIT_FILE_BYTES);
        let bytes = read.map_err(|source| TokenFileError::Unreadable { path: path.to_owned(), source })?;
        if bytes.len() == 32 && !bytes.iter().all(u8::is_ascii_hexdigit) {
            return Err(TokenFileError::Bytes { path: path.to_owned() });
        }
        let digits = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let digits = digits.strip_suffix(b"\r").unwrap_or(digits);
        let text = std::str::from_utf8(digits).map_err(|_| TokenError { len: digits.len() });
        let token = text.and_then(str::parse);
        token.map_err(|source| TokenFileError::Digits { path: path.to_owned(), source })
    }

    /// The token in the file that `FLEXPATH_TOKEN_FILE` names; `None` where it is not set, or empty.
    ///
    /// # Errors
    /// As [`Token::from_file`].
    pub fn from_environment() -> Result<Option<Token>, TokenFileError> {
        let file = std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
        file.map(Token::from_file).transpose()
    }

    /// Makes a file of it that [`Token::from_file`] reads, and that its owner alone may read.
    ///
    /// # Errors
    /// There is a file of that name already, or none can be made there.
    pub fn write_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        secret_file::write_new(path.as_ref(), format!("{}\n", self.to_hex()).as_bytes())
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn read(content: impl AsRef<[u8]>) -> Result<Token, TokenFileError> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.token");
        fs::write(&file, content).expect("written");
        Token::from_file(&file)
    }

    #[test]
    fn a_file_has_the_digits_and_perhaps_a_lines_end() {
        let digits = "5A".repeat(32);
        let token = Token::new([0x5a; 32]).expect("a token");
        for end in ["", "\n", "\r\n"] {
            assert_eq!(read(format!("{digits}{end}")).expect("a token"), token);
        }
        for wrong in [&digits[2..], &format!("{digits}\n\n"), &format!(" {digits}"), "", &"0".repeat(64)] {
            let error = read(wrong).expect_err("no token");
            assert!(matches!(error, TokenFileError::Digits { .. }), "{error}");
        }
    }

    #[test]
    fn a_file_of_bytes_is_refused_with_what_converts_it() {
        let error = read([0x5a_u8, 0xff].repeat(16)).expect_err("bytes");
        assert!(
            matches!(error, TokenFileError::Bytes { .. }) && error.to_string().contains("`od -An -v -tx1 /"),
            "{error}"
        );
        // Half of the digits are no bytes.
        let error = read("5a".repeat(16)).expect_err("half");
        assert!(matches!(&error, TokenFileError::Digits { source: TokenError { len: 32 }, .. }), "{error}");
        let error = Token::from_file("/nowhere/run.token").expect_err("nothing there");
        assert!(error.to_string().starts_with("no token can be read from /nowhere/run.token: "), "{error}");
    }

    #[test]
    fn a_file_that_is_made_is_its_owners_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.token");
        let token = Token::random().expect("random bytes");
        token.write_file(&file).expect("made");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o7777, 0o600);
        assert_eq!(Token::from_file(&file).expect("read"), token);
        let again = token.write_file(&file).expect_err("it is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }
}
