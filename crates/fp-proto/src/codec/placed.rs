//! Where many blocks are, read where the message lies and written without copies of their names and bytes: the same
//! bytes as the general codec's. What says anything unusual is left to that.

use super::general::MessageBytes;
use super::short::{EIGHT_BYTES, FOUR_BYTES, INLINE, PLACED, Reading, SEGMENT, TWO_BYTES};
use crate::bounds::LIMIT_NAME_BYTES;
use crate::data::{LIMIT_DATA_BYTES, LIMIT_PIECES, PlaceRef, PlacedRef, Placement};
use fp_types::StepId;

const INPROC: u8 = 1;
/// What the general codec writes before numbers of sixteen bytes.
const SIXTEEN_BYTES: u8 = 254;
/// Bytes of a message that are no block, at most.
const START_BYTES: usize = 1 + 9 + 1 + 9 + 9;
/// Bytes of a block beside its name and its bytes, at most.
const BLOCK_BYTES: usize = 9 + 5 + 1 + 3 * 9;

/// Writes behind what is there.
struct Writer(MessageBytes);

impl Writer {
    fn number(&mut self, number: u64) {
        let (mark, len): (&[u8], usize) = match number {
            0..251 => (&[], 1),
            251..0x1_0000 => (&[TWO_BYTES], 2),
            0x1_0000..0x1_0000_0000 => (&[FOUR_BYTES], 4),
            _ => (&[EIGHT_BYTES], 8),
        };
        self.0.extend_from_slice(mark);
        self.0.extend_from_slice(&number.to_le_bytes()[..len]);
    }

    fn wide_number(&mut self, number: u128) {
        match u64::try_from(number) {
            Ok(number) => self.number(number),
            Err(_) => {
                self.0.push(SIXTEEN_BYTES);
                self.0.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    fn counted(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn block(&mut self, PlacedRef { variable, block, place }: &PlacedRef<'_>) {
        self.counted(variable.as_bytes());
        self.number((*block).into());
        match *place {
            PlaceRef::Segment { segment, offset, len } => {
                self.0.push(SEGMENT);
                [segment, offset, len].into_iter().for_each(|number| self.number(number));
            }
            PlaceRef::Inproc { key } => {
                self.0.push(INPROC);
                self.wide_number(key);
            }
            PlaceRef::Inline { bytes } => {
                self.0.push(INLINE);
                self.counted(bytes);
            }
        }
    }
}

impl<'a> Reading<'a> {
    fn wide_number(&mut self) -> Option<u128> {
        if self.0.first() == Some(&SIXTEEN_BYTES) {
            self.byte()?;
            return self.all().map(u128::from_le_bytes);
        }
        self.number().map(u128::from)
    }

    fn block(&mut self) -> Option<PlacedRef<'a>> {
        let variable = std::str::from_utf8(self.counted()?).ok()?;
        let block = self.short_number()?;
        let place = match self.byte()? {
            SEGMENT => {
                PlaceRef::Segment { segment: self.number()?, offset: self.number()?, len: self.number()? }
            }
            INPROC => PlaceRef::Inproc { key: self.wide_number()? },
            INLINE => PlaceRef::Inline { bytes: self.counted()? },
            _ => return None,
        };
        (variable.len() <= LIMIT_NAME_BYTES).then_some(PlacedRef { variable, block, place })
    }
}

/// The message that says where blocks are.
pub(super) fn encode(step: StepId, request: Option<u64>, blocks: &[PlacedRef<'_>]) -> MessageBytes {
    let len_bytes =
        |block: &PlacedRef<'_>| BLOCK_BYTES + block.variable.len() + block.place.inline_len_bytes();
    let mut out =
        Writer(MessageBytes::with_capacity(START_BYTES + blocks.iter().map(len_bytes).sum::<usize>()));
    out.0.push(PLACED);
    out.number(step.0);
    out.0.push(request.is_some().into());
    request.into_iter().for_each(|request| out.number(request));
    out.number(blocks.len() as u64);
    blocks.iter().for_each(|block| out.block(block));
    out.0
}

/// Whether these bytes may say where blocks are.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.first() == Some(&PLACED)
}

/// What these bytes say, if it is where blocks are, and nothing unusual.
pub(super) fn decode(bytes: &[u8]) -> Option<Placement<'_>> {
    let mut input = Reading(bytes);
    if bytes.len() > LIMIT_DATA_BYTES || input.byte()? != PLACED {
        return None;
    }
    let step = StepId(input.number()?);
    let request = if input.flag()? { Some(input.number()?) } else { None };
    let count = usize::try_from(input.number()?).ok().filter(|count| *count <= LIMIT_PIECES)?;
    let blocks = input.0;
    for _ in 0..count {
        input.block()?;
    }
    input.0.is_empty().then_some(Placement { step, request, count, blocks })
}

/// The blocks of a message that was looked through.
pub(super) fn blocks<'a>(placement: &Placement<'a>) -> impl Iterator<Item = PlacedRef<'a>> + use<'a> {
    let mut input = Reading(placement.blocks);
    (0..placement.count).map_while(move |_| input.block())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::general::{from_bytes, to_bytes};
    use crate::data::{DataMessage, Place, PlacedBlock, PlacedBlocks};
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u64> {
        let edges = [0, 250, 251, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, u64::MAX];
        prop_oneof![prop::sample::select(edges.to_vec()), any::<u64>(), 0..300u64]
    }

    fn block() -> impl Strategy<Value = PlacedBlock> {
        let segment = [number(), number(), number()].prop_map(|[segment, offset, len]| Place::Segment {
            segment,
            offset,
            len,
        });
        let key = prop_oneof![any::<u128>(), number().prop_map(u128::from)];
        let inproc = key.prop_map(|key| Place::Inproc { key });
        let inline = prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| Place::Inline { bytes });
        let place = prop_oneof![segment, inproc, inline];
        ("[a-zé]{0,20}", number(), place).prop_map(|(variable, block, place)| PlacedBlock {
            variable: variable.into(),
            block: block as u32,
            place,
        })
    }

