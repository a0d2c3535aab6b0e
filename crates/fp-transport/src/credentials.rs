//! Who is at the other end of a unix socket, as the kernel says.
#![allow(unsafe_code)] // one getsockopt: rustix's own cannot express a process that is not visible from here

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The id that the kernel shows for users that a user namespace does not know.
pub(crate) const OVERFLOW_UID: u32 = 65534;

/// A peer's user and process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) uid: u32,
    /// 0 where the process is in a pid namespace that is not visible from here (two containers of one pod).
    pub(crate) pid: u32,
}

/// Credentials of the process that connected, or that called listen.
pub(crate) fn peer_credentials(socket: BorrowedFd<'_>) -> io::Result<Credentials> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `found` is valid for `len` bytes, which is its size; any bit pattern is a ucred; the descriptor is open.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut len,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Credentials { uid: found.uid, pid: u32::try_from(found.pid).unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_socket_pair_is_ours() {
        let (one, _other) = UnixStream::pair().expect("a socket pair");
        let uid = rustix::process::geteuid().as_raw();
        let credentials = peer_credentials(one.as_fd()).expect("credentials");
        assert_eq!(credentials, Credentials { uid, pid: std::process::id() });
    }
}
