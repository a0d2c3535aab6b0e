//! TLS on tcp links: who is let in, what the others are told, and what is seen on the wire.

use crate::support::certificates::{Authority, Issued};
use crate::support::raw::{exchange, hear_reply, hello, tcp_address};
use crate::support::strange_tls::{Wire, dial_with, listen_with};
use crate::support::*;
use fp_transport::hello::{PROOF_LEN, REPLY_LEN, Reply};
use fp_transport::{
    Contact, DialError, DialOptions, Link, LinkError, ListenOptions, Listener, OutFrame, Payload, Reason,
    Refusal, TlsError, TlsFailure, TlsIdentity, TlsOptions, Token, TransportKind, dial,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rustix::event::PollFlags;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

fn over_tls(identity: &TlsIdentity) -> DialOptions {
    options(TransportKind::Tcp).with_tls(Some(identity.clone()))
}

/// The reason against tcp, which was all that was allowed.
fn reason_of(error: &DialError) -> &Reason {
    let DialError::NoTransport { refused, .. } = error else { panic!("{error}") };
    &refused.last().expect("tcp was tried").1
}

fn load(own: &Issued, trusted: &Authority) -> Result<TlsIdentity, TlsError> {
    TlsOptions::new(&own.certificate, &own.key, trusted.path()).load()
}

fn bare(address: std::net::SocketAddr) -> Contact {
    Contact::from_address(address)
}

#[test]
fn what_was_agreed_says_what_is_enciphered() {
    let identity = identity();
    let mut listener = tls_listener(&identity);
    let contact = listener.contact().clone();
    let address = tcp_address(&contact);
    assert!(contact.to_string().contains(&format!(",tls={address}")) && contact.speaks_tls());
    let (mut one, mut accepted) = connected(&mut listener, over_tls(&identity));
    exchange(&mut one, &mut accepted.link);
    assert_eq!(accepted.proof.certificate_names, ["flexpath"]);
    let text = one.negotiated().to_string();
    assert!(text.starts_with(&format!("transport=tcp+tls {address}; inproc refused")), "{text}");
    assert!(accepted.link.negotiated().to_string().starts_with("transport=tcp+tls 127.0.0.1:"));
    for (kind, reason) in
        [(TransportKind::Shm, "same host and user"), (TransportKind::Inproc, "same process")]
    {
        let (one, accepted) = connected(&mut listener, options(kind).with_tls(Some(identity.clone())));
        assert!(!one.is_encrypted() && !accepted.link.is_encrypted());
        for text in [one.negotiated().to_string(), accepted.link.negotiated().to_string()] {
            assert!(text.starts_with(&format!("transport={kind} without TLS: {reason}")), "{text}");
        }
    }
}

#[test]
fn a_peer_of_another_authority_is_refused_at_both_ends() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    // The dialler does not trust the listener.
    let mut listener = tls_listener(&identity_of(&theirs, &ours));
    let contact = listener.contact().clone();
    let error = refused(&mut listener, &contact, over_tls(&identity_of(&ours, &ours)));
    let Reason::Tls(TlsFailure::Untrusted { authority, name, .. }) = reason_of(&error) else {
        panic!("{error}")
    };
    assert_eq!((authority, name.as_str()), (&ours.path(), "flexpath"));
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
    // The listener does not trust the dialler.
    let dialler = identity_of(&theirs, &ours);
    let mut listener = tls_listener(&identity_of(&ours, &ours));
    let contact = listener.contact().clone();
    let error = refused(&mut listener, &contact, over_tls(&dialler));
    let Reason::Tls(TlsFailure::Rejected { alert, certificate }) = reason_of(&error) else {
        panic!("{error}")
    };
    assert_eq!(alert, "UnknownCA");
    assert_eq!(certificate.parent(), Some(theirs.directory()));
    accept_until(&mut listener, |listener, links| listener.half_open() == 0 && links.is_empty());
}