    fn message() -> impl Strategy<Value = DataMessage> {
        let blocks = prop::collection::vec(block(), 0..6);
        (number(), prop::option::of(number()), blocks).prop_map(|(step, request, blocks)| {
            DataMessage::Placed { step: StepId(step), request, blocks: blocks.into() }
        })
    }

    fn read(bytes: &[u8]) -> Option<DataMessage> {
        let placement = Placement::decode(bytes)?;
        let one = |PlacedRef { variable, block, place }: PlacedRef<'_>| PlacedBlock {
            variable: variable.into(),
            block,
            place: match place {
                PlaceRef::Segment { segment, offset, len } => Place::Segment { segment, offset, len },
                PlaceRef::Inproc { key } => Place::Inproc { key },
                PlaceRef::Inline { bytes } => Place::Inline { bytes: bytes.to_vec() },
            },
        };
        let blocks: PlacedBlocks = placement.blocks().map(one).collect();
        Some(DataMessage::Placed { step: placement.step, request: placement.request, blocks })
    }

    proptest! {
        #[test]
        fn bytes_are_those_of_the_general_codec(message in message()) {
            let bytes = to_bytes(&message);
            let DataMessage::Placed { step, request, blocks } = &message else { unreachable!() };
            let refs: Vec<PlacedRef<'_>> = blocks.iter().map(PlacedRef::from).collect();
            prop_assert_eq!(&Placement::encode(*step, *request, &refs)[..], &bytes[..]);
            prop_assert_eq!(read(&bytes), Some(message));
        }

        /// What is believed here the general codec believes as well, and it means the same. Where this does not believe
        /// it, it is cut, longer than it says, or no such message to the general codec either.
        #[test]
        fn damaged_bytes_mean_what_they_mean_to_the_general_codec(
            message in message(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            len in 0..4usize,
        ) {
            let mut bytes = to_bytes(&message);
            damage.iter().for_each(|(at, byte)| { let at = at.index(bytes.len()); bytes[at] = *byte; });
            bytes.truncate(bytes.len() - len.min(bytes.len()));
            if let Some(message) = read(&bytes) {
                prop_assert_eq!(from_bytes::<DataMessage, 4000>(&bytes).ok(), Some(message));
            }
        }
    }

    #[test]
    fn what_is_out_of_its_bound_is_left_to_the_general_codec() {
        let named = |len: usize| {
            let variable = "x".repeat(len);
            let place = PlaceRef::Inline { bytes: &[] };
            Placement::encode(StepId(1), None, &[PlacedRef { variable: &variable, block: 0, place }])
        };
        assert!(Placement::decode(&named(LIMIT_NAME_BYTES)).is_some());
        assert!(Placement::decode(&named(LIMIT_NAME_BYTES + 1)).is_none());
        let place = PlaceRef::Inproc { key: 1 };
        let many = vec![PlacedRef { variable: "", block: 0, place }; LIMIT_PIECES + 1];
        assert!(Placement::decode(&Placement::encode(StepId(1), None, &many[1..])).is_some());
        assert!(Placement::decode(&Placement::encode(StepId(1), None, &many)).is_none());
    }

    #[test]
    fn a_short_number_that_was_written_long_is_believed_by_neither_codec() {
        let place = PlaceRef::Segment { segment: 0, offset: 0, len: 0 };
        let block = PlacedRef { variable: "", block: u32::MAX, place };
        let bytes = Placement::encode(StepId(1), None, &[block]);
        assert!(Placement::decode(&bytes).is_some());
        let at = bytes.iter().position(|byte| *byte == FOUR_BYTES).expect("the block takes four bytes");
        let mut long = bytes[..at].to_vec();
        long.push(EIGHT_BYTES);
        long.extend_from_slice(&u64::from(u32::MAX).to_le_bytes());
        long.extend_from_slice(&bytes[at + 5..]);
        assert!(Placement::decode(&long).is_none());
        assert!(from_bytes::<DataMessage, 4000>(&long).is_err());
    }
}
