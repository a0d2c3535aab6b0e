//! Connections of two processes that are on no stream together.

use crate::certificates::Authority;
use fp_core::connection::{Connection, ConnectionError, ConnectionListener, Incoming};
use fp_core::{TlsOptions, Token};
use fp_transport::{Contact, DialOptions, Link, OutFrame, Payload, TransportKind, TransportPolicy, dial};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn listener(token: Option<&Token>, tls: Option<&TlsOptions>) -> ConnectionListener {
    let any = "127.0.0.1:0".parse().expect("an address");
    ConnectionListener::listen(any, None, token.cloned(), tls.cloned()).expect("it listens")
}

/// Both ends of a connection.
fn pair(token: Option<&Token>, tls: Option<&TlsOptions>) -> (Connection, Connection) {
    let mut listener = listener(token, tls);
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let dialled = scope.spawn(|| Connection::dial(&address, token, tls).expect("dialled"));
        let accepted = listener.accept(PATIENCE).expect("sound").expect("somebody comes");
        (dialled.join().expect("dialled"), accepted)
    })
}

fn note(text: &str) -> Option<Incoming> {
    Some(Incoming::Note(text.as_bytes().to_vec()))
}

#[test]
fn notes_and_bytes_arrive_in_order_both_ways() {
    let authority = Authority::new();
    let issued = authority.issue("flexpath");
    let tls = TlsOptions::new(issued.certificate, issued.key, authority.path());
    let token = Token::new([7; 32]).expect("a token");
    // More than waits on the way, so that one end waits for the other.
    let bytes: Vec<u8> = (0..20_000_003u32).map(|number| (number % 251) as u8).collect();
    for (token, tls) in [(None, None), (Some(&token), None), (None, Some(&tls))] {
        let (one, other) = pair(token, tls);
        thread::scope(|scope| {
            for end in [&one, &other] {
                scope.spawn(|| {
                    end.tell(b"first").expect("told");
                    (&*end).write_all(&bytes).expect("written");
                    end.tell(b"").expect("told");
                });
                scope.spawn(|| {
                    assert_eq!(end.incoming().expect("heard"), note("first"));
                    assert_eq!(end.incoming().expect("heard"), Some(Incoming::Bytes));
                    let mut found = vec![0; bytes.len()];
                    (&*end).read_exact(&mut found).expect("read");
                    assert!(found == bytes);
                    assert_eq!(end.incoming().expect("heard"), note(""));
                });
            }
        });
        drop(one);
        assert_eq!(other.incoming().expect("an end in order"), None);
    }
}

#[test]
fn who_waits_is_told_that_it_was_closed() {
    let (one, other) = pair(None, None);
    thread::scope(|scope| {
        let reading = scope.spawn(|| one.incoming().expect_err("closed"));
        let writing = scope.spawn(|| {
            let all = vec![0; 64 << 20];
            (&one).write_all(&all).expect_err("nobody reads all of it")
        });
        assert_eq!(other.incoming().expect("heard"), Some(Incoming::Bytes));
        one.close();
        for error in [reading, writing].map(|thread| thread.join().expect("no panic")) {
            assert_eq!(error.to_string(), "it was closed here");
        }
    });
    let long = vec![0; (8 << 20) + 1];
    let error = other.tell(&long).expect_err("too long").to_string();
    assert_eq!(error, "a note has eight mebibytes at most");
}

#[test]
fn a_note_in_the_midst_of_bytes_is_an_error() {
    let (one, other) = pair(None, None);
    let began = Instant::now();
    let error =
        other.incoming_until(&|| began.elapsed() > Duration::from_millis(50)).expect_err("nothing comes");
    assert_eq!(error.to_string(), "it was awaited no longer");
    assert!(!other.is_cut());
    (&one).write_all(b"half").expect("written");
    one.tell(b"note").expect("told");
    assert_eq!(other.incoming().expect("heard"), Some(Incoming::Bytes));
    let error = (&other).read_exact(&mut [0; 8]).expect_err("there are four");
    assert_eq!(error.to_string(), "a note comes in the midst of bytes");
    drop(one);
    while !other.is_cut() {
        thread::yield_now();
    }
}

/// A link to a listener of connections, over which anything can be said.
fn raw(listener: &mut ConnectionListener) -> (Link, Connection) {
    let contact = Contact::from_address(listener.address());
    thread::scope(|scope| {
        let dialled = scope.spawn(|| {
            let options = DialOptions::new(Instant::now() + PATIENCE)
                .with_policy(TransportPolicy::only(TransportKind::Tcp));
            dial(&contact, &options).expect("dialled")
        });
        let accepted = listener.accept(PATIENCE).expect("sound").expect("somebody comes");
        (dialled.join().expect("dialled"), accepted)
    })
}

