//! Whether a process is gone, without the danger that its number was given to another one.

use super::error::MemoryError;
use crate::identity::own_pid;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Watches one process through a pidfd. Open it while a link to that process is alive: then the number is still its
/// own. This process itself needs no watch, as nobody outlives itself. So a link within it also works where no pidfd is
/// to be had, as under valgrind. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct ProcessWatch {
    pid: u32,
    fd: Arc<OwnedFd>,
}

impl ProcessWatch {
    /// Watches the process `pid`, as numbered here.
    ///
    /// # Errors
    /// [`MemoryError::NoWatch`]: it is gone already, not visible from here (another pid namespace), or the process
    /// has no descriptor left.
    pub fn open(pid: u32) -> Result<ProcessWatch, MemoryError> {
        let refused = |errno: Errno| MemoryError::NoWatch { pid, cause: errno.into() };
        if pid == own_pid() {
            let never = eventfd(0, EventfdFlags::CLOEXEC).map_err(refused)?;
            return Ok(ProcessWatch { pid, fd: Arc::new(never) });
        }
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(refused(Errno::SRCH))?;
        let fd = pidfd_open(number, PidfdFlags::empty()).map_err(refused)?;
        Ok(ProcessWatch { pid, fd: Arc::new(fd) })
    }

    /// The number of the process, for messages.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the process has ended: its memory is given back, nothing of ours is mapped there any more. A stopped
    /// process is not gone. Where the answer cannot be had it is `false`: memory is kept rather than overwritten.
    pub fn is_gone(&self) -> bool {
        let mut fds = [PollFd::new(&*self.fd, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut fds, Some(&at_once)), Ok(ready) if ready > 0)
    }
}

impl AsFd for ProcessWatch {
    /// Readable when the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_gone_only_after_its_end() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat starts");
        let watch = ProcessWatch::open(child.id()).expect("a watch of a child");
        assert!(!watch.is_gone());
        child.kill().expect("the child can be killed");
        child.wait().expect("the child ends");
        assert!(watch.is_gone());
        assert!(matches!(ProcessWatch::open(0), Err(MemoryError::NoWatch { pid: 0, .. })));
        assert!(!ProcessWatch::open(std::process::id()).expect("a watch of itself").is_gone());
    }
}
