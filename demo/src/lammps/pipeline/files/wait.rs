//! Waiting for a file: the file system says when a folder's content changes.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

use super::FilesError;

/// Room for some dozens of notices; more are read in the next turn.
const ROOM_BYTES: usize = 4096;

/// A folder whose new names are told.
pub(super) struct Folder {
    path: PathBuf,
    notices: OwnedFd,
}

impl Folder {
    /// Watch a folder, which is made if it is missing: the other side may be late.
    pub(super) fn watch(path: &Path) -> Result<Self, FilesError> {
        std::fs::create_dir_all(path).map_err(FilesError::io(path))?;
        let notices =
            inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(FilesError::io(path))?;
        inotify::add_watch(&notices, path, WatchFlags::MOVED_TO).map_err(FilesError::io(path))?;
        Ok(Folder { path: path.to_owned(), notices })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Look until `found` gives something. `missing` is the file that is named when it does not.
    pub(super) fn wait<T>(
        &self,
        patience: Duration,
        missing: &Path,
        mut found: impl FnMut() -> Result<Option<T>, FilesError>,
    ) -> Result<T, FilesError> {
        let began = Instant::now();
        loop {
            if let Some(found) = found()? {
                return Ok(found);
            }
            // Names that came before the look are told as well: then it looks once more than needed.
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(FilesError::NotWritten { path: missing.to_owned(), waited: patience });
            }
            self.sleep(left).map_err(FilesError::io(&self.path))?;
        }
    }

    /// Sleep until a name comes, at most that long.
    fn sleep(&self, left: Duration) -> Result<(), Errno> {
        let mut handles = [PollFd::new(&self.notices, PollFlags::IN)];
        let left = Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut handles, Some(&left)) {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            Ok(_) => {}
            Err(errno) => return Err(errno),
        }
        let mut room = [MaybeUninit::uninit(); ROOM_BYTES];
        let mut notices = inotify::Reader::new(&self.notices, &mut room);
        loop {
            match notices.next() {
                Ok(_) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno),
            }
        }
    }
}
