//! Peers that are not what a listener expects: each is told why, and none disturbs the others.

use crate::support::raw::{abstract_socket, exchange, hear_reply, hello, is_ready, tcp_address};
use crate::support::*;
use fp_transport::hello::{HELLO_LEN, REPLY_LEN, Reply, TransportRefusal, VERSION_HIGHEST, VERSION_LOWEST};
use fp_transport::{
    Contact, DialError, Hello, ListenOptions, Listener, Reason, Refusal, Token, TransportKind, dial,
};
use rustix::event::PollFlags;
use rustix::net::connect;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::time::Instant;

#[test]
fn another_version_is_told_which_are_spoken() {
    let mut listener = listener();
    let mut stranger = TcpStream::connect(tcp_address(listener.contact())).expect("it listens");
    let future = Hello {
        version_lowest: VERSION_HIGHEST + 1,
        version_highest: VERSION_HIGHEST + 7,
        ..hello(TransportKind::Tcp)
    };
    stranger.write_all(&future.encode()).expect("room");
    let reply = hear_reply(&mut listener, &mut stranger);
    assert_eq!(
        reply.outcome,
        Err(Refusal::Version { theirs_lowest: VERSION_LOWEST, theirs_highest: VERSION_HIGHEST })
    );
}

#[test]
fn a_wrong_proof_and_a_wrong_socket_are_refused() {
    let mut listener = listener();
    let address = tcp_address(listener.contact());
    let mut stranger = TcpStream::connect(address).expect("it listens");
    stranger.write_all(&hello(TransportKind::Tcp).encode()).expect("room");
    let challenge = hear_reply(&mut listener, &mut stranger).challenge;
    stranger.write_all(&(challenge ^ 1).to_le_bytes()).expect("room");
    assert_eq!(hear_reply(&mut listener, &mut stranger).outcome, Err(Refusal::Probe));

    let mut stranger = TcpStream::connect(address).expect("it listens");
    stranger.write_all(&hello(TransportKind::Shm).encode()).expect("room");
    let reason = TransportRefusal::WrongSocket;
    let refusal = Refusal::Transport { reason };
    assert_eq!(hear_reply(&mut listener, &mut stranger).outcome, Err(refusal));

    let mut unknown = hello(TransportKind::Tcp).encode();
    unknown[93] = 200;
    let mut stranger = TcpStream::connect(address).expect("it listens");
    stranger.write_all(&unknown).expect("room");
    let refusal = Refusal::Transport { reason: TransportRefusal::Unknown };
    assert_eq!(hear_reply(&mut listener, &mut stranger).outcome, Err(refusal));
}

#[test]
fn garbage_is_refused_at_its_first_bytes_and_disturbs_nobody() {
    let mut listener = listener();
    let mut browser = TcpStream::connect(tcp_address(listener.contact())).expect("it listens");
    browser.write_all(b"GET /").expect("room");
    assert_eq!(hear_reply(&mut listener, &mut browser).outcome, Err(Refusal::Malformed));
    browser.write_all(&vec![b'x'; 200_000]).ok();
    let (mut one, mut accepted) = connected(&mut listener, options(TransportKind::Tcp));
    exchange(&mut one, &mut accepted.link);
    drop(browser);
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
}

#[test]
fn silent_peers_are_dropped_by_the_clock_and_stall_nobody() {
    let options_of = ListenOptions::new(EPOCH).with_handshake_timeout_ms(50);
    let mut listener = Listener::bind(options_of).expect("a listener");
    let contact = listener.contact().clone();
    let (socket, address) = abstract_socket(contact.unix_name().expect("it has one"));
    connect(&socket, &address).expect("it listens");
    let mut silent = [TcpStream::connect(tcp_address(&contact)), TcpStream::connect(tcp_address(&contact))]
        .map(|stream| stream.expect("it listens"));
    let half = &hello(TransportKind::Tcp).encode()[..HELLO_LEN / 2];
    silent[1].write_all(half).expect("room");
    accept_until(&mut listener, |listener, _| listener.half_open() == 3);
    let (mut one, mut accepted) = connected(&mut listener, options(TransportKind::Shm));
    exchange(&mut one, &mut accepted.link);
    // No peer does anything any more: the listener's own timer makes its descriptor readable.
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
    for mut stream in silent {
        let end = stream.read(&mut [0; 1]);
        assert!(!matches!(end, Ok(1..)), "closed without a word");
    }
    let mut end = UnixStream::from(socket);
    assert_eq!(end.read(&mut [0; 1]).expect("closed"), 0);
}

/// The clock is set anew for each that is silent: after one that was given up, one that ended, and a ring too early.
#[test]
fn silent_peers_that_come_one_after_the_other_are_each_dropped_by_the_clock() {
    let options_of = ListenOptions::new(EPOCH).with_handshake_timeout_ms(200);
    let mut listener = Listener::bind(options_of).expect("a listener");
    let address = tcp_address(listener.contact());
    let begin = |listener: &mut Listener| {
        let silent = TcpStream::connect(address).expect("it listens");
        accept_until(listener, |listener, _| listener.half_open() == 1);
        silent
    };
    let before = Instant::now();
    let first = begin(&mut listener);
    await_fd(&listener, PollFlags::IN, "the clock", soon());
    assert!(listener.accept(before).expect("sound").is_none());
    assert_eq!(listener.half_open(), 1, "its time is not over yet, as it was told");
    await_fd(&listener, PollFlags::IN, "the clock again", soon());
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
    let second = begin(&mut listener);
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
    connected(&mut listener, options(TransportKind::Shm));
    let third = begin(&mut listener);
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
    drop([first, second, third]);
}

