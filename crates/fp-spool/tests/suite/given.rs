//! Steps for the tests, and how they are written and read.

use fp_spool::{BlockHead, OpenRecord, RecordSequence, Spool, SpoolError, StepHead, StepVariable};
use fp_types::record::{Field, RecordType};
use fp_types::{BlockId, Dtype, Epoch, Rank, Region, Shape, StepId, VariableDef};
use std::path::Path;
use std::time::Duration;

/// A step with its blocks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) head: StepHead,
    pub(crate) blocks: Vec<(BlockHead, Vec<u8>)>,
}

/// A step of two ranks: a global array with an attribute, a local one, a scalar and records.
pub(crate) fn step(number: u64) -> Step {
    let temperature = VariableDef::global_array("temperature", Dtype::F64, 2).with_dimensions(["y", "x"]);
    let point = RecordType::new("point").field(Field::new("x", Dtype::F64)).build().expect("a type");
    let of = |def: VariableDef, shape| StepVariable { def, shape };
    let head = StepHead {
        stream: "heat".to_owned(),
        epoch: Epoch(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef),
        step: StepId(number),
        taken: Duration::new(1_790_000_000, 5),
        variables: vec![
            of(temperature.with_unit("K").with_attribute("code", "heat 2"), Shape::new([2u64, 3]).ok()),
            of(VariableDef::local_array("particles", Dtype::U8, 1), None),
            of(VariableDef::scalar("time", Dtype::F64), Some(Shape::scalar())),
        ],
        records: vec![point],
    };
    let row = |rank: u32| Region::new([u64::from(rank), 0], [1, 3]).expect("a region");
    let of = |variable, rank: u32, region| BlockHead { variable, block: BlockId::new(Rank(rank), 0), region };
    let bytes = |len: u64, from: u64| (0..len).map(|at| (at * 7 + from + number) as u8).collect();
    let blocks = vec![
        (of(0, 0, row(0)), bytes(24, 1)),
        (of(0, 1, row(1)), bytes(24, 2)),
        (of(1, 1, Region::new([0], [100]).expect("a region")), bytes(100, 3)),
        (of(1, 0, Region::new([0], [0]).expect("a region")), Vec::new()),
        (of(2, 0, Region::new([], []).expect("a region")), bytes(8, 4)),
    ];
    Step { head, blocks }
}

pub(crate) fn written(steps: &[Step]) -> Vec<u8> {
    let mut out = Vec::new();
    for step in steps {
        let from = out.len() as u64;
        let mut record = OpenRecord::begin(&mut out, &step.head).expect("memory");
        step.blocks.iter().for_each(|(head, bytes)| record.block(head, bytes).expect("memory"));
        let len = record.end().expect("memory");
        assert_eq!(out.len() as u64, from + len);
    }
    out
}

/// All steps of bytes, until one is damaged.
pub(crate) fn read(bytes: &[u8]) -> (Vec<Step>, Option<SpoolError>) {
    let (mut reader, mut steps) = (RecordSequence::new(bytes), Vec::new());
    loop {
        match one(&mut reader) {
            Ok(Some(step)) => steps.push(step),
            Ok(None) => return (steps, None),
            Err(error) => return (steps, Some(error)),
        }
    }
}

fn one(reader: &mut RecordSequence<&[u8]>) -> Result<Option<Step>, SpoolError> {
    let Some(head) = reader.step()? else { return Ok(None) };
    let mut blocks = Vec::new();
    while let Some(block) = reader.block()? {
        blocks.push(block);
    }
    Ok(Some(Step { head, blocks }))
}

/// All steps of a file; each as it is, or why it cannot be read.
pub(crate) fn stored(spool: &Spool) -> Vec<Result<Step, SpoolError>> {
    let step = |entry| {
        let stored = spool.step(entry)?;
        let block = |block: &fp_spool::StoredBlock| Ok((block.head.clone(), spool.bytes(block)?));
        let blocks = stored.blocks.iter().map(block).collect::<Result<_, SpoolError>>()?;
        Ok(Step { head: stored.head, blocks })
    };
    spool.entries().iter().map(step).collect()
}

pub(crate) fn file(path: &Path, bytes: &[u8]) -> Spool {
    std::fs::write(path, bytes).expect("a file");
    Spool::open(path).expect("a file that is there")
}
