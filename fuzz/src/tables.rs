//! Tables of steps, layouts and schemas.

use crate::again;
use fp_proto::table;

/// How many readers believed the bytes.
pub fn check(bytes: &[u8]) -> usize {
    let readers: [fn(&[u8]) -> Option<Vec<u8>>; 3] = [
        |bytes| Some(table::encode(&table::decode(bytes).ok()?)),
        |bytes| Some(table::encode_layout(&table::decode_layout(bytes).ok()?)),
        |bytes| Some(table::encode_schema(&table::decode_schema(bytes).ok()?)),
    ];
    readers.into_iter().filter(|reader| again::bytes(bytes, reader)).count()
}
