//! A connection between two processes that are on no stream together. Notes and bytes go both ways, in order, over one
//! tcp link with the token and TLS of any other. `flexpath forward` and `flexpath gate` speak over one.
//!
//! One thread reads and others write. Both ends say now and then that they are there. So whoever reads learns within
//! ten seconds that the other has gone, or the way to it.

pub(crate) mod dialled;
pub(crate) mod listening;
mod parts;

pub use crate::error::connection::ConnectionError;
pub use listening::ConnectionListener;

use crate::connection::dialled::Unmet;
use crate::connection::parts::{PART_BYTES, Parts};
use fp_transport::{FrameLimits, InFrame, Link, LinkError, OutFrame, Payload, TlsOptions, Token};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fmt;
use std::io::{self, IoSliceMut, Read, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// By this who dials knows that a connection is what the other expects.
const EPOCH: u128 = u128::from_be_bytes(*b"flexpath forward");

/// Whoever says nothing for so long has gone.
const SILENCE: Duration = Duration::from_secs(10);

/// How often an end says that it is there.
const SIGN_OF_LIFE: Duration = Duration::from_millis(2500);

/// How soon a wait sees that the connection was closed meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// Bytes that may wait to be sent.
const WAITING_BYTES: u64 = 1 << 20;

/// The longest note.
const NOTE_BYTES: u32 = 8 << 20;

/// The head of what says that an end is there, and what stands in front of a note. What has no head is bytes.
const ALIVE: u8 = 0;
const NOTE: u8 = 1;

/// What comes next over a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incoming {
    /// A note.
    Note(Vec<u8>),
    /// Bytes, which are to be read.
    Bytes,
}

/// A connection. Its drop closes it; what was flushed still arrives.
pub struct Connection {
    shared: Arc<Shared>,
    /// Ends the thread that says that this end is there.
    _alive: Sender<()>,
}

struct Shared {
    link: Mutex<Link>,
    /// Waited for while others use the link.
    descriptor: OwnedFd,
    peer: String,
    is_closed: AtomicBool,
    parts: Arc<Parts>,
}

impl Connection {
    /// Dials a listener of connections at HOST:PORT; five seconds at most.
    ///
    /// # Errors
    /// [`ConnectionError`]: nobody is there, it does not let this process in, or it is another.
    pub fn dial(
        address: &str,
        token: Option<&Token>,
        tls: Option<&TlsOptions>,
    ) -> Result<Self, ConnectionError> {
        if !dialled::is_address(address) {
            return Err(ConnectionError::Address { given: address.to_owned() });
        }
        let tls = tls.map(TlsOptions::load).transpose()?;
        let place = || address.to_owned();
        let link = dialled::link(address, EPOCH, token, tls.as_ref()).map_err(|unmet| match unmet {
            Unmet::Away(why) => ConnectionError::Away { place: place(), why },
            Unmet::NotLetIn(why) => ConnectionError::NotLetIn { place: place(), why },
            Unmet::Another(why) => ConnectionError::Another { place: place(), why },
        })?;
        Self::over(link, place()).map_err(ConnectionError::System)
    }

    fn over(mut link: Link, peer: String) -> io::Result<Self> {
        link.set_frame_limits(FrameLimits { head_bytes: NOTE_BYTES + 1, body_bytes: PART_BYTES as u64 });
        link.set_send_limit_bytes(WAITING_BYTES);
        let descriptor = link.as_fd().try_clone_to_owned()?;
        let is_closed = AtomicBool::new(false);
        let shared =
            Arc::new(Shared { link: Mutex::new(link), descriptor, peer, is_closed, parts: Arc::default() });
        let (alive, dropped) = channel();
        let of_thread = shared.clone();
        std::thread::Builder::new().name("flexpath-alive".to_owned()).spawn(move || {
            while dropped.recv_timeout(SIGN_OF_LIFE) == Err(RecvTimeoutError::Timeout) {
                of_thread.say_alive();
            }
        })?;
        Ok(Self { shared, _alive: alive })
    }

    /// The address of the other end.
    pub fn peer(&self) -> &str {
        &self.shared.peer
    }

    /// What comes next; none if the other end has closed. It waits as long as the other says that it is there. Bytes that
    /// were announced are read before.
    ///
    /// # Errors
    /// The other end was lost, or is silent; this one was closed.
    pub fn incoming(&self) -> io::Result<Option<Incoming>> {
        self.shared.incoming(&|| false)
    }

    /// The same, unless `is_over` says before that it is awaited no more. It is asked ten times a second.
    ///
    /// # Errors
    /// As [`Connection::incoming`]; it was awaited no more.
    pub fn incoming_until(&self, is_over: &dyn Fn() -> bool) -> io::Result<Option<Incoming>> {
        self.shared.incoming(is_over)
    }

    /// Whether the other end has closed it, or its system has, though what it sent before may not have been read yet.
    pub fn is_cut(&self) -> bool {
        let ended = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let mut polled = [PollFd::new(&self.shared.descriptor, PollFlags::RDHUP)];
        let now = Duration::ZERO.try_into().ok();
        poll(&mut polled, now.as_ref()).is_ok() && polled[0].revents().intersects(ended)
    }

