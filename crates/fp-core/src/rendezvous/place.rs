//! The meeting place itself: one thread, one epoll set, links as any others, and the leases of `fp_proto::meeting`.
//!
//! It writes nothing down. One that was killed and begins again at its address knows all entries as soon as those who
//! are registered have dialled it again.

use crate::connection::listening::bound;
use fp_proto::meeting::table::{GuestId, Table};
use fp_proto::meeting::{Decline, EPOCH, LEASE, LIMIT_REQUEST_BYTES, Reply, Request};
use fp_proto::time::Moment;
use fp_transport::{
    FrameLimits, Link, LinkError, ListenError, Listener, OutFrame, TlsError, TlsOptions, Token,
};
use rustix::event::epoll;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

/// How often it looks whether it should stop, and whose lease is over.
const LOOK: Duration = Duration::from_millis(100);

const EVENTS: usize = 64;

/// Links at one time; more are turned away.
const LIMIT_GUESTS: usize = 4096;

/// Requests over one link in a second; who asks more often is turned away.
const LIMIT_REQUESTS: u32 = 200;

/// Bytes that may wait for one who does not read, besides one reply.
const LIMIT_WAITING_BYTES: u64 = 64 << 10;

/// Bytes that may wait for all together.
const LIMIT_ALL_WAITING_BYTES: u64 = 256 << 20;

const TOKEN_LISTENER: u64 = 0;

/// Why there is no meeting place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeetError {
    /// It cannot listen there.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The system has no room for it.
    #[error("the meeting place failed: {0}")]
    System(std::io::Error),
}

/// A meeting place that listens.
#[derive(Debug)]
pub struct MeetingPlace {
    listener: Listener,
    address: SocketAddr,
}

impl MeetingPlace {
    /// Listens at an address; port 0: one of the system's choice. Off loopback that needs a token or TLS, and at the
    /// unspecified address the one that others dial (`advertised`).
    ///
    /// # Errors
    /// [`MeetError`].
    pub fn listen(
        address: SocketAddr,
        advertised: Option<IpAddr>,
        token: Option<Token>,
        tls: Option<TlsOptions>,
    ) -> Result<Self, MeetError> {
        let (listener, address) = bound::<MeetError>(EPOCH, (address, advertised), token, tls)?;
        Ok(Self { listener, address })
    }

    /// What others dial.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stopped` says so; it is asked ten times a second. Those who are registered lose nothing by its end:
    /// their streams go on, and the next place at this address hears of them.
    ///
    /// # Errors
    /// What breaks the listener itself; no guest can cause that.
    pub fn serve(self, stopped: &dyn Fn() -> bool) -> Result<(), MeetError> {
        tracing::info!(address = %self.address, "the meeting place listens");
        let mut open = Open::new(self.listener)?;
        while !stopped() {
            open.turn()?;
        }
        tracing::info!(entries = open.table.len(), "the meeting place ends");
        Ok(())
    }
}

/// One who has a link to the place.
struct Guest {
    link: Link,
    heard: Instant,
    /// Since when requests are counted, and how many there were.
    counted: (Instant, u32),
    writing: bool,
}

struct Open {
    listener: Listener,
    epoll: OwnedFd,
    table: Table,
    guests: BTreeMap<u64, Guest>,
    next: u64,
    began: Instant,
    swept: Instant,
}

impl Open {
    fn new(listener: Listener) -> Result<Self, MeetError> {
        let system = |errno: Errno| MeetError::System(errno.into());
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        let data = epoll::EventData::new_u64(TOKEN_LISTENER);
        epoll::add(&epoll, listener.as_fd(), data, epoll::EventFlags::IN).map_err(system)?;
        let (began, guests) = (Instant::now(), BTreeMap::new());
        let table = Table::new(Moment::ZERO);
        Ok(Self { listener, epoll, table, guests, next: TOKEN_LISTENER + 1, began, swept: began })
    }

    fn now(&self) -> Moment {
        Moment::ZERO.after(self.began.elapsed())
    }

    fn turn(&mut self) -> Result<(), MeetError> {
        let mut space = [MaybeUninit::<epoll::Event>::uninit(); EVENTS];
        let timeout = rustix::time::Timespec::try_from(LOOK).ok();
        let tokens: Vec<u64> = match epoll::wait(&self.epoll, &mut space[..], timeout.as_ref()) {
            Ok((events, _)) => events.iter().map(|event| event.data.u64()).collect(),
            Err(Errno::INTR) => Vec::new(),
            Err(errno) => return Err(MeetError::System(errno.into())),
        };
        for token in tokens {
            match token {
                TOKEN_LISTENER => self.accept()?,
                guest => self.serve(guest),
            }
        }
        if self.swept.elapsed() >= LOOK {
            self.sweep();
        }
        Ok(())
    }

