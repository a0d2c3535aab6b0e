//! Tables of steps, layouts and schemas, and records of steps.

use crate::again;
use fp_proto::table;
use fp_spool::{OpenRecord, RecordSequence};

/// How many readers believed the bytes.
pub fn check(bytes: &[u8]) -> usize {
    let readers: [fn(&[u8]) -> Option<Vec<u8>>; 4] = [
        |bytes| Some(table::encode(&table::decode(bytes).ok()?)),
        |bytes| Some(table::encode_layout(&table::decode_layout(bytes).ok()?)),
        |bytes| Some(table::encode_schema(&table::decode_schema(bytes).ok()?)),
        records,
    ];
    readers.into_iter().filter(|reader| again::bytes(bytes, reader)).count()
}

/// The same steps, written once more.
fn records(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut reader, mut out) = (RecordSequence::new(bytes), Vec::new());
    while let Some(head) = reader.step().ok()? {
        let mut record = OpenRecord::begin(&mut out, &head).expect("what was read can be written");
        while let Some((of, data)) = reader.block().ok()? {
            record.block(&of, &data).expect("a variable of the step");
        }
        record.end().expect("memory");
    }
    Some(out).filter(|out| !out.is_empty())
}
