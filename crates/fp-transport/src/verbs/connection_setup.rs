//! How two ends come together: one listens, one dials, by address.

use super::connection::{EventSource, Happening, Identifier};
use super::domain::Domain;
use super::error::VerbsTrouble;
use super::stream::Stream;
use super::sys;
use crate::socket::wait_for;
use rustix::event::PollFlags;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// What a dial may take of the caller's time, so that some is left for the next transport.
const DIAL: Duration = Duration::from_secs(5);
const BACKLOG: i32 = 128;

/// Where peers dial in.
pub(crate) struct VerbsListener {
    _identifier: Identifier,
    source: EventSource,
    domain: Domain,
}

impl VerbsListener {
    /// Listens; gives the address with the port that the system chose.
    pub(crate) fn bind(
        address: SocketAddr,
        domain: &Domain,
    ) -> Result<(VerbsListener, SocketAddr), VerbsTrouble> {
        let source = EventSource::new()?;
        let identifier = Identifier::new(&source)?;
        let bound = identifier.listen(address, BACKLOG)?;
        if !address.ip().is_unspecified() {
            // Whether the device and its port will do is told now, and not to each peer.
            let device = identifier.device()?;
            device.check_port(identifier.port().max(1))?;
            domain.protection(device)?;
        }
        Ok((VerbsListener { _identifier: identifier, source, domain: domain.clone() }, bound))
    }

    /// The next connection that a peer asks for, and its address. What cannot be taken is turned down.
    pub(crate) fn accept(&mut self) -> Option<(Stream, SocketAddr)> {
        while let Some(happening) = self.source.next() {
            if happening.event != sys::CM_CONNECT_REQUEST {
                continue;
            }
            match take(happening, &self.domain) {
                Ok(taken) => return Some(taken),
                Err(trouble) => tracing::warn!(%trouble, "a verbs connection could not be taken"),
            }
        }
        None
    }

    /// Turns down one that asks.
    pub(crate) fn turn_one_away(&mut self) {
        let request = self.source.next().filter(|happening| happening.event == sys::CM_CONNECT_REQUEST);
        if let Some(Ok((_source, identifier))) = request.map(Identifier::requested) {
            identifier.reject();
        }
    }
}

impl AsFd for VerbsListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.fd()
    }
}

fn take(happening: Happening, domain: &Domain) -> Result<(Stream, SocketAddr), VerbsTrouble> {
    let (asked, allowed) = happening.reads;
    let (source, identifier) = Identifier::requested(happening)?;
    let address = identifier.address(false).ok_or(VerbsTrouble::NoDevice)?;
    // Dropped without an answer, an identifier turns the peer down.
    let stream = Stream::new(source, identifier, domain)?;
    let limits = stream.queue.device().limits;
    stream.queue.identifier.connect(true, (allowed.min(limits.reads_out), asked.min(limits.reads_in)))?;
    Ok((stream, address))
}

/// Dials, waiting until the deadline or for a few seconds.
pub(crate) fn dial(address: SocketAddr, domain: &Domain, deadline: Instant) -> Result<Stream, VerbsTrouble> {
    let started = Instant::now();
    let deadline = deadline.min(started + DIAL);
    let source = EventSource::new()?;
    let identifier = Identifier::new(&source)?;
    identifier.resolve_address(address, left_ms(deadline))?;
    await_event(&source, sys::CM_ADDR_RESOLVED, address, (started, deadline))?;
    identifier.resolve_route(left_ms(deadline))?;
    await_event(&source, sys::CM_ROUTE_RESOLVED, address, (started, deadline))?;
    let stream = Stream::new(source, identifier, domain)?;
    let limits = stream.queue.device().limits;
    stream.queue.identifier.connect(false, (limits.reads_out, limits.reads_in))?;
    await_event(&stream.queue.source, sys::CM_ESTABLISHED, address, (started, deadline))?;
    Ok(stream)
}

fn left_ms(deadline: Instant) -> i32 {
    i32::try_from(deadline.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(i32::MAX).max(1)
}

fn await_event(
    source: &EventSource,
    wanted: u32,
    address: SocketAddr,
    (started, deadline): (Instant, Instant),
) -> Result<(), VerbsTrouble> {
    loop {
        match source.next() {
            Some(Happening { event, status: 0, .. }) if event == wanted => return Ok(()),
            Some(happening) => return Err(unwanted(&happening, address)),
            None => {}
        }
        let ready = wait_for(source.fd(), PollFlags::IN, deadline);
        if !matches!(ready, Ok(true)) {
            let waited = Instant::now().saturating_duration_since(started);
            return Err(VerbsTrouble::Silent { waited_ms: waited.as_millis() as u64 });
        }
    }
}

fn unwanted(happening: &Happening, address: SocketAddr) -> VerbsTrouble {
    let errno = std::io::Error::from_raw_os_error(happening.status.saturating_neg());
    match happening.event {
        sys::CM_REJECTED => VerbsTrouble::Rejected { address, status: happening.status },
        sys::CM_ADDR_ERROR => VerbsTrouble::NoRoute { address, error: errno.to_string() },
        _ => VerbsTrouble::Call { call: "a connection by librdmacm", error: errno.to_string() },
    }
}