#[test]
fn what_is_neither_a_note_nor_bytes_is_refused() {
    let bytes = |count: usize| vec![Payload::from_owner(vec![0u8; count])];
    let mut listener = listener(None, None);
    for (frame, said) in [
        (OutFrame::new(vec![9]), "what came is neither a note nor bytes"),
        (OutFrame::new(vec![0, 0]), "what came is neither a note nor bytes"),
        (OutFrame::new(vec![1]).with_body(bytes(3)), "what came is neither a note nor bytes"),
        (OutFrame::default(), "what came is neither a note nor bytes"),
        (OutFrame::new(vec![1; (8 << 20) + 2]), "head length is 8388610, limit 8388609"),
        (OutFrame::default().with_body(bytes(300_000)), "body length is 300000, limit 262144"),
    ] {
        let (mut link, accepted) = raw(&mut listener);
        let sending = thread::spawn(move || {
            // What is refused is not read to its end.
            let _ = link.send_all(frame, Instant::now() + PATIENCE);
            link
        });
        let error = accepted.incoming().expect_err(said);
        drop(accepted);
        drop(sending.join().expect("no panic"));
        assert!(error.kind() == io::ErrorKind::InvalidData && error.to_string().contains(said), "{error}");
    }
}

/// Carries bytes between two ends until it is told to swallow them.
fn carry(mut from: TcpStream, mut to: TcpStream, swallows: Arc<AtomicBool>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if !swallows.load(Ordering::SeqCst) && to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
    });
}

#[test]
fn who_is_silent_is_given_up_and_who_merely_says_nothing_is_not() {
    let mut listener = listener(None, None);
    let way = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (address, to) = (way.local_addr().expect("bound").to_string(), listener.address());
    let swallows = Arc::new(AtomicBool::new(false));
    let flag = swallows.clone();
    thread::spawn(move || {
        let (near, _) = way.accept().expect("dialled");
        let far = TcpStream::connect(to).expect("it listens");
        carry(near.try_clone().expect("a copy"), far.try_clone().expect("a copy"), flag.clone());
        carry(far, near, flag);
    });
    let (one, other) = thread::scope(|scope| {
        let dialled = scope.spawn(|| Connection::dial(&address, None, None).expect("dialled"));
        let accepted = listener.accept(PATIENCE).expect("sound").expect("somebody comes");
        (dialled.join().expect("dialled"), accepted)
    });
    thread::scope(|scope| {
        let waiting = scope.spawn(|| one.incoming());
        // Longer than a silent end would have: it says that it is there.
        let told = scope.spawn(|| {
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(12) {
                thread::park_timeout(Duration::from_secs(1));
            }
            other.tell(b"late").expect("told");
        });
        assert_eq!(waiting.join().expect("no panic").expect("heard"), note("late"));
        told.join().expect("told");
    });
    swallows.store(true, Ordering::SeqCst);
    let began = Instant::now();
    let error = one.incoming().expect_err("silent");
    assert_eq!(error.to_string(), "nothing was heard of it for 10s");
    assert!(began.elapsed() >= Duration::from_secs(9));
    assert_eq!(one.tell(b"more").expect_err("given up").to_string(), "it was closed here");
}

#[test]
fn who_is_not_let_in_or_dials_somebody_else_is_told_so() {
    let (right, wrong) = (Token::new([7; 32]).expect("a token"), Token::new([8; 32]).expect("a token"));
    let mut listener = listener(Some(&right), None);
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let told = scope.spawn(|| {
            [None, Some(&wrong)].map(|token| Connection::dial(&address, token, None).expect_err("not let in"))
        });
        assert!(listener.accept(Duration::from_secs(3)).expect("sound").is_none());
        for error in told.join().expect("no panic") {
            assert!(matches!(&error, ConnectionError::NotLetIn { .. }) && !error.is_passing(), "{error}");
        }
    });
    drop(listener);
    let away = Connection::dial(&address, None, None).expect_err("nobody is there");
    assert!(matches!(&away, ConnectionError::Away { .. }) && away.is_passing(), "{away}");
    let none = Connection::dial("nowhere", None, None).expect_err("no address");
    assert!(matches!(&none, ConnectionError::Address { .. }), "{none}");
}
