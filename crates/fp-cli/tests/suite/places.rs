//! Disks that are full or that cannot be written: it is said, nobody waits for ever, and no half of a step is left.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::staging::{publisher_options, put_steps};
use crate::support::{Live, Run};
use fp_core::Publisher;
use fp_spool::Spool;

/// Runs a script of the shell where `$DISK` is a file system of its own, of these options of tmpfs. `"$@"` is the command
/// with its arguments. None where nothing can be mounted.
fn mounted(rendezvous: &Path, options: &str, script: &str, arguments: &[&str]) -> Option<Run> {
    let disk = rendezvous.join("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let namespace = |script: &str| {
        let mut unshare = Command::new("unshare");
        let script = format!("mount -t tmpfs -o {options} none \"$DISK\" && {{ {script}; }}");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
        unshare.env("DISK", &disk).env("FLEXPATH_RENDEZVOUS", rendezvous).env_remove("FLEXPATH_LOG");
        unshare.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        unshare
    };
    if !namespace("true").output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_NAMESPACES").is_none(), "no namespaces can be made here");
        println!("skipped: no file system can be mounted here (unshare)");
        return None;
    }
    let mut command = namespace(script);
    command.arg(env!("CARGO_BIN_EXE_flexpath")).args(arguments);
    Some(Run { child: command.spawn().expect("it starts") })
}

#[test]
fn a_full_disk_ends_a_recording_behind_its_last_whole_step() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, out) = (folder.path(), folder.path().join("disk/run.fpsr"));
    // Room for ten steps of 64 KiB, and for half of another.
    let script = "\"$@\"; status=$?; cp \"$DISK/run.fpsr\" \"$FLEXPATH_RENDEZVOUS\"; exit $status";
    let words = ["record", "sim", "--out", out.to_str().unwrap(), "--timeout", "60"];
    let Some(recorder) = mounted(folder, "size=700k", script, &words) else { return };
    let options = publisher_options(folder);
    let publishing = thread::spawn(move || {
        let mut publisher = Publisher::open("sim", options).unwrap();
        put_steps(&mut publisher, 30);
        publisher.close().expect("nobody holds what it has published");
    });
    let ended = recorder.finish();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for said in ["disk/run.fpsr", "No space left on device"] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    publishing.join().unwrap();
    let copy = folder.join("run.fpsr");
    let spool = Spool::open(&copy).unwrap();
    let steps: Vec<u64> = spool.entries().iter().map(|entry| entry.step.0).collect();
    assert!(steps.len() > 5 && steps == (0..steps.len() as u64).collect::<Vec<_>>(), "{steps:?}");
    assert!(spool.damaged().is_none(), "what may follow is cut, and not damaged");
    for entry in spool.entries() {
        let step = spool.step(entry).unwrap();
        step.blocks.iter().for_each(|block| drop(spool.bytes(block).expect("as it was written")));
    }
    // Where there is room, the next one goes on behind it.
    let words = ["record", "sim", "--out", copy.to_str().unwrap(), "--append", "--timeout", "60"];
    let recorder = Run::at(folder, &words);
    let mut publisher = Publisher::open("sim", publisher_options(folder).with_first_step(100)).unwrap();
    put_steps(&mut publisher, 2);
    publisher.close().expect("recorded");
    assert_eq!(recorder.finish().code, Some(0));
    let spool = Spool::open(&copy).unwrap();
    let last: Vec<u64> = spool.entries()[steps.len()..].iter().map(|entry| entry.step.0).collect();
    assert!(last == [100, 101] && spool.torn().is_none(), "{last:?}");
}

#[test]
fn a_disk_that_cannot_be_written_is_named() {
    let live = Live::start("sim");
    let path = |name: &str| live.path().join("disk").join(name).to_str().unwrap().to_owned();
    let (file, disk) = (path("run.fpsr"), path("steps"));
    for words in [
        &["record", "sim", "--out", &file][..],
        &["stage", "sim", "--once", "--disk", &disk],
        &["stage", "sim", "--once", "--durable", "--disk", &disk],
    ] {
        let Some(run) = mounted(live.path(), "ro", "exec \"$@\"", words) else { return };
        let ended = run.finish();
        assert_eq!(ended.code, Some(1), "{words:?}: {}", ended.stderr);
        let place = words.last().unwrap();
        for said in [place, "Read-only file system"] {
            assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        }
    }
    live.stop();
}
