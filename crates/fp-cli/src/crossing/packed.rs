//! Blocks that are compressed for the way, each by itself. What would get longer goes as it is. Sums of records are those
//! of the bytes that cross.

use fp_core::{Compression, CompressionError, VariableDef, claimed_bytes, decompress};
use fp_spool::{BlockHead, StepHead};

/// Why a block is not unpacked.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum PackedError {
    /// It says that it is of another length than its elements are.
    #[error("a block says that it takes {claimed_bytes} bytes, and its elements take {elements_bytes}")]
    Claims { claimed_bytes: u64, elements_bytes: u64 },
    /// There is no room for it.
    #[error("a block says that it takes {claimed_bytes} bytes, and there is room for {left_bytes}")]
    NoRoom { claimed_bytes: u64, left_bytes: u64 },
    /// It is of no variable of its step.
    #[error("a block is of no variable")]
    NoVariable,
    /// Nobody compressed these bytes.
    #[error(transparent)]
    Broken(#[from] CompressionError),
}

/// The bytes of a block, as they cross.
pub(crate) fn pack(by: Compression, of: &VariableDef, bytes: &[u8]) -> Result<Vec<u8>, CompressionError> {
    by.compress(of.dtype, bytes)
}

/// The bytes of a block that has crossed: no more than its elements take, and no more than there is room for.
pub(crate) fn unpack(
    head: &StepHead,
    block: &BlockHead,
    packed: &[u8],
    left_bytes: u64,
) -> Result<Vec<u8>, PackedError> {
    let of = head.variables.get(block.variable as usize).ok_or(PackedError::NoVariable)?;
    let claimed_bytes = claimed_bytes(packed)?;
    if let Some(elements_bytes) = elements_bytes(head, &of.def, block)
        && claimed_bytes != elements_bytes
    {
        return Err(PackedError::Claims { claimed_bytes, elements_bytes });
    }
    let fitting = usize::try_from(claimed_bytes).ok().filter(|_| claimed_bytes <= left_bytes);
    let len_bytes = fitting.ok_or(PackedError::NoRoom { claimed_bytes, left_bytes })?;
    Ok(decompress(of.def.dtype, packed, len_bytes)?)
}