    fn accept(&mut self) -> Result<(), MeetError> {
        while let Some(accepted) = self.listener.accept(Instant::now())? {
            let (token, mut link) = (self.next, accepted.link);
            self.next += 1;
            if self.guests.len() >= LIMIT_GUESTS {
                tracing::warn!(limit = LIMIT_GUESTS, "too many links: one was turned away");
                let _ = link.send(OutFrame::new(Reply::Declined(Decline::Crowded).encode()));
                continue;
            }
            link.set_frame_limits(FrameLimits { head_bytes: LIMIT_REQUEST_BYTES as u32, body_bytes: 0 });
            link.set_send_limit_bytes(LIMIT_WAITING_BYTES);
            let data = epoll::EventData::new_u64(token);
            if epoll::add(&self.epoll, link.as_fd(), data, epoll::EventFlags::IN).is_err() {
                continue;
            }
            let now = Instant::now();
            self.guests.insert(token, Guest { link, heard: now, counted: (now, 0), writing: false });
            // What was asked with the proof is here already.
            self.serve(token);
        }
        Ok(())
    }

    /// Answers what a guest has asked, and bids him farewell if he is gone or misbehaves.
    fn serve(&mut self, token: u64) {
        let Some(mut guest) = self.guests.remove(&token) else { return };
        let mut served = guest.link.flush().map(|_| true);
        while let Ok(true) = served {
            served = self.serve_one(token, &mut guest);
        }
        match served {
            Ok(_) => {
                guest.watch(&self.epoll, token);
                self.guests.insert(token, guest);
            }
            Err(error) => self.part(token, &guest, &error),
        }
    }

    /// Answers one request, if there is one.
    fn serve_one(&mut self, token: u64, guest: &mut Guest) -> Result<bool, LinkError> {
        let Some(frame) = guest.link.recv()? else { return Ok(false) };
        let malformed =
            |_| LinkError::Malformed { what: "a request", value: frame.head.len() as u64, limit: 0 };
        let request = Request::decode(&frame.head).map_err(malformed)?;
        guest.heard = Instant::now();
        if guest.asks_too_often() {
            guest.link.send(OutFrame::new(Reply::Declined(Decline::TooFast).encode()))?;
            return Err(LinkError::Deadline { waiting_for: "fewer requests" });
        }
        tracing::debug!(guest = token, ?request, "asked");
        let (before, told) = (self.table.len(), request.clone());
        let reply = self.table.handle(self.now(), GuestId(token), request);
        if self.table.len() != before {
            tracing::info!(guest = token, request = ?told, entries = self.table.len(), "registered or withdrawn");
        }
        if let Reply::Declined(why) = &reply {
            tracing::warn!(guest = token, %why, "a request was declined");
        }
        let frame = OutFrame::new(reply.encode());
        let is_long = frame.wire_len() > LIMIT_WAITING_BYTES;
        let waiting: u64 = if is_long { self.waiting_bytes() } else { 0 };
        if waiting + frame.wire_len() > LIMIT_ALL_WAITING_BYTES {
            return Err(LinkError::Full { queued_bytes: waiting, limit_bytes: LIMIT_ALL_WAITING_BYTES });
        }
        guest.link.send(frame).map(|()| true)
    }

    /// Bytes that wait for guests to read them.
    fn waiting_bytes(&self) -> u64 {
        self.guests.values().map(|guest| guest.link.queued_bytes()).sum()
    }

    fn part(&mut self, token: u64, guest: &Guest, why: &LinkError) {
        let entries = self.table.gone(GuestId(token));
        if matches!(why, LinkError::Closed | LinkError::Lost(_)) {
            tracing::info!(guest = token, entries, %why, "gone");
        } else {
            tracing::warn!(guest = token, peer = ?guest.link.peer(), entries, %why, "turned away");
        }
    }

    /// Forgets leases that are over, and links over which nothing is said.
    fn sweep(&mut self) {
        self.swept = Instant::now();
        let expired = self.table.expire(self.now());
        if expired > 0 {
            tracing::info!(entries = expired, "leases were not renewed");
        }
        let silent = |(token, guest): (&u64, &Guest)| (guest.heard.elapsed() >= LEASE).then_some(*token);
        let silent: Vec<u64> = self.guests.iter().filter_map(silent).collect();
        for token in silent {
            if let Some(guest) = self.guests.remove(&token) {
                self.part(token, &guest, &LinkError::Deadline { waiting_for: "a request" });
            }
        }
    }
}

impl Guest {
    fn asks_too_often(&mut self) -> bool {
        let (since, count) = &mut self.counted;
        if since.elapsed() >= Duration::from_secs(1) {
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        *count > LIMIT_REQUESTS
    }

    fn watch(&mut self, epoll: &OwnedFd, token: u64) {
        let wants = self.link.wants_write();
        if wants == self.writing {
            return;
        }
        let mut flags = epoll::EventFlags::IN;
        flags.set(epoll::EventFlags::OUT, wants);
        if epoll::modify(epoll, self.link.as_fd(), epoll::EventData::new_u64(token), flags).is_ok() {
            self.writing = wants;
        }
    }
}
