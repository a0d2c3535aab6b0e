//! The messages that every step takes, written and read without the general codec: the same bytes in a tenth of its
//! instructions. What is not here, or says anything unusual, is left to the general codec.

use super::general::{MessageBytes, USUAL_BYTES};
use crate::bounds::LIMIT_NAME_BYTES;
use crate::data::{DataMessage, InlineBlock, Place, PlacedBlock, PlacedBlocks};
use crate::message::{Assignment, Message};
use fp_types::{StepId, TableId};

/// What the general codec writes first for these; a test compares.
const ASSIGN: u8 = 20;
const RELEASE: u8 = 21;
pub(super) const PLACED: u8 = 4;
pub(super) const SEGMENT: u8 = 0;
pub(super) const INLINE: u8 = 2;

/// What the general codec writes before numbers of two, four and eight bytes; less is one byte by itself.
pub(super) const TWO_BYTES: u8 = 251;
pub(super) const FOUR_BYTES: u8 = 252;
pub(super) const EIGHT_BYTES: u8 = 253;

/// Longest name, and longest inline block, of a placement that is written here.
const LIMIT_PART_BYTES: usize = 32;

/// Bytes with room for all that is written here.
struct Writing {
    bytes: [u8; USUAL_BYTES],
    len: usize,
}

impl Writing {
    fn new(kind: u8) -> Self {
        let mut bytes = [0; USUAL_BYTES];
        bytes[0] = kind;
        Self { bytes, len: 1 }
    }

    fn byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn all(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    #[inline]
    fn number(&mut self, number: u64) {
        match number {
            0..251 => self.byte(number as u8),
            _ => self.long_number(number),
        }
    }

    fn long_number(&mut self, number: u64) {
        match number {
            0..0x1_0000 => {
                self.byte(TWO_BYTES);
                self.all(&(number as u16).to_le_bytes());
            }
            0x1_0000..0x1_0000_0000 => {
                self.byte(FOUR_BYTES);
                self.all(&(number as u32).to_le_bytes());
            }
            _ => {
                self.byte(EIGHT_BYTES);
                self.all(&number.to_le_bytes());
            }
        }
    }

    fn counted(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.all(bytes);
    }

    fn written(self) -> MessageBytes {
        MessageBytes::from_buf_and_len(self.bytes, self.len)
    }
}

/// Bytes that are still to be read.
pub(super) struct Reading<'a>(pub(super) &'a [u8]);

impl<'a> Reading<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        self.byte().filter(|byte| *byte < 2).map(|byte| byte == 1)
    }

    pub(super) fn all<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            TWO_BYTES => self.all().map(|bytes| u16::from_le_bytes(bytes).into()),
            FOUR_BYTES => self.all().map(|bytes| u32::from_le_bytes(bytes).into()),
            EIGHT_BYTES => self.all().map(u64::from_le_bytes),
            byte => (byte < TWO_BYTES).then_some(byte.into()),
        }
    }

    /// A number of at most four bytes. The general codec believes none that was written in eight, however small it is.
    pub(super) fn short_number(&mut self) -> Option<u32> {
        if self.0.first() == Some(&EIGHT_BYTES) {
            return None;
        }
        u32::try_from(self.number()?).ok()
    }

    /// Which block a placement is about that nobody asked for, if it is one and of one block.
    fn placed(&mut self) -> Option<(StepId, &'a str, u32)> {
        if self.byte()? != PLACED {
            return None;
        }
        let step = StepId(self.number()?);
        if self.all()? != [0, 1] {
            return None;
        }
        let variable = std::str::from_utf8(self.counted()?).ok()?;
        Some((step, variable, self.short_number()?))
    }

    pub(super) fn counted(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }
}

/// The bytes of a message, if it is one of these.
pub(crate) fn encode(message: &Message) -> Option<MessageBytes> {
    if let Message::Release { step, retire, given_back } = message {
        let mut out = Writing::new(RELEASE);
        out.number(step.0);
        out.all(&[(*retire).into(), (*given_back).into()]);
        return Some(out.written());
    }
    let Message::Assign(assignment) = message else { return None };
    let Assignment { step, table, skipped, redelivered, values, len_bytes, queued_steps, judgement: _ } =
        assignment;
    if !values.is_empty() {
        return None;
    }
    let mut out = Writing::new(ASSIGN);
    out.number(step.0);
    out.all(&table.0);
    out.number(*skipped);
    out.all(&[(*redelivered).into(), 0]);
    out.number(*len_bytes);
    out.number((*queued_steps).into());
    Some(out.written())
}

