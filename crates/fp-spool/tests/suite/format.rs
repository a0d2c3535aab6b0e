//! What is written is read, and stays what it was.

use crate::given::{Step, read, step, stored, written};
use fp_spool::{BlockHead, OpenRecord, RecordSequence, Spool};
use fp_types::{BlockId, Rank, Region, StepId};
use proptest::prelude::*;

/// A record of the first version, as programs of then wrote it.
const GOLDEN: &[u8] = include_bytes!("../golden/step-1.fpsr");

#[test]
fn records_of_the_first_version_are_read_for_ever() {
    assert_eq!(read(GOLDEN).0, [step(3)]);
    assert_eq!(written(&[step(3)]), GOLDEN, "a change of the format is another version");
}

#[test]
fn numbers_lie_aligned() {
    let bytes = written(&[step(0), step(1)]);
    let data = step(1).blocks[0].1.clone();
    let at = bytes.windows(data.len()).rposition(|part| part == data).expect("the block");
    assert_eq!((at % 64, bytes.len() % 64), (0, 0));
}

#[test]
fn blocks_that_are_not_wanted_are_passed_over() {
    let bytes = written(&[step(0), step(1), step(2)]);
    let mut reader = RecordSequence::new(&bytes[..]);
    let mut numbers = Vec::new();
    while let Some(head) = reader.step().expect("whole") {
        numbers.push(head.step);
        reader.block().expect("whole").expect("a block");
    }
    assert_eq!(numbers, [StepId(0), StepId(1), StepId(2)]);
}

#[test]
fn memory_that_was_used_before_holds_the_block_alone() {
    let bytes = written(&[step(0), step(1)]);
    let (mut anew, mut again) = (RecordSequence::new(&bytes[..]), RecordSequence::new(&bytes[..]));
    let mut memory = vec![0xee; 5];
    while let Some(head) = anew.step().expect("whole") {
        assert_eq!(again.step().expect("whole"), Some(head));
        while let Some(block) = anew.block().expect("whole") {
            let found = again.block_in(&mut memory).expect("whole");
            assert_eq!((found, &memory), (Some(block.0), &block.1));
        }
        assert_eq!(again.block().expect("whole"), None);
    }
}

#[test]
fn a_step_that_is_too_long_is_refused_before_it_is_read() {
    let bytes = written(&[step(1)]);
    let len_bytes: u64 = step(1).blocks.iter().map(|(_, bytes)| bytes.len() as u64 + 256).sum();
    let all = |limit_bytes| {
        let mut reader = RecordSequence::new(&bytes[..]).with_limit_bytes(limit_bytes);
        reader.step()?;
        while reader.block()?.is_some() {}
        Ok::<(), fp_spool::SpoolError>(())
    };
    all(len_bytes).expect("it has room");
    let error = all(len_bytes - 1).expect_err("it has none").to_string();
    assert_eq!(
        error,
        format!("step 1: it takes more than the {} bytes that there are for it", len_bytes - 1)
    );
}

#[test]
fn a_block_of_no_variable_is_refused() {
    let mut out = Vec::new();
    let Step { head, .. } = step(0);
    let mut record = OpenRecord::begin(&mut out, &head).expect("memory");
    let region = Region::new([], []).expect("a region");
    let unknown = BlockHead { variable: 3, block: BlockId::new(Rank(0), 0), region };
    let error = record.block(&unknown, &[]).expect_err("there are three");
    assert_eq!(error.to_string(), "step 0: a block is of variable 3, and the step has 3, counted from 0");
}

proptest! {
    #[test]
    fn what_is_written_is_read(lens in prop::collection::vec((0u32..3, 0usize..300), 0..12), steps in 1u64..4) {
        let steps: Vec<Step> = (0..steps).map(|number| {
            let mut of = step(number);
            of.blocks = lens.iter().enumerate().map(|(at, &(variable, len))| {
                let region = Region::new([at as u64], [len as u64]).expect("a region");
                let head = BlockHead { variable, block: BlockId::new(Rank(at as u32), 7), region };
                (head, (0..len).map(|byte| (byte * 31 + at) as u8).collect())
            }).collect();
            of
        }).collect();
        let bytes = written(&steps);
        let (found, error) = read(&bytes);
        prop_assert!(error.is_none() && found == steps, "{error:?}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("spool");
        std::fs::write(&path, &bytes).expect("a file");
        let spool = Spool::open(&path).expect("a file");
        prop_assert_eq!(stored(&spool).into_iter().collect::<Result<Vec<_>, _>>().expect("whole"), steps);
    }
}
