//! Identifiers: ranks, steps, epochs, subscriptions, blocks, and the content ids of layouts, tables, schemas.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares a number with a meaning: a public field, ordered, printed as the bare number.
macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl From<$number> for $name {
            fn from(number: $number) -> Self {
                Self(number)
            }
        }
    };
}

/// Declares a 16-byte content hash: equal content has equal ids; printed as 32 hex digits.
macro_rules! content_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub [u8; 16]);

        impl $name {
            /// The 16 bytes of the id.
            pub fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", u128::from_be_bytes(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }
    };
}

number_id!(
    /// A process's index in its cohort, from 0. Rank 0 is the lead.
    Rank,
    u32
);
number_id!(
    /// The number of a step within one epoch of a stream, from 0.
    StepId,
    u64
);
number_id!(
    /// What one subscriber cohort (or one work-sharing set of them) asked of a stream.
    SubscriptionId,
    u64
);
content_id!(
    /// The content hash of a [`Layout`](crate::Layout).
    LayoutId
);
content_id!(
    /// The content hash of a [`StepTable`](crate::StepTable).
    TableId
);
content_id!(
    /// The content hash of a [`Schema`](crate::Schema), or of a [record type](crate::record::RecordSchema): equal
    /// fingerprints mean equal types.
    Fingerprint
);

impl Rank {
    /// The lead of every cohort.
    pub const LEAD: Rank = Rank(0);

    /// Whether this is rank 0, which has the lead's extra role.
    pub fn is_lead(self) -> bool {
        self == Self::LEAD
    }
}

impl StepId {
    /// The step after this one; the last number there is has no next.
    pub fn next(self) -> Option<StepId> {
        self.0.checked_add(1).map(StepId)
    }
}

/// One opening of a stream: a random 128-bit number, part of every hello, contact and step id.
///
/// Printed, and parsed, as 32 lower-case hex digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(pub u128);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epoch({self})")
    }
}

/// Why a text is no epoch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an epoch is 32 lower-case hex digits, not {text:?}")]
pub struct ParseEpochError {
    /// What was given.
    pub text: String,
}

impl FromStr for Epoch {
    type Err = ParseEpochError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let well_formed = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let number = u128::from_str_radix(text, 16).ok().filter(|_| well_formed);
        number.map(Epoch).ok_or_else(|| ParseEpochError { text: text.to_owned() })
    }
}

/// Names one block of one variable in one step: by the rank that put it, and by its number among that rank's puts.
///
/// Ordered by rank, then by index: where blocks overlap, the greater id wins.
/// Printed, and parsed, as `rank.index`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockId {
    /// The rank that put the block.
    pub rank: Rank,
    /// The block's place among that rank's puts of the variable in this step, from 0.
    pub index: u32,
}

impl BlockId {
    /// The block that `rank` put as its `index`-th, from 0.
    pub fn new(rank: Rank, index: u32) -> Self {
        Self { rank, index }
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.rank, self.index)
    }
}

/// Why a text is no block id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a block is named rank.index, such as 3.0, not {text:?}")]
pub struct ParseBlockIdError {
    /// What was given.
    pub text: String,
}

impl FromStr for BlockId {
    type Err = ParseBlockIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse =
            |(rank, index): (&str, &str)| Some(Self::new(Rank(rank.parse().ok()?), index.parse().ok()?));
        text.split_once('.').and_then(parse).ok_or_else(|| ParseBlockIdError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_print_as_32_hex_digits_and_parse_back() {
        let epoch = Epoch(0xabc);
        assert_eq!(epoch.to_string(), "00000000000000000000000000000abc");
        assert_eq!(epoch.to_string().parse(), Ok(epoch));
        for wrong in ["", "abc", "+0000000000000000000000000000abc", "00000000000000000000000000000ABC"] {
            assert_eq!(wrong.parse::<Epoch>(), Err(ParseEpochError { text: wrong.into() }));
        }
    }

    #[test]
    fn blocks_order_by_rank_and_then_by_index() {
        let early = BlockId::new(Rank(1), 7);
        let late = BlockId::new(Rank(2), 0);
        assert!(early < late && late < BlockId::new(Rank(2), 1));
        assert_eq!("1.7".parse(), Ok(early));
        assert_eq!(late.to_string(), "2.0");
        assert!("1".parse::<BlockId>().is_err());
    }

    #[test]
    fn content_ids_print_their_bytes_in_order() {
        let mut bytes = [0; 16];
        bytes[0] = 0x12;
        bytes[15] = 0xfe;
        assert_eq!(LayoutId(bytes).to_string(), "120000000000000000000000000000fe");
        assert_eq!(format!("{:?}", TableId(bytes)), "TableId(120000000000000000000000000000fe)");
    }

    #[test]
    fn the_last_step_has_no_next() {
        assert_eq!(StepId(4).next(), Some(StepId(5)));
        assert_eq!(StepId(u64::MAX).next(), None);
        assert!(Rank(0).is_lead() && !Rank(1).is_lead());
    }
}
