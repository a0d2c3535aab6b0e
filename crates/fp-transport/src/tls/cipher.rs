//! One TLS connection over a non-blocking socket, driven by whoever drives the link.
//!
//! Until the hello is exchanged it reads record by record and not one byte more. What follows belongs to the link. The
//! kernel wakes the link's owner only for bytes that it still has. After that it reads ahead.

use super::failure::TlsFailure;
use super::files::Files;
use crate::identity::own_pid;
use crate::socket::{ReceiveError, receive_vectored, send_vectored};
use rustls::Connection;
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use webpki::EndEntityCert;

/// Bytes that are read ahead.
const BUFFER_BYTES: usize = 64 << 10;
/// Most bytes that are enciphered before the socket took those of before.
const PENDING_LIMIT_BYTES: usize = 128 << 10;
/// Most bytes that a peer may send before its hello has come: several times the longest chain of certificates.
const HANDSHAKE_LIMIT_BYTES: usize = 64 << 10;
/// Bytes of a record's header: kind, version, length.
const RECORD_HEADER_LEN: usize = 5;
/// Kinds of record that there are.
const RECORD_KINDS: std::ops::RangeInclusive<u8> = 20..=24;
/// Reads in one call that may bring nothing for the caller (empty records), so that no peer keeps it for ever.
const IDLE_READS: usize = 16;

/// One end of a connection.
pub(crate) struct Cipher {
    connection: Connection,
    files: Arc<Files>,
    /// Enciphered bytes from the socket, made with the first read.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Deciphered bytes that wait to be taken.
    readable: usize,
    /// The peer has said that nothing more comes.
    ended: bool,
    /// Bytes that may still come before the hello; `None`: it has come.
    handshake_bytes: Option<usize>,
    /// A child that was forked off must not say farewell in its parent's name.
    pid: u32,
    /// Most bytes that one call receives.
    #[cfg(feature = "testing")]
    pub(crate) receive_bytes: usize,
}

impl Cipher {
    pub(super) fn new(mut connection: Connection, files: Arc<Files>) -> Cipher {
        connection.set_buffer_limit(Some(PENDING_LIMIT_BYTES));
        Cipher {
            connection,
            files,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            readable: 0,
            ended: false,
            handshake_bytes: Some(HANDSHAKE_LIMIT_BYTES),
            pid: own_pid(),
            #[cfg(feature = "testing")]
            receive_bytes: usize::MAX,
        }
    }

    /// The hello was exchanged: from now on it reads ahead.
    pub(crate) fn settle(&mut self) {
        self.handshake_bytes = None;
    }

    /// The DNS names of the certificate that the peer showed, which was checked.
    pub(crate) fn certificate_names(&self) -> Vec<String> {
        let shown = self.connection.peer_certificates().and_then(|chain| chain.first());
        let read = shown.and_then(|certificate| EndEntityCert::try_from(certificate).ok());
        read.map_or_else(Vec::new, |read| read.valid_dns_names().map(str::to_owned).collect())
    }

    /// Whether the keys are not agreed yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether enciphered bytes wait for the socket.
    pub(crate) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Whether bytes are here that the kernel will not tell of.
    pub(crate) fn has_buffered(&self) -> bool {
        self.readable > 0 || self.start < self.end
    }

