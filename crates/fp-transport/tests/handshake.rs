//! Dialling and accepting: what is agreed, what is refused and with which reason, and that no bad peer disturbs others.

mod support;

use fp_transport::hello::{HELLO_LEN, PROOF_LEN, REPLY_LEN, Reply, TransportRefusal};
use fp_transport::{
    Contact, DialError, DialOptions, Endpoint, Hello, HostId, Link, LinkError, ListenError, ListenOptions,
    Listener, OutFrame, ProcessId, Purpose, Reason, Refusal, Token, TransportKind, TransportPolicy, dial,
};
use rustix::event::PollFlags;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};
use support::*;

fn exchange(one: &mut Link, other: &mut Link) {
    one.send_all(OutFrame::new(b"there".to_vec()), soon()).expect("sent");
    assert_eq!(other.recv_deadline(soon()).expect("received").head, b"there");
    other.send_all(OutFrame::new(b"back".to_vec()), soon()).expect("sent");
    assert_eq!(one.recv_deadline(soon()).expect("received").head, b"back");
}

fn open_options() -> DialOptions {
    DialOptions::new(soon()).with_epoch(Some(EPOCH))
}

fn tcp_address(contact: &Contact) -> SocketAddr {
    contact.tcp_addresses().next().expect("it listens on tcp")
}

fn hello(transport: TransportKind) -> Hello {
    Hello {
        version_lowest: 1,
        version_highest: 1,
        epoch: Some(EPOCH),
        token: None,
        process: ProcessId(1),
        host: HostId(2),
        pid: 3,
        purpose: Purpose::Control,
        transport,
    }
}

#[test]
fn the_best_transport_is_taken_and_the_others_are_named() {
    let mut listener = listener();
    let (mut one, mut accepted) = connected(&mut listener, open_options().with_purpose(Purpose::Data));
    assert_eq!(one.negotiated().to_string(), "transport=inproc");
    assert_eq!((accepted.hello.purpose, accepted.peer.pid), (Purpose::Data, std::process::id()));
    assert_eq!(one.peer().uid, Some(rustix::process::geteuid().as_raw()));
    exchange(&mut one, &mut accepted.link);

    let (one, accepted) = connected(&mut listener, open_options().with_process(ProcessId(77)));
    assert_eq!(one.negotiated().to_string(), "transport=shm; inproc refused: other process");
    assert_eq!(accepted.peer.process, ProcessId(77));
    assert!(one.watch().is_some_and(|watch| !watch.is_gone()) && accepted.link.watch().is_some());

    let mut elsewhere = listener.contact().clone();
    elsewhere.host = HostId(1);
    let address = tcp_address(&elsewhere);
    let options = open_options().with_process(ProcessId(77));
    let dialling = thread::spawn(move || dial(&elsewhere, &options));
    accept(&mut listener);
    let link = dialling.join().expect("no panic").expect("tcp works");
    let expected = format!("transport=tcp {address}; inproc refused: other process; shm refused: other host");
    assert_eq!(link.negotiated().to_string(), expected);
    assert!(link.watch().is_none() && link.peer().uid.is_none());
}

#[test]
fn a_policy_decides_and_what_it_excludes_is_named() {
    let (link, _) = connected(&mut listener(), options(TransportKind::Tcp));
    let expected = [(TransportKind::Inproc, Reason::NotAllowed), (TransportKind::Shm, Reason::NotAllowed)];
    assert_eq!(link.negotiated().refused, expected);
}

#[test]
fn a_fallback_can_be_forbidden() {
    let mut listener = Listener::bind(ListenOptions::new(EPOCH).with_shm(false)).expect("a listener");
    let contact = listener.contact().clone();
    let switched_off = Reason::Refused(Refusal::Transport { reason: TransportRefusal::SwitchedOff });
    let policy: TransportPolicy = "shm,tcp".parse().expect("a policy");
    let error = refused(
        &mut listener,
        &contact,
        open_options().with_policy(policy.clone().with_forbid_fallback(true)),
    );
    assert!(matches!(error, DialError::FallbackForbidden { .. }));
    let tried = [(TransportKind::Inproc, Reason::NotAllowed), (TransportKind::Shm, switched_off)];
    assert_eq!(error.refused(), tried);
    let (link, _) = connected(&mut listener, open_options().with_policy(policy));
    assert_eq!((link.transport(), &link.negotiated().refused[..]), (TransportKind::Tcp, &tried[..]));
}

