//! Dials that never wait: hello, answer and proof as both ends come to them, and what is sent behind the proof.

use crate::support::*;
use fp_transport::hello::{HELLO_LEN, PROOF_LEN, REPLY_LEN};
use fp_transport::{
    Accepted, Contact, DialError, DialOptions, DialStep, Dialling, Link, LinkError, ListenOptions, Listener,
    OutFrame, Purpose, Reason, Refusal, TransportKind,
};
use rustix::event::PollFlags;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

/// The transports that need no device.
const ANYWHERE: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];

/// A dial that waits for its answer.
fn waiting(contact: &Contact, options: DialOptions) -> Box<Dialling> {
    let DialStep::Waits(dialling) = Dialling::begin(contact, options) else { panic!("it does not wait") };
    dialling
}

/// Goes on until it does not wait any more.
fn outcome(mut dialling: Box<Dialling>) -> DialStep {
    loop {
        await_fd(&*dialling, PollFlags::IN, "the answer to a hello", soon());
        match dialling.advance() {
            DialStep::Waits(again) => dialling = again,
            step @ (DialStep::Linked(_) | DialStep::Blocks(_) | DialStep::Failed(_)) => return step,
        }
    }
}

/// Answers the hello of a dial; its link, of which nothing was flushed yet.
fn answered(listener: &mut Listener, dialling: Box<Dialling>) -> Link {
    await_fd(&*listener, PollFlags::IN, "a hello", soon());
    assert!(listener.accept(Instant::now()).expect("sound").is_none(), "nothing was proved yet");
    let DialStep::Linked(link) = outcome(dialling) else { panic!("no link") };
    *link
}

/// A link that was proved, and what the listener has of it.
fn linked(listener: &mut Listener, kind: TransportKind) -> (Link, Accepted) {
    let dialling = waiting(listener.contact(), options(kind));
    let mut link = answered(listener, dialling);
    link.send_head(b"first").expect("room");
    assert!(listener.accept(Instant::now()).expect("sound").is_none(), "it is gathered");
    link.flush().expect("room");
    (link, accept(listener))
}

fn head(link: &mut Link) -> Vec<u8> {
    link.recv_deadline(soon()).expect("a frame").head.to_vec()
}

#[test]
fn what_is_sent_goes_with_the_proof_and_both_ways_follow() {
    for kind in ANYWHERE {
        let mut listener = listener();
        let (mut link, mut accepted) = linked(&mut listener, kind);
        assert_eq!((link.transport(), accepted.link.transport()), (kind, kind));
        assert_eq!(link.version(), accepted.link.version());
        let first = accepted.link.recv().expect("sound").expect("it came with the proof");
        assert_eq!(&first.head[..], b"first");
        accepted.link.send(OutFrame::new(b"second".as_slice())).expect("room");
        assert_eq!(head(&mut link), b"second");
        for turn in 0..40u8 {
            link.send(OutFrame::new([turn].as_slice())).expect("room");
            assert_eq!(head(&mut accepted.link), [turn]);
            accepted.link.send(OutFrame::new([turn].as_slice())).expect("room");
            assert_eq!(head(&mut link), [turn], "through rings too, where there are any");
        }
    }
}

/// As a coordinator does: the last words of the handshake go with its first frame.
#[test]
fn a_listener_may_gather_its_last_words_with_its_first() {
    for kind in ANYWHERE {
        let options = ListenOptions::new(EPOCH).with_gathers(true);
        let mut listener = Listener::bind(options).expect("a listener");
        let (mut link, mut accepted) = linked(&mut listener, kind);
        accepted.link.send_head(b"answer").expect("room");
        assert!(!accepted.link.wants_write() && link.recv().expect("sound").is_none());
        accepted.link.flush().expect("room");
        assert_eq!(head(&mut link), b"answer");
    }
}

/// A dial that waits does so too, and data links are not gathered: their users flush nothing.
#[test]
fn who_dials_in_full_needs_a_listener_that_flushes() {
    let options = ListenOptions::new(EPOCH).with_gathers(true);
    let mut listener = Listener::bind(options).expect("a listener");
    let (mut link, mut accepted) = connected(&mut listener, open_options().with_purpose(Purpose::Data));
    accepted.link.send_head(b"data").expect("room");
    assert_eq!(head(&mut link), b"data");
    let contact = listener.contact().clone();
    let dialling = thread::spawn(move || fp_transport::dial(&contact, &open_options()));
    let mut accepted = accept(&mut listener);
    assert!(!dialling.is_finished(), "it was not told that its proof is right");
    accepted.link.flush().expect("room");
    dialling.join().expect("no panic").expect("a link");
}

#[test]
fn nothing_is_heard_before_the_proof_was_judged() {
    let mut listener = listener();
    let dialling = waiting(listener.contact(), options(TransportKind::Shm));
    let mut link = answered(&mut listener, dialling);
    link.flush().expect("room");
    assert!(link.recv().expect("sound").is_none() && !link.has_buffered());
    let mut accepted = accept(&mut listener);
    await_fd(&link, PollFlags::IN, "the last words", soon());
    assert!(link.recv().expect("they are no frame").is_none());
    accepted.link.send(OutFrame::new(b"frame".as_slice())).expect("room");
    assert_eq!(head(&mut link), b"frame");
}

#[test]
fn another_epoch_is_a_refusal_and_no_other_candidate_is_tried() {
    let mut listener = listener();
    let dialling = waiting(listener.contact(), open_options().with_epoch(Some(5)));
    await_fd(&listener, PollFlags::IN, "a hello", soon());
    assert!(listener.accept(Instant::now()).expect("sound").is_none());
    let DialStep::Failed(DialError::Refused { refusal, .. }) = outcome(dialling) else {
        panic!("not refused")
    };
    assert_eq!(refusal, Refusal::Epoch { theirs: EPOCH });
}

