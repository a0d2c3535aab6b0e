//! Who a gate does not let in, what is no gate, and gates that lie.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::certificates::Authority;
use crate::forwarding::{forward, gate};
use crate::kinds::eventually;
use crate::staging::{attach, interrupt, publisher_options, put_steps, take};
use crate::support::{Live, Run};
use crate::wire::Wire;
use fp_core::connection::{Connection, ConnectionListener, Incoming};
use fp_core::{Publisher, Token};
use rustix::process::{Pid, Signal, kill_process};

fn fails(forward: Run, code: i32, said: &str) {
    let ended = forward.finish();
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
}

#[test]
fn who_is_no_gate_is_told_as_what_it_is() {
    let live = Live::start("sim");
    fails(forward(live.path(), "nowhere", &[]), 1, "\"nowhere\" is no address: that is HOST:PORT");
    // A rank of a stream.
    let contact =
        fp_core::rendezvous::Rendezvous::list(&crate::kinds::at(live.path())).unwrap()[0].contact.clone();
    let rank = contact.tcp_addresses().next().unwrap().to_string();
    fails(forward(live.path(), &rank, &[]), 1, "is another: a rank of a stream answers there");
    // Nobody; and somebody who says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    fails(forward(live.path(), &address, &["--await", "0"]), 1, "said nothing for 5s");
    drop(silent);
    let began = Instant::now();
    fails(
        forward(live.path(), &address, &["--await", "1"]),
        1,
        "it was awaited for 1s (--await): nobody answers",
    );
    assert!(began.elapsed() >= Duration::from_secs(1));
    live.stop();
}

#[test]
fn who_has_not_the_token_is_not_let_in() {
    let live = Live::start("sim");
    let outside = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = outside.path().join(name);
        std::fs::write(
            &path,
            format!("{}\n", "0123456789abcdef".repeat(3) + &format!("{:0>16}", name.len())),
        )
        .unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (file("run.token"), file("another.token"));
    Token::from_file(&right).expect("a token");
    let (gate, address) = gate(outside.path(), &["--token-file", &right]);
    for credentials in [&[][..], &["--token-file", &wrong]] {
        fails(
            forward(live.path(), &address, credentials),
            1,
            "does not let this process in: the token is missing or wrong",
        );
    }
    let let_in = forward(live.path(), &address, &["--token-file", &right]);
    crate::kinds::eventually("it comes in", || crate::staging::is_open(outside.path(), "sim"));
    interrupt(let_in);
    interrupt(gate);
    live.stop();
}

#[test]
fn certificates_let_in_and_are_looked_at_on_both_sides() {
    let live = Live::start("sim");
    let outside = tempfile::tempdir().unwrap();
    let (own, other) = (Authority::new(), Authority::new());
    let options = |authority: &Authority| {
        let issued = authority.issue("flexpath");
        let files = [
            ("--tls-certificate", issued.certificate),
            ("--tls-key", issued.key),
            ("--tls-authority", authority.path()),
        ];
        files.map(|(name, path)| format!("{name}={}", path.display()))
    };
    let (of_gate, of_own, of_other) = (options(&own), options(&own), options(&other));
    fn words(options: &[String; 3]) -> [&str; 3] {
        options.each_ref().map(String::as_str)
    }
    let (gate, address) = gate(outside.path(), &words(&of_gate));
    fails(forward(live.path(), &address, &[]), 1, "does not let this process in");
    fails(forward(live.path(), &address, &words(&of_other)), 1, "does not let this process in");
    let let_in = forward(live.path(), &address, &words(&of_own));
    crate::kinds::eventually("it comes in", || crate::staging::is_open(outside.path(), "sim"));
    interrupt(let_in);
    interrupt(gate);
    live.stop();
}

/// What a made-up gate says after it was offered the stream; and what the command says then.
fn with_a_gate_that_says(notes: &[&str], said: &str) {
    offered_by(&[], &[(4, notes)], said);
}

