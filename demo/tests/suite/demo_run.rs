//! A supervisor of the demonstrations under way, past its first row, with handles on all that it started.

use std::io::{BufRead as _, BufReader, Lines};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

pub(crate) struct DemoRun {
    pub(crate) supervisor: Child,
    /// Handles on all parts, by label.
    pub(crate) parts: Vec<(String, Pid, OwnedFd)>,
    lines: Lines<BufReader<ChildStdout>>,
    _folder: tempfile::TempDir,
}

impl DemoRun {
    /// A run into a folder of its own, up to the first line that `is_row` calls a row.
    pub(crate) fn start(command: impl Fn(&Path) -> Command, is_row: impl Fn(&str) -> bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = command(folder.path());
        let mut supervisor = command.stdout(Stdio::piped()).spawn().expect("starts");
        let mut lines = BufReader::new(supervisor.stdout.take().expect("piped")).lines();
        let mut parts = Vec::new();
        while let Some(line) = lines.next().map(|line| line.expect("text")).filter(|line| !is_row(line)) {
            let list = line.trim_start().strip_prefix("started: ");
            for entry in list.iter().flat_map(|list| list.split(", ")) {
                let (label, id) = entry.split_once(" pid ").expect("label and id");
                let id = Pid::from_raw(id.parse().expect("a number")).expect("not zero");
                parts.push((label.to_owned(), id, pidfd_open(id, PidfdFlags::empty()).expect("alive")));
            }
        }
        DemoRun { supervisor, lines, parts, _folder: folder }
    }

    /// What it still says, and how it ends.
    pub(crate) fn rest(mut self) -> (Vec<String>, Option<i32>, Vec<OwnedFd>) {
        let lines = self.lines.map_while(Result::ok).collect();
        let status = self.supervisor.wait().expect("ends").code();
        (lines, status, self.parts.into_iter().map(|(_, _, handle)| handle).collect())
    }
}

/// Whether all have ended, waiting for each as long as `seconds`.
pub(crate) fn have_ended(parts: &[OwnedFd], seconds: i64) -> bool {
    let patience = Timespec { tv_sec: seconds, tv_nsec: 0 };
    parts.iter().all(|part| {
        poll(&mut [PollFd::new(part, PollFlags::IN)], Some(&patience)).expect("can be waited for") == 1
    })
}
