//! What carries the bytes of a link, as links and handshakes see it. It is a connected socket, plain or with TLS over
//! it, or a queue pair.
//!
//! A plain one costs one branch for each system call and nothing for each byte.

#[cfg(feature = "testing")]
mod faults;

#[cfg(feature = "testing")]
pub use faults::Faults;

use crate::socket::{ReceiveError, end_sending, receive_bytes, receive_vectored, send_vectored, wait_for};
use crate::tls::Cipher;
use crate::verbs::{Breakage, Stream, VerbsTrouble};
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// What carries the bytes, and what enciphers them if anything does.
pub(crate) struct Channel {
    carrier: Carrier,
    tls: Option<Box<Cipher>>,
    /// Whether descriptors may come with the bytes.
    passes_descriptors: bool,
    #[cfg(feature = "testing")]
    faults: faults::FaultState,
}

enum Carrier {
    Socket(OwnedFd),
    Verbs(Box<Stream>),
}

impl Channel {
    pub(crate) fn plain(socket: OwnedFd) -> Channel {
        Channel::over(Carrier::Socket(socket), None)
    }

    pub(crate) fn secured(socket: OwnedFd, cipher: Cipher) -> Channel {
        Channel::over(Carrier::Socket(socket), Some(Box::new(cipher)))
    }

    pub(crate) fn verbs(stream: Stream) -> Channel {
        Channel::over(Carrier::Verbs(Box::new(stream)), None)
    }

    fn over(carrier: Carrier, tls: Option<Box<Cipher>>) -> Channel {
        Channel {
            carrier,
            tls,
            passes_descriptors: true,
            #[cfg(feature = "testing")]
            faults: faults::FaultState::default(),
        }
    }

    /// The queue pair, if that is what it is.
    pub(crate) fn stream(&mut self) -> Option<&mut Stream> {
        match &mut self.carrier {
            Carrier::Verbs(stream) => Some(stream),
            Carrier::Socket(_) => None,
        }
    }

    /// The same, to be looked at.
    pub(crate) fn stream_ref(&self) -> Option<&Stream> {
        match &self.carrier {
            Carrier::Verbs(stream) => Some(stream),
            Carrier::Socket(_) => None,
        }
    }

