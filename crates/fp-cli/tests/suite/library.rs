//! The command as a library, as the Python package has it: it returns its status, and is told what starts it anew.

use std::ffi::OsString;

/// A program of the shell that notes each time it is started, and is the command then.
fn noting(note: &std::path::Path) -> Vec<OsString> {
    let script = format!("echo started >>'{}'; exec \"$0\" \"$@\"", note.display());
    ["sh", "-c", &script, env!("CARGO_BIN_EXE_flexpath")].map(OsString::from).into()
}

#[test]
fn wrong_usage_and_help_return_their_status() {
    let status = |arguments: &[&str]| fp_cli::main(arguments.iter().map(OsString::from));
    assert_eq!(status(&["--help"]), 0);
    assert_eq!(status(&["--version"]), 0);
    assert_eq!(status(&[]), 2);
    assert_eq!(status(&["ls", "--no-such-option"]), 2);
    assert_eq!(
        status(&["bench", "--shape", "3", "--publishers", "4"]),
        2,
        "cut into more parts than it has rows"
    );
}

#[test]
fn more_processes_are_started_as_this_one_was() {
    let folder = tempfile::tempdir().expect("there is room");
    let note = folder.path().join("note");
    let rendezvous = folder.path().as_os_str();
    let arguments =
        ["--rendezvous".as_ref(), rendezvous, "doctor".as_ref(), "--transports".as_ref(), "tcp".as_ref()];
    let status = fp_cli::main_started_by(noting(&note), arguments.map(OsString::from));
    assert_eq!(status, 0, "tcp works with a second process");
    assert_eq!(std::fs::read_to_string(note).expect("it was started so"), "started\n");
}
