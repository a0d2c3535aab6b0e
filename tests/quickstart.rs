//! The quickstart of README: its programs are the examples word for word, and they do what it says. Another example
//! publishes a stream of every type once more.

#[path = "quickstart/republish.rs"]
mod republish;
#[path = "quickstart/two_streams.rs"]
mod two_streams;
#[path = "quickstart/windows.rs"]
mod windows;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Far more than the two programs need on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the subscriber must print: cell 48 to 51 of the first, the second and the last step, and the end.
const EXPECTED: [&str; 4] = [
    "step 0: [348.00, 349.00, 350.00, 351.00]",
    "step 1: [324.00, 324.50, 325.00, 325.50]",
    "step 9: [304.80, 304.90, 305.00, 305.10]",
    "the publisher closed the stream",
];

fn source(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The example as it was built beside this test.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test knows where it is");
    let path = test.ancestors().nth(2).expect("tests lie in deps").join("examples").join(name);
    assert!(
        path.exists(),
        "{} is not built: run cargo build --examples with the same profile",
        path.display()
    );
    path
}

fn start(name: &str, rendezvous: &Path, rank: u32, size: u32) -> Child {
    start_with(name, &[], rendezvous, rank, size)
}

fn start_with(name: &str, arguments: &[&str], rendezvous: &Path, rank: u32, size: u32) -> Child {
    let mut command = Command::new(example(name));
    command.args(arguments);
    command.env("FLEXPATH_RENDEZVOUS", rendezvous).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("FLEXPATH_RANK", rank.to_string()).env("FLEXPATH_SIZE", size.to_string());
    command.spawn().unwrap_or_else(|error| panic!("{name} cannot be started: {error}"))
}

/// Waits for a program to end by itself.
fn finish(name: &str, child: Child) -> String {
    let id = Pid::from_child(&child);
    let (tx, rx) = mpsc::channel();
    thread::spawn(move || tx.send(child.wait_with_output()));
    let Ok(output) = rx.recv_timeout(PATIENCE) else {
        // It may have ended this very moment: that is as well.
        let _ = kill_process(id, Signal::KILL);
        panic!("{name} did not end within {PATIENCE:?}");
    };
    let Output { status, stdout, stderr } = output.expect("its output can be read");
    assert!(status.success(), "{name}: {status}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("it prints text")
}

/// Runs the publisher as a cohort of that size, and a subscriber.
fn run(size: u32, subscriber: &str) -> String {
    let rendezvous = tempfile::tempdir().expect("a directory can be made");
    let ranks = (0..size).map(|rank| start("quickstart_publisher", rendezvous.path(), rank, size));
    let ranks: Vec<Child> = ranks.collect();
    let subscriber = start(subscriber, rendezvous.path(), 0, 1);
    let printed = finish("the subscriber", subscriber);
    ranks.into_iter().for_each(|rank| drop(finish("the publisher", rank)));
    let left = fs::read_dir(rendezvous.path()).expect("it can be listed").count();
    assert_eq!(left, 0, "nothing is left behind in the rendezvous");
    printed
}

fn assert_expected(printed: &str) {
    let missing: Vec<&str> =
        EXPECTED.into_iter().filter(|line| !printed.lines().any(|l| l == *line)).collect();
    assert!(missing.is_empty(), "missing {missing:#?} in\n{printed}");
    assert_eq!(printed.lines().count(), 11, "ten steps and the end:\n{printed}");
}

#[test]
fn readme_shows_the_examples_word_for_word() {
    let readme = source("README.md");
    for path in ["examples/quickstart_publisher.rs", "examples/quickstart_subscriber.rs"] {
        let program = source(path);
        assert!(readme.contains(&format!("```rust\n{program}```\n")), "README does not show {path} as it is");
        assert!(program.lines().count() <= 20, "{path} is longer than the 20 lines that README promises");
    }
}

#[test]
fn one_publisher_and_one_subscriber_do_what_readme_says() {
    assert_expected(&run(1, "quickstart_subscriber"));
}

#[test]
fn the_same_publisher_works_as_a_cohort() {
    assert_expected(&run(3, "quickstart_subscriber"));
}

#[test]
fn the_asynchronous_subscriber_does_the_same() {
    assert_expected(&run(2, "async_subscriber"));
    assert!(source("examples/async_subscriber.rs").lines().count() < 60);
}
