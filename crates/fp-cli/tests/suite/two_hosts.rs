//! A stream from one host to another that share no directory, each a network namespace of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use fp_core::{Publisher, PublisherOptions, Variable};

/// Set for the process that publishes.
const ROLE: &str = "FLEXPATH_TEST_HOST";

fn namespace() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net"]).stdin(Stdio::null());
    command
}

/// Runs this script of the folder in a namespace, with a place for files and a child of this program as its arguments. It
/// must succeed and say so. Gives its standard error; `None`: no namespaces can be made here.
pub(crate) fn run_between_hosts(
    script: &str,
    child: &str,
    env: &[(&str, &str)],
    says: &str,
) -> Option<String> {
    let usable = namespace().args(["ip", "link"]).output().is_ok_and(|output| output.status.success());
    if !usable {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_NAMESPACES").is_none(), "no namespaces can be made here");
        println!("skipped: no network namespaces can be made here (unshare, ip)");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite").join(script);
    let mut command = namespace();
    command.arg("sh").arg(script).arg(folder.path()).arg(std::env::current_exe().unwrap());
    command.args([child, "--exact", "--nocapture"]).envs(env.iter().copied());
    command.env("FLEXPATH", env!("CARGO_BIN_EXE_flexpath")).env_remove("FLEXPATH_LOG");
    let output = command.output().unwrap();
    let (told, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && told.contains(says), "{told}{wrong}");
    Some(wrong.into_owned())
}

#[test]
fn two_hosts_meet_that_share_no_directory() {
    let role = [(ROLE, "publisher")];
    run_between_hosts("two_hosts.sh", "two_hosts::child_entry", &role, "a stream crossed");
}

/// Publishes until it is killed.
#[test]
fn child_entry() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let mut publisher = Publisher::open("heat", PublisherOptions::default()).unwrap();
    let count = Variable::scalar::<u64>("count").unwrap();
    loop {
        assert_ne!(publisher.wait_for_subscriptions(1, std::time::Duration::from_secs(60)), 0, "nobody came");
        let mut writer = publisher.begin_step().unwrap();
        let step = writer.step().0;
        writer.put_scalar(&count, step).unwrap();
        writer.end().unwrap();
    }
}
