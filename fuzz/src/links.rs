//! What two ends of a link say before they agree, and what is said to a meeting place, to a probe and by collectives.
//! The first byte says which it is.

use crate::again;
use fp_proto::meeting;
use fp_transport::frame::{FrameLimits, Header};
use fp_transport::hello::{Hello, Reply};

/// The readers, each at the number that the first byte has.
pub const DECODERS: [(&str, fn(&[u8]) -> bool); 7] = [
    ("hello", hello),
    ("reply", reply),
    ("header", header),
    ("meeting-request", meeting_request),
    ("meeting-reply", meeting_reply),
    ("probe", |bytes| again::bytes(bytes, fp_core::fuzzed::probe_request)),
    ("gathered", |bytes| again::bytes(bytes, fp_core::fuzzed::gathered_record)),
];

/// How many readers believed the bytes.
pub fn check(bytes: &[u8]) -> usize {
    let Some((number, bytes)) = bytes.split_first() else { return 0 };
    usize::from(DECODERS.get(usize::from(*number)).is_some_and(|(_, reader)| reader(bytes)))
}

fn hello(bytes: &[u8]) -> bool {
    again::bytes(bytes, |bytes| Some(Hello::decode(bytes.try_into().ok()?).ok()?.encode().to_vec()))
}

fn reply(bytes: &[u8]) -> bool {
    again::bytes(bytes, |bytes| Some(Reply::decode(bytes.try_into().ok()?)?.encode().to_vec()))
}

/// Limits, and a header that is believed only within them.
fn header(bytes: &[u8]) -> bool {
    let Some((head_bytes, bytes)) = bytes.split_first_chunk() else { return false };
    let Some((body_bytes, bytes)) = bytes.split_first_chunk() else { return false };
    let limits = FrameLimits {
        head_bytes: u32::from_le_bytes(*head_bytes),
        body_bytes: u64::from_le_bytes(*body_bytes),
    };
    again::canonical(bytes, |bytes| {
        let header = Header::decode(bytes.try_into().ok()?, &limits).ok()?;
        assert!(header.head_len <= limits.head_bytes && header.body_len <= limits.body_bytes);
        Some(header.encode().to_vec())
    })
}

fn meeting_request(bytes: &[u8]) -> bool {
    again::bytes(bytes, |bytes| Some(meeting::Request::decode(bytes).ok()?.encode()))
}

fn meeting_reply(bytes: &[u8]) -> bool {
    again::bytes(bytes, |bytes| {
        let reply = meeting::Reply::decode(bytes).ok()?;
        // Whatever it is an answer to, the judgement is made.
        let _ = reply.lie(&meeting::Request::List);
        Some(reply.encode())
    })
}