    /// Whether it takes more from the kernel than it was asked for: then only a read that finds nothing shows that
    /// nothing is left.
    pub(crate) fn reads_ahead(&self) -> bool {
        self.is_encrypted() || matches!(self.carrier, Carrier::Verbs(_))
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// The DNS names of the peer's certificate; none without TLS.
    pub(crate) fn certificate_names(&self) -> Vec<String> {
        self.tls.as_ref().map_or_else(Vec::new, |cipher| cipher.certificate_names())
    }

    /// Ends the part of the handshakes, in which it reads no byte too many.
    pub(crate) fn settle(&mut self) {
        if let Some(cipher) = &mut self.tls {
            cipher.settle();
        }
        self.remind();
    }

    /// Bytes alone come from now on: what comes with them is dropped by the kernel.
    pub(crate) fn pass_no_descriptors(&mut self) {
        self.passes_descriptors = false;
    }

    /// Makes the descriptor readable for what is here already, where nothing else would.
    pub(crate) fn remind(&mut self) {
        if let Some(stream) = self.stream().filter(|stream| stream.has_buffered()) {
            stream.ring();
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
        let of_stream = self.stream_ref().is_some_and(Stream::has_buffered);
        of_stream || self.tls.as_ref().is_some_and(|cipher| cipher.has_buffered())
    }

    /// Takes what it can of the bytes (at most `limit`) and sends what the socket takes now, the descriptors with the
    /// first byte. With TLS, 0 bytes: those of before went on.
    pub(crate) fn send(
        &mut self,
        slices: &[IoSlice<'_>],
        descriptors: &[Arc<OwnedFd>],
        limit: usize,
    ) -> io::Result<usize> {
        match (&mut self.carrier, &mut self.tls) {
            (Carrier::Verbs(stream), _) => stream.send(slices, limit),
            (Carrier::Socket(socket), None) => send_vectored(socket.as_fd(), slices, descriptors),
            (Carrier::Socket(socket), Some(cipher)) => cipher.send(socket.as_fd(), slices, limit),
        }
    }

    /// Receives what is there now; 0 bytes is the end.
    pub(crate) fn receive(
        &mut self,
        slices: &mut [IoSliceMut<'_>],
        descriptors: &mut VecDeque<OwnedFd>,
    ) -> Result<usize, ReceiveError> {
        match (&self.carrier, &mut self.tls) {
            (Carrier::Socket(socket), Some(cipher)) => Ok(cipher.receive(socket.as_fd(), slices)?),
            _ => self.receive_raw(slices, descriptors),
        }
    }

    /// Most bytes that the next call of `send` is given, of so many. Fewer only where a test makes things go wrong.
    pub(crate) fn send_limit(&mut self, limit: usize) -> io::Result<usize> {
        #[cfg(feature = "testing")]
        let limit = self.before(limit, |faults| faults.send_bytes)?;
        Ok(limit)
    }

    /// The same for `receive`.
    pub(crate) fn receive_limit(&mut self, limit: usize) -> io::Result<usize> {
        #[cfg(feature = "testing")]
        let limit = self.before(limit, |faults| faults.receive_bytes)?;
        Ok(limit)
    }

    /// Whether a test makes things go wrong.
    pub(crate) fn has_faults(&self) -> bool {
        #[cfg(feature = "testing")]
        return self.is_faulty();
        #[cfg(not(feature = "testing"))]
        false
    }

    /// Receives as it comes from the socket, enciphered or not.
    pub(crate) fn receive_raw(
        &mut self,
        slices: &mut [IoSliceMut<'_>],
        descriptors: &mut VecDeque<OwnedFd>,
    ) -> Result<usize, ReceiveError> {
        match &mut self.carrier {
            Carrier::Verbs(stream) => Ok(stream.receive(slices)?),
            Carrier::Socket(socket) if self.passes_descriptors => {
                receive_vectored(socket.as_fd(), slices, descriptors)
            }
            Carrier::Socket(socket) => Ok(receive_bytes(socket.as_fd(), slices)?),
        }
    }

    /// Tells the peer that nothing more will be sent.
    pub(crate) fn end_sending(&mut self) {
        self.farewell();
        self.end_raw();
    }

    /// The same, without a word of TLS.
    pub(crate) fn end_raw(&mut self) {
        match &mut self.carrier {
            Carrier::Verbs(stream) => stream.end_sending(),
            Carrier::Socket(socket) => end_sending(socket.as_fd()),
        }
    }

    /// Breaks the connection, both ways.
    pub(crate) fn break_off(&mut self) {
        match &mut self.carrier {
            Carrier::Verbs(stream) => stream.break_off(Breakage::Ended),
            Carrier::Socket(socket) => {
                let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
            }
        }
    }

    /// The same; over verbs success means that the peer's access to memory of this side has ended.
    pub(crate) fn revoke(&mut self) -> Result<(), VerbsTrouble> {
        let ended = match &mut self.carrier {
            Carrier::Verbs(stream) => stream.revoke(),
            Carrier::Socket(_) => {
                self.break_off();
                Ok(())
            }
        };
        #[cfg(feature = "testing")]
        self.faults.after_revoke()?;
        ended
    }

    /// One call has sent as much as it may, and more waits. A socket that has room is writable; a queue pair says nothing.
    pub(crate) fn leave_unsent(&mut self) {
        if let Some(stream) = self.stream() {
            stream.leave_unsent();
        }
    }

    /// Waits until there may be room to send; `false` when the deadline is over.
    pub(crate) fn await_room(&mut self, deadline: Instant) -> io::Result<bool> {
        match &mut self.carrier {
            Carrier::Verbs(stream) => stream.await_room(deadline),
            Carrier::Socket(socket) => wait_for(socket.as_fd(), PollFlags::OUT, deadline),
        }
    }

    /// Over TLS: tells the peer that the end is meant, and no cut.
    pub(crate) fn farewell(&mut self) {
        if let (Carrier::Socket(socket), Some(cipher)) = (&self.carrier, &mut self.tls) {
            cipher.end(socket.as_fd());
        }
    }

    /// Agrees on keys, waiting until the deadline.
    pub(crate) fn shake_hands(&mut self, deadline: Instant) -> io::Result<()> {
        let (Carrier::Socket(socket), Some(cipher)) = (&self.carrier, &mut self.tls) else { return Ok(()) };
        loop {
            match cipher.shake_hands(socket.as_fd()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let events = if cipher.wants_write() { PollFlags::OUT } else { PollFlags::IN };
                    in_time(wait_for(socket.as_fd(), events, deadline)?)?;
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
                    in_time(self.await_room(deadline)?)?;
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
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.carrier {
            Carrier::Socket(socket) => socket.as_fd(),
            Carrier::Verbs(stream) => stream.as_fd(),
        }
    }
}

fn in_time(ready: bool) -> io::Result<()> {
    if ready { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}
