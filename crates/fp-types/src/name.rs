//! What streams, variables, records, fields, dimensions and attributes may be called.

use std::collections::BTreeSet;

/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing.
    #[error("a name is empty")]
    Empty,
    /// Longer than [`MAX_NAME_BYTES`].
    #[error("a name of {len_bytes} bytes is longer than {MAX_NAME_BYTES}; it starts with {start:?}")]
    TooLong {
        /// How long it is.
        len_bytes: usize,
        /// Its first 16 characters.
        start: String,
    },
    /// A character that names cannot have: control characters, slashes, `[`.
    #[error("the name {name:?} contains {character:?}")]
    Character {
        /// The name.
        name: String,
        /// The first character at fault.
        character: char,
    },
    /// `.` or `..`: a file cannot be called so.
    #[error("the name {name:?} means a folder: use another one")]
    Folder {
        /// The name.
        name: String,
    },
    /// White space at the start or the end.
    #[error("the name {name:?} starts or ends with white space")]
    Padded {
        /// The name.
        name: String,
    },
}

/// Checks a name: 1 to 255 bytes, no control characters, and no white space at either end. Slash and backslash are
/// refused, as streams become file names, and so are `.` and `..`. `[` is refused, as a selection starts there.
pub fn validate_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong { len_bytes: name.len(), start: name.chars().take(16).collect() });
    }
    if let Some(character) = name.chars().find(|c| c.is_control() || matches!(c, '/' | '\\' | '[')) {
        return Err(NameError::Character { name: name.to_owned(), character });
    }
    if matches!(name, "." | "..") {
        return Err(NameError::Folder { name: name.to_owned() });
    }
    if name.trim() != name {
        return Err(NameError::Padded { name: name.to_owned() });
    }
    Ok(())
}

/// Why several names do not go together.
pub(crate) enum NamesError {
    /// One of them is no name.
    Name(NameError),
    /// One occurs twice.
    Duplicate(String),
}

/// Checks names, and that none occurs twice.
pub(crate) fn validate_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), NamesError> {
    let mut seen = BTreeSet::new();
    for name in names {
        validate_name(name).map_err(NamesError::Name)?;
        if !seen.insert(name) {
            return Err(NamesError::Duplicate(name.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_rules() {
        for name in ["x", "Druck (Pa)", "größe", "a.b", &"n".repeat(255)] {
            assert_eq!(validate_name(name), Ok(()));
        }
        assert_eq!(validate_name(""), Err(NameError::Empty));
        assert!(matches!(validate_name(&"n".repeat(256)), Err(NameError::TooLong { len_bytes: 256, .. })));
        for name in ["a/b", "a\\b", "a[0]", "a\nb", "a\u{7f}b"] {
            assert!(matches!(validate_name(name), Err(NameError::Character { .. })), "{name:?}");
        }
        for name in [".", ".."] {
            assert_eq!(validate_name(name), Err(NameError::Folder { name: name.into() }));
        }
        assert_eq!(validate_name("..."), Ok(()));
        assert_eq!(validate_name(" x"), Err(NameError::Padded { name: " x".into() }));
    }
}