#[test]
fn state_and_identity_come_with_the_reply() {
    let mut listener = Listener::bind(ListenOptions::new(EPOCH).with_state(3)).expect("a listener");
    let any_epoch = DialOptions::new(soon()).with_purpose(Purpose::Probe);
    let (link, accepted) = connected(&mut listener, any_epoch.clone());
    assert_eq!((link.peer_state(), link.peer().process), (3, ProcessId::own()));
    assert_eq!((accepted.hello.purpose, accepted.hello.epoch), (Purpose::Probe, None));
    listener.set_state(4);
    assert_eq!(connected(&mut listener, any_epoch).0.peer_state(), 4);
}

#[test]
fn a_wrong_epoch_is_refused_over_every_transport() {
    let mut listener = listener();
    let contact = listener.contact().clone();
    for kind in TransportKind::ALL {
        let error = refused(&mut listener, &contact, options(kind).with_epoch(Some(5)));
        let DialError::Refused { refusal, .. } = &error else { panic!("{error}") };
        assert_eq!(*refusal, Refusal::Epoch { theirs: EPOCH });
        assert!(error.to_string().contains("is of epoch 123456789abcdef0"), "{error}");
    }
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
fn off_loopback_needs_a_token_and_an_address() {
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let options = ListenOptions::new(EPOCH).with_tcp(Some(everywhere));
    assert!(matches!(
        Listener::bind(options.clone()),
        Err(ListenError::TokenNeeded { address }) if address == everywhere
    ));
    let options = options.with_token(Token::new([1; 32]));
    assert!(matches!(Listener::bind(options.clone()), Err(ListenError::Unadvertised { .. })));
    let advertised = IpAddr::from(Ipv4Addr::LOCALHOST);
    let listener = Listener::bind(options.with_advertised(Some(advertised))).expect("a listener");
    assert_eq!(tcp_address(listener.contact()).ip(), advertised);
    let none = ListenOptions::new(EPOCH).with_tcp(None).with_shm(false).with_inproc(false);
    assert!(matches!(Listener::bind(none), Err(ListenError::NoTransport)));
}

/// Drives the listener until a reply has come.
fn hear_reply(listener: &mut Listener, from: &mut (impl Read + AsFd)) -> Reply {
    let deadline = soon();
    let ready = |from: &dyn AsReady| from.is_ready();
    while !ready(&from.as_fd()) {
        assert!(Instant::now() < deadline, "no reply came");
        listener.accept(Instant::now()).expect("the listener is sound");
    }
    let mut bytes = [0; REPLY_LEN];
    from.read_exact(&mut bytes).expect("a whole reply");
    Reply::decode(&bytes).expect("a reply")
}

trait AsReady {
    fn is_ready(&self) -> bool;
}

impl AsReady for std::os::fd::BorrowedFd<'_> {
    fn is_ready(&self) -> bool {
        let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let mut fds = [rustix::event::PollFd::new(self, PollFlags::IN)];
        rustix::event::poll(&mut fds, Some(&at_once)).expect("poll works") > 0
    }
}

#[test]
fn another_version_is_told_which_are_spoken() {
    let mut listener = listener();
    let mut stranger = TcpStream::connect(tcp_address(listener.contact())).expect("it listens");
    let future = Hello { version_lowest: 2, version_highest: 9, ..hello(TransportKind::Tcp) };
    stranger.write_all(&future.encode()).expect("room");
    let reply = hear_reply(&mut listener, &mut stranger);
    assert_eq!(reply.outcome, Err(Refusal::Version { theirs_lowest: 1, theirs_highest: 1 }));
}

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

    let stale = Reply { epoch: 5, ..reply(Ok(1), 1) };
    let epoch = dial_impostor(stale.encode().to_vec(), None);
    assert!(matches!(epoch, DialError::Refused { refusal: Refusal::Epoch { theirs: 5 }, .. }));

    let other = dial_impostor(reply(Ok(1), 1).encode().to_vec(), Some(ProcessId(8)));
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

fn abstract_socket(name: &str) -> (OwnedFd, SocketAddrUnix) {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).expect("a short name");
    (socket.expect("a socket"), address)
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
        let claim = Reply { process: ProcessId::own(), ..reply(Ok(1), 1) };
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
fn a_stale_contact_is_passed_over_with_its_reasons() {
    let contact = listener().contact().clone();
    let error = dial(&contact, &open_options()).expect_err("nobody is there any more");
    assert!(matches!(error, DialError::NoTransport { .. }));
    let kinds: Vec<_> = error.refused().iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, TransportKind::ALL);
    assert!(error.refused().iter().all(|(_, reason)| matches!(reason, Reason::Io { .. })), "{error}");
    let unlisted = Contact { endpoints: vec![], ..contact };
    let error = dial(&unlisted, &open_options()).expect_err("no endpoint");
    assert!(error.refused().iter().all(|(_, reason)| *reason == Reason::NoEndpoint), "{error}");
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