#[test]
fn the_oldest_silent_handshake_gives_way_and_is_told_busy() {
    let options_of = ListenOptions::new(EPOCH).with_handshakes_limit(2);
    let mut listener = Listener::bind(options_of).expect("a listener");
    let address = tcp_address(listener.contact());
    let connect = || TcpStream::connect(address).expect("it listens");
    // One address has half of all, so each gives way to the next.
    let mut silent = [connect(), connect(), connect()];
    accept_until(&mut listener, |listener, _| listener.counts().dropped() == 2);
    assert_eq!(listener.half_open(), 1);
    for oldest in &mut silent[..2] {
        assert_eq!(hear_reply(&mut listener, oldest).outcome, Err(Refusal::Busy));
    }
    connected(&mut listener, options(TransportKind::Tcp));
    assert_eq!((listener.half_open(), listener.counts().dropped()), (0, 3));
    // Who has said a hello does not give way: the newcomer is turned away, and may come again.
    let mut known = connect();
    known.write_all(&hello(TransportKind::Tcp).encode()).expect("room");
    assert!(hear_reply(&mut listener, &mut known).outcome.is_ok());
    let contact = listener.contact().clone();
    let error = refused(&mut listener, &contact, options(TransportKind::Tcp));
    assert!(error.is_busy(), "{error}");
    assert_eq!(listener.counts().turned_away(), 1);
    drop(known);
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
    connected(&mut listener, options(TransportKind::Tcp));
}

#[test]
fn a_token_is_asked_for_and_never_told() {
    let token = Token::random().expect("random bytes");
    let with_token = ListenOptions::new(EPOCH).with_token(Some(token.clone()));
    let mut listener = Listener::bind(with_token).expect("a listener");
    let contact = listener.contact().clone();
    assert!(contact.needs_token && !contact.to_string().contains(&token.to_hex()));
    let mut wrong = *token.as_bytes();
    wrong[0] ^= 0x80;
    for shown in [None, Token::new(wrong)] {
        let error = refused(&mut listener, &contact, open_options().with_token(shown));
        assert!(matches!(error, DialError::Refused { refusal: Refusal::Token, .. }), "{error}");
    }
    let mut stranger = TcpStream::connect(tcp_address(&contact)).expect("it listens");
    stranger.write_all(&hello(TransportKind::Tcp).encode()).expect("room");
    let reply = hear_reply(&mut listener, &mut stranger);
    assert_eq!((reply.outcome, reply.epoch), (Err(Refusal::Token), 0), "the epoch is not told either");
    let (mut one, mut accepted) = connected(&mut listener, open_options().with_token(Some(token)));
    exchange(&mut one, &mut accepted.link);
}

#[test]
fn a_listener_without_descriptors_turns_away_and_recovers() {
    let mut child = Guard(child(module_path!(), "no descriptors", None));
    assert!(child.0.wait().expect("it ends").success());
}

/// In a process of its own: the limit of descriptors is for all threads.
fn run_out_of_descriptors() {
    let mut listener = listener();
    let contact = listener.contact().clone();
    let mut browser = TcpStream::connect(tcp_address(&contact)).expect("it listens");
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), ..before }).expect("a lower limit");
    let mut hoard = Vec::new();
    while let Ok(descriptor) = browser.as_fd().try_clone_to_owned() {
        hoard.push(descriptor);
    }
    let reply = hear_reply(&mut listener, &mut browser);
    assert_eq!(reply.outcome, Err(Refusal::Busy));
    assert!(!is_ready(&listener), "the listener is not readable for ever");
    let error = dial(&contact, &options(TransportKind::Tcp)).expect_err("no descriptor");
    assert!(error.to_string().contains("Too many open files"), "{error}");
    setrlimit(Resource::Nofile, before).expect("the old limit");
    connected(&mut listener, options(TransportKind::Shm));
}

/// Only root can become another user; anybody else is refused nothing here.
#[test]
fn another_user_is_refused_by_both_ends() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for (uid, expected) in [(1, "uid"), (65534, "overflow uid")] {
        let mut listener = listener();
        let mut command = child_command(module_path!(), expected, Some(listener.contact()));
        let mut child = match command.uid(uid).spawn() {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return, // a folder that is root's alone
            spawned => Guard(spawned.expect("the test binary starts")),
        };
        let deadline = soon();
        let status = loop {
            assert!(listener.accept(Instant::now()).expect("the listener is sound").is_none());
            if let Some(status) = child.0.try_wait().expect("it can be waited for") {
                break status;
            }
            assert!(Instant::now() < deadline, "the child does not end");
        };
        assert!(status.success(), "as user {uid}");
    }
}

fn be_another_user(contact: &Contact, expected: Refusal) {
    let (socket, address) = abstract_socket(contact.unix_name().expect("it has one"));
    connect(&socket, &address).expect("abstract sockets are open to all");
    let mut stream = UnixStream::from(socket);
    stream.write_all(&hello(TransportKind::Shm).encode()).expect("room");
    let mut bytes = [0; REPLY_LEN];
    stream.read_exact(&mut bytes).expect("a whole reply");
    assert_eq!(Reply::decode(&bytes).expect("a reply").outcome, Err(expected));
    let error = dial(contact, &options(TransportKind::Shm)).expect_err("another user");
    let ours = rustix::process::geteuid().as_raw();
    assert_eq!(error.refused().last().map(|(_, reason)| reason), Some(&Reason::Uid { ours, theirs: 0 }));
}

#[test]
fn child_entry() {
    let Some((role, contact)) = role() else { return };
    let overflow = Refusal::Transport { reason: TransportRefusal::OverflowUid };
    match (role.as_str(), contact) {
        ("uid", Some(contact)) => be_another_user(&contact, Refusal::Uid),
        ("overflow uid", Some(contact)) => be_another_user(&contact, overflow),
        _ => run_out_of_descriptors(),
    }
}
