//! Dials over a device whose connections are made, and whose READs do not bring what they should. Each is a reason
//! against verbs. The next transport is taken then, unless the policy forbids that.

use super::{Reading, device, install, on};
use crate::contact::{Contact, Endpoint};
use crate::dial::{DialError, DialOptions, dial};
use crate::hello::{HELLO_LEN, PROOF_LEN, Refusal, Reply, VERSION_HIGHEST, VERSION_LOWEST};
use crate::identity::{HostId, own_pid};
use crate::link::Link;
use crate::listener::{ListenOptions, Listener};
use crate::negotiation::Reason;
use crate::socket::wait_for;
use crate::transport_kind::TransportKind;
use crate::transport_policy::TransportPolicy;
use rustix::event::PollFlags;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const EPOCH: u128 = 77;
/// What lies in the peer's memory, and where: address and key.
const NONCE: u128 = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
const PLACE: u128 = 0x55_0000_0000_0001_0000;
/// Of a dial whose READ fails: the end comes at once. Half of it is what one that is silent may take.
const PATIENCE: Duration = Duration::from_secs(4);

fn reply(contact: &Contact, outcome: Result<u16, Refusal>, challenge: u128) -> Option<Vec<u8>> {
    let (version_lowest, version_highest) = (VERSION_LOWEST, VERSION_HIGHEST);
    let (pid, process, host) = (own_pid(), contact.process, HostId::own());
    let (state, epoch) = (0, EPOCH);
    let reply =
        Reply { outcome, state, version_lowest, version_highest, pid, epoch, process, host, challenge };
    Some(reply.encode().to_vec())
}

/// A listener as it should be. Only its memory may be out of reach.
fn peer(contact: Contact) -> impl FnMut(&[u8]) -> Option<Vec<u8>> {
    move |said| match said.len() {
        HELLO_LEN => reply(&contact, Ok(VERSION_HIGHEST), PLACE),
        PROOF_LEN if *said == NONCE.to_le_bytes() => reply(&contact, Ok(VERSION_HIGHEST), 0),
        PROOF_LEN => reply(&contact, Err(Refusal::Probe), 0),
        _ => None,
    }
}

/// Dials a listener that takes tcp and is said to take verbs, too.
fn dialled(reading: Reading, silent: bool, policy: TransportPolicy) -> Result<Link, DialError> {
    install(&[device(c"fake0")]);
    let options = ListenOptions::new(EPOCH).with_tcp(Some(([127, 0, 0, 1], 0).into()));
    let mut listener = Listener::bind(options).expect("a listener");
    let mut contact = listener.contact().clone();
    contact.endpoints.push(Endpoint::Verbs(([10, 77, 0, 9], 4000).into()));
    let answers = peer(contact.clone());
    on(|machine| {
        machine.reading = reading;
        machine.peer = if silent { None } else { Some(Box::new(answers)) };
    });
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                listener.accept(Instant::now()).expect("the listener is sound");
                let soon = Instant::now() + Duration::from_millis(20);
                wait_for(listener.as_fd(), PollFlags::IN, soon).expect("it can be waited for");
            }
        });
        let options = DialOptions::new(Instant::now() + PATIENCE).with_epoch(Some(EPOCH));
        let outcome = dial(&contact, &options.with_policy(policy));
        over.store(true, Ordering::Relaxed);
        outcome
    })
}

fn verbs_then_tcp() -> TransportPolicy {
    "verbs,tcp".parse().expect("a list")
}

/// The reason against verbs, of a link over tcp.
fn passed_over(dialled: Result<Link, DialError>) -> Reason {
    let link = dialled.expect("the next transport works");
    assert_eq!(link.transport(), TransportKind::Tcp);
    let [.., (TransportKind::Verbs, reason)] = &link.negotiated().refused[..] else {
        panic!("{}", link.negotiated())
    };
    reason.clone()
}

/// The reason against verbs, where it was to be that or nothing.
fn forbidden(dialled: Result<Link, DialError>) -> Reason {
    let error = dialled.expect_err("a fallback is forbidden");
    let DialError::FallbackForbidden { refused, .. } = &error else { panic!("{error}") };
    let [.., (TransportKind::Verbs, reason)] = &refused[..] else { panic!("{error}") };
    reason.clone()
}

/// Both of them, which must be the same one.
fn reason(reading: Reading) -> Reason {
    let reason = passed_over(dialled(reading, false, verbs_then_tcp()));
    assert_eq!(reason, forbidden(dialled(reading, false, verbs_then_tcp().with_forbid_fallback(true))));
    reason
}

/// What the others rest on: with the right bytes there is a link over verbs.
#[test]
fn a_probe_that_brings_the_right_bytes_is_a_link() {
    let link = dialled(Reading::Brings(NONCE), false, verbs_then_tcp()).expect("a link");
    let found = link.negotiated();
    assert_eq!((found.transport, &found.detail[..]), (TransportKind::Verbs, "fake0 10.77.0.9:4000"));
}

#[test]
fn a_probe_that_completes_with_an_error_is_a_reason() {
    let expected = "the probe failed: a READ of the peer's memory: the link was lost: the verbs connection broke: a request \
                    failed with status 10 of ibv_wc_status";
    assert_eq!(reason(Reading::Fails(10)).to_string(), expected);
}

#[test]
fn a_probe_that_brings_other_bytes_is_a_reason() {
    assert_eq!(reason(Reading::Brings(NONCE ^ 1)), Reason::Refused(Refusal::Probe));
}

/// Time is left for the next transport, also where the device does not even say that the queue pair is in the error
/// state.
#[test]
fn a_probe_that_never_completes_is_a_reason() {
    for reading in [Reading::Waits, Reading::IsDead] {
        let what = "a READ of the peer's memory: the deadline is over while waiting for a READ";
        let expected = Reason::Probe { what: what.to_owned() };
        assert_eq!(passed_over(dialled(reading, false, verbs_then_tcp())), expected);
    }
}

#[test]
fn a_peer_that_says_nothing_is_a_reason() {
    let reason = passed_over(dialled(Reading::Brings(NONCE), true, verbs_then_tcp()));
    assert!(reason.to_string().starts_with("the reply: no answer over verbs within "), "{reason}");
}

/// Where nothing may follow, the deadline is what it is.
#[test]
fn a_probe_that_never_completes_ends_a_dial_that_may_not_fall_back() {
    let began = Instant::now();
    let error = forbidden(dialled(Reading::Waits, false, verbs_then_tcp().with_forbid_fallback(true)));
    assert!(error.to_string().ends_with("waiting for a READ"), "{error}");
    assert!(began.elapsed() >= PATIENCE, "it had all of the time");
}
