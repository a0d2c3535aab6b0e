//! Where peers dial in: an abstract unix socket (inproc, shm), a tcp socket and an address of an RDMA device. One epoll
//! descriptor drives them all.
//!
//! Handshakes go on side by side, each with a deadline of its own. A peer that is silent, slow, or talks nonsense costs
//! one table entry until then. It never stalls the others. The epoll set holds the sockets, the half-open handshakes
//! and a timer for the nearest of their deadlines. Its descriptor is readable when [`Listener::accept`] has something
//! to do.

mod bounds;
mod handshake;
mod options;
mod via;

pub use bounds::ListenCounts;
pub use options::{ListenError, ListenOptions};

use crate::channel::Channel;
use crate::contact::{Contact, Endpoint};
use crate::credentials::{Credentials, peer_credentials};
use crate::hello::{Hello, Refusal};
use crate::identity::{PeerIdentity, random_u128};
use crate::link::Link;
use crate::peer_proof::{Origin, PeerProof};
use crate::probe::Probe;
use crate::socket::{stream_socket, timespec};
use crate::tls::TlsIdentity;
use crate::verbs::{VerbsListener, VerbsTrouble};
use bounds::Bounds;
use handshake::{Handshake, Progress};
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay};
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, accept_with, acceptfrom_with, bind,
    getsockname, listen,
};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use via::Via;

const BACKLOG: i32 = 4096;
const EVENTS: usize = 64;
/// Connections taken from each socket in one call, so that a flood of them cannot keep the caller for ever.
const ACCEPTS: usize = 64;
const UNIX_KEY: u64 = 0;
const TCP_KEY: u64 = 1;
const TIMER_KEY: u64 = 2;
const VERBS_KEY: u64 = 3;
/// Handshakes over verbs at one time, as each holds locked memory before its peer has said who it is.
const VERBS_HANDSHAKES: usize = 64;
const FIRST_HANDSHAKE_KEY: u64 = 16;

/// A link that a peer opened, with what it said and who it is.
#[derive(Debug)]
pub struct Accepted {
    /// The link.
    pub link: Link,
    /// What the peer said first.
    pub hello: Hello,
    /// Who it is.
    pub peer: PeerIdentity,
    /// What is known of it for sure.
    pub proof: PeerProof,
}

/// Takes links that peers open.
pub struct Listener {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// When it is set to ring.
    rings_at: Option<Instant>,
    unix: Option<OwnedFd>,
    tcp: Option<OwnedFd>,
    verbs: Option<VerbsListener>,
    verbs_trouble: Option<VerbsTrouble>,
    contact: Contact,
    options: ListenOptions,
    handshakes: BTreeMap<u64, Handshake>,
    next_key: u64,
    ready: VecDeque<Accepted>,
    counts: Arc<ListenCounts>,
    /// The probe of a handshake over shm that is over: to make one takes a while.
    probe: Option<Probe>,
    /// Given up to take, and turn away, a connection when the process is out of descriptors.
    spare: Option<OwnedFd>,
}

