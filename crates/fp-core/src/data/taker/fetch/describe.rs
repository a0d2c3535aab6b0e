//! The type of records whose fingerprint is not known yet: a question to somebody who put some.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::question::Question;
use crate::error::ReadError;
use crate::value::limit::Limit;
use fp_proto::data::DataMessage;
use fp_types::record::RecordSchema;
use fp_types::{Fingerprint, Rank};

/// Asks an owner for the type of that fingerprint. Types are not in the table. Tables travel whenever a layout changes,
/// with particles in every step, and types change hardly ever.
pub(crate) fn describe(
    taker: Taker<'_>,
    (rank, fingerprint): (Rank, Fingerprint),
    limit: Limit<'_>,
) -> Result<RecordSchema, ReadError> {
    let read = |_, answer| {
        let DataMessage::Described { schema, .. } = answer else {
            return Err("something else, asked for a type of records".to_owned());
        };
        checked(schema, fingerprint)
    };
    let ask = |_, request| DataMessage::Describe { request, fingerprint };
    let mut told = Question { ask: &ask, read: &read }.of(taker, &[rank], limit)?;
    told.remove(&rank).ok_or_else(|| taker.misbehaved(rank, "it told no type of records".to_owned()))
}

/// The type, if the owner told it and it is the one that was asked for.
fn checked(answer: Option<Vec<u8>>, fingerprint: Fingerprint) -> Result<RecordSchema, String> {
    let bytes =
        answer.ok_or_else(|| format!("it put records of the type {fingerprint} and does not know it"))?;
    let schema = RecordSchema::from_bytes(&bytes).map_err(|error| format!("a type of records: {error}"))?;
    let found = schema.fingerprint();
    let right = (found == fingerprint).then_some(schema);
    right.ok_or_else(|| format!("the type {found}, where {fingerprint} was asked for"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::Dtype;
    use fp_types::record::{Field, MAX_RECORD_TYPE_BYTES, RecordType};

    fn refused(bytes: &[u8], fingerprint: Fingerprint) -> String {
        checked(Some(bytes.to_vec()), fingerprint).unwrap_err()
    }

    #[test]
    fn hostile_types_are_refused() {
        let schema = RecordType::new("T").field(Field::new("x", Dtype::F64)).build().unwrap();
        let (bytes, fingerprint) = (schema.to_bytes(), schema.fingerprint());
        assert_eq!(checked(Some(bytes.to_vec()), fingerprint), Ok(schema.clone()));
        assert!(refused(bytes, Fingerprint([0; 16])).starts_with("the type "));
        assert!(refused(&bytes[..7], fingerprint).starts_with("a type of records: "));
        // Version, byte order, name (4 + 1), no description: then the number of fields, and the first of them.
        let mut many = bytes.to_vec();
        many[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(refused(&many, fingerprint).starts_with("a type of records: "));
        let nested = [&bytes[2..12], b"\x01\0\0\0x\x02".as_slice()].concat();
        let deep = [&bytes[..2], &nested.repeat(100_000)].concat();
        assert!(refused(&deep, fingerprint).contains("nested deeper than 16"));
        assert!(checked(None, fingerprint).is_err());
    }

    #[test]
    fn types_longer_than_any_may_be_are_refused_unread() {
        let told = |len| DataMessage::Described { request: 1, schema: Some(vec![0; len]) }.encode();
        assert!(DataMessage::decode(&told(MAX_RECORD_TYPE_BYTES)).is_ok());
        assert!(DataMessage::decode(&told(MAX_RECORD_TYPE_BYTES + 1)).is_err());
    }
}