#[test]
fn another_name_is_refused_at_both_ends() {
    let authority = Authority::new();
    let (right, wrong) = (authority.issue("flexpath"), authority.issue("web.example"));
    let (right, wrong) = (load(&right, &authority).expect("sound"), load(&wrong, &authority).expect("sound"));
    let mut listener = tls_listener(&wrong);
    let contact = listener.contact().clone();
    let error = refused(&mut listener, &contact, over_tls(&right));
    assert!(matches!(reason_of(&error), Reason::Tls(TlsFailure::Untrusted { .. })), "{error}");
    let mut listener = tls_listener(&right);
    let contact = listener.contact().clone();
    let error = refused(&mut listener, &contact, over_tls(&wrong));
    assert!(matches!(reason_of(&error), Reason::Tls(TlsFailure::Rejected { .. })), "{error}");
    // Both can agree on that other name.
    let own = authority.issue("web.example");
    let named = TlsOptions::new(&own.certificate, &own.key, authority.path()).with_name("web.example");
    let named = named.load().expect("sound");
    let (mut one, mut accepted) = connected(&mut tls_listener(&named), over_tls(&named));
    exchange(&mut one, &mut accepted.link);
}

#[test]
fn an_expired_certificate_is_refused_at_both_ends_and_at_home() {
    let authority = Authority::new();
    let expired = authority.issue_between("flexpath", 1990, 2000);
    let early = authority.issue_between("flexpath", 3000, 3001);
    for out_of_date in [&expired, &early] {
        let Err(error) = load(out_of_date, &authority) else { panic!("it cannot be used") };
        assert!(
            matches!(&error, TlsError::OutOfDate { path, .. } if *path == out_of_date.certificate),
            "{error}"
        );
    }
    let identity = identity_of(&authority, &authority);
    let (address, serving) = listen_with(&authority, &expired);
    let error = dial(&bare(address), &over_tls(&identity)).expect_err("expired");
    assert!(matches!(reason_of(&error), Reason::Tls(TlsFailure::Untrusted { .. })), "{error}");
    assert!(error.to_string().contains("expired"), "{error}");
    serving.join().expect("no panic");
    assert!(stranger_is_refused(&authority, Some(&expired)).contains("CertificateExpired"));
}

/// What a dialler with this certificate is told.
fn stranger_is_refused(authority: &Authority, shown: Option<&Issued>) -> String {
    let mut listener = tls_listener(&identity_of(authority, authority));
    let mut dialler = dial_with(authority, shown, tcp_address(listener.contact()));
    let hearing = thread::spawn(move || {
        let written = dialler.write_all(&hello(TransportKind::Tcp).encode());
        let read = dialler.read(&mut [0; REPLY_LEN]);
        written.err().or(read.err()).expect("refused").to_string()
    });
    let deadline = soon();
    while !hearing.is_finished() {
        assert!(listener.accept(Instant::now()).expect("the listener is sound").is_none());
        assert!(Instant::now() < deadline, "it is told nothing");
        thread::yield_now();
    }
    hearing.join().expect("no panic")
}

#[test]
fn a_peer_without_a_certificate_is_refused() {
    assert!(stranger_is_refused(&Authority::new(), None).contains("CertificateRequired"));
}

#[test]
fn who_speaks_plain_is_told_that_tls_is_needed() {
    let identity = identity();
    let mut listener = tls_listener(&identity);
    let contact = listener.contact().clone();
    let token = Token::random().expect("random bytes");
    let plain = options(TransportKind::Tcp).with_token(Some(token));
    // Known from the contact: not even connected to, as the token would go in clear.
    let error = dial(&contact, &plain).expect_err("no TLS");
    assert_eq!(reason_of(&error), &Reason::Refused(Refusal::TlsNeeded));
    assert!(error.to_string().contains("FLEXPATH_TLS_CERTIFICATE"), "{error}");
    listener.accept(Instant::now()).expect("the listener is sound");
    assert_eq!(listener.half_open(), 0);
    // An address tells nothing: the listener does.
    let error = refused(&mut listener, &bare(tcp_address(&contact)), plain);
    assert_eq!(reason_of(&error), &Reason::Refused(Refusal::TlsNeeded));
    let (mut one, mut accepted) = connected(&mut listener, over_tls(&identity));
    exchange(&mut one, &mut accepted.link);
}

