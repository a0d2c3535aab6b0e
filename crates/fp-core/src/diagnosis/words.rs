//! What the two sides of a probe say to each other, and the bytes that they exchange.
//!
//! A request is one byte and a number; an answer repeats it, and adds where the bytes are. None of it is part of the
//! protocol of streams: the two sides know each other by an epoch that no stream has.

use crate::diagnosis::ProbeError;

/// The epoch of every answering side: a stream refuses it, and an answering side refuses all others.
pub(crate) const EPOCH: u128 = u128::from_be_bytes(*b"flexpath doctor\0");

/// Bytes that are made ready at once: more than caches hold, little enough for a slow network.
pub(crate) const BULK_BYTES: usize = 16 << 20;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// To answer, for the time it takes.
    Ping(u64),
    /// To make bytes ready that follow from this number.
    Prepare(u64),
    /// To send them, or to say that they can be taken; the number of the round.
    Take(u64),
}

impl Request {
    /// The head of its frame; an answer's begins with the same bytes.
    pub(crate) fn encode(self) -> Vec<u8> {
        let (code, number) = match self {
            Request::Ping(number) => (1, number),
            Request::Prepare(seed) => (2, seed),
            Request::Take(round) => (3, round),
        };
        [&[code], number.to_le_bytes().as_slice()].concat()
    }

    /// Reads the head of a frame, and what follows the request in it.
    pub(crate) fn decode(head: &[u8]) -> Result<(Request, &[u8]), ProbeError> {
        let unknown = ProbeError::Answer { what: "a frame that is no part of a probe" };
        let Some((&code, rest)) = head.split_first() else { return Err(unknown) };
        let Some((number, rest)) = rest.split_first_chunk() else { return Err(unknown) };
        let number = u64::from_le_bytes(*number);
        match code {
            1 => Ok((Request::Ping(number), rest)),
            2 => Ok((Request::Prepare(number), rest)),
            3 => Ok((Request::Take(number), rest)),
            _ => Err(unknown),
        }
    }
}

/// The word at this place: every one differs, and from one seed to the next. Source: the finaliser of SplitMix64
/// (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn word(seed: u64, at: usize) -> u64 {
    let mixed = seed.wrapping_add((at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Writes the bytes that follow from a seed.
pub(crate) fn fill(bytes: &mut [u8], seed: u64) {
    let (words, _) = bytes.as_chunks_mut();
    words.iter_mut().enumerate().for_each(|(at, place)| *place = word(seed, at).to_le_bytes());
}

/// Whether these are the bytes that follow from a seed.
pub(crate) fn check(bytes: &[u8], seed: u64) -> Result<(), ProbeError> {
    let (words, _) = bytes.as_chunks();
    let wrong = words.iter().enumerate().find(|(at, place)| u64::from_le_bytes(**place) != word(seed, *at));
    match wrong {
        None => Ok(()),
        Some((at, place)) => Err(ProbeError::Content {
            at,
            words: words.len(),
            expected: word(seed, at),
            found: u64::from_le_bytes(*place),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_byte_is_found_and_named() {
        let mut bytes = vec![0; 4096];
        fill(&mut bytes, 7);
        check(&bytes, 7).expect("what was written");
        bytes[1235] ^= 1;
        let error = check(&bytes, 7).expect_err("a changed byte");
        assert!(matches!(error, ProbeError::Content { at: 154, words: 512, .. }), "{error}");
        fill(&mut bytes, 8);
        assert!(check(&bytes, 7).is_err(), "other bytes for every seed");
    }

    #[test]
    fn requests_are_read_as_they_were_written() {
        for request in [Request::Ping(u64::MAX), Request::Prepare(1), Request::Take(0)] {
            let head = [request.encode(), b"more".to_vec()].concat();
            let (read, rest) = Request::decode(&head).expect("a request");
            assert_eq!((read, rest), (request, b"more".as_slice()));
        }
        assert!(
            [b"".as_slice(), b"\x01short", b"\x09too long"].iter().all(|head| Request::decode(head).is_err())
        );
    }
}