impl Listener {
    /// Binds the sockets.
    ///
    /// # Errors
    /// [`ListenError`]: no transport is left, or the tcp address is wrong. That is one that cannot be bound, is off
    /// loopback without a token, or cannot be dialled by others.
    pub fn bind(options: ListenOptions) -> Result<Listener, ListenError> {
        options.check()?;
        let (unix, unix_name) = (options.shm || options.inproc).then(bind_unix).transpose()?.unzip();
        let (tcp, tcp_bound) = options.tcp.map(bind_tcp).transpose()?.unzip();
        let (verbs, verbs_trouble) = bind_verbs(&options);
        let (verbs, verbs_bound) = verbs.unzip();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(ListenError::system)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)
            .map_err(ListenError::system)?;
        let sockets = [(UNIX_KEY, unix.as_ref()), (TCP_KEY, tcp.as_ref()), (TIMER_KEY, Some(&timer))];
        let sockets = sockets.into_iter().filter_map(|(key, fd)| Some((key, fd?.as_fd())));
        for (key, fd) in sockets.chain(verbs.as_ref().map(|verbs| (VERBS_KEY, verbs.as_fd()))) {
            watch(&epoll, fd, key).map_err(ListenError::system)?;
        }
        Ok(Listener {
            spare: timer.try_clone().ok(),
            epoll,
            timer,
            rings_at: None,
            unix,
            tcp,
            verbs,
            verbs_trouble,
            contact: contact_of(&options, unix_name, tcp_bound, verbs_bound),
            options,
            handshakes: BTreeMap::new(),
            next_key: FIRST_HANDSHAKE_KEY,
            ready: VecDeque::new(),
            counts: Arc::default(),
            probe: None,
        })
    }

    /// How others reach this listener.
    pub fn contact(&self) -> &Contact {
        &self.contact
    }

    /// TLS as it is configured for tcp, to dial others in the same way.
    pub fn tls(&self) -> Option<&TlsIdentity> {
        self.options.tls.as_ref()
    }

    /// Why no verbs connections are taken, though the options ask for it.
    pub fn verbs_trouble(&self) -> Option<&VerbsTrouble> {
        self.verbs_trouble.as_ref()
    }

    /// Sets the state byte of replies from now on.
    pub fn set_state(&mut self, state: u8) {
        self.options.state = state;
    }

    /// What was done to stay within the bounds, as it is counted on.
    pub fn counts(&self) -> Arc<ListenCounts> {
        self.counts.clone()
    }

    /// Handshakes that are not finished.
    pub fn half_open(&self) -> usize {
        self.handshakes.len()
    }

    /// The next link that is ready, or `None` if there is none now. Call it until it says `None`: then the descriptor
    /// is readable again when there is something to do.
    ///
    /// # Errors
    /// Only what breaks the listener itself; no peer can cause one.
    pub fn accept(&mut self, now: Instant) -> Result<Option<Accepted>, ListenError> {
        if self.ready.is_empty() {
            self.drive(now)?;
        }
        Ok(self.ready.pop_front())
    }

    fn drive(&mut self, now: Instant) -> Result<(), ListenError> {
        let mut events = [MaybeUninit::uninit(); EVENTS];
        let (events, _) = match epoll::wait(&self.epoll, &mut events, Some(&timespec(Duration::ZERO))) {
            Ok(events) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(errno) => return Err(ListenError::system(errno)),
        };
        for event in events.iter() {
            match event.data.u64() {
                UNIX_KEY => self.take_connections(true, now),
                TCP_KEY => self.take_connections(false, now),
                VERBS_KEY => self.take_verbs(now),
                TIMER_KEY => {
                    self.rings_at = None;
                    let _ = rustix::io::read(&self.timer, &mut [0; 8]);
                }
                key => self.advance(key),
            }
        }
        self.expire(now);
        self.set_timer(now)
    }

    fn take_connections(&mut self, unix: bool, now: Instant) {
        for taken in 0..ACCEPTS {
            // Who comes alone is rarely followed at once. If so, the socket tells.
            if taken == 1 && self.handshakes.len() <= 1 {
                return;
            }
            let Some(listening) = (if unix { &self.unix } else { &self.tcp }) else { return };
            match acceptfrom_with(listening, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok((socket, address)) => self.begin(socket, (unix, address), now),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::MFILE | Errno::NFILE) => return self.turn_one_away(unix),
                Err(_) => return,
            }
        }
    }

    fn take_verbs(&mut self, now: Instant) {
        for _ in 0..ACCEPTS {
            let under_way = self.handshakes.values().filter(|handshake| handshake.is_over_verbs()).count();
            let Some(listening) = &mut self.verbs else { return };
            if under_way >= VERBS_HANDSHAKES.min(self.options.handshakes_limit) {
                return listening.turn_one_away();
            }
            let Some((stream, address)) = listening.accept() else { return };
            let deadline = now + Duration::from_millis(self.options.handshake_timeout_ms);
            let handshake = Handshake::over(Channel::verbs(stream), Via::Verbs { address }, deadline);
            self.add(handshake);
        }
    }

    fn add(&mut self, handshake: Handshake) {
        let key = self.next_key;
        self.next_key += 1;
        if watch(&self.epoll, handshake.as_fd(), key).is_ok() {
            self.handshakes.insert(key, handshake);
            self.advance(key); // the hello is often here already
        }
    }

    fn begin(&mut self, socket: OwnedFd, (unix, address): (bool, Option<SocketAddrAny>), now: Instant) {
        let Some(via) = via_of(&socket, unix, address) else { return };
        if !self.make_room(via.origin(), socket.as_raw_fd()) {
            self.counts.count_turned_away();
            return self.options.turn_away(&socket, Refusal::Busy);
        }
        let deadline = now + Duration::from_millis(self.options.handshake_timeout_ms);
        let Some(handshake) = Handshake::new(socket, via, deadline, &self.options) else { return };
        self.add(handshake);
    }

    /// Whether there is room for a newcomer: if there was none, the oldest handshake without a hello has made some.
    fn make_room(&mut self, origin: Origin, descriptor: i32) -> bool {
        let bounds = Bounds::now(&self.options);
        let of_origin = self.handshakes.values().filter(|handshake| handshake.origin() == origin).count();
        if of_origin >= bounds.each_origin {
            return self.give_one_up(Some(origin));
        }
        let is_kept = u64::try_from(descriptor).is_ok_and(|number| number >= bounds.first_kept);
        if self.handshakes.len() >= bounds.total || is_kept {
            return self.give_one_up(None);
        }
        true
    }

    /// Gives up the oldest handshake of which nothing is known, of that origin or of any. `false` if there is none.
    fn give_one_up(&mut self, origin: Option<Origin>) -> bool {
        let fits = |handshake: &Handshake| {
            handshake.is_unknown() && origin.is_none_or(|origin| handshake.origin() == origin)
        };
        let oldest = self.handshakes.iter().find(|(_, handshake)| fits(handshake)).map(|(key, _)| *key);
        let Some(mut given_up) = oldest.and_then(|key| self.take_out(key)) else { return false };
        given_up.turn_away(&self.options);
        self.counts.count_dropped();
        true
    }

    /// The process is out of descriptors: without this the same connection would make the listener readable for ever.
    fn turn_one_away(&mut self, unix: bool) {
        self.spare = None;
        let Some(listening) = (if unix { &self.unix } else { &self.tcp }) else { return };
        if let Ok(socket) = accept_with(listening, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            tracing::warn!("out of file descriptors: a peer was turned away");
            self.counts.count_turned_away();
            self.options.turn_away(&socket, Refusal::Busy);
        }
        self.spare = self.timer.try_clone().ok();
    }

    fn advance(&mut self, key: u64) {
        let Some(handshake) = self.handshakes.get_mut(&key) else { return };
        match handshake.advance(&self.options, &mut self.probe) {
            Progress::Waiting => handshake.watch(&self.epoll, key),
            Progress::Over => drop(self.take_out(key)),
            Progress::Done => {
                let done = self.take_out(key);
                let done = done.and_then(|handshake| handshake.into_accepted(&self.options));
                if let Some((accepted, probe)) = done {
                    self.ready.push_back(accepted);
                    self.probe = Some(probe).filter(Probe::is_shm).or(self.probe.take());
                }
            }
        }
    }

    /// Takes a handshake out of the table and its socket out of the epoll set.
    fn take_out(&mut self, key: u64) -> Option<Handshake> {
        let handshake = self.handshakes.remove(&key)?;
        let _ = epoll::delete(&self.epoll, handshake.as_fd());
        Some(handshake)
    }

    fn expire(&mut self, now: Instant) {
        let late = |(key, handshake): (&u64, &Handshake)| (handshake.deadline <= now).then_some(*key);
        let late: Vec<u64> = self.handshakes.iter().filter_map(late).collect();
        for key in late {
            tracing::debug!(key, "a handshake was not finished in time");
            drop(self.take_out(key));
        }
    }

    /// The timer may ring too early: that costs less than to set it for each newcomer, and when that has gone.
    fn set_timer(&mut self, now: Instant) -> Result<(), ListenError> {
        let Some(nearest) = self.handshakes.values().map(|handshake| handshake.deadline).min() else {
            return Ok(());
        };
        if self.rings_at.is_some_and(|rings_at| rings_at <= nearest) {
            return Ok(());
        }
        // Zero would switch the timer off.
        let left = nearest.saturating_duration_since(now).max(Duration::from_nanos(1));
        let setting = Itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(left) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &setting).map_err(ListenError::system)?;
        self.rings_at = Some(nearest);
        Ok(())
    }
}