#[test]
fn who_speaks_tls_is_told_that_none_is_configured() {
    let mut listener = listener();
    let contact = listener.contact().clone();
    let error = refused(&mut listener, &contact, over_tls(&identity()));
    assert_eq!(reason_of(&error), &Reason::Refused(Refusal::TlsAbsent));
    assert!(error.to_string().contains("FLEXPATH_TLS_CERTIFICATE"), "{error}");
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
}

#[test]
fn another_service_is_known_by_its_first_bytes() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("bound");
    let serving = thread::spawn(move || {
        let (mut peer, _) = socket.accept().expect("a dialler");
        peer.write_all(b"SSH-2.0").expect("room");
        peer
    });
    let error = dial(&bare(address), &over_tls(&identity())).expect_err("no TLS");
    assert_eq!(reason_of(&error), &Reason::Tls(TlsFailure::NotTls));
    serving.join().expect("no panic");
}

#[test]
fn half_a_handshake_is_dropped_by_the_clock_and_stalls_nobody() {
    let identity = identity();
    let options_of =
        ListenOptions::new(EPOCH).with_handshake_timeout_ms(200).with_tls(Some(identity.clone()));
    let mut listener = Listener::bind(options_of).expect("a listener");
    let address = tcp_address(listener.contact());
    let mut silent = [(); 3].map(|()| TcpStream::connect(address).expect("it listens"));
    silent[1].write_all(&[22, 3]).expect("room");
    // Only a part of a record comes.
    silent[2].write_all(&[22, 3, 1, 2, 0, 1, 0, 1, 252]).expect("room");
    accept_until(&mut listener, |listener, _| listener.half_open() == 3);
    let (mut one, mut accepted) = connected(&mut listener, over_tls(&identity));
    exchange(&mut one, &mut accepted.link);
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
    for mut stream in silent {
        assert!(!matches!(stream.read(&mut [0; 1]), Ok(1..)), "closed without a word");
    }
}

#[test]
fn a_listener_that_is_silent_is_given_up_at_the_deadline() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("bound");
    let mut options = over_tls(&identity());
    options.deadline = Instant::now() + Duration::from_millis(50);
    let error = dial(&bare(address), &options).expect_err("silence");
    assert!(matches!(error, DialError::Deadline { waiting_for: "the TLS handshake", .. }), "{error}");
}

/// A long chain is many records; one without end is not read to its end.
#[test]
fn certificates_may_be_many_but_not_without_end() {
    let authority = Authority::new();
    let own = authority.issue("flexpath");
    let one = std::fs::read_to_string(&own.certificate).expect("a file");
    let with_chain = |certificates: usize| {
        let path = authority.directory().join(format!("{certificates}.pem"));
        std::fs::write(&path, one.repeat(certificates)).expect("written");
        TlsOptions::new(path, &own.key, authority.path()).load().expect("sound")
    };
    let long = with_chain(100);
    let (mut dialled, mut accepted) = connected(&mut tls_listener(&long), over_tls(&long));
    exchange(&mut dialled, &mut accepted.link);
    let endless = with_chain(300);
    let mut listener = tls_listener(&endless);
    let contact = listener.contact().clone();
    let error = refused(&mut listener, &contact, over_tls(&long));
    assert!(
        matches!(reason_of(&error), Reason::Tls(TlsFailure::TooLong { .. } | TlsFailure::Broken { .. })),
        "{error}"
    );
}

/// Bytes that the owner of a link has in its hands would never wake it.
#[test]
fn what_follows_the_hello_is_left_to_the_link() {
    let identity = identity();
    for _ in 0..20 {
        let mut listener = tls_listener(&identity);
        let contact = listener.contact().clone();
        let options = over_tls(&identity);
        let dialling = thread::spawn(move || dial(&contact, &options).expect("a link"));
        let mut accepted = accept(&mut listener).link;
        accepted.send(OutFrame::new(b"at once".to_vec())).expect("room");
        let mut dialled = dialling.join().expect("no panic");
        assert!(!dialled.has_buffered());
        await_fd(&dialled, PollFlags::IN, "the frame", soon());
        assert_eq!(dialled.recv_deadline(soon()).expect("a frame").head, b"at once");
    }
}