/// How many bytes its elements take; none where each has a length of its own: of texts, and of records with lists.
fn elements_bytes(head: &StepHead, of: &VariableDef, block: &BlockHead) -> Option<u64> {
    if let Some(id) = &of.record {
        let schema = head.records.iter().find(|schema| schema.fingerprint() == id.fingerprint)?;
        schema.is_plain().then_some(())?;
    }
    let each_bytes = of.element_bytes()? as u64;
    Some(block.region.element_count().saturating_mul(each_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::record::{Field, RecordType};
    use fp_core::{ArrayKind, BlockId, Dims, Dtype, Epoch, Rank, RecordId, Region, StepId};
    use fp_spool::StepVariable;
    use proptest::prelude::*;
    use std::time::Duration;

    /// A step with one local array of these elements, and a block of so many.
    fn step(def: VariableDef, count: u64) -> (StepHead, BlockHead) {
        let head = StepHead {
            stream: "sim".to_owned(),
            epoch: Epoch(1),
            step: StepId(3),
            taken: Duration::ZERO,
            variables: vec![StepVariable { def, shape: None }],
            records: Vec::new(),
        };
        let dims = |extent| Dims::from_slice(&[extent]).expect("one dimension");
        let region = Region::new(dims(0), dims(count)).expect("a region");
        (head, BlockHead { variable: 0, block: BlockId::new(Rank(0), 0), region })
    }

    fn local(dtype: Dtype) -> VariableDef {
        VariableDef::local_array("T", dtype, 1)
    }

    fn text() -> VariableDef {
        VariableDef { kind: ArrayKind::Scalar, ..local(Dtype::String) }
    }

    /// Bytes that say that they are so many.
    fn claiming(dtype: Dtype, claimed: u64) -> Vec<u8> {
        let mut packed = pack(Compression::Lz4, &local(dtype), &[0; 800]).expect("whole elements");
        packed[2..10].copy_from_slice(&claimed.to_le_bytes());
        packed
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(
            bytes in proptest::collection::vec(any::<u8>(), 0..3000), is_smooth in any::<bool>(), by in 0..2usize,
        ) {
            let bytes = if is_smooth { bytes.iter().map(|byte| byte / 32).collect() } else { bytes };
            let by = [Compression::Lz4, Compression::Pco][by];
            for dtype in Dtype::ALL.iter().copied().filter(|dtype| *dtype != Dtype::Bytes) {
                let size = dtype.size_bytes().unwrap_or(1);
                let whole = &bytes[..bytes.len() - bytes.len() % size];
                let def = if dtype == Dtype::String { text() } else { local(dtype) };
                let (head, block) = step(def, (whole.len() / size) as u64);
                let packed = pack(by, &head.variables[0].def, whole).unwrap();
                prop_assert!(packed.len() <= whole.len() + 10);
                prop_assert_eq!(&unpack(&head, &block, &packed, whole.len() as u64).unwrap(), whole);
            }
        }

        #[test]
        fn hostile_bytes_are_refused_or_as_long_as_the_elements(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..300), codec in 0u8..5, count in 0u64..200,
        ) {
            let (head, block) = step(local(Dtype::F32), count);
            if let Some(said) = bytes.get_mut(..10) {
                said[..2].copy_from_slice(&[codec, Dtype::F32.as_u8()]);
                said[2..].copy_from_slice(&(4 * count).to_le_bytes());
            }
            if let Ok(unpacked) = unpack(&head, &block, &bytes, u64::MAX) {
                prop_assert_eq!(unpacked.len() as u64, 4 * count);
            }
        }

        #[test]
        fn no_other_length_is_believed(claimed in any::<u64>(), count in any::<u32>()) {
            let elements_bytes = 8 * u64::from(count);
            prop_assume!(claimed != elements_bytes);
            let (head, block) = step(local(Dtype::F64), count.into());
            let refused = unpack(&head, &block, &claiming(Dtype::F64, claimed), u64::MAX);
            prop_assert_eq!(refused, Err(PackedError::Claims { claimed_bytes: claimed, elements_bytes }));
        }
    }

    #[test]
    fn what_has_no_room_is_refused_before_there_is_memory_for_it() {
        // There is no such memory: asking for it would end the process.
        let claimed_bytes = 1 << 60;
        let no_room = Err(PackedError::NoRoom { claimed_bytes, left_bytes: 1000 });
        let (head, block) = step(text(), 1);
        assert_eq!(unpack(&head, &block, &claiming(Dtype::String, claimed_bytes), 1000), no_room);
        let (head, block) = step(local(Dtype::F64), claimed_bytes / 8);
        assert_eq!(unpack(&head, &block, &claiming(Dtype::F64, claimed_bytes), 1000), no_room);
        let refused = unpack(&head, &block, &claiming(Dtype::F64, claimed_bytes), u64::MAX);
        assert!(matches!(refused, Err(PackedError::Broken(_))), "so few bytes never make so many");
        let elsewhere = BlockHead { variable: 1, ..block };
        assert_eq!(unpack(&head, &elsewhere, &[], 1000), Err(PackedError::NoVariable));
    }

    #[test]
    fn records_are_as_long_as_their_elements_unless_they_have_lists() {
        let plain = RecordType::new("A").field(Field::new("id", Dtype::U64)).build().unwrap();
        let listed = RecordType::new("B").field(Field::new("id", Dtype::U64));
        let listed = listed.field(Field::new("name", Dtype::String)).build().unwrap();
        for (schema, is_known) in [(plain, true), (listed, false)] {
            let record = Some(RecordId::from(&schema));
            let (mut head, block) = step(VariableDef { record, ..local(Dtype::Bytes) }, 2);
            head.records.push(schema);
            let found = elements_bytes(&head, &head.variables[0].def, &block);
            assert_eq!(found.is_some(), is_known);
            assert!(found.is_none_or(|found| found == 16));
            head.records.clear();
            assert_eq!(elements_bytes(&head, &head.variables[0].def, &block), None);
        }
    }
}