impl AsFd for Listener {
    /// Readable when `accept` has something to do.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("contact", &self.contact)
            .field("half_open", &self.handshakes.len())
            .finish()
    }
}

fn watch(epoll: &OwnedFd, fd: BorrowedFd<'_>, key: u64) -> rustix::io::Result<()> {
    epoll::add(epoll, fd, epoll::EventData::new_u64(key), epoll::EventFlags::IN)
}

/// How others reach a listener with these options, by what could be bound.
fn contact_of(
    options: &ListenOptions,
    unix_name: Option<String>,
    tcp: Option<SocketAddr>,
    verbs: Option<SocketAddr>,
) -> Contact {
    let tcp_endpoint = if options.tls.is_some() { Endpoint::Tls } else { Endpoint::Tcp };
    let unix = unix_name.map(Endpoint::Unix);
    let tcp = tcp.map(|bound| tcp_endpoint(options.advertised(bound)));
    let verbs = verbs.map(|bound| Endpoint::Verbs(options.advertised(bound)));
    let endpoints = [unix, tcp, verbs].into_iter().flatten().collect();
    Contact::of_this_process(options.token.is_some(), endpoints)
}

fn via_of(socket: &OwnedFd, unix: bool, address: Option<SocketAddrAny>) -> Option<Via> {
    if unix {
        let Credentials { uid, pid } = peer_credentials(socket.as_fd()).ok()?;
        return Some(Via::Unix { uid, pid });
    }
    set_tcp_nodelay(socket, true).ok()?;
    Some(Via::Tcp { address: SocketAddr::try_from(address?).ok()? })
}

