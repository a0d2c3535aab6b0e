//! Access lists as files: what is wrong is refused with file and line, and nothing is opened then.

use crate::support::{Place, STREAM};
use fp_core::{Access, AccessError, OpenError, Publisher, PublisherOptions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

/// Says to the child which test it is.
const CASE: &str = "FLEXPATH_ACCESS_CASE";

fn written(place: &Place, text: &str, mode: u32) -> PathBuf {
    let path = place.path().join("access.toml");
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its mode");
    path
}

/// What is wrong with a file, and in which line.
#[rustfmt::skip]
const WRONG: &[(&str, usize, &str)] = &[
    ("# who\n[[rule]]\nstream = 'heat'\nanybody = true\nmay = [\n  'subscribe',\n  'steer',\n]\n", 7,
     "\"steer\" is no action: they are subscribe, derive, deploy, watch, request, status"),
    ("[[rule]]\nstream = 'heat'\nanybody = true\nmay = ['join']\n", 4, "\"join\" is no action"),
    ("\n[[rule]]\nstream = 'heat'\nuser = 7\nmay = []\n", 4, "unknown field `user`"),
    ("[[rules]]\nstream = 'heat'\n", 1, "unknown field `rules`"),
    ("[[rule]]\nstream = 'heat'\nmay = ['subscribe']\n", 1, "exactly one of `uid`"),
    ("[[rule]]\nstream = 'a'\nuid = 7\nmay = []\n[[rule]]\nstream = 'heat'\nuid = 7\nanybody = true\nmay = []\n", 5,
     "exactly one of `uid`"),
    ("[[rule]]\nstream = 'heat'\nanybody = false\nmay = []\n", 3, "`anybody` is true, or not there"),
    ("[[rule]]\nstream = 'heat'\nuid = -1\nmay = []\n", 3, "u32"),
    ("[[rule]]\nstream = 'heat'\nanybody = true\n", 1, "missing field `may`"),
    ("[[rule]]\nanybody = true\nmay = []\n", 1, "missing field `stream`"),
    ("[[rule]]\nstream = 'heat'\ntoken_hash = '5a'\nmay = []\n", 3, "`flexpath token --hash FILE` prints it"),
    ("[[rule]]\nstream = 'heat'\ntoken_file = 'nowhere'\nmay = []\n", 3, "no token can be read from"),
    ("[[rule]]\nstream = 'heat'\nanybody = true\nmay = ['subscribe']\nmodules = []\n", 1, "no \"deploy\""),
    ("[[rule]]\nstream = 'heat'\nanybody = true\nmay = ['deploy']\nmodules = ['12']\n", 5, "\"12\" is no hash"),
    ("[[rule]]\nstream = 'heat\nanybody = true\n", 2, "literal string"),
];

#[test]
fn what_is_wrong_is_told_with_file_and_line() {
    let place = Place::new();
    for (text, line, what) in WRONG {
        let path = written(&place, text, 0o644);
        let error = Access::from_file(&path).expect_err(text).to_string();
        assert!(error.starts_with(&format!("{}, line {line}: ", path.display())), "{error}");
        assert!(error.contains(what), "{error}");
    }
    let sound = "# nobody else\n[[rule]]\nname = 'me'\nstream = 'heat'\nuid = 7\nmay = ['status']\n";
    assert!(Access::from_file(written(&place, sound, 0o640)).is_ok());
    assert!(Access::from_file(written(&place, "", 0o600)).is_ok(), "an empty list lets nobody in");
}

#[test]
fn a_file_that_others_can_write_or_nobody_can_read_is_none() {
    let place = Place::new();
    for mode in [0o602, 0o620, 0o666] {
        let path = written(&place, "", mode);
        let error = Access::from_file(&path).expect_err("others can write it");
        assert!(matches!(&error, AccessError::Writable { mode: known, .. } if *known == mode), "{error}");
        assert!(error.to_string().contains(&format!("`chmod go-w {}`", path.display())), "{error}");
    }
    for missing in [place.path().join("nowhere"), place.path().to_owned()] {
        let error = Access::from_file(missing).expect_err("nothing to read");
        assert!(matches!(error, AccessError::Unreadable { .. }), "{error}");
    }
    let long = written(&place, &"#\n".repeat(600_000), 0o600);
    assert!(Access::from_file(long).expect_err("too long").to_string().contains("at most 1048576 bytes"));
}

#[test]
fn the_environment_names_the_file_and_the_option_wins() {
    let place = Place::new();
    let sound = written(&place, "", 0o600);
    let missing = place.path().join("nowhere");
    for (case, file) in [("list", sound.as_path()), ("missing", &missing), ("unset", "".as_ref())] {
        let mut child = Command::new(std::env::current_exe().expect("this binary"));
        child.args(["access_file::child_entry", "--exact", "--nocapture", "--test-threads=1"]);
        child.env(CASE, case).env("FLEXPATH_RENDEZVOUS", place.path()).env("FLEXPATH_ACCESS_FILE", file);
        assert!(child.status().expect("it runs").success(), "{case}");
    }
}

#[test]
fn child_entry() {
    let Ok(case) = std::env::var(CASE) else { return };
    let attach = || {
        let options = fp_core::SubscriberOptions::default();
        fp_core::Subscriber::open(STREAM, options).map(drop)
    };
    let opened = Publisher::open(STREAM, PublisherOptions::default());
    match case.as_str() {
        "list" => {
            let publisher = opened.expect("an empty list is a list");
            assert!(matches!(attach(), Err(OpenError::Denied { .. })));
            publisher.close().expect("closed");
        }
        "missing" => {
            let error = opened.err().expect("it does not open");
            assert!(matches!(error, OpenError::Access(AccessError::Unreadable { .. })), "{error}");
            let options = PublisherOptions::default().with_access(Access::new());
            Publisher::open(STREAM, options).expect("the option wins").close().expect("closed");
        }
        "unset" => {
            let publisher = opened.expect("no list");
            attach().expect("everybody may");
            publisher.close().expect("closed");
        }
        other => panic!("there is no case {other}"),
    }
}
