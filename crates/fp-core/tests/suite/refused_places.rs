//! Rendezvous directories that the system does not let anybody write to: full ones, and those of somebody else. Each
//! case is a process of its own, in a mount namespace of its own or as another user.

use crate::support::{Place, STREAM};
use fp_core::{OpenError, Publisher, Rendezvous, Subscriber};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// Set for the process that opens the stream: the directory.
const DIRECTORY: &str = "FLEXPATH_TEST_REFUSED_PLACE";
/// A user without rights, where this process may become one.
const NOBODY: u32 = 65534;

/// The other process: says each error of opening in a line.
#[test]
fn child_entry() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let place = Place::new();
    match Rendezvous::at(&directory) {
        Err(error) => println!("@ no rendezvous: {error}"),
        Ok(rendezvous) => {
            let error = Publisher::open(STREAM, place.publisher_options().with_rendezvous(rendezvous)).err();
            let error = error.expect("nobody can find it");
            assert!(matches!(error, OpenError::Rendezvous(_)), "{error:?}");
            println!("@ no publisher: {error}");
            let left = std::fs::read_dir(&directory).expect("it can be read").flatten();
            left.for_each(|file| println!("@ left: {}", file.file_name().to_string_lossy()));
        }
    }
}

fn child(command: &mut Command, directory: &Path) -> Output {
    command.args(["refused_places::child_entry", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(DIRECTORY, directory).output().expect("it runs")
}

/// What the process said.
fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| Some(line.split_once("@ ")?.1.to_owned())).collect()
}

/// This program, as a user whom the system refuses something: root is refused nothing.
fn as_nobody() -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY);
    }
    command
}

#[test]
fn a_full_rendezvous_directory_is_an_error_that_names_it_and_says_what_to_do() {
    let place = Place::new();
    // One page, which is taken. Only this process and its children see it, and it goes with them.
    let script = "mount -t tmpfs -o size=4k none \"$1\" && head -c 4096 /dev/zero > \"$1/full\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]).arg(place.path());
    command.arg(std::env::current_exe().expect("this binary"));
    let said = said(&child(&mut command, place.path()));
    let [error, left] = &said[..] else { panic!("{said:?}") };
    let path = place.path().join(format!("{STREAM}."));
    let expected = format!("no publisher: cannot write the rendezvous entry {}", path.display());
    assert!(error.starts_with(&expected) && error.contains("No space left on device"), "{error}");
    assert!(error.contains("make room") && error.contains("FLEXPATH_RENDEZVOUS"), "{error}");
    assert_eq!(left, "left: full", "half an entry is removed");
}

#[test]
fn a_rendezvous_directory_of_somebody_else_is_an_error_that_names_it_and_says_what_to_do() {
    let refusals = [(0o555, "no publisher: cannot write the rendezvous entry"), (0o000, "no rendezvous: ")];
    for (mode, expected) in refusals {
        let place = Place::new();
        std::fs::set_permissions(place.path(), Permissions::from_mode(mode)).expect("ours");
        let said = said(&child(&mut as_nobody(), place.path()));
        std::fs::set_permissions(place.path(), Permissions::from_mode(0o700)).expect("ours");
        let [error] = &said[..] else { panic!("{said:?}") };
        let named = error.contains(&*place.path().to_string_lossy());
        assert!(error.starts_with(expected) && named, "{error}");
        assert!(error.contains("Permission denied") && error.contains("FLEXPATH_RENDEZVOUS"), "{error}");
        assert_eq!(place.entries(), Vec::<String>::new());
    }
}

/// Whoever only reads needs no right to write.
#[test]
fn a_lone_subscriber_attaches_by_a_directory_that_it_cannot_write_to() {
    let place = Place::new();
    let publisher = place.publisher();
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o555)).expect("ours");
    Subscriber::open(STREAM, place.subscriber_options()).expect("attached").close().expect("left");
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o700)).expect("ours");
    publisher.close().expect("closed");
}
