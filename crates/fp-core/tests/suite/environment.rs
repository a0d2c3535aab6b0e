//! What the environment says where no option does: where to listen, and the token. Each case is a process of its own.

use crate::support::{Place, STREAM};
use fp_core::{Contact, OpenError, Publisher, PublisherOptions, Rendezvous, Token};
use std::process::Command;

/// Set for the process that opens the stream: what it is to find.
const CASE: &str = "FLEXPATH_TEST_ENVIRONMENT";

fn child(case: &str, place: &Place, variables: &[(&str, &str)]) {
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args(["environment::child_entry", "--exact", "--nocapture", "--test-threads=1"]);
    child.env(CASE, case).env("FLEXPATH_RENDEZVOUS", place.path()).envs(variables.iter().copied());
    let output = child.output().expect("it runs");
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_environment_is_the_default_and_the_option_wins() {
    let place = Place::new();
    let file = place.path().join(".token");
    Token::new([0x5a; 32]).expect("a token").write_file(&file).expect("written");
    let file = file.to_str().expect("a text");
    child("set", &place, &[("FLEXPATH_LISTEN", "127.0.0.2:0"), ("FLEXPATH_TOKEN_FILE", file)]);
    child("nowhere", &place, &[("FLEXPATH_LISTEN", "none")]);
    child("empty", &place, &[("FLEXPATH_LISTEN", ""), ("FLEXPATH_TOKEN_FILE", "")]);
}

#[test]
fn settings_that_cannot_be_read_are_errors_of_opening() {
    let place = Place::new();
    child("no address", &place, &[("FLEXPATH_LISTEN", "here")]);
    let mistyped = place.path().join("mistyped");
    let named = mistyped.to_str().expect("a text");
    child("no directory", &place, &[("FLEXPATH_RENDEZVOUS", named)]);
    assert!(!mistyped.exists(), "nobody makes it");
    let runtime = place.path().to_str().expect("a text");
    child("made", &place, &[("FLEXPATH_RENDEZVOUS", ""), ("XDG_RUNTIME_DIR", runtime)]);
    assert!(place.path().join("flexpath").is_dir());
    child("no token", &place, &[("FLEXPATH_TOKEN_FILE", "/nowhere/run.token")]);
}

/// Opens the stream, and says what its lead's contact was.
fn contact(options: PublisherOptions) -> Contact {
    let publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let entries = Rendezvous::from_environment().expect("a rendezvous").entries();
    assert_eq!(entries.len(), 1);
    publisher.close().expect("closed");
    entries[0].contact.clone()
}

fn address(contact: &Contact) -> Option<String> {
    contact.tcp_addresses().next().map(|address| address.ip().to_string())
}

#[test]
fn child_entry() {
    let Ok(case) = std::env::var(CASE) else { return };
    let failed = || Publisher::open(STREAM, PublisherOptions::default()).err().expect("it does not open");
    match case.as_str() {
        "set" => {
            let by_environment = contact(PublisherOptions::default());
            assert_eq!(address(&by_environment).as_deref(), Some("127.0.0.2"));
            assert!(by_environment.to_string().contains("token=needed"), "{by_environment}");
            let option = "127.0.0.3:0".parse().expect("an address");
            let by_option = contact(PublisherOptions::default().with_tcp(Some(option)));
            assert_eq!(address(&by_option).as_deref(), Some("127.0.0.3"));
            assert_eq!(address(&contact(PublisherOptions::default().with_tcp(None))), None);
        }
        "nowhere" => assert_eq!(address(&contact(PublisherOptions::default())), None),
        "empty" => {
            let plain = contact(PublisherOptions::default());
            assert_eq!(address(&plain).as_deref(), Some("127.0.0.1"));
            assert!(plain.to_string().contains("token=no"), "{plain}");
        }
        "no address" => assert!(matches!(failed(), OpenError::Address(error) if error.text == "here")),
        "no directory" => {
            let error = failed().to_string();
            let missing = error.contains("there is no rendezvous directory") && error.contains("mistyped");
            assert!(missing && error.contains("mkdir -p"), "{error}");
        }
        "made" => drop(contact(PublisherOptions::default())),
        "no token" => assert!(matches!(failed(), OpenError::Token(_))),
        other => panic!("there is no case {other}"),
    }
}