/// Through a wire that is listened on: the dialler's end, the listener's, the wire.
fn wired(token: &Token, identity: Option<&TlsIdentity>) -> (Link, Link, Wire) {
    let options_of = ListenOptions::new(EPOCH).with_token(Some(token.clone())).with_tls(identity.cloned());
    let mut listener = Listener::bind(options_of).expect("a listener");
    let wire = Wire::to(tcp_address(listener.contact()));
    let contact = bare(wire.address);
    let options = options(TransportKind::Tcp).with_token(Some(token.clone())).with_tls(identity.cloned());
    let dialling = thread::spawn(move || dial(&contact, &options).expect("a link"));
    let accepted = accept(&mut listener).link;
    (dialling.join().expect("no panic"), accepted, wire)
}

#[test]
fn neither_token_nor_payload_is_seen_on_the_wire() {
    let (identity, pattern) = (identity(), bytes(77, 4096));
    for (tls, seen) in [(None, true), (Some(&identity), false)] {
        let token = Token::random().expect("random bytes");
        let (mut one, mut other, wire) = wired(&token, tls);
        for (from, to) in [(true, false), (false, true)] {
            let (from, to) = if from && !to { (&mut one, &mut other) } else { (&mut other, &mut one) };
            let body = vec![Payload::from_owner(pattern.clone())];
            from.send_all(OutFrame::new(b"a head to look for".to_vec()).with_body(body), soon())
                .expect("sent");
            let frame = to.recv_deadline(soon()).expect("received");
            let mut body = vec![0; frame.body_len as usize];
            to.recv_body_deadline(&mut body, soon()).expect("received");
            assert!(body == pattern);
        }
        assert!(wire.heard_bytes() > 2 * pattern.len());
        let looked_for: [&[u8]; 4] =
            [token.as_bytes(), b"a head to look for", &pattern[100..132], &EPOCH.to_le_bytes()];
        assert_eq!(looked_for.map(|bytes| wire.heard(bytes)), [seen; 4]);
    }
}

#[test]
fn a_changed_byte_and_a_cut_between_frames_are_known() {
    let (identity, token) = (identity(), Token::random().expect("random bytes"));
    let (mut one, mut other, wire) = wired(&token, Some(&identity));
    exchange(&mut one, &mut other);
    wire.change();
    one.send_all(OutFrame::new(b"changed".to_vec()), soon()).expect("sent");
    let error = other.recv_deadline(soon()).expect_err("it was changed");
    assert!(matches!(&error, LinkError::Lost(cause) if cause.to_string().contains("decrypt")), "{error}");
    assert!(matches!(other.recv(), Err(LinkError::Closed)), "and stays so");

    let (mut one, mut other, wire) = wired(&token, Some(&identity));
    exchange(&mut one, &mut other);
    wire.cut();
    assert!(
        matches!(other.recv_deadline(soon()), Err(LinkError::Lost(_))),
        "nobody said that it was the end"
    );
}

/// A dialler of the library alone that has come as far as a link.
#[test]
fn keys_may_be_changed_on_the_way() {
    let authority = Authority::new();
    let mut listener = tls_listener(&identity_of(&authority, &authority));
    let own = authority.issue("flexpath");
    let mut dialler = dial_with(&authority, Some(&own), tcp_address(listener.contact()));
    let dialling = thread::spawn(move || {
        dialler.write_all(&hello(TransportKind::Tcp).encode()).expect("room");
        let mut reply = [0; REPLY_LEN];
        dialler.read_exact(&mut reply).expect("a reply");
        let challenge = Reply::decode(&reply).expect("a reply").challenge;
        let proof: [u8; PROOF_LEN] = challenge.to_le_bytes();
        dialler.write_all(&proof).expect("room");
        dialler.read_exact(&mut reply).expect("a reply");
        for _ in 0..3 {
            dialler.conn.refresh_traffic_keys().expect("new keys");
            dialler.write_all(b"\x04\0\0\0\x46\x50\0\0\0\0\0\0\0\0\0\0ping").expect("room");
            let mut answer = [0; 20];
            dialler.read_exact(&mut answer).expect("an answer");
            assert_eq!(&answer[16..], b"pong");
        }
    });
    let mut link = accept(&mut listener).link;
    for _ in 0..3 {
        assert_eq!(link.recv_deadline(soon()).expect("a frame").head, b"ping");
        link.send_all(OutFrame::new(b"pong".to_vec()), soon()).expect("sent");
    }
    dialling.join().expect("no panic");
}

