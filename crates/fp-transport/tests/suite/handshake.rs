//! Dialling and accepting: what is agreed between two sound ends, what is refused and with which reason.

use crate::support::raw::{exchange, tcp_address};
use crate::support::*;
use fp_transport::hello::TransportRefusal;
use fp_transport::{
    Contact, DialError, DialOptions, HostId, LinkError, ListenError, ListenOptions, Listener, OutFrame,
    ProcessId, Purpose, Reason, Refusal, Token, TransportKind, TransportPolicy, dial,
};
use rustix::event::PollFlags;
use rustix::process::{Signal, kill_process};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;

/// The transports that need no device.
const ANYWHERE: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];

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
    elsewhere.host = HostId::default();
    let address = tcp_address(&elsewhere);
    let options = open_options().with_process(ProcessId(77));
    let dialling = thread::spawn(move || dial(&elsewhere, &options));
    accept(&mut listener);
    let link = dialling.join().expect("no panic").expect("tcp works");
    let expected = format!(
        "transport=tcp {address}; inproc refused: other process; shm refused: host not known; \
         verbs refused: the contact has no endpoint for it"
    );
    assert_eq!(link.negotiated().to_string(), expected);
    assert!(link.watch().is_none() && link.peer().uid.is_none());
}

/// At the loopback address of another host somebody else would answer here.
#[test]
fn the_loopback_of_another_host_is_not_dialled() {
    let listener = listener();
    let mut elsewhere = listener.contact().clone();
    elsewhere.host = HostId(1);
    let error = dial(&elsewhere, &open_options().with_process(ProcessId(77))).expect_err("out of reach");
    let text = error.to_string();
    assert!(error.refused().contains(&(TransportKind::Tcp, Reason::LoopbackElsewhere)), "{text}");
    assert!(text.contains("shm refused: other host") && text.contains("FLEXPATH_LISTEN"), "{text}");
}

#[test]
fn a_policy_decides_and_what_it_excludes_is_named() {
    let (link, _) = connected(&mut listener(), options(TransportKind::Tcp));
    let better = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Verbs];
    let expected = better.map(|kind| (kind, Reason::NotAllowed));
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
    for kind in ANYWHERE {
        let error = refused(&mut listener, &contact, options(kind).with_epoch(Some(5)));
        let DialError::Refused { refusal, .. } = &error else { panic!("{error}") };
        assert_eq!(*refusal, Refusal::Epoch { theirs: EPOCH });
        assert!(error.to_string().contains("is of epoch 123456789abcdef0"), "{error}");
    }
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

#[test]
fn a_stale_contact_is_passed_over_with_its_reasons() {
    let contact = listener().contact().clone();
    let error = dial(&contact, &open_options()).expect_err("nobody is there any more");
    assert!(matches!(error, DialError::NoTransport { .. }));
    let kinds: Vec<_> = error.refused().iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, TransportKind::ALL);
    let silent = |kind: TransportKind, reason: &Reason| {
        let listed = kind != TransportKind::Verbs;
        if listed { matches!(reason, Reason::Io { .. }) } else { *reason == Reason::NoEndpoint }
    };
    assert!(error.refused().iter().all(|(kind, reason)| silent(*kind, reason)), "{error}");
    let unlisted = Contact { endpoints: vec![], ..contact };
    let error = dial(&unlisted, &open_options()).expect_err("no endpoint");
    assert!(error.refused().iter().all(|(_, reason)| *reason == Reason::NoEndpoint), "{error}");
}

#[test]
fn two_hundred_dial_at_once() {
    let mut listener = listener();
    let contact = listener.contact().clone();
    let dialling: Vec<_> = (0..200usize)
        .map(|number| {
            let (contact, kind) = (contact.clone(), ANYWHERE[number % 3]);
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
        let mut child = Guard(child(module_path!(), kind.name(), Some(listener.contact())));
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
    let child = Guard(child(module_path!(), "shm", Some(listener.contact())));
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
fn child_entry() {
    let Some((role, contact)) = role() else { return };
    let kind = match role.as_str() {
        "shm" => TransportKind::Shm,
        _ => TransportKind::Tcp,
    };
    let mut link = dial(&contact.expect("a contact"), &options(kind)).expect("the dial succeeds");
    link.send_all(OutFrame::new(b"alive".to_vec()), soon()).expect("sent");
    while let Ok(frame) = link.recv_deadline(soon()) {
        link.send_all(OutFrame::new(frame.head), soon()).expect("echoed");
    }
}