/// The message of these bytes, if it is one of these.
pub(crate) fn decode(bytes: &[u8]) -> Option<Message> {
    let mut input = Reading(bytes);
    let message = match input.byte()? {
        RELEASE => {
            let step = StepId(input.number()?);
            Message::Release { step, retire: input.flag()?, given_back: input.flag()? }
        }
        ASSIGN => {
            let (step, table) = (StepId(input.number()?), TableId(input.all()?));
            let (skipped, redelivered) = (input.number()?, input.flag()?);
            let values = (input.byte()? == 0).then(Vec::new)?;
            let (len_bytes, queued_steps) = (input.number()?, input.short_number()?);
            let judgement = None;
            Message::Assign(Assignment {
                step,
                table,
                skipped,
                redelivered,
                values,
                len_bytes,
                queued_steps,
                judgement,
            })
        }
        _ => return None,
    };
    input.0.is_empty().then_some(message)
}

/// The bytes of a message of the data plane, if it is one of these.
pub(crate) fn encode_data(message: &DataMessage) -> Option<MessageBytes> {
    let DataMessage::Placed { step, request: None, blocks } = message else { return None };
    let [PlacedBlock { variable, block, place }] = blocks.as_slice() else { return None };
    if variable.len() > LIMIT_PART_BYTES {
        return None;
    }
    let mut out = Writing::new(PLACED);
    out.number(step.0);
    out.all(&[0, 1]);
    out.counted(variable.as_bytes());
    out.number((*block).into());
    match place {
        Place::Segment { segment, offset, len } => {
            out.byte(SEGMENT);
            [segment, offset, len].into_iter().for_each(|number| out.number(*number));
        }
        Place::Inline { bytes } if bytes.len() <= LIMIT_PART_BYTES => {
            out.byte(INLINE);
            out.counted(bytes);
        }
        Place::Inline { .. } | Place::Inproc { .. } => return None,
    }
    Some(out.written())
}

/// Writes that a block of that variable goes along with its place, behind what is in `into`.
pub(crate) fn encode_inline(one: &InlineBlock<'_>, into: &mut Vec<u8>) {
    let InlineBlock { step, variable, block, bytes } = *one;
    let mut out = Writing::new(PLACED);
    out.number(step.0);
    out.all(&[0, 1]);
    if variable.len() <= LIMIT_PART_BYTES {
        out.counted(variable.as_bytes());
    } else {
        out.number(variable.len() as u64);
        into.extend_from_slice(&out.bytes[..out.len]);
        into.extend_from_slice(variable.as_bytes());
        out.len = 0;
    }
    out.number(block.into());
    out.byte(INLINE);
    out.number(bytes.len() as u64);
    into.extend_from_slice(&out.bytes[..out.len]);
    into.extend_from_slice(bytes);
}

/// What these bytes say, if it is that one block goes along with its place, and nobody asked.
pub(crate) fn decode_inline(bytes: &[u8]) -> Option<InlineBlock<'_>> {
    let mut input = Reading(bytes);
    let (step, variable, block) = input.placed()?;
    let bytes = (input.byte()? == INLINE).then(|| input.counted())??;
    let is_known = input.0.is_empty() && variable.len() <= LIMIT_NAME_BYTES;
    is_known.then_some(InlineBlock { step, variable, block, bytes })
}

