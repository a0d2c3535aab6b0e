//! A connected socket as links and handshakes see it: plain, or with TLS over it.
//!
//! A plain one costs one branch for each system call and nothing for each byte.

use crate::socket::{ReceiveError, end_sending, receive_vectored, send_vectored, wait_for};
use crate::tls::Cipher;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// The socket, and what enciphers its bytes if anything does.
pub(crate) struct Channel {
    socket: OwnedFd,
    tls: Option<Box<Cipher>>,
}

impl Channel {
    pub(crate) fn plain(socket: OwnedFd) -> Channel {
        Channel { socket, tls: None }
    }

    pub(crate) fn secured(socket: OwnedFd, cipher: Cipher) -> Channel {
        Channel { socket, tls: Some(Box::new(cipher)) }
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Ends the part of the handshakes, in which it reads no byte too many.
    pub(crate) fn settle(&mut self) {
        if let Some(cipher) = &mut self.tls {
            cipher.settle();
        }
    }

    /// Gives TLS up, as the peer does not speak it; gives the bytes that it said instead.
    pub(crate) fn without_tls(&mut self) -> Vec<u8> {
        self.tls.take().map_or_else(Vec::new, |cipher| cipher.untouched().to_vec())
    }

    /// Whether bytes that were taken wait for the socket: then it is to be flushed when that is writable.
    pub(crate) fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|cipher| cipher.wants_write())
    }

    /// Whether bytes are here that the kernel will not tell of.
    pub(crate) fn has_buffered(&self) -> bool {
        self.tls.as_ref().is_some_and(|cipher| cipher.has_buffered())
    }

    /// Takes what it can of the bytes (at most `limit`) and sends what the socket takes now, the descriptors with the
    /// first byte. With TLS, 0 bytes: those of before went on.
    pub(crate) fn send(
        &mut self,
        slices: &[IoSlice<'_>],
        descriptors: &[Arc<OwnedFd>],
        limit: usize,
    ) -> io::Result<usize> {
        match &mut self.tls {
            None => send_vectored(self.socket.as_fd(), slices, descriptors),
            Some(cipher) => cipher.send(self.socket.as_fd(), slices, limit),
        }
    }

    /// Receives what is there now; 0 bytes is the end.
    pub(crate) fn receive(
        &mut self,
        slices: &mut [IoSliceMut<'_>],
        descriptors: &mut VecDeque<OwnedFd>,
    ) -> Result<usize, ReceiveError> {
        match &mut self.tls {
            None => receive_vectored(self.socket.as_fd(), slices, descriptors),
            Some(cipher) => Ok(cipher.receive(self.socket.as_fd(), slices)?),
        }
    }

    /// Tells the peer that nothing more will be sent.
    pub(crate) fn end_sending(&mut self) {
        self.farewell();
        end_sending(self.socket.as_fd());
    }

    /// Over TLS: tells the peer that the end is meant, and no cut.
    pub(crate) fn farewell(&mut self) {
        if let Some(cipher) = &mut self.tls {
            cipher.end(self.socket.as_fd());
        }
    }

    /// Agrees on keys, waiting until the deadline.
    pub(crate) fn shake_hands(&mut self, deadline: Instant) -> io::Result<()> {
        let Some(cipher) = &mut self.tls else { return Ok(()) };
        loop {
            match cipher.shake_hands(self.socket.as_fd()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let events = if cipher.wants_write() { PollFlags::OUT } else { PollFlags::IN };
                    in_time(wait_for(self.socket.as_fd(), events, deadline)?)?;
                }
                other => return other,
            }
        }
    }

    /// Sends all bytes, waiting until the deadline.
    pub(crate) fn send_exact(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() || self.wants_write() {
            match self.send(&[IoSlice::new(bytes)], &[], usize::MAX) {
                Ok(sent) => bytes = bytes.get(sent..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    in_time(wait_for(self.as_fd(), PollFlags::OUT, deadline)?)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Fills `bytes`, waiting until the deadline. The end before that is an error.
    pub(crate) fn receive_exact(
        &mut self,
        bytes: &mut [u8],
        descriptors: &mut VecDeque<OwnedFd>,
        deadline: Instant,
    ) -> io::Result<()> {
        let mut filled = 0;
        while filled < bytes.len() {
            let rest = bytes.get_mut(filled..).unwrap_or_default();
            match self.receive(&mut [IoSliceMut::new(rest)], descriptors) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(received) => filled += received,
                Err(ReceiveError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    in_time(wait_for(self.as_fd(), PollFlags::IN, deadline)?)?;
                }
                Err(ReceiveError::Io(error)) => return Err(error),
                Err(ReceiveError::DescriptorsLost { .. }) => return Err(Errno::MFILE.into()),
            }
        }
        Ok(())
    }

    /// Most enciphered bytes that one call receives, for the conformance suite.
    #[cfg(feature = "testing")]
    pub(crate) fn set_receive_bytes(&mut self, receive_bytes: Option<usize>) {
        if let Some(cipher) = &mut self.tls {
            cipher.receive_bytes = receive_bytes.unwrap_or(usize::MAX).max(1);
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn in_time(ready: bool) -> io::Result<()> {
    if ready { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}
