//! A power failure: a stager on a device that keeps what was synced, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use crate::kinds::{PATIENCE, eventually};
use crate::staging::{attach, kill, publisher_options, put_steps, take};
use crate::support::Run;
use fp_core::{Publisher, StartAt, StepId};

/// Steps of which the publisher hears that the stager has them, before each failure. Its reserve is far shorter.
const SAFE: u64 = 6;

/// A folder on such a device.
struct Device {
    folder: PathBuf,
    kept: PathBuf,
    library: PathBuf,
}

impl Device {
    fn new(place: &Path) -> Self {
        let path = |name| place.join(name);
        let device = Self { folder: path("device"), kept: path("kept"), library: path("forgetful.so") };
        fs::create_dir(&device.folder).unwrap();
        fs::create_dir(&device.kept).unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/forgetful.c");
        let mut built = Command::new("cc");
        built.args(["-shared", "-fPIC", "-Wall", "-O1", "-o"]);
        let built = built.arg(&device.library).args([source, "-ldl"]).status().expect("cc is there");
        assert!(built.success());
        device
    }

    /// A stager that omits to sync these, if any are named.
    fn stager(&self, place: &Path, omits: Option<&str>) -> Run {
        let disk = self.folder.join("disk");
        let options = ["--durable", "--memory", "128K", "--reserve", "50"];
        let arguments = [&["stage", "sim", "--disk", disk.to_str().unwrap()], &options[..]].concat();
        Run::with(place, &arguments, |command| {
            command.env("LD_PRELOAD", &self.library).env("FORGETFUL_KEPT", &self.kept);
            command.envs(omits.map(|omits| ("FORGETFUL_OMITS", omits)));
        })
    }

    /// The power fails: all is as it was synced last, and that is what lies on the device from now on.
    fn fail(&self) {
        self.restore(&self.folder, self.listed(&self.folder));
        fs::remove_dir_all(&self.kept).unwrap();
        fs::create_dir(&self.kept).unwrap();
        self.keep(&self.folder);
    }

    fn kept_of(&self, inode: u64) -> Option<Vec<u8>> {
        fs::read(self.kept.join(inode.to_string())).ok()
    }

    /// What was there as a folder was synced: by name, whether it is a folder, and its inode.
    fn listed(&self, folder: &Path) -> BTreeMap<String, (bool, u64)> {
        let text = String::from_utf8(self.kept_of(folder.metadata().unwrap().ino()).unwrap_or_default());
        let entry = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (kind, inode, name) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
            Some((name.to_owned(), (kind == "d", inode)))
        };
        text.unwrap().lines().filter_map(entry).collect()
    }

    fn restore(&self, folder: &Path, listed: BTreeMap<String, (bool, u64)>) {
        for (path, inode) in entries(folder) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if listed.get(name).is_some_and(|(_, known)| *known == inode) {
                continue;
            }
            if path.is_dir() { fs::remove_dir_all(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
        }
        for (name, (is_folder, inode)) in listed {
            let path = folder.join(name);
            if is_folder {
                let below = if path.exists() { self.listed(&path) } else { BTreeMap::new() };
                fs::create_dir_all(&path).unwrap();
                self.restore(&path, below);
            } else {
                fs::write(&path, self.kept_of(inode).unwrap_or_default()).unwrap();
            }
        }
    }

    fn keep(&self, folder: &Path) {
        let mut list = String::new();
        for (path, inode) in entries(folder) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            list.push_str(&format!("{} {inode} {name}\n", if path.is_dir() { 'd' } else { 'f' }));
            if path.is_dir() {
                self.keep(&path);
            } else {
                fs::copy(&path, self.kept.join(inode.to_string())).unwrap();
            }
        }
        fs::write(self.kept.join(folder.metadata().unwrap().ino().to_string()), list).unwrap();
    }
}

/// What is in a folder, each with its inode; links are left out.
fn entries(folder: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let entries = entries.filter(|path| !path.is_symlink());
    entries.map(|path| (path.clone(), path.metadata().unwrap().ino())).collect()
}

/// Publishes, lets the power fail while one step is on its way, and takes all of it from the next stager. The first step
/// that is not the next one, if there is one, as what was taken instead.
fn failures(rounds: u64, omits: Option<&str>) -> Result<(), (u64, Option<u64>)> {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let device = Device::new(place);
    let mut stager = device.stager(place, omits);
    // Without a stager what is published next is the publisher's to keep, and no more than that.
    let mut publisher = Publisher::open("sim", publisher_options(place).with_reserve_steps(2)).unwrap();
    let (_never, nothing) = mpsc::channel::<()>();
    for round in 0..rounds {
        for _ in 0..SAFE {
            put_steps(&mut publisher, 1);
            publisher.sync(PATIENCE).expect("the stager has it");
        }
        put_steps(&mut publisher, 1);
        let moment = Duration::from_micros(round * 7_919 % 6_007);
        nothing.recv_timeout(moment).unwrap_err();
        kill(stager);
        device.fail();
        stager = device.stager(place, omits);
        let first = round * (SAFE + 1);
        let start = first.checked_sub(1).map_or(StartAt::OldestReserved, |last| StartAt::After(StepId(last)));
        let mut subscriber = attach(place, "sim-staged", |options| options.with_start_at(start));
        for expected in first..=first + SAFE {
            let taken = take(&mut subscriber);
            if taken != Some(expected) {
                kill(stager);
                return Err((expected, taken));
            }
        }
        eventually("the next stager follows the publisher", || publisher.has_subscribers());
    }
    kill(stager);
    Ok(())
}

#[test]
fn no_step_that_the_publisher_may_let_go_of_is_lost_with_the_power() {
    assert_eq!(failures(12, None), Ok(()));
}

#[test]
fn a_stager_that_does_not_sync_is_caught() {
    for omits in ["all", "folders"] {
        let (expected, taken) = failures(1, Some(omits)).unwrap_err();
        assert!(expected == 0 && taken.is_some_and(|taken| taken > 0), "{taken:?} instead of {expected}");
    }
}
