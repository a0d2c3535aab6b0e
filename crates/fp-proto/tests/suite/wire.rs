//! What travels: golden bytes of every message of both planes, and bytes that are no message.
//!
//! The golden bytes are those of the wire format's present version. When they change on purpose, the version in the
//! hello goes up with them, and `FLEXPATH_WRITE_GOLDEN=1 cargo test -p flexpath-proto --test suite wire` writes them
//! anew.

mod examples;

use examples::{control, data};
use fp_proto::bounds::LIMIT_NAME_BYTES;
use fp_proto::codec::{DecodeError, decode, encode};
use fp_proto::data::DataMessage;
use fp_proto::message::Message;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const CONTROL_VARIANTS: usize = 46;
const DATA_VARIANTS: usize = 15;

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The name of a message's kind: what comes first in its debug output.
pub(crate) fn kind(message: &impl std::fmt::Debug) -> String {
    let text = format!("{message:?}");
    text.chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// The decoder knows that many kinds: a new one must have an example too.
pub(crate) fn no_more_than<T: std::fmt::Debug>(variants: usize, decoded: Result<T, DecodeError>) {
    let error = decoded.expect_err("a kind without an example").to_string();
    assert!(error.contains(&format!("i < {variants}")), "{error}");
}

/// Compares with the file, or writes it if that was asked for.
pub(crate) fn golden(name: &str, lines: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("FLEXPATH_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, lines).expect("the golden bytes are written");
    }
    let kept = std::fs::read_to_string(&path).expect("the golden bytes are checked in");
    for (kept, now) in kept.lines().zip(lines.lines()) {
        assert_eq!(kept, now, "the bytes of a message have changed: peers of this version cannot read them");
    }
    assert_eq!(kept.lines().count(), lines.lines().count(), "messages were added or removed");
}

#[test]
fn the_bytes_of_control_messages_do_not_change() {
    let messages = control();
    let kinds: BTreeSet<String> = messages.iter().map(kind).collect();
    no_more_than(CONTROL_VARIANTS, decode(&[CONTROL_VARIANTS as u8]));
    assert_eq!(kinds.len(), CONTROL_VARIANTS, "each kind has an example: {kinds:?}");
    let line = |message: &Message| {
        let bytes = encode(message);
        assert_eq!(&decode(&bytes).expect("it can be read again"), message);
        format!("{} {}\n", kind(message), hex(&bytes))
    };
    golden("control.txt", &messages.iter().map(line).collect::<String>());
}

#[test]
fn the_bytes_of_data_messages_do_not_change() {
    let messages = data();
    let kinds: BTreeSet<String> = messages.iter().map(kind).collect();
    no_more_than(DATA_VARIANTS, DataMessage::decode(&[DATA_VARIANTS as u8]));
    assert_eq!(kinds.len(), DATA_VARIANTS, "each kind has an example: {kinds:?}");
    let line = |message: &DataMessage| {
        let bytes = message.encode();
        assert_eq!(&DataMessage::decode(&bytes).expect("it can be read again"), message);
        format!("{} {}\n", kind(message), hex(&bytes))
    };
    golden("data.txt", &messages.iter().map(line).collect::<String>());
}

#[test]
fn a_message_cut_short_or_with_more_behind_it_is_refused() {
    for message in control() {
        let bytes = encode(&message);
        (0..bytes.len()).for_each(|len| assert!(decode(&bytes[..len]).is_err(), "{message:?} cut to {len}"));
        let longer = [&bytes[..], &[0]].concat();
        assert!(matches!(decode(&longer), Err(DecodeError::Trailing { trailing: 1 })), "{message:?}");
    }
    for message in data() {
        let bytes = message.encode();
        let cut = |len: usize| DataMessage::decode(&bytes[..len]).is_err();
        assert!((0..bytes.len()).all(cut), "{message:?}");
        assert!(DataMessage::decode(&[&bytes[..], &[0]].concat()).is_err(), "{message:?}");
    }
}

#[test]
fn a_count_that_the_bytes_cannot_hold_is_refused_without_room_for_it() {
    // A log of 2^60 entries, and a fragment of 2^60 bytes: the length is read, and nothing is there.
    let huge = |kind: &Message, at: usize| {
        let mut bytes = encode(kind);
        bytes.truncate(at);
        bytes.push(253);
        bytes.extend((1u64 << 60).to_le_bytes());
        bytes
    };
    assert!(decode(&huge(&Message::Log { serial: 0, entries: Vec::new() }, 2)).is_err());
    assert!(decode(&huge(&Message::Fragment { bytes: vec![1], left_bytes: 0 }, 1)).is_err());
}

/// The examples with a name in place of this one that takes so many bytes.
fn renamed(name: &str, len_bytes: usize) -> Vec<(String, Vec<u8>)> {
    let found = [&[name.len() as u8], name.as_bytes()].concat();
    let long = [&[251], &(len_bytes as u16).to_le_bytes()[..], &vec![b'x'; len_bytes]].concat();
    let change = |message: DataMessage| {
        let bytes = message.encode();
        let at = bytes.windows(found.len()).position(|part| part == found)?;
        let changed = [&bytes[..at], &long, &bytes[at + found.len()..]].concat();
        Some((kind(&message), changed))
    };
    data().into_iter().filter_map(change).collect()
}

#[test]
fn a_name_in_a_data_message_is_bounded_wherever_it_stands() {
    let mut kinds = BTreeSet::new();
    for name in ["T", "bonds", "adjacency", "BondPair", "BondAdjacency", "0807"] {
        for (kind, bytes) in renamed(name, LIMIT_NAME_BYTES) {
            assert!(DataMessage::decode(&bytes).is_ok(), "{name} in {kind}");
            kinds.insert(kind);
        }
        for (kind, bytes) in renamed(name, LIMIT_NAME_BYTES + 1) {
            let read = DataMessage::decode(&bytes);
            assert!(matches!(read, Err(DecodeError::OutOfBounds("name"))), "{name} in {kind}");
        }
    }
    let named = ["Fetch", "Offers", "Placed", "Pushed", "Transform", "Transformed", "Want"];
    assert_eq!(kinds, named.map(str::to_owned).into());
}

/// One of the examples with some bytes changed.
fn damaged() -> impl Strategy<Value = (Vec<u8>, bool)> {
    let controls = control().iter().map(|message| (encode(message).into_vec(), true)).collect::<Vec<_>>();
    let datas = data().iter().map(|message| (message.encode().into_vec(), false)).collect::<Vec<_>>();
    let whole = prop::sample::select([controls, datas].concat());
    let byte =
        prop_oneof![any::<u8>(), Just(0), Just(250), Just(251), Just(252), Just(253), Just(254), Just(255)];
    let damage = prop::collection::vec((any::<prop::sample::Index>(), byte), 1..4);
    (whole, damage).prop_map(|((mut bytes, control), damage)| {
        damage.into_iter().for_each(|(at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        });
        (bytes, control)
    })
}

proptest! {
    #[test]
    fn damaged_messages_are_refused_or_mean_something(bytes in damaged()) {
        let (bytes, control) = bytes;
        // What is believed can be said again, and means the same. Bytes are compared: a number that is not a number is
        // not equal to itself.
        if control {
            if let Ok(message) = decode(&bytes) {
                let said = encode(&message);
                prop_assert_eq!(encode(&decode(&said).expect("said again")), said);
            }
        } else if let Ok(message) = DataMessage::decode(&bytes) {
            let said = message.encode();
            prop_assert_eq!(DataMessage::decode(&said).expect("said again").encode(), said);
        }
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&bytes);
        let _ = DataMessage::decode(&bytes);
    }
}
