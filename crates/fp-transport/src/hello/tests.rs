//! Golden bytes: if one of these fails, two versions can no longer talk to each other.

use super::*;
use proptest::prelude::*;

fn hello() -> Hello {
    Hello {
        version_lowest: 1,
        version_highest: 0x0203,
        epoch: Some(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10),
        token: Token::new([0xaa; 32]),
        process: ProcessId(0x11),
        host: HostId(0x22),
        pid: 0x0403_0201,
        purpose: Purpose::Data,
        transport: TransportKind::Shm,
    }
}

fn reply(outcome: Result<u16, Refusal>) -> Reply {
    Reply {
        outcome,
        state: 9,
        version_lowest: 1,
        version_highest: 2,
        pid: 7,
        epoch: 3,
        process: ProcessId(4),
        host: HostId(5),
        challenge: 6,
    }
}

#[test]
fn the_hello_is_these_bytes_for_ever() {
    let mut golden = Vec::from(*b"FLXP\x01\x00\x03\x02");
    golden.extend([0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0x09, 8, 7, 6, 5, 4, 3, 2, 1]);
    golden.extend([0xaa; 32]);
    golden.extend([&[0x11][..], &[0; 15], &[0x22], &[0; 15]].concat());
    golden.extend([1, 2, 3, 4, 2, 2]);
    golden.extend([0; 34]);
    assert_eq!(hello().encode().to_vec(), golden);
}

#[test]
fn the_reply_is_these_bytes_for_ever() {
    let zeros = |number: usize| vec![0u8; number];
    let mut golden = Vec::from(*b"FLXR\x00\x09\x01\x00\x01\x00\x02\x00\x07\x00\x00\x00");
    for value in [3, 4, 5, 6] {
        golden.push(value);
        golden.extend(zeros(15));
    }
    golden.extend(zeros(16));
    assert_eq!(reply(Ok(1)).encode().to_vec(), golden);
    golden[4] = 4;
    golden[6] = 0;
    golden[80] = 3;
    let refused = reply(Err(Refusal::Transport { reason: TransportRefusal::NoSeals }));
    assert_eq!(refused.encode().to_vec(), golden);
}

#[test]
fn every_refusal_survives_the_wire() {
    let refusals = [
        Refusal::Version { theirs_lowest: 1, theirs_highest: 2 },
        Refusal::Epoch { theirs: 3 },
        Refusal::Token,
        Refusal::Transport { reason: TransportRefusal::NoWatch },
        Refusal::Transport { reason: TransportRefusal::Unknown },
        Refusal::Uid,
        Refusal::Malformed,
        Refusal::Busy,
        Refusal::Probe,
        Refusal::TlsNeeded,
        Refusal::TlsAbsent,
        Refusal::Unknown { code: 200 },
    ];
    for refusal in refusals {
        let sent = reply(Err(refusal));
        assert_eq!(Reply::decode(&sent.encode()), Some(sent));
    }
}

#[test]
fn a_version_in_common_is_the_highest_one() {
    assert_eq!(choose_version(1, 9), Some(VERSION_HIGHEST));
    assert_eq!(choose_version(VERSION_HIGHEST + 1, 9), None);
    assert_eq!(choose_version(0, 0), None);
}

#[test]
fn tokens_are_compared_whole_and_not_printed() {
    let token = Token::random().expect("the system has random bytes");
    assert_eq!(token.to_hex().parse::<Token>(), Ok(token.clone()));
    assert!(!token.matches(None));
    let mut other = *token.as_bytes();
    other[31] ^= 1;
    assert!(!token.matches(Token::new(other).as_ref()));
    assert_eq!(format!("{token:?}"), "Token(..)");
    assert_eq!("00".repeat(32).parse::<Token>(), Err(TokenError { len: 64 }));
    assert_eq!("é".repeat(32).parse::<Token>(), Err(TokenError { len: 64 }));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), HELLO_LEN), magic in any::<bool>()) {
        if magic { bytes[0..4].copy_from_slice(&HELLO_MAGIC); }
        let bytes: [u8; HELLO_LEN] = bytes.try_into().expect("the length");
        if let Ok(hello) = Hello::decode(&bytes) {
            prop_assert_eq!(&hello.encode()[..94], &bytes[..94]);
        }
        let mut reply = [0; REPLY_LEN];
        reply.copy_from_slice(&bytes[..REPLY_LEN]);
        reply[0..4].copy_from_slice(b"FLXR");
        prop_assert!(Reply::decode(&reply).is_some());
    }
}