#[test]
fn what_cannot_be_done_at_once_is_left_to_who_may_wait() {
    let mut elsewhere = listener().contact().clone();
    elsewhere.host = fp_transport::HostId(1);
    elsewhere.endpoints = vec![fp_transport::Endpoint::Tcp("192.0.2.7:9".parse().expect("an address"))];
    assert!(matches!(Dialling::begin(&elsewhere, open_options()), DialStep::Blocks(_)));
    let tls = identity();
    let listener = tls_listener(&tls);
    let secured = options(TransportKind::Tcp).with_tls(Some(tls));
    assert!(matches!(Dialling::begin(listener.contact(), secured), DialStep::Blocks(_)));
}

/// The rest keeps the reasons of those before it.
#[test]
fn a_candidate_that_fails_leaves_the_others_to_a_dial_in_full() {
    let mut listener = Listener::bind(ListenOptions::new(EPOCH).with_inproc(false)).expect("a listener");
    let dialling = waiting(listener.contact(), open_options());
    await_fd(&listener, PollFlags::IN, "a hello", soon());
    assert!(listener.accept(Instant::now()).expect("sound").is_none());
    let DialStep::Blocks(rest) = outcome(dialling) else { panic!("inproc is switched off") };
    let dialling = thread::spawn(move || rest.dial());
    accept(&mut listener);
    let link = dialling.join().expect("no panic").expect("shm works");
    assert_eq!(link.transport(), TransportKind::Shm);
    assert!(matches!(link.negotiated().refused[..], [(TransportKind::Inproc, Reason::Refused(_))]));
}

#[test]
fn a_dial_that_is_given_up_says_what_it_waited_for() {
    let listener = listener();
    let dialling = waiting(listener.contact(), open_options());
    assert!(dialling.deadline() > Instant::now());
    let error = dialling.give_up();
    assert!(matches!(error, DialError::Deadline { waiting_for: "the reply", .. }), "{error}");
}

/// Somebody who is no listener, and answers with these bytes after so many came.
fn impostor(answers: Vec<(usize, Vec<u8>)>) -> (Contact, thread::JoinHandle<TcpStream>) {
    let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut contact = Contact::from_address(listening.local_addr().expect("bound"));
    contact.host = fp_transport::HostId::own();
    let answering = thread::spawn(move || {
        let (mut stream, _) = listening.accept().expect("a dialler");
        for (count, answer) in answers {
            stream.read_exact(&mut vec![0; count]).expect("its words");
            stream.write_all(&answer).expect("it reads");
        }
        stream
    });
    (contact, answering)
}

fn reply(code: u8) -> Vec<u8> {
    let mut bytes = vec![0; REPLY_LEN];
    bytes[..4].copy_from_slice(b"FLXR");
    bytes[4] = code;
    bytes[6] = 2;
    bytes[16..32].copy_from_slice(&EPOCH.to_le_bytes());
    bytes
}

#[test]
fn an_answer_that_is_none_is_known_by_its_first_bytes() {
    let (contact, answering) = impostor(vec![(HELLO_LEN, b"HTTP".to_vec())]);
    let DialStep::Failed(error) = outcome(waiting(&contact, options(TransportKind::Tcp))) else {
        panic!("that is no answer")
    };
    assert!(error.refused().contains(&(TransportKind::Tcp, Reason::BadAnswer)), "{error}");
    drop(answering.join().expect("no panic"));
}

/// The error of a link whose listener says this to the proof, and nothing after it.
fn told_of_its_proof(last: Vec<u8>) -> LinkError {
    let (contact, answering) = impostor(vec![(HELLO_LEN, reply(0)), (PROOF_LEN, last)]);
    let DialStep::Linked(mut link) = outcome(waiting(&contact, options(TransportKind::Tcp))) else {
        panic!("it answers as a listener does")
    };
    link.flush().expect("room");
    drop(answering.join().expect("no panic"));
    link.recv_deadline(soon()).expect_err("it was refused")
}

#[test]
fn a_proof_that_is_refused_ends_the_link() {
    let refused = Refusal::Probe.to_string();
    let unfinished = "the last words of the handshake did not come";
    for (last, reason) in [
        (reply(8), refused.as_str()),
        (vec![7; REPLY_LEN], "what came is no answer to the proof"),
        (Vec::new(), unfinished),
        (reply(0)[..REPLY_LEN - 1].to_vec(), unfinished),
    ] {
        let error = told_of_its_proof(last);
        assert!(matches!(&error, LinkError::Lost(lost) if lost.to_string() == reason), "{error:?}");
    }
}

/// The segment of a probe serves the next peer, but not two at one time.
#[test]
fn peers_over_shm_are_proved_one_after_the_other_and_two_at_one_time() {
    let mut listener = listener();
    for _ in 0..3 {
        let (mut link, mut accepted) = linked(&mut listener, TransportKind::Shm);
        accepted.link.send(OutFrame::new(b"frame".as_slice())).expect("room");
        assert_eq!(head(&mut link), b"frame");
    }
    let contact = listener.contact().clone();
    let both = [(); 2].map(|()| waiting(&contact, options(TransportKind::Shm)));
    accept_until(&mut listener, |listener, _| listener.half_open() == 2);
    for dialling in both {
        let DialStep::Linked(mut link) = outcome(dialling) else { panic!("both have probes of their own") };
        link.flush().expect("room");
        accept(&mut listener);
    }
}