/// The message of the data plane of these bytes, if it is one of these.
pub(crate) fn decode_data(bytes: &[u8]) -> Option<DataMessage> {
    let mut input = Reading(bytes);
    let (step, variable, block) = input.placed()?;
    let place = match input.byte()? {
        SEGMENT => Place::Segment { segment: input.number()?, offset: input.number()?, len: input.number()? },
        INLINE => Place::Inline { bytes: input.counted()?.to_vec() },
        _ => return None,
    };
    let blocks = PlacedBlocks::from_buf([PlacedBlock { variable: variable.into(), block, place }]);
    input.0.is_empty().then_some(DataMessage::Placed { step, request: None, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::general::{from_bytes, to_bytes};
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u64> {
        let edges = [0, 1, 250, 251, 252, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, u64::MAX];
        prop_oneof![prop::sample::select(edges.to_vec()), any::<u64>(), 0..300u64]
    }

    fn message() -> impl Strategy<Value = Message> {
        let release = (number(), any::<[bool; 2]>()).prop_map(|(step, [retire, given_back])| {
            Message::Release { step: StepId(step), retire, given_back }
        });
        let assign = ([number(), number(), number()], any::<([u8; 16], bool)>(), number()).prop_map(
            |([step, skipped, len_bytes], (table, redelivered), queued)| {
                let (step, table, queued_steps) = (StepId(step), TableId(table), queued as u32);
                let values = Vec::new();
                Message::Assign(Assignment {
                    step,
                    table,
                    skipped,
                    redelivered,
                    values,
                    len_bytes,
                    queued_steps,
                    judgement: None,
                })
            },
        );
        prop_oneof![release, assign]
    }

    fn data() -> impl Strategy<Value = DataMessage> {
        let segment = [number(), number(), number()].prop_map(|[segment, offset, len]| Place::Segment {
            segment,
            offset,
            len,
        });
        let inline = prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| Place::Inline { bytes });
        let place = prop_oneof![segment, inline];
        ("[a-zé]{0,20}", number(), number(), place).prop_map(|(variable, step, block, place)| {
            let (step, block) = (StepId(step), block as u32);
            let blocks = [PlacedBlock { variable: variable.into(), block, place }].into();
            DataMessage::Placed { step, request: None, blocks }
        })
    }

    proptest! {
        #[test]
        fn bytes_are_those_of_the_general_codec(message in message(), data in data()) {
            let bytes = to_bytes(&message);
            prop_assert_eq!(encode(&message), Some(bytes.clone()));
            prop_assert_eq!(decode(&bytes), Some(message));
            let bytes = to_bytes(&data);
            let DataMessage::Placed { step, blocks, .. } = &data else { unreachable!() };
            let PlacedBlock { variable, block, place } = &blocks[0];
            if let Place::Inline { bytes: here } = place {
                let one = InlineBlock { step: *step, variable, block: *block, bytes: here };
                let mut written = Vec::new();
                encode_inline(&one, &mut written);
                prop_assert_eq!(&written[..], &bytes[..]);
                prop_assert_eq!(decode_inline(&bytes), Some(one));
            } else {
                prop_assert_eq!(decode_inline(&bytes), None);
            }
            let short = encode_data(&data);
            prop_assert!(short.is_none_or(|short| short == bytes));
            prop_assert_eq!(decode_data(&bytes), Some(data));
        }

        /// What is believed here the general codec believes as well, and it means the same.
        #[test]
        fn damaged_bytes_mean_what_they_mean_to_the_general_codec(
            (message, data) in (message(), data()),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            len in 0..4usize,
        ) {
            for mut bytes in [to_bytes(&message), to_bytes(&data)] {
                damage.iter().for_each(|(at, byte)| { let at = at.index(bytes.len()); bytes[at] = *byte; });
                bytes.truncate(bytes.len() - len.min(bytes.len()));
                if let Some(message) = decode(&bytes) {
                    prop_assert_eq!(from_bytes::<Message, 1000>(&bytes).ok(), Some(message));
                }
                if let Some(message) = decode_data(&bytes) {
                    prop_assert_eq!(from_bytes::<DataMessage, 1000>(&bytes).ok(), Some(message));
                }
                if let Some(one) = decode_inline(&bytes) {
                    prop_assert_eq!(from_bytes::<DataMessage, 1000>(&bytes).ok(), Some(one.into()));
                }
            }
        }
    }

    #[test]
    fn the_messages_of_a_step_are_written_and_read_here() {
        let release = Message::Release { step: StepId(7), retire: false, given_back: false };
        assert!(encode(&release).is_some_and(|bytes| decode(&bytes).is_some()));
        let long = |len: usize| {
            let place = Place::Inline { bytes: vec![1; len] };
            let blocks = [PlacedBlock { variable: "x".into(), block: 0, place }].into();
            DataMessage::Placed { step: StepId(7), request: None, blocks }
        };
        assert!(
            encode_data(&long(LIMIT_PART_BYTES)).is_some()
                && encode_data(&long(LIMIT_PART_BYTES + 1)).is_none()
        );
    }
}
