//! Lists that are short as a rule: the first items ask for no memory.

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use smallvec::{Array, SmallVec};
use std::fmt;
use std::marker::PhantomData;

/// Items of which there are few as a rule. It travels as any list does.
pub type Few<T> = SmallVec<[T; 4]>;

/// All of these, in a list. One by one: to collect them costs more where there are none or one.
#[inline]
pub fn gather<A: Array>(all: impl Iterator<Item = A::Item>) -> SmallVec<A> {
    let mut list = SmallVec::new();
    all.for_each(|item| list.push(item));
    list
}

/// Adds an item to a sorted list that does not have it.
pub(crate) fn add<T: Ord>(list: &mut Few<T>, item: T) {
    if let Err(at) = list.binary_search(&item) {
        list.insert(at, item);
    }
}

/// Takes an item out of a sorted list.
pub(crate) fn take_out<T: Ord>(list: &mut Few<T>, item: &T) {
    if let Ok(at) = list.binary_search(item) {
        list.remove(at);
    }
}

/// Reads a list item by item. The crate's own reader asks for memory for as many as the sender claims.
pub(crate) fn read<'de, D: Deserializer<'de>, A: Array>(input: D) -> Result<SmallVec<A>, D::Error>
where
    A::Item: Deserialize<'de>,
{
    input.deserialize_seq(Items(PhantomData))
}

struct Items<A>(PhantomData<A>);

impl<'de, A: Array> Visitor<'de> for Items<A>
where
    A::Item: Deserialize<'de>,
{
    type Value = SmallVec<A>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<SmallVec<A>, S::Error> {
        let mut read = SmallVec::new();
        while let Some(item) = items.next_element()? {
            read.push(item);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use crate::codec;
    use crate::data::DataMessage;

    /// Made by the fuzzer: it claims a list of hundreds of millions of steps.
    const CLAIMS_MANY_STEPS: [u8; 25] = [
        0x11, 0x00, 0x19, 0x01, 0xfb, 0x21, 0x08, 0x00, 0x02, 0x00, 0x00, 0x00, 0x04, 0x00, 0xfc, 0x70, 0x11,
        0xfb, 0x2c, 0x01, 0xfb, 0x60, 0x00, 0x6b, 0x00,
    ];

    #[test]
    fn no_memory_is_asked_for_by_what_a_list_claims() {
        assert!(codec::decode(&CLAIMS_MANY_STEPS).is_err());
        // More items than there is memory: to ask for it would end the process.
        let mut placed = vec![4, 0, 0, 253];
        placed.extend(u64::MAX.to_le_bytes());
        assert!(DataMessage::decode(&placed).is_err());
        let mut decided = vec![17, 0, 1, 2, 0, 0, 253];
        decided.extend((u64::MAX / 16).to_le_bytes());
        assert!(codec::decode(&decided).is_err());
    }
}