/// The same of a forward with these options, which offers the stream in these versions, one after the other.
fn offered_by(options: &[&str], offers: &[(u32, &[&str])], said: &str) {
    let live = Live::start("sim");
    let mut listener = ConnectionListener::listen("127.0.0.1:0".parse().unwrap(), None, None, None).unwrap();
    let options = [&["--await", "1"], options].concat();
    let forward = forward(live.path(), &listener.address().to_string(), &options);
    let mut dialled = Vec::new();
    for (version, notes) in offers {
        let connection = listener.accept(Duration::from_secs(60)).unwrap().expect("it dials");
        let offered = connection.incoming().unwrap();
        let Some(Incoming::Note(offer)) = offered else { panic!("no offer: {offered:?}") };
        let begins = format!(r#"{{"offer":{{"version":{version},"stream":"sim""#);
        assert!(String::from_utf8(offer).unwrap().starts_with(&begins));
        for note in *notes {
            connection.tell(note.as_bytes()).unwrap();
        }
        dialled.push(connection);
    }
    fails(forward, 1, said);
    drop(dialled);
    live.stop();
}

#[test]
fn a_gate_that_lies_is_believed_nothing() {
    let welcome = r#"{"welcome":{"has":null,"pending":[],"reserve":0}}"#;
    let taken = r#"{"taken":{"epoch":"000000000000000000000000000000ab","step":7}}"#;
    with_a_gate_that_says(&[welcome, taken], "it says that step 7 was taken, and never got it");
    with_a_gate_that_says(&[welcome, r#"{"refused":{"why":"no room","again":false}}"#], "no room");
    let many = format!(r#"{{"wanted":{:?}}}"#, vec!["a"; 5000]);
    with_a_gate_that_says(&[welcome, &many], "it asks for more variables than there can be");
    let answered = r#"{"answered":{"number":7,"outcome":"Over"}}"#;
    with_a_gate_that_says(&[welcome, answered], "it says what is not its to say");
    with_a_gate_that_says(&[welcome, welcome], "it says what is not its to say");
    with_a_gate_that_says(&[taken], "it answers an offer with something else");
    with_a_gate_that_says(&["{}"], "it says what means nothing here");
}

/// What gates of version 1 say to all others. What they do know they are offered then.
#[test]
fn a_gate_of_before_says_that_it_knows_neither_compression_nor_selections() {
    let why = |version: u32| format!("it speaks version 1 with `flexpath forward`, and not {version}");
    let refused = |version| format!(r#"{{"refused":{{"why":"{}","again":false}}}}"#, why(version));
    let [of_2, of_3, of_4] = [refused(2), refused(3), refused(4)];
    for options in [&["--compress"][..], &["--compress=pco", "--all"], &[]] {
        offered_by(options, &[(4, &[&of_4]), (3, &[&of_3]), (2, &[&of_2])], &why(2));
    }
    let no_room = r#"{"refused":{"why":"no room","again":false}}"#;
    offered_by(&["--all"], &[(4, &[&of_4]), (3, &[&of_3]), (1, &[no_room])], "no room");
}

/// The next time there may be room: a gate that is not old is not taken for one.
#[test]
fn what_is_refused_for_another_reason_is_not_offered_in_an_older_version() {
    let why = "it takes 64 streams at most";
    let refused = format!(r#"{{"refused":{{"why":"{why}","again":false}}}}"#);
    offered_by(&[], &[(4, &[&refused])], why);
}

/// It gets the steps that it knows of, and forward says what it does not get.
#[test]
fn a_gate_of_before_is_told_of_no_run_that_begins_anew() {
    let refused = |version: u32| {
        let why = format!("it speaks versions up to 2 with `flexpath forward`, and not {version}");
        format!(r#"{{"refused":{{"why":"{why}","again":false}}}}"#)
    };
    let [of_3, of_4] = [refused(3), refused(4)];
    let welcome = r#"{"welcome":{"has":null,"pending":[],"reserve":0}}"#;
    let no_room = r#"{"refused":{"why":"no room","again":false}}"#;
    let said = "is of a version that is not told when a run begins anew";
    for (options, least) in [(&[][..], 2), (&["--all"], 1)] {
        let offers = [(4, &[&*of_4][..]), (3, &[&*of_3]), (least, &[welcome, no_room])];
        offered_by(options, &offers, said);
    }
}

#[test]
fn a_gate_does_not_believe_either() {
    let outside = tempfile::tempdir().unwrap();
    let (gate, address) = gate(outside.path(), &["--memory", "64K"]);
    let offer = |stream: &str, version: u32| {
        format!(r#"{{"offer":{{"version":{version},"stream":"{stream}","forward":"f","subscribers":0}}}}"#)
    };
    let answers = |notes: &[String]| {
        let connection = Connection::dial(&address, None, None).unwrap();
        for note in notes {
            connection.tell(note.as_bytes()).unwrap();
        }
        let answer = connection.incoming().unwrap_or(None);
        match answer {
            Some(Incoming::Note(note)) => String::from_utf8(note).unwrap(),
            _ => String::new(),
        }
    };
    let refused = |why: &str| format!(r#"{{"refused":{{"why":"{why}","again":false}}}}"#);
    assert_eq!(answers(&[offer("a*", 1)]), refused("\\\"a*\\\" is no name of a stream"));
    assert_eq!(
        answers(&[offer("sim", 5)]),
        refused("it speaks versions up to 4 with `flexpath forward`, and not 5")
    );
    assert_eq!(answers(&["\"ended\"".to_owned()]), "", "it is closed on");
    assert!(answers(&[offer("sim", 1)]).starts_with("{\"welcome\""));
    // Another that brings the same stream waits until the one before has gone.
    let first = Connection::dial(&address, None, None).unwrap();
    first.tell(offer("sim", 1).as_bytes()).unwrap();
    first.incoming().unwrap();
    let other = offer("sim", 1).replace("\"f\"", "\"g\"");
    let answer = answers(std::slice::from_ref(&other));
    assert!(
        answer.contains("is brought by another already") && answer.contains("\"again\":true"),
        "{answer}"
    );
    drop(first);
    eventually("it has gone", || answers(std::slice::from_ref(&other)).starts_with("{\"welcome\""));
    let ended = interrupt(gate);
    assert!(ended.stderr.contains("is turned away: it offers no stream"), "{}", ended.stderr);
}

#[test]
fn a_step_that_the_gate_has_no_room_for_is_named() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--memory", "32K", "--once"]);
    let forward = forward(inside.path(), &address, &[]);
    let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
    put_steps(&mut publisher, 1);
    fails(forward, 1, "step 0: it takes more than the 32768 bytes");
    drop(publisher);
    interrupt(gate);
}

/// It says nothing for longer than a way may be silent, and is there again as it goes on.
#[test]
fn a_gate_that_stalls_is_away_and_loses_nothing() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
    let way = Wire::to(&address);
    let forward = forward(inside.path(), &way.address(), &["--once"]);
    let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
    // It has more patience than `forward`.
    let mut subscriber = attach(outside.path(), "sim", |one| one.with_silence(Duration::from_secs(60)));
    put_steps(&mut publisher, 3);
    assert_eq!([(); 3].map(|()| take(&mut subscriber)), [Some(0), Some(1), Some(2)]);
    let signal = |signal| kill_process(Pid::from_child(&gate.child), signal).unwrap();
    signal(Signal::STOP);
    put_steps(&mut publisher, 3);
    eventually("it dials again", || way.dialled() > 1);
    signal(Signal::CONT);
    assert_eq!([(); 3].map(|()| take(&mut subscriber)), [Some(3), Some(4), Some(5)]);
    publisher.close().expect("all of it was taken");
    assert_eq!(take(&mut subscriber), None);
    let [ended, gate] = [forward.finish(), gate.finish()];
    assert_eq!((ended.code, gate.code), (Some(0), Some(0)), "{} {}", ended.stderr, gate.stderr);
    assert!(ended.stderr.contains("is away: "), "{}", ended.stderr);
}
