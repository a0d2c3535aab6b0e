//! The one form of a condition in bytes: what travels, and what is compared.

use serde::{Deserialize, Serialize};

use super::parse::is_word_character;
use super::parse_error::ParseConditionError;
use super::{Condition, LIMIT_WORD_BYTES, WORDS};
use crate::name::validate_name;

/// The bytes of the longest condition: longer than any that there is, so that words to come are refused by name.
pub const LIMIT_CONDITION_BYTES: usize = 4096;

/// The first byte. Another one means that what follows is laid out otherwise.
const VERSION: u8 = 1;
/// The word before the text of what is more than one word.
const FORMULA: &str = "formula";

/// Why bytes are no condition to whoever is to judge by them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
pub enum ConditionRefusal {
    /// They are of another version.
    #[error("the publisher cannot judge by a condition of version {version}: it knows version {known}")]
    Version {
        /// Theirs.
        version: u8,
        /// The one that is known.
        known: u8,
    },
    /// They begin with a word that is not known.
    #[error("the publisher cannot judge by {word}(...): it knows {}", known.join(", "))]
    UnknownWord {
        /// The word.
        word: String,
        /// The words that are known, as they are written.
        known: Vec<String>,
    },
    /// They are not laid out as a condition is, or no variable can be called as they say.
    #[error("the publisher cannot read the bytes of the condition")]
    Malformed,
    /// They ask for a measure, and the publisher measures nothing.
    #[error(
        "the publisher does not measure {word}(...): its owner lets it compute nothing for subscribers \
         (with_derivations, Derivations)"
    )]
    Unmeasured {
        /// The word.
        word: String,
    },
    /// With what other subscriptions have measured it is more than ranks tell one another of a step.
    #[error(
        "what subscriptions have measured may take {limit_bytes} bytes in each step, and with this condition it would \
         take {len_bytes}: measure less, or what others measure already"
    )]
    TooManyMeasures {
        /// What it would take at most.
        len_bytes: u64,
        /// What it may take.
        limit_bytes: u64,
    },
}

impl ConditionRefusal {
    /// The refusal of a word.
    pub(super) fn unknown(word: &str) -> Self {
        Self::UnknownWord { word: word.to_owned(), known: WORDS.map(str::to_owned).to_vec() }
    }

    /// Whether no text in it is longer, and no list, than one that this crate writes may be.
    pub fn is_within_bounds(&self) -> bool {
        match self {
            Self::Version { .. } | Self::Malformed | Self::TooManyMeasures { .. } => true,
            Self::Unmeasured { word } => word.len() <= LIMIT_WORD_BYTES,
            Self::UnknownWord { word, known } => {
                let each = |text: &String| text.len() <= 2 * LIMIT_WORD_BYTES;
                word.len() <= LIMIT_WORD_BYTES && known.len() <= 64 && known.iter().all(each)
            }
        }
    }
}

impl Condition {
    /// The bytes: version, length of the word, word, length of its arguments (two bytes, little-endian), arguments.
    /// What is more than `has` is spelled as its text, behind the word `formula`.
    pub fn encode(&self) -> Vec<u8> {
        let (word, arguments) = match self {
            Self::Has { variable } => ("has", variable.clone()),
            #[rustfmt::skip]
            Self::Compare { .. } | Self::Measured(_) | Self::Not(_) | Self::And(_) | Self::Or(_)
            | Self::Rises(_) | Self::Hysteresis { .. } | Self::Held { .. }
            | Self::Every { .. } => (FORMULA, self.to_string()),
        };
        let mut bytes = vec![VERSION, word.len() as u8];
        bytes.extend_from_slice(word.as_bytes());
        bytes.extend_from_slice(&(arguments.len() as u16).to_le_bytes());
        bytes.extend_from_slice(arguments.as_bytes());
        bytes
    }

    /// The condition of these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, ConditionRefusal> {
        let (word, arguments) = split(bytes)?;
        match word {
            "has" => {
                let variable = std::str::from_utf8(arguments).map_err(|_| ConditionRefusal::Malformed)?;
                validate_name(variable).map_err(|_| ConditionRefusal::Malformed)?;
                Ok(Self::Has { variable: variable.to_owned() })
            }
            FORMULA => {
                let text = std::str::from_utf8(arguments).map_err(|_| ConditionRefusal::Malformed)?;
                let condition = text.parse::<Self>().map_err(|error| {
                    if let ParseConditionError::Word { word, .. } = error
                        && word.len() <= LIMIT_WORD_BYTES
                    {
                        return ConditionRefusal::unknown(&word);
                    }
                    ConditionRefusal::Malformed
                })?;
                let is_canonical = condition.encode() == bytes;
                is_canonical.then_some(condition).ok_or(ConditionRefusal::Malformed)
            }
            other => Err(ConditionRefusal::unknown(other)),
        }
    }
}

