//! The few socket calls that links and handshakes share: close-on-exec and non-blocking everywhere, never a SIGPIPE,
//! and waiting only with a deadline.

use crate::frame::DESCRIPTORS_LIMIT;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType, recvmsg, sendmsg, shutdown,
    socket_with,
};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

const CONTROL_SPACE: usize = rustix::cmsg_space!(ScmRights(DESCRIPTORS_LIMIT));

/// A stream socket that is closed on exec and does not block.
pub(crate) fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    Ok(socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?)
}

/// Sends what the socket takes now, the descriptors with the first byte.
pub(crate) fn send_vectored(
    fd: BorrowedFd<'_>,
    slices: &[IoSlice<'_>],
    descriptors: &[Arc<OwnedFd>],
) -> io::Result<usize> {
    if descriptors.is_empty() {
        return retry(|| Ok(sendmsg(fd, slices, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?));
    }
    let borrowed: Vec<BorrowedFd<'_>> = descriptors.iter().map(|descriptor| descriptor.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); CONTROL_SPACE];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    retry(|| Ok(sendmsg(fd, slices, &mut control, SendFlags::NOSIGNAL)?))
}

/// What a receiving call can end with besides bytes.
pub(crate) enum ReceiveError {
    /// Descriptors were sent that could not be taken: too many at once, or no room in this process's table.
    DescriptorsLost {
        /// The bytes that came with them.
        received: usize,
    },
    /// What the system said.
    Io(io::Error),
}

impl From<io::Error> for ReceiveError {
    fn from(error: io::Error) -> Self {
        ReceiveError::Io(error)
    }
}

/// Receives what is there now; 0 bytes is the end.
pub(crate) fn receive_vectored(
    fd: BorrowedFd<'_>,
    slices: &mut [IoSliceMut<'_>],
    descriptors: &mut VecDeque<OwnedFd>,
) -> Result<usize, ReceiveError> {
    let mut space = [MaybeUninit::uninit(); CONTROL_SPACE];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = retry(|| Ok(recvmsg(fd, slices, &mut control, RecvFlags::CMSG_CLOEXEC)?))?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            descriptors.extend(fds);
        }
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(ReceiveError::DescriptorsLost { received: received.bytes });
    }
    Ok(received.bytes)
}

/// The same where nothing but bytes is expected.
pub(crate) fn receive_bytes(fd: BorrowedFd<'_>, slices: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    retry(|| Ok(rustix::io::readv(fd, slices)?))
}

fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Waits until `fd` is ready (or broken, which the next call will say); `false` when the deadline is over.
pub(crate) fn wait_for(fd: BorrowedFd<'_>, events: PollFlags, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match poll(&mut [PollFd::new(&fd, events)], Some(&timespec(left))) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Waits until one of the descriptors is readable or the deadline is over; says which are.
pub(crate) fn wait_for_any<'f>(
    fds: impl Iterator<Item = BorrowedFd<'f>>,
    deadline: Instant,
) -> io::Result<Vec<bool>> {
    let fds: Vec<BorrowedFd<'f>> = fds.collect();
    let mut waited: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match poll(&mut waited, Some(&timespec(left))) {
            Ok(0) if !left.is_zero() => {}
            Err(Errno::INTR) => {}
            Ok(_) => return Ok(waited.iter().map(|fd| !fd.revents().is_empty()).collect()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// A duration for the kernel; what it cannot express is a century.
pub(crate) fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec { tv_sec: 3_155_760_000, tv_nsec: 0 })
}

/// Tells the peer that nothing more will be sent; an error means it knows already.
pub(crate) fn end_sending(fd: BorrowedFd<'_>) {
    let _ = shutdown(fd, Shutdown::Write);
}
