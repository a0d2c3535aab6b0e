//! Messages longer than a frame: cut into fragments where they are sent, joined where they are heard
//! (`docs/protocol.md`, section 12). Only what tells of blocks grows so long: reports and tables.

use crate::codec;
use crate::effect::Misbehaviour;
use crate::message::{MeasurePart, Message, ReadyReport};
use crate::table;
use fp_types::{MAX_DIMS, PutChanges};

/// More than a message takes beside what can grow.
const FIXED_BYTES: usize = 64;
/// What numbers take at most: any one, a count of blocks, a range of ranks, a shape with the lengths of a column's
/// lists.
const NUMBER_BYTES: usize = 9;
const COUNT_BYTES: usize = 5;
const RANGE_BYTES: usize = 2 * COUNT_BYTES;
const SHAPE_BYTES: usize = NUMBER_BYTES * (MAX_DIMS + 5);

/// The fragments of a message, or nothing if it fits one frame of `fragment_bytes` as it is.
pub(crate) fn cut(message: &Message, fragment_bytes: usize) -> Option<Vec<Message>> {
    if estimate(message) <= fragment_bytes {
        return None;
    }
    let bytes = codec::encode(message);
    if bytes.len() <= fragment_bytes {
        return None;
    }
    let mut left_bytes = bytes.len() as u64;
    let fragments = bytes.chunks(fragment_bytes.max(1)).map(|part| {
        left_bytes -= part.len() as u64;
        Message::Fragment { bytes: part.to_vec(), left_bytes }
    });
    Some(fragments.collect())
}

/// Bytes that a message takes at most, if it is of a kind that can grow long; 0 for the others.
fn estimate(message: &Message) -> usize {
    let of_table = |encoded: &Option<Vec<u8>>| FIXED_BYTES + encoded.as_ref().map_or(0, Vec::len);
    match message {
        Message::Ready { report, .. } => FIXED_BYTES + of_report(report),
        Message::ReadyMeasured { report, parts, .. } => FIXED_BYTES + of_report(report) + of_parts(parts),
        Message::TableReply { encoded, .. } => of_table(encoded),
        Message::Resolved { encoded, owners, .. } => {
            let contacts = owners.iter().map(|(_, contact)| contact.0.len() + FIXED_BYTES);
            of_table(encoded) + contacts.sum::<usize>()
        }
        Message::Heartbeat
        | Message::Probe { .. }
        | Message::ProbeReply { .. }
        | Message::Join { .. }
        | Message::Welcome { .. }
        | Message::Refused { .. }
        | Message::TreeHello { .. }
        | Message::SubtreeOpen
        | Message::CohortOpen
        | Message::RankLost { .. }
        | Message::Prepared { .. }
        | Message::Expire { .. }
        | Message::Closing { .. }
        | Message::Late { .. }
        | Message::TableRequest { .. }
        | Message::Log { .. }
        | Message::Subscribe { .. }
        | Message::Subscribed { .. }
        | Message::Assign(_)
        | Message::Release { .. }
        | Message::Reselect { .. }
        | Message::Reselected { .. }
        | Message::Unsubscribe
        | Message::StreamEnd { .. }
        | Message::Leaving
        | Message::Attached { .. }
        | Message::AwaitingRestart { .. }
        | Message::Left
        | Message::Resolve { .. }
        | Message::Fragment { .. }
        | Message::TableRefused { .. }
        | Message::Unresolved { .. }
        | Message::RestartHeard
        | Message::AskContacts { .. }
        | Message::Contacts { .. }
        | Message::AskStatus { .. }
        | Message::Status { .. }
        | Message::StatusRefused { .. }
        | Message::AssignJudged { .. }
        | Message::Steer { .. }
        | Message::Steered { .. }
        | Message::SteeringAnswer { .. } => 0,
    }
}

fn of_parts(parts: &[MeasurePart]) -> usize {
    parts.iter().map(|part| part.len_bytes() + FIXED_BYTES).sum()
}

fn of_report(report: &ReadyReport) -> usize {
    let values = report.values.iter().map(|value| value.name.len() + value.bytes.len() + FIXED_BYTES);
    let not_kept = NUMBER_BYTES * report.not_kept.len();
    FIXED_BYTES + values.sum::<usize>() + not_kept + changed_bytes(&report.changed)
}

/// Bytes that what ranks put takes in a report, at most.
pub(crate) fn changed_bytes(changed: &PutChanges) -> usize {
    let columns = changed.columns.iter().map(|column| {
        let ranks = RANGE_BYTES * column.ranks.len() + COUNT_BYTES * column.block_counts.len();
        table::definition_bytes(&column.def) + SHAPE_BYTES + ranks + NUMBER_BYTES * column.numbers.len()
    });
    columns.sum::<usize>() + RANGE_BYTES * changed.ranks.len()
}

/// How many bytes a report takes, if they are too many to be sent. Ranks and blocks are as many bytes at least: some
/// take none.
pub(crate) fn too_long(report: &ReadyReport, long_bytes: usize) -> Option<u64> {
    let items = report.changed.item_count();
    if of_report(report) <= long_bytes && items <= long_bytes as u64 {
        return None;
    }
    let len_bytes = (codec::to_bytes(report).len() + FIXED_BYTES) as u64;
    Some(len_bytes.max(items)).filter(|&len_bytes| len_bytes > long_bytes as u64)
}

/// The fragments of one message that have come over a link.
#[derive(Default)]
pub(crate) struct Joining {
    bytes: Vec<u8>,
    left_bytes: u64,
}

