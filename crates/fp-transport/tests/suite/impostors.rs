//! Listeners that are not what a contact says: whatever answers is believed only with reason.

use crate::support::raw::abstract_socket;
use crate::support::{EPOCH, options};
use fp_transport::hello::{HELLO_LEN, PROOF_LEN, REPLY_LEN, Reply, VERSION_HIGHEST};
use fp_transport::{Contact, DialError, Endpoint, HostId, ProcessId, Reason, Refusal, TransportKind, dial};
use rustix::net::{bind, connect, listen};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

/// A listener of this test's own, which answers a hello with any bytes, and the contact that leads to it.
fn impostor(answer: Vec<u8>) -> (thread::JoinHandle<()>, Contact) {
    let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
    let contact = Contact::from_address(listening.local_addr().expect("its address"));
    let answering = thread::spawn(move || {
        let (mut stream, _) = listening.accept().expect("a dialler");
        stream.read_exact(&mut [0; HELLO_LEN]).expect("its hello");
        stream.write_all(&answer).expect("room");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    (answering, contact)
}

fn reply(outcome: Result<u16, Refusal>, highest: u16) -> Reply {
    Reply {
        outcome,
        state: 0,
        version_lowest: highest,
        version_highest: highest,
        pid: 1,
        epoch: EPOCH,
        process: ProcessId(9),
        host: HostId(9),
        challenge: 1,
    }
}

#[test]
fn what_answers_is_not_believed_without_reason() {
    let dial_impostor = |answer: Vec<u8>, process: Option<ProcessId>| {
        let (answering, mut contact) = impostor(answer);
        contact.process = process.unwrap_or_default();
        let error = dial(&contact, &options(TransportKind::Tcp)).expect_err("an impostor");
        answering.join().expect("no panic");
        error
    };
    let last = |error: &DialError| error.refused().last().map(|(_, reason)| reason.clone());

    let version = dial_impostor(reply(Ok(7), 7).encode().to_vec(), None);
    let expected = Refusal::Version { theirs_lowest: 7, theirs_highest: 7 };
    assert!(matches!(version, DialError::Refused { refusal, .. } if refusal == expected));

    let stale = Reply { epoch: 5, ..reply(Ok(VERSION_HIGHEST), VERSION_HIGHEST) };
    let epoch = dial_impostor(stale.encode().to_vec(), None);
    assert!(matches!(epoch, DialError::Refused { refusal: Refusal::Epoch { theirs: 5 }, .. }));

    let other =
        dial_impostor(reply(Ok(VERSION_HIGHEST), VERSION_HIGHEST).encode().to_vec(), Some(ProcessId(8)));
    let answered = Reason::OtherAnswered { expected: ProcessId(8), found: ProcessId(9) };
    assert_eq!(last(&other), Some(answered));

    let noise = dial_impostor(vec![0x20; REPLY_LEN], None);
    assert_eq!(last(&noise), Some(Reason::BadAnswer));

    let silence = dial_impostor_that_goes();
    assert!(matches!(last(&silence), Some(Reason::Io { doing: "the reply", .. })), "{silence}");
}

fn dial_impostor_that_goes() -> DialError {
    let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
    let contact = Contact::from_address(listening.local_addr().expect("its address"));
    let going = thread::spawn(move || drop(listening.accept().expect("a dialler")));
    let error = dial(&contact, &options(TransportKind::Tcp)).expect_err("nobody stays");
    going.join().expect("no panic");
    error
}

#[test]
fn a_silent_listener_costs_no_more_than_the_deadline() {
    let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
    let contact = Contact::from_address(listening.local_addr().expect("its address"));
    let mut options = options(TransportKind::Tcp);
    options.deadline = Instant::now() + Duration::from_millis(30);
    let error = dial(&contact, &options).expect_err("nobody answers");
    assert!(matches!(error, DialError::Deadline { waiting_for: "the reply", .. }), "{error}");
}

/// Two copies of the library in one process have two tables: the challenge of one is unknown to the other. Played by
/// a listener that claims to be this process but has a challenge of its own.
#[test]
fn another_copy_of_the_library_is_not_inproc() {
    let name = format!("flexpath-test-copy-{}", std::process::id());
    let (socket, address) = abstract_socket(&name);
    bind(&socket, &address).expect("a free name");
    listen(&socket, 8).expect("it listens");
    let listening = UnixListener::from(socket);
    let copy = thread::spawn(move || {
        let (mut stream, _) = listening.accept().expect("a dialler");
        stream.read_exact(&mut [0; HELLO_LEN]).expect("its hello");
        let claim = Reply { process: ProcessId::own(), ..reply(Ok(VERSION_HIGHEST), VERSION_HIGHEST) };
        stream.write_all(&claim.encode()).expect("room");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let contact = Contact {
        process: ProcessId::own(),
        host: HostId::own(),
        pid: std::process::id(),
        needs_token: false,
        endpoints: vec![Endpoint::Unix(name)],
    };
    let error = dial(&contact, &options(TransportKind::Inproc)).expect_err("another copy");
    assert_eq!(error.refused(), [(TransportKind::Inproc, Reason::OtherCopy)]);
    copy.join().expect("no panic");
}

#[test]
fn a_probe_that_is_not_sealed_refuses_shm() {
    let name = format!("flexpath-test-unsealed-{}", std::process::id());
    let (socket, address) = abstract_socket(&name);
    bind(&socket, &address).expect("a free name");
    listen(&socket, 8).expect("it listens");
    let listening = UnixListener::from(socket);
    let answering = thread::spawn(move || {
        let (mut stream, _) = listening.accept().expect("a dialler");
        stream.read_exact(&mut [0; HELLO_LEN]).expect("its hello");
        stream.write_all(&reply(Ok(VERSION_HIGHEST), VERSION_HIGHEST).encode()).expect("room");
        let mut proof = Vec::new();
        let _ = stream.read_to_end(&mut proof);
        assert!(proof.len() < PROOF_LEN, "no proof is given");
    });
    let contact = Contact {
        process: ProcessId(9),
        host: HostId::own(),
        pid: std::process::id(),
        needs_token: false,
        endpoints: vec![Endpoint::Unix(name)],
    };
    let error = dial(&contact, &options(TransportKind::Shm)).expect_err("no memfd came");
    assert!(error.to_string().contains("the probe failed: no descriptor came"), "{error}");
    answering.join().expect("no panic");
}

#[test]
fn a_full_backlog_costs_no_more_than_the_deadline() {
    let name = format!("flexpath-test-backlog-{}", std::process::id());
    let (socket, address) = abstract_socket(&name);
    bind(&socket, &address).expect("a free name");
    listen(&socket, 0).expect("it listens");
    let (waiting, _) = abstract_socket(&name);
    connect(&waiting, &address).expect("one fits");
    let contact = Contact {
        process: ProcessId(9),
        host: HostId::own(),
        pid: std::process::id(),
        needs_token: false,
        endpoints: vec![Endpoint::Unix(name)],
    };
    let mut options = options(TransportKind::Shm);
    options.deadline = Instant::now() + Duration::from_millis(30);
    let error = dial(&contact, &options).expect_err("nobody accepts");
    assert!(
        matches!(error, DialError::Deadline { waiting_for: "a connection to the unix socket", .. }),
        "{error}"
    );
}