#[test]
fn hostile_bytes_before_and_after_the_handshake_are_survived() {
    let identity = identity();
    let listener = Mutex::new(tls_listener(&identity));
    let address = tcp_address(listener.lock().expect("no panic").contact());
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let hostile = (20u8..25, prop::collection::vec(any::<u8>(), 0..600), any::<bool>());
    runner
        .run(&hostile, |(kind, mut noise, sized)| {
            let mut stranger = TcpStream::connect(address).expect("it listens");
            let len = (noise.len() as u16).to_be_bytes();
            let header = if sized { vec![kind, 3, 3, len[0], len[1]] } else { vec![kind] };
            noise.splice(0..0, header);
            stranger.write_all(&noise).expect("room");
            stranger.shutdown(Shutdown::Write).expect("connected");
            stranger.set_nonblocking(true).expect("a socket");
            let (mut listener, deadline) = (listener.lock().expect("no panic"), soon());
            let would_block = |end: std::io::Result<usize>| {
                end.map_or_else(|error| error.kind() == ErrorKind::WouldBlock, |received| received > 0)
            };
            while would_block(stranger.read(&mut [0; 256])) {
                prop_assert!(listener.accept(Instant::now()).expect("the listener is sound").is_none());
                prop_assert!(Instant::now() < deadline, "it is never hung up");
            }
            Ok(())
        })
        .expect("survived");
    // Bytes under the records of a link: the worst is that it is lost.
    let (one, mut other) = tls_pair();
    rustix::io::write(&one, &[23, 3, 3, 0, 40, 1, 2, 3]).expect("room");
    rustix::io::write(&one, &[7; 64]).expect("room");
    assert!(matches!(other.recv_deadline(soon()), Err(LinkError::Lost(_))));
}

#[test]
fn files_that_are_none_are_named() {
    let authority = Authority::new();
    let (own, other) = (authority.issue("flexpath"), authority.issue("other"));
    let good = TlsOptions::new(&own.certificate, &own.key, authority.path());
    let fails = |change: &dyn Fn(&mut TlsOptions)| {
        let mut options = good.clone();
        change(&mut options);
        options.load().expect_err("it cannot be used")
    };
    let missing = authority.directory().join("missing.pem");
    let empty = authority.directory().join("empty.pem");
    std::fs::write(&empty, "no certificate").expect("written");
    let named = |error: TlsError, path: &PathBuf| {
        assert!(matches!(&error, TlsError::File { path: named, .. } if named == path), "{error}");
    };
    for path in [&missing, &empty] {
        named(fails(&|options| options.certificate = path.clone()), path);
        named(fails(&|options| options.key = path.clone()), path);
        named(fails(&|options| options.authority = path.clone()), path);
    }
    let error = fails(&|options| options.key = other.key.clone());
    assert!(matches!(&error, TlsError::Unusable { key, .. } if *key == other.key), "{error}");
    let error = fails(&|options| options.name = "no name".to_owned());
    assert_eq!(error, TlsError::Name { name: "no name".to_owned() });
}

#[test]
fn with_tls_a_listener_may_leave_loopback_without_a_token() {
    let away = ListenOptions::new(EPOCH)
        .with_tcp(Some(([0, 0, 0, 0], 0).into()))
        .with_advertised(Some([127, 0, 0, 1].into()));
    assert!(Listener::bind(away.clone()).is_err());
    let identity = identity();
    let mut listener =
        Listener::bind(away.with_tls(Some(identity.clone()))).expect("certificates are asked for");
    connected(&mut listener, over_tls(&identity));
    let mut stranger = TcpStream::connect(tcp_address(listener.contact())).expect("it listens");
    stranger.write_all(&hello(TransportKind::Tcp).encode()).expect("room");
    assert_eq!(hear_reply(&mut listener, &mut stranger).outcome, Err(Refusal::TlsNeeded));
}
