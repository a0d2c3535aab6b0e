//! `flexpath doctor` as its users have it: what works says so, and each reason why something does not can be provoked.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::certificates::Authority;
use crate::support::{Ended, Live, Run};
use fp_core::{Contact, Event, Publisher, PublisherOptions, TransportPolicy};
use serde_json::Value;

/// What names the files of TLS.
const TLS: [&str; 3] = ["FLEXPATH_TLS_CERTIFICATE", "FLEXPATH_TLS_KEY", "FLEXPATH_TLS_AUTHORITY"];

/// A process that listens for others, until it is dropped.
struct Listening {
    run: Option<Run>,
    contact: String,
}

impl Listening {
    fn start(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let all = [&["doctor", "--listen"], arguments, &["--until-input-ends"]].concat();
        let mut run = Run::with(folder, &all, |command| {
            command.envs(variables.iter().copied()).stdin(std::process::Stdio::piped());
        });
        let contact = run.first_line().trim_end().to_owned();
        Self { run: Some(run), contact }
    }

    /// Ends it as the program that started it would.
    fn end(mut self) -> Ended {
        let mut run = self.run.take().expect("it runs");
        run.child.stdin = None;
        run.finish()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(mut run) = self.run.take() {
            // It ends by itself too, when its input does.
            let _ = run.child.kill();
            let _ = run.child.wait();
        }
    }
}

fn examine(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, Value) {
    let all = [&["doctor", "--json"], arguments].concat();
    let run = Run::with(folder, &all, |command| {
        command.envs(variables.iter().copied());
    })
    .finish();
    let json = serde_json::from_str(&run.stdout);
    (run.code, json.unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr)))
}

fn line<'a>(report: &'a Value, part: &str, name: &str) -> &'a Value {
    let lines = report[part].as_array().expect("a list");
    lines.iter().find(|line| line["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// What a transport's line says against it.
fn reason<'a>(report: &'a Value, name: &str) -> &'a str {
    let line = line(report, "transports", name);
    assert!(line["works"] == false && !line["advice"].as_str().expect("advice").is_empty(), "{line}");
    line["reason"].as_str().expect("a reason")
}

fn assert_measured(line: &Value) {
    assert_eq!(line["works"], true, "{line}");
    assert!(line["checked_bytes"].as_u64() >= Some(16 << 20), "{line}");
    assert!(
        line["bandwidth_bytes_per_s"].as_f64() > Some(1e5) && line["latency_us"].as_f64() > Some(0.0),
        "{line}"
    );
}

#[test]
fn this_machine_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (code, report) = examine(folder.path(), &[], &[]);
    assert_eq!(
        (code, &report["works"], &report["contact"]),
        (Some(0), &Value::from(true), &Value::Null),
        "{report}"
    );
    for name in ["inproc", "shm", "tcp"] {
        assert_measured(line(&report, "transports", name));
    }
    let verbs = line(&report, "transports", "verbs");
    let has_verbs = Path::new("/sys/class/infiniband_verbs").exists();
    if !has_verbs {
        assert!(reason(&report, "verbs").contains("the kernel has no verbs"), "{verbs}");
    }
    let names =
        ["rendezvous", "entries", "loopback", "kernel", "memory", "descriptors", "memlock", "tls", "rdma"];
    for name in names {
        assert!(!line(&report, "machine", name)["found"].as_str().expect("a text").is_empty());
    }
}

#[test]
fn people_read_a_line_each_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::at(folder.path(), &["doctor", "--transports", "tcp"]).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0] == "transports from this machine to itself", "{}", run.stdout);
    let shm = lines.iter().position(|line| line.starts_with("  shm            no ")).expect("a line for shm");
    assert!(lines[shm].ends_with("not allowed by the policy") && lines[shm + 1].contains("-> allow it"));
    assert!(lines.iter().any(|line| line.starts_with("  tcp            ok ") && line.contains("one way")));
    let help = Run::at(folder.path(), &["doctor", "--help"]).finish();
    assert!(help.code == Some(0) && help.stdout.contains("--listen") && help.stdout.contains("Exit status"));
}