#[test]
fn more_handshakes_than_allowed_are_told_busy() {
    let options_of = ListenOptions::new(EPOCH).with_handshakes_limit(2);
    let mut listener = Listener::bind(options_of).expect("a listener");
    let address = tcp_address(listener.contact());
    let connect = || TcpStream::connect(address).expect("it listens");
    let silent = [connect(), connect()];
    accept_until(&mut listener, |listener, _| listener.half_open() == 2);
    assert_eq!(hear_reply(&mut listener, &mut connect()).outcome, Err(Refusal::Busy));
    drop(silent);
    accept_until(&mut listener, |listener, _| listener.half_open() == 0);
    connected(&mut listener, options(TransportKind::Tcp));
}

#[test]
fn two_hundred_dial_at_once() {
    let mut listener = listener();
    let contact = listener.contact().clone();
    let dialling: Vec<_> = (0..200usize)
        .map(|number| {
            let (contact, kind) = (contact.clone(), TransportKind::ALL[number % 3]);
            thread::spawn(move || {
                let mut link = dial(&contact, &options(kind)).expect("the dial succeeds");
                link.send_all(OutFrame::new(number.to_le_bytes().to_vec()), soon()).expect("sent");
                assert_eq!(link.recv_deadline(soon()).expect("answered").head, number.to_le_bytes());
            })
        })
        .collect();
    let links = accept_until(&mut listener, |_, links| links.len() == 200);
    let mut numbers: Vec<usize> = Vec::new();
    for mut accepted in links {
        let frame = accepted.link.recv_deadline(soon()).expect("a frame");
        numbers.push(usize::from_le_bytes(frame.head[..].try_into().expect("a number")));
        accepted.link.send_all(OutFrame::new(frame.head), soon()).expect("answered");
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    dialling.into_iter().for_each(|dialling| dialling.join().expect("no panic"));
}

#[test]
fn a_killed_peer_is_noticed_over_every_transport_between_processes() {
    for kind in [TransportKind::Shm, TransportKind::Tcp] {
        let mut listener = listener();
        let mut child = Guard(child(kind.name(), Some(listener.contact())));
        let mut accepted = accept(&mut listener);
        assert_eq!((accepted.link.transport(), accepted.peer.pid), (kind, child.0.id()));
        assert_eq!(accepted.link.recv_deadline(soon()).expect("alive").head, b"alive");
        child.0.kill().expect("kill -9");
        let noticed = accepted.link.recv_deadline(soon()).expect_err("it is dead");
        assert!(matches!(noticed, LinkError::Closed | LinkError::Lost(_)), "{noticed}");
        child.0.wait().expect("it ends");
        if let Some(watch) = accepted.link.watch() {
            await_fd(watch, PollFlags::IN, "the process to be gone", soon());
            assert!(watch.is_gone());
        }
    }
}

/// A stopped peer is not a dead one: nothing is noticed, and nothing is lost when it goes on.
#[test]
fn a_stopped_peer_goes_on_where_it_was() {
    let mut listener = listener();
    let child = Guard(child("shm", Some(listener.contact())));
    let mut accepted = accept(&mut listener);
    accepted.link.recv_deadline(soon()).expect("alive");
    let pid = stop(&child.0);
    accepted.link.send_all(OutFrame::new(b"echo".to_vec()), soon()).expect("the kernel takes it");
    assert!(accepted.link.recv().expect("no error").is_none());
    assert!(accepted.link.watch().is_some_and(|watch| !watch.is_gone()));
    kill_process(pid, Signal::CONT).expect("continued");
    assert_eq!(accepted.link.recv_deadline(soon()).expect("it goes on").head, b"echo");
}

#[test]
fn a_listener_without_descriptors_turns_away_and_recovers() {
    let mut child = Guard(child("no descriptors", None));
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
    assert!(!listener.as_fd().is_ready(), "the listener is not readable for ever");
    let error = dial(&contact, &options(TransportKind::Tcp)).expect_err("no descriptor");
    assert!(error.to_string().contains("Too many open files"), "{error}");
    setrlimit(Resource::Nofile, before).expect("the old limit");
    connected(&mut listener, options(TransportKind::Shm));
}

#[test]
fn child_entry() {
    let Some((role, contact)) = role() else { return };
    let kind = match role.as_str() {
        "no descriptors" => return run_out_of_descriptors(),
        "shm" => TransportKind::Shm,
        _ => TransportKind::Tcp,
    };
    let mut link = dial(&contact.expect("a contact"), &options(kind)).expect("the dial succeeds");
    link.send_all(OutFrame::new(b"alive".to_vec()), soon()).expect("sent");
    while let Ok(frame) = link.recv_deadline(soon()) {
        link.send_all(OutFrame::new(frame.head), soon()).expect("echoed");
    }
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
        stream.write_all(&reply(Ok(1), 1).encode()).expect("room");
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