impl Joining {
    /// Whether a message is here in part.
    pub(crate) fn is_open(&self) -> bool {
        self.left_bytes > 0
    }

    /// The next fragment; gives the message if it was the last.
    ///
    /// # Errors
    /// If the fragments do not follow one another, promise more than any message has, or make up none.
    pub(crate) fn add(
        &mut self,
        fragment: &[u8],
        left_bytes: u64,
        long_bytes: usize,
    ) -> Result<Option<Message>, Misbehaviour> {
        let announced = left_bytes.checked_add(fragment.len() as u64);
        let bounded = announced.is_some_and(|announced| announced <= long_bytes as u64);
        if fragment.is_empty() || !bounded {
            return Err(Misbehaviour::OutOfBounds("Fragment"));
        }
        if self.is_open() && announced != Some(self.left_bytes) {
            return Err(Misbehaviour::OutOfOrder("Fragment"));
        }
        self.bytes.extend_from_slice(fragment);
        self.left_bytes = left_bytes;
        if self.is_open() {
            return Ok(None);
        }
        match codec::decode_long(&std::mem::take(&mut self.bytes)) {
            Ok(Message::Fragment { .. }) | Err(_) => Err(Misbehaviour::Malformed("Fragment")),
            Ok(message) => Ok(Some(message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::LIMIT_LONG_BYTES;
    use crate::config::ContactText;
    use fp_types::{Contribution, Dtype, PutChanges, Rank, Region, Shape, StepId, VariableDef, VariablePut};
    use proptest::prelude::*;

    fn resolved(len_bytes: usize) -> Message {
        let encoded = Some((0..len_bytes).map(|at| at as u8).collect());
        Message::Resolved { request: 7, encoded, owners: vec![(Rank(3), ContactText("there".to_owned()))] }
    }

    fn ready(blocks: u64) -> Message {
        let shape = Some(Shape::new([1 << 40]).expect("it can be counted"));
        let block = |at: u64| Region::new([at << 20], [1]).expect("it can be counted");
        let def = VariableDef::global_array("T", Dtype::F64, 1).into();
        let put = VariablePut { def, shape, blocks: (0..blocks).map(block).collect(), bytes: 8 * blocks };
        let changed =
            PutChanges::of(Rank(2), &Contribution { variables: vec![put] }).expect("they are its blocks");
        Message::Ready {
            step: StepId(5),
            again: None,
            report: Box::new(ReadyReport { changed, ..ReadyReport::default() }),
        }
    }

    fn join(fragments: Vec<Message>) -> Result<Option<Message>, Misbehaviour> {
        let mut joining = Joining::default();
        let mut last = Ok(None);
        for fragment in fragments {
            assert!(matches!(last, Ok(None)), "it is whole too soon");
            let Message::Fragment { bytes, left_bytes } = fragment else {
                panic!("{fragment:?} is no fragment")
            };
            last = joining.add(&bytes, left_bytes, LIMIT_LONG_BYTES);
            if last.is_err() {
                break;
            }
        }
        last
    }

    proptest! {
        #[test]
        fn what_was_cut_is_joined_again(len_bytes in 0usize..3000, blocks in 0u64..300, fragment_bytes in 1usize..500) {
            for message in [resolved(len_bytes), ready(blocks)] {
                let whole_bytes = codec::encode(&message).len();
                let Some(fragments) = cut(&message, fragment_bytes) else {
                    prop_assert!(whole_bytes <= fragment_bytes);
                    continue;
                };
                prop_assert_eq!(fragments.len(), whole_bytes.div_ceil(fragment_bytes));
                prop_assert_eq!(join(fragments), Ok(Some(message)));
            }
        }
    }

    #[test]
    fn estimates_are_never_too_low() {
        for message in [resolved(0), resolved(70_000), ready(0), ready(5_000)] {
            assert!(codec::encode(&message).len() <= estimate(&message), "{}", message.name());
        }
        let reply = |contact: &str| Message::Resolved {
            request: u64::MAX,
            encoded: None,
            owners: vec![(Rank(u32::MAX), ContactText(contact.to_owned())); 500],
        };
        for message in [reply(""), reply(&"x".repeat(1024))] {
            assert!(codec::encode(&message).len() <= estimate(&message));
        }
    }

    #[test]
    fn fragments_that_do_not_fit_are_refused() {
        let first = |bytes: &[u8], left_bytes| Joining::default().add(bytes, left_bytes, 1000);
        assert_eq!(first(&[1], 1000), Err(Misbehaviour::OutOfBounds("Fragment")));
        assert_eq!(first(&[1], u64::MAX), Err(Misbehaviour::OutOfBounds("Fragment")));
        assert_eq!(first(&[], 5), Err(Misbehaviour::OutOfBounds("Fragment")));
        assert_eq!(first(&[1], 999), Ok(None));
        assert_eq!(first(&[255; 9], 0), Err(Misbehaviour::Malformed("Fragment")));
        let mut fragments = cut(&resolved(100), 30).expect("it is long");
        fragments.remove(1);
        assert_eq!(join(fragments), Err(Misbehaviour::OutOfOrder("Fragment")));
        let within = Message::Fragment { bytes: vec![0; 20], left_bytes: 0 };
        let within = vec![Message::Fragment { bytes: codec::encode(&within).into_vec(), left_bytes: 0 }];
        assert_eq!(join(within), Err(Misbehaviour::Malformed("Fragment")));
    }
}