    /// The enciphered bytes that were read and not taken: what a peer said that does not speak TLS.
    pub(crate) fn untouched(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Goes on with the handshake as far as the bytes that are here allow; [`io::ErrorKind::WouldBlock`]: more are
    /// needed, or room to write.
    pub(crate) fn shake_hands(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        while self.is_handshaking() || self.wants_write() {
            self.flush(fd)?;
            if self.is_handshaking() {
                self.fill(fd)?;
                self.decipher(fd)?;
            }
        }
        Ok(())
    }

    /// Receives what is here into the slices; 0 bytes is the end that the peer announced.
    pub(crate) fn receive(&mut self, fd: BorrowedFd<'_>, slices: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let mut reads = 0;
        if self.handshake_bytes.is_some() && self.wants_write() {
            let _ = self.flush(fd);
        }
        loop {
            if self.readable > 0 {
                return self.deliver(slices);
            }
            if self.ended {
                return Ok(0);
            }
            if self.start == self.end || self.handshake_bytes.is_some() {
                reads += 1;
                if reads > IDLE_READS {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                self.fill(fd)?;
            }
            self.decipher(fd)?;
        }
    }

    fn deliver(&mut self, slices: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let (mut delivered, mut reader) = (0, self.connection.reader());
        for slice in slices {
            let wanted = slice.len().min(self.readable);
            let part = slice.get_mut(..wanted).unwrap_or_default();
            reader.read_exact(part)?;
            self.readable -= wanted;
            delivered += wanted;
        }
        Ok(delivered)
    }

    /// Reads from the socket: a whole record before the hello has come, as much as is here after.
    fn fill(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.handshake_bytes.is_none() {
            self.buffer.resize(BUFFER_BYTES, 0);
            return self.read(fd, BUFFER_BYTES);
        }
        loop {
            let wanted = self.record_end()?;
            if self.end == wanted {
                return Ok(());
            }
            self.buffer.resize(wanted, 0);
            self.read(fd, wanted)?;
        }
    }

    /// Where the record ends that begins in the buffer, as far as that is known.
    fn record_end(&self) -> io::Result<usize> {
        let found = self.untouched();
        if found.first().is_some_and(|kind| !RECORD_KINDS.contains(kind)) {
            return Err(TlsFailure::NotTls.into_io());
        }
        let body = match found {
            [_, _, _, high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
            _ => 0,
        };
        Ok(self.start + RECORD_HEADER_LEN + body)
    }

    /// One call that receives, up to `wanted` bytes of the buffer.
    fn read(&mut self, fd: BorrowedFd<'_>, wanted: usize) -> io::Result<()> {
        #[cfg(feature = "testing")]
        let wanted = wanted.min(self.end.saturating_add(self.receive_bytes));
        let space = self.buffer.get_mut(self.end..wanted).unwrap_or_default();
        let received = match receive_vectored(fd, &mut [IoSliceMut::new(space)], &mut VecDeque::new()) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(received) => received,
            Err(ReceiveError::Io(error)) => return Err(error),
            Err(ReceiveError::DescriptorsLost { .. }) => return Err(io::ErrorKind::InvalidData.into()),
        };
        self.end += received;
        if let Some(left) = &mut self.handshake_bytes {
            let too_long = TlsFailure::TooLong { limit_bytes: HANDSHAKE_LIMIT_BYTES };
            *left = left.checked_sub(received).ok_or_else(|| too_long.into_io())?;
        }
        Ok(())
    }

    /// Hands bytes of the buffer to the library: some at a time, or the whole record before the hello has come.
    fn decipher(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.decipher_some(fd)?;
        while self.handshake_bytes.is_some() && self.start < self.end {
            self.decipher_some(fd)?;
        }
        Ok(())
    }

    /// Hands on as much as the library takes at once, and sends what it wants to answer.
    fn decipher_some(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let mut enciphered = self.buffer.get(self.start..self.end).unwrap_or_default();
        self.start += self.connection.read_tls(&mut enciphered)?;
        let state = self.connection.process_new_packets();
        if self.wants_write() {
            // An alert, an answer of the handshake or new keys; what the socket does not take now goes with the next.
            let _ = self.flush(fd);
        }
        let state = state.map_err(|error| TlsFailure::new(error, &self.files).into_io())?;
        self.readable = state.plaintext_bytes_to_read();
        self.ended |= state.peer_has_closed();
        Ok(())
    }

    /// Takes bytes to send, as many as may wait; says how many. At most `limit` go to the socket in one call.
    pub(crate) fn send(
        &mut self,
        fd: BorrowedFd<'_>,
        slices: &[IoSlice<'_>],
        limit: usize,
    ) -> io::Result<usize> {
        if self.wants_write() {
            self.write(fd, limit)?;
        }
        if self.wants_write() {
            return Ok(0);
        }
        let taken = self.connection.writer().write_vectored(slices)?;
        match self.write(fd, limit) {
            Ok(()) => Ok(taken),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(taken),
            Err(error) => Err(error),
        }
    }

    /// Writes what waits; [`io::ErrorKind::WouldBlock`]: the socket does not take all of it now.
    pub(crate) fn flush(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        while self.wants_write() {
            self.write(fd, usize::MAX)?;
        }
        Ok(())
    }

    fn write(&mut self, fd: BorrowedFd<'_>, limit: usize) -> io::Result<()> {
        self.connection.write_tls(&mut Outgoing { fd, limit }).map(drop)
    }

    /// Tells the peer that nothing more comes, if there is room for that.
    pub(crate) fn end(&mut self, fd: BorrowedFd<'_>) {
        if self.pid == own_pid() && !self.wants_write() && !self.is_handshaking() {
            self.connection.send_close_notify();
            let _ = self.flush(fd);
        }
    }
}

/// The socket as the library writes to it.
struct Outgoing<'a> {
    fd: BorrowedFd<'a>,
    limit: usize,
}

impl Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let len: usize = slices.iter().map(|slice| slice.len()).sum();
        match slices.iter().find(|slice| !slice.is_empty()) {
            Some(first) if len > self.limit => {
                let part = first.get(..first.len().min(self.limit)).unwrap_or_default();
                send_vectored(self.fd, &[IoSlice::new(part)], &[])
            }
            _ => send_vectored(self.fd, slices, &[]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