/// The word and the bytes of its arguments.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), ConditionRefusal> {
    let malformed = ConditionRefusal::Malformed;
    if bytes.len() > LIMIT_CONDITION_BYTES {
        return Err(malformed);
    }
    let (&version, rest) = bytes.split_first().ok_or(malformed.clone())?;
    if version != VERSION {
        return Err(ConditionRefusal::Version { version, known: VERSION });
    }
    let (&len, rest) = rest.split_first().ok_or(malformed.clone())?;
    let (word, rest) = rest.split_at_checked(usize::from(len)).ok_or(malformed.clone())?;
    let word = std::str::from_utf8(word).map_err(|_| malformed.clone())?;
    let (len, arguments) = rest.split_first_chunk::<2>().ok_or(malformed.clone())?;
    let is_word = !word.is_empty() && word.len() <= LIMIT_WORD_BYTES && word.chars().all(is_word_character);
    if !is_word || arguments.len() != usize::from(u16::from_le_bytes(*len)) {
        return Err(malformed);
    }
    Ok((word, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_never_change() {
        let condition = Condition::Has { variable: "particles".to_owned() };
        assert_eq!(condition.encode(), b"\x01\x03has\x09\x00particles");
        assert_eq!(Condition::decode(&condition.encode()), Ok(condition));
        let formula: Condition = "rises(max(T[0:3]) > 9)".parse().unwrap();
        assert_eq!(formula.encode(), b"\x01\x07formula\x18\x00rises(max(T[0:3]) > 9.0)");
        assert_eq!(Condition::decode(&formula.encode()), Ok(formula));
        for (text, bytes) in [
            ("every(10)", &b"\x01\x07formula\x09\x00every(10)"[..]),
            ("argmax(T)[1]<64", b"\x01\x07formula\x13\x00argmax(T)[1] < 64.0"),
            ("window(sum(T),9,range)<1", b"\x01\x07formula\x1e\x00window(sum(T), 9, range) < 1.0"),
            ("quantile(T,.5,0..8/4)>1", b"\x01\x07formula\x24\x00quantile(T, 0.5, 0.0..8.0 / 4) > 1.0"),
        ] {
            let condition: Condition = text.parse().expect(text);
            assert_eq!(condition.encode(), bytes, "{text}");
            assert_eq!(Condition::decode(bytes), Ok(condition));
        }
    }

    #[test]
    fn what_is_not_known_is_named() {
        let known = || WORDS.map(str::to_owned).to_vec();
        let refused = |bytes: &[u8]| Condition::decode(bytes).expect_err("refused");
        let above = ConditionRefusal::UnknownWord { word: "above".to_owned(), known: known() };
        assert_eq!(refused(b"\x01\x05above\x02\x00\xff\xff"), above);
        assert!(
            above
                .to_string()
                .starts_with("the publisher cannot judge by above(...): it knows has(variable), min")
        );
        assert_eq!(refused(b"\x01\x07formula\x0e\x00above(T) > 1.0"), above);
        assert_eq!(refused(b"\x02"), ConditionRefusal::Version { version: 2, known: 1 });
        assert!(above.is_within_bounds());
        let endless = ConditionRefusal::UnknownWord { word: "a".repeat(33), known: known() };
        assert!(!endless.is_within_bounds());
    }

    #[test]
    fn malformed_bytes_are_refused() {
        let long = [b"\x01\x03has\xff\x0f".as_slice(), &[b'n'; 4095]].concat();
        let cases: [&[u8]; 13] = [
            b"",
            b"\x01",
            b"\x01\x03ha",
            b"\x01\x03has\x01",
            b"\x01\x03has\x02\x00n",
            b"\x01\x03has\x01\x00nn",
            b"\x01\x03has\x00\x00",
            b"\x01\x03has\x03\x00a[0",
            b"\x01\x03HAS\x01\x00n",
            &long,
            b"\x01\x07formula\x06\x00has(T)",
            b"\x01\x07formula\x08\x00max(T)>1",
            b"\x01\x07formula\x01\x00(",
        ];
        for bytes in cases {
            assert_eq!(Condition::decode(bytes), Err(ConditionRefusal::Malformed), "{bytes:?}");
        }
    }
}