#[test]
fn transports_that_are_forbidden_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let (code, report) = examine(folder.path(), &[], &[("FLEXPATH_TRANSPORTS", "shm")]);
    assert_eq!(code, Some(0));
    assert_measured(line(&report, "transports", "shm"));
    assert!(["inproc", "tcp"].iter().all(|name| reason(&report, name) == "not allowed by the policy"));
    let (code, report) = examine(folder.path(), &[], &[("FLEXPATH_TRANSPORTS", "pigeons")]);
    assert_eq!((code, &report["works"]), (Some(1), &Value::from(false)));
    assert!(reason(&report, "tcp").contains("`pigeons` is no transport"));
}

#[test]
fn another_process_is_tested_over_what_reaches_it() {
    let folder = tempfile::tempdir().unwrap();
    let other = Listening::start(folder.path(), &[], &[]);
    let (code, report) = examine(folder.path(), &[&other.contact], &[]);
    assert_eq!((code, report["contact"].as_str()), (Some(0), Some(other.contact.as_str())));
    assert_eq!(reason(&report, "inproc"), "other process");
    assert_measured(line(&report, "transports", "shm"));
    assert_measured(line(&report, "transports", "tcp"));
    let contact: Contact = other.contact.parse().unwrap();
    let address = contact.tcp_addresses().next().expect("it listens").to_string();
    let (code, report) = examine(folder.path(), &[&address], &[]);
    assert_eq!((code, reason(&report, "shm")), (Some(0), "host not known"));
    assert_measured(line(&report, "transports", "tcp"));
    assert_eq!(other.end().code, Some(0), "it ends with its input");
}

#[test]
fn a_running_stream_is_tested_by_its_handshake_and_not_disturbed() {
    let folder = tempfile::tempdir().unwrap();
    let rendezvous = fp_core::Rendezvous::at(folder.path()).unwrap();
    let options = PublisherOptions::default().with_rendezvous(rendezvous.clone());
    let mut publisher = Publisher::open("heat", options.with_transports(TransportPolicy::default())).unwrap();
    let contact = rendezvous.entries()[0].contact.to_string();
    let (code, report) = examine(folder.path(), &[&contact], &[]);
    assert_eq!(code, Some(0), "{report}");
    for name in ["shm", "tcp"] {
        let line = line(&report, "transports", name);
        assert!(line["works"] == true && line.get("bandwidth_bytes_per_s").is_none(), "{line}");
    }
    let events = publisher.events();
    assert!(matches!(events.as_slice(), [Event::Opened { .. }]), "nobody joined: {events:?}");
    publisher.close().unwrap();
}

#[test]
fn nobody_there_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (code, report) = examine(folder.path(), &[&closed], &[]);
    assert_eq!((code, &report["works"]), (Some(1), &Value::from(false)));
    assert!(reason(&report, "tcp").contains("refused"), "{report}");
    // A process that is there and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let (code, report) = examine(folder.path(), &[&address, "--timeout", "0.3"], &[]);
    assert_eq!(code, Some(1));
    assert!(reason(&report, "tcp").contains("the deadline is over while waiting for"), "{report}");
    let run = Run::at(folder.path(), &["doctor", "nowhere"]).finish();
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn a_token_is_asked_for_and_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{}\n", "5a".repeat(32))).unwrap();
    let file = file.to_str().unwrap();
    let other = Listening::start(folder.path(), &["--token-file", file], &[]);
    let (code, report) = examine(folder.path(), &[&other.contact], &[]);
    assert_eq!(code, Some(1));
    assert!(reason(&report, "tcp").contains("the token is missing or wrong"));
    let (code, report) = examine(folder.path(), &[&other.contact, "--token-file", file], &[]);
    assert_eq!(code, Some(0), "{report}");
    assert_measured(line(&report, "transports", "tcp"));
    let run =
        Run::at(folder.path(), &["doctor", "--listen", "0.0.0.0:0", "--advertise", "127.0.0.1"]).finish();
    assert!(run.code == Some(1) && run.stderr.contains("--token-file"), "{}", run.stderr);
    let run = Run::at(folder.path(), &["doctor", "--token-file", "/nowhere"]).finish();
    assert!(run.code == Some(1) && run.stderr.contains("/nowhere"), "{}", run.stderr);
}