/// A random abstract name: nothing stays behind in the file system, and nobody can have taken it.
fn bind_unix() -> Result<(OwnedFd, String), ListenError> {
    let name = format!("flexpath-{:032x}", random_u128());
    let bound = (|| -> io::Result<OwnedFd> {
        let socket = stream_socket(AddressFamily::UNIX)?;
        bind(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
        listen(&socket, BACKLOG)?;
        Ok(socket)
    })();
    bound.map(|socket| (socket, name.clone())).map_err(|cause| ListenError::Unix { name, cause })
}

/// Verbs connections, or why not: what else is listened on goes on without.
fn bind_verbs(options: &ListenOptions) -> (Option<(VerbsListener, SocketAddr)>, Option<VerbsTrouble>) {
    let Some(address) = options.verbs else { return (None, None) };
    let bound = match &options.tls {
        Some(_) => Err(VerbsTrouble::Tls),
        None => VerbsListener::bind(address, &options.domain),
    };
    match bound {
        Ok(bound) => (Some(bound), None),
        Err(trouble) => {
            tracing::info!(%trouble, "no verbs connections are taken");
            (None, Some(trouble))
        }
    }
}

fn bind_tcp(address: SocketAddr) -> Result<(OwnedFd, SocketAddr), ListenError> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let bound = (|| -> io::Result<(OwnedFd, SocketAddr)> {
        let socket = stream_socket(family)?;
        set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &address)?;
        listen(&socket, BACKLOG)?;
        let bound = SocketAddr::try_from(getsockname(&socket)?)?;
        Ok((socket, bound))
    })();
    bound.map_err(|cause| ListenError::Tcp { address, cause })
}
