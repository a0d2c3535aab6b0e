//! The type of records whose fingerprint is not known yet: a question to somebody who put some.

use super::{Errand, Job};
use crate::error::ReadError;
use crate::patience::Limit;
use crate::peer::{Heard, PeerError};
use crate::subscriber::SubscriberShared;
use fp_types::record::RecordSchema;
use fp_types::{Epoch, Fingerprint, Rank, StepId};
use std::time::Instant;

/// Asks an owner for the type of that fingerprint.
pub(crate) fn describe(
    shared: &SubscriberShared,
    (step, epoch): (StepId, Option<Epoch>),
    (rank, fingerprint): (Rank, Fingerprint),
    Limit { deadline, given_up }: Limit<'_>,
) -> Result<RecordSchema, ReadError> {
    let mut errands = vec![Errand::new(rank, Vec::new())];
    let mut job = Job { shared, step, epoch, gets: &mut [], started: Instant::now(), deadline, given_up };
    let outcome = job.describe(&mut errands, fingerprint);
    job.give_back(&mut errands);
    outcome
}

impl Job<'_, '_, '_> {
    fn describe(
        &mut self,
        errands: &mut [Errand],
        fingerprint: Fingerprint,
    ) -> Result<RecordSchema, ReadError> {
        self.link_up(errands)?;
        let [errand] = errands else { return Err(self.timed_out("nobody".to_owned())) };
        loop {
            self.guard(errand, |job, errand| job.ask_type(errand, fingerprint))?;
            if let Some(answer) = errand.peer.as_mut().and_then(|peer| peer.described.take()) {
                return checked(answer, fingerprint).map_err(|what| {
                    errand.peer = None;
                    let stream = self.shared.stream.clone();
                    ReadError::PeerMisbehaved { stream, step: self.step, rank: errand.rank, what }
                });
            }
        }
    }

    /// Asks if nothing was asked yet, and hears until the answer is here.
    fn ask_type(&mut self, errand: &mut Errand, fingerprint: Fingerprint) -> Result<(), PeerError> {
        if errand.request.is_none() {
            let Some(peer) = &mut errand.peer else { return Ok(()) };
            errand.request = Some(peer.describe(fingerprint, self.deadline)?);
        }
        while let Some(heard) = self.hear(errand)? {
            if matches!(heard, Heard::Answered(request) if errand.request == Some(request)) {
                errand.request = None;
                return Ok(());
            }
        }
        self.await_peer(errand, self.deadline)
    }
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
    use fp_proto::data::DataMessage;
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