#[test]
fn settings_of_tls_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pem");
    let missing = missing.to_str().unwrap();
    let (code, report) = examine(folder.path(), &[], &TLS.map(|name| (name, missing)));
    assert_eq!(code, Some(1), "no stream could be opened with these");
    let found = line(&report, "machine", "tls");
    assert!(found["state"] == "failure" && found["found"].as_str().unwrap().contains(missing), "{found}");
    assert!(["inproc", "shm", "tcp"].iter().all(|name| reason(&report, name).contains(missing)), "{report}");
    let (_, report) = examine(folder.path(), &[], &[(TLS[0], missing)]);
    assert!(reason(&report, "tcp").contains("FLEXPATH_TLS_KEY is not"), "{report}");
}

fn variables(files: &[String; 3]) -> Vec<(&str, &str)> {
    TLS.into_iter().zip(files.iter().map(String::as_str)).collect()
}

#[test]
fn both_ends_speak_tls_of_one_authority_or_say_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let files = |authority: &Authority| {
        let own = authority.issue("flexpath");
        [own.certificate, own.key, authority.path().to_owned()].map(|path| path.to_str().unwrap().to_owned())
    };
    let (ours, strange) = (Authority::new(), Authority::new());
    let (our_files, strange_files) = (files(&ours), files(&strange));
    let (ours, strange) = (variables(&our_files), variables(&strange_files));
    let other = Listening::start(folder.path(), &[], &ours);
    let (_, report) = examine(folder.path(), &[&other.contact, "--transports", "tcp"], &ours);
    assert_measured(line(&report, "transports", "tcp"));
    assert!(line(&report, "transports", "tcp")["link"].as_str().unwrap().contains("tcp+tls"), "{report}");
    let (code, report) = examine(folder.path(), &[&other.contact, "--transports", "tcp"], &strange);
    assert_eq!(code, Some(1));
    assert!(reason(&report, "tcp").contains("its certificate is not accepted"), "{report}");
    let (_, report) = examine(folder.path(), &[&other.contact], &[]);
    assert!(reason(&report, "tcp").contains("it speaks TLS only"), "{report}");
    assert_measured(line(&report, "transports", "shm"));
}

#[test]
fn tls_of_options_is_tested_and_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let own = authority.issue("flexpath");
    let files = [own.certificate, own.key, authority.path()].map(|path| path.to_str().unwrap().to_owned());
    let words = ["--tls-certificate", &files[0], "--tls-key", &files[1], "--tls-authority", &files[2]];
    let (code, report) = examine(folder.path(), &[&words[..], &["--transports", "tcp"]].concat(), &[]);
    assert_eq!(code, Some(0), "{report}");
    let tcp = line(&report, "transports", "tcp");
    assert!(tcp["link"].as_str().unwrap().contains("tcp+tls"), "{report}");
    assert!(line(&report, "machine", "tls")["found"].as_str().unwrap().contains(&files[0]), "{report}");
    let run = Run::at(folder.path(), &[&["doctor"], &words[..4]].concat()).finish();
    assert!(run.code == Some(2) && run.stderr.contains("--tls-authority is missing"), "{}", run.stderr);
}

#[test]
fn what_ails_the_machine_is_found() {
    let live = Live::start("heat");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = format!("gone.{:032x}", 7);
    std::fs::write(live.path().join(&gone), format!("{}\n", Contact::from_address(closed))).unwrap();
    let (_, report) = examine(live.path(), &["--transports", "inproc"], &[]);
    let entries = line(&report, "machine", "entries");
    assert!(entries["state"] == "warning" && entries["found"].as_str().unwrap().contains(&gone), "{entries}");
    live.stop();

    let file = tempfile::NamedTempFile::new().unwrap();
    let (code, report) = examine(file.path(), &["--transports", "inproc"], &[]);
    assert_eq!((code, &line(&report, "machine", "rendezvous")["state"]), (Some(0), &Value::from("failure")));

    let shell =
        format!("ulimit -n 200; exec {} doctor --json --transports inproc", env!("CARGO_BIN_EXE_flexpath"));
    let limited = Command::new("sh").args(["-c", &shell]).output().unwrap();
    let report: Value = serde_json::from_slice(&limited.stdout).unwrap();
    let descriptors = line(&report, "machine", "descriptors");
    assert!(
        descriptors["state"] == "warning" && descriptors["advice"].as_str().unwrap().contains("ulimit -n")
    );
}