    /// Sends a note.
    ///
    /// # Errors
    /// As [`Connection::incoming`]; a note of more than eight mebibytes.
    pub fn tell(&self, note: &[u8]) -> io::Result<()> {
        if note.len() > NOTE_BYTES as usize {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a note has eight mebibytes at most"));
        }
        let mut head = Vec::with_capacity(note.len() + 1);
        head.push(NOTE);
        head.extend_from_slice(note);
        self.shared.send(OutFrame::new(head))?;
        self.shared.flush()
    }

    /// Closes it: whoever waits in a call is told.
    pub fn close(&self) {
        self.shared.is_closed.store(true, Ordering::Relaxed);
    }
}

impl Read for &Connection {
    /// Bytes of what the other end wrote. A note in their midst is an error.
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        if memory.is_empty() {
            return Ok(0);
        }
        loop {
            match self.shared.received(memory)? {
                0 => {}
                some => return Ok(some),
            }
            match self.shared.incoming(&|| false)? {
                None => return Ok(0),
                Some(Incoming::Bytes) => {}
                Some(Incoming::Note(_)) => {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "a note comes in the midst of bytes",
                    ));
                }
            }
        }
    }
}

impl Write for &Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(PART_BYTES)];
        if !part.is_empty() {
            let body = vec![Payload::from_owner(self.shared.parts.copy_of(part))];
            self.shared.send(OutFrame::default().with_body(body))?;
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.shared.flush()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("peer", &self.shared.peer).finish()
    }
}

impl Shared {
    fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that this end is there, where nothing else on its way says so.
    fn say_alive(&self) {
        let mut link = self.link();
        if !link.wants_write() {
            // Who reads is told that nothing can be sent.
            let _ = link.send(OutFrame::new(vec![ALIVE]));
        }
    }

    fn incoming(&self, is_over: &dyn Fn() -> bool) -> io::Result<Option<Incoming>> {
        let mut heard = Instant::now();
        loop {
            self.check_open()?;
            let received = {
                let mut link = self.link();
                if link.body_remaining() > 0 {
                    return Ok(Some(Incoming::Bytes));
                }
                link.recv()
            };
            match received {
                Ok(Some(frame)) => {
                    heard = Instant::now();
                    if let Some(incoming) = meaning(frame)? {
                        return Ok(Some(incoming));
                    }
                }
                Ok(None) => self.wait(PollFlags::IN, Some(heard + SILENCE), is_over)?,
                Err(LinkError::Closed) => return Ok(None),
                Err(error) => return Err(lost(error)),
            }
        }
    }

    /// Bytes that were announced, as many as there is room for; waits for the first of them. None where none were.
    fn received(&self, memory: &mut [u8]) -> io::Result<usize> {
        let began = Instant::now();
        loop {
            self.check_open()?;
            {
                let mut link = self.link();
                if link.body_remaining() == 0 {
                    return Ok(0);
                }
                match link.recv_body(&mut [IoSliceMut::new(memory)]).map_err(lost)? {
                    0 => {}
                    some => return Ok(some),
                }
            }
            self.wait(PollFlags::IN, Some(began + SILENCE), &|| false)?;
        }
    }

    /// Queues it as soon as there is room.
    fn send(&self, frame: OutFrame) -> io::Result<()> {
        self.check_open()?;
        loop {
            {
                let mut link = self.link();
                link.flush().map_err(lost)?;
                if link.has_room(frame.wire_len()) {
                    return link.send(frame).map_err(lost);
                }
            }
            self.wait(PollFlags::OUT, None, &|| false)?;
        }
    }

    /// Waits until the system has taken all.
    fn flush(&self) -> io::Result<()> {
        loop {
            {
                let mut link = self.link();
                link.flush().map_err(lost)?;
                if !link.wants_write() {
                    return Ok(());
                }
            }
            self.wait(PollFlags::OUT, None, &|| false)?;
        }
    }

    fn check_open(&self) -> io::Result<()> {
        match self.is_closed.load(Ordering::Relaxed) {
            true => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "it was closed here")),
            false => Ok(()),
        }
    }

    /// Waits, while others may use the link. Who writes waits as long as who reads hears of the other end.
    fn wait(
        &self,
        events: PollFlags,
        deadline: Option<Instant>,
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        loop {
            self.check_open()?;
            if is_over() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it was awaited no longer"));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.is_closed.store(true, Ordering::Relaxed);
                let why = format!("nothing was heard of it for {SILENCE:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            let timeout = LOOK.try_into().ok();
            match poll(&mut [PollFd::new(&self.descriptor, events)], timeout.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// What a frame is; none if it says only that the other end is there.
fn meaning(frame: InFrame) -> io::Result<Option<Incoming>> {
    let head = frame.head;
    match (head.first().copied(), frame.body_len) {
        (None, 1..) => Ok(Some(Incoming::Bytes)),
        (Some(ALIVE), 0) if head.len() == 1 => Ok(None),
        (Some(NOTE), 0) => Ok(Some(Incoming::Note(head[1..].to_vec()))),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "what came is neither a note nor bytes")),
    }
}

fn lost(error: LinkError) -> io::Error {
    if let LinkError::Lost(error) = error {
        return error;
    }
    match matches!(error, LinkError::Closed) {
        true => io::Error::new(io::ErrorKind::ConnectionReset, "the other end has closed it"),
        false => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
    }
}
