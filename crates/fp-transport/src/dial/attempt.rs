//! One candidate: is it possible, connect, hello, proof.

use super::DialOptions;
use crate::channel::Channel;
use crate::contact::Contact;
use crate::credentials::{Credentials, OVERFLOW_UID, peer_credentials};
use crate::hello::{
    Hello, REPLY_LEN, REPLY_MAGIC, Refusal, Reply, VERSION_HIGHEST, VERSION_LOWEST, choose_version,
};
use crate::identity::{HostId, PeerIdentity, own_pid};
use crate::link::{Handshaken, Link, LinkError};
use crate::memory::{MapOptions, MappedSegment, ProcessWatch, seals_supported};
use crate::negotiation::{Negotiated, Reason};
use crate::probe::{PROBE_LEN_BYTES, inproc_answer};
use crate::socket::{stream_socket, wait_for};
use crate::tls::TlsFailure;
use crate::transport_kind::TransportKind;
use crate::verbs::{self, Stream, VerbsTrouble};
use rustix::event::PollFlags;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{Timeout, set_socket_timeout, set_tcp_nodelay, socket_error};
use rustix::net::{AddressFamily, SocketAddrUnix, connect};
use rustix::process::geteuid;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// The longest that a candidate over verbs may take where another may follow.
const VERBS_LIMIT: Duration = Duration::from_secs(10);

/// Why a candidate did not become a link.
pub(super) enum Failure {
    /// Try the next one.
    Candidate(Reason),
    /// Every candidate would be refused.
    Final(Refusal),
    /// No time is left.
    Deadline(&'static str),
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Failure::Candidate(reason)
    }
}

/// A connected socket and what the kernel says of the other end.
pub(super) struct Connected {
    pub(super) channel: Channel,
    detail: String,
    /// Over unix sockets.
    credentials: Option<Credentials>,
}

pub(super) fn attempt(
    contact: &Contact,
    options: &DialOptions,
    kind: TransportKind,
) -> Result<Link, Failure> {
    check_possible(contact, options, kind)?;
    let (began, deadline) = (Instant::now(), deadline_of(options, kind));
    let connected = match kind {
        TransportKind::Inproc | TransportKind::Shm => connect_unix(contact, deadline),
        TransportKind::Verbs => connect_verbs(contact, options, deadline),
        TransportKind::Tcp => connect_tcp(contact, options),
    };
    match connected.and_then(|connected| shake_hands(contact, options, (kind, deadline), connected)) {
        Err(Failure::Deadline(doing))
            if kind == TransportKind::Verbs && Instant::now() < options.deadline =>
        {
            let waited_ms = began.elapsed().as_millis() as u64;
            let error = VerbsTrouble::Silent { waited_ms }.to_string();
            Err(Reason::Io { doing, error }.into())
        }
        outcome => outcome,
    }
}

/// When a candidate is given up. Over verbs silence does not say that the peer is gone. Its packets may be lost on a
/// way on which those of sockets are not. So some time is left for the next candidate, where one may follow.
fn deadline_of(options: &DialOptions, kind: TransportKind) -> Instant {
    let last = options.policy.forbid_fallback || options.policy.allow.last() == Some(&kind);
    if kind != TransportKind::Verbs || last {
        return options.deadline;
    }
    let now = Instant::now();
    now + (options.deadline.saturating_duration_since(now) / 2).min(VERBS_LIMIT)
}

pub(super) fn check_possible(
    contact: &Contact,
    options: &DialOptions,
    kind: TransportKind,
) -> Result<(), Reason> {
    match kind {
        TransportKind::Inproc if contact.process != options.process => Err(Reason::OtherProcess),
        TransportKind::Shm if contact.host == HostId::default() => Err(Reason::HostUnknown),
        TransportKind::Shm if !contact.host.matches(HostId::own()) => Err(Reason::OtherHost),
        TransportKind::Shm if !seals_supported() => Err(Reason::NoSeals),
        TransportKind::Inproc | TransportKind::Shm if contact.unix_name().is_none() => {
            Err(Reason::NoEndpoint)
        }
        TransportKind::Verbs if contact.verbs_addresses().next().is_none() => Err(Reason::NoEndpoint),
        TransportKind::Verbs if options.tls.is_some() => Err(Reason::Verbs(VerbsTrouble::Tls)),
        TransportKind::Tcp if contact.tcp_addresses().next().is_none() => Err(Reason::NoEndpoint),
        TransportKind::Tcp if contact.is_out_of_reach() => Err(Reason::LoopbackElsewhere),
        // Known before a word was said: the token must not go there in clear.
        TransportKind::Tcp if contact.speaks_tls() && options.tls.is_none() => {
            Err(Reason::Refused(Refusal::TlsNeeded))
        }
        TransportKind::Inproc | TransportKind::Shm | TransportKind::Verbs | TransportKind::Tcp => Ok(()),
    }
}

/// A step that the system refused: out of time, or a reason against this candidate.
pub(super) fn failed(doing: &'static str) -> impl Fn(io::Error) -> Failure {
    move |error| match (TlsFailure::of(&error), error.kind()) {
        (Some(failure), _) => Failure::Candidate(Reason::Tls(failure.clone())),
        (None, io::ErrorKind::TimedOut) => Failure::Deadline(doing),
        (None, _) => Failure::Candidate(Reason::io(doing, error)),
    }
}

fn connect_unix(contact: &Contact, deadline: Instant) -> Result<Connected, Failure> {
    let name = contact.unix_name().ok_or(Reason::NoEndpoint)?;
    let doing = failed("a connection to the unix socket");
    known_unix(open_unix(name, deadline).map_err(doing)?)
}

/// A socket whose other end is this user's.
fn known_unix(socket: OwnedFd) -> Result<Connected, Failure> {
    let credentials =
        peer_credentials(socket.as_fd()).map_err(|error| Reason::io("the peer's user", error))?;
    let uid = credentials.uid;
    let ours = geteuid().as_raw();
    if uid == OVERFLOW_UID {
        return Err(Reason::OverflowUid { uid }.into());
    }
    if uid != ours {
        return Err(Reason::Uid { ours, theirs: uid }.into());
    }
    Ok(Connected { channel: Channel::plain(socket), detail: String::new(), credentials: Some(credentials) })
}

/// Connects where that is done at once or not at all; `None` where it takes its time.
pub(super) fn connect_at_once(
    contact: &Contact,
    options: &DialOptions,
    kind: TransportKind,
) -> Result<Option<Connected>, Failure> {
    match kind {
        TransportKind::Inproc | TransportKind::Shm => connect_unix_at_once(contact),
        TransportKind::Tcp if options.tls.is_none() && contact.host.matches(HostId::own()) => {
            Ok(connect_loopback(contact))
        }
        TransportKind::Tcp | TransportKind::Verbs => Ok(None),
    }
}

fn connect_unix_at_once(contact: &Contact) -> Result<Option<Connected>, Failure> {
    let name = contact.unix_name().ok_or(Reason::NoEndpoint)?;
    let doing = failed("a connection to the unix socket");
    let socket = stream_socket(AddressFamily::UNIX).map_err(&doing)?;
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).map_err(|errno| doing(errno.into()))?;
    match connect(&socket, &address) {
        Ok(()) => known_unix(socket).map(Some),
        // Its backlog is full.
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(errno) => Err(doing(errno.into())),
    }
}

/// Over the loopback of this host a connection comes about in the call that asks for it, or it takes its time.
fn connect_loopback(contact: &Contact) -> Option<Connected> {
    let mut addresses = contact.tcp_addresses();
    let address = addresses.next().filter(|address| address.ip().is_loopback())?;
    if addresses.next().is_some() {
        return None;
    }
    let socket = open_tcp(address, Instant::now()).ok()?;
    Some(Connected { channel: Channel::plain(socket), detail: address.to_string(), credentials: None })
}

/// Connects while blocking, with the kernel's own time-out: a non-blocking connect to a full backlog fails at once and
/// there is nothing to wait on.
fn open_unix(name: &str, deadline: Instant) -> io::Result<OwnedFd> {
    let socket = stream_socket(AddressFamily::UNIX)?;
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
    ioctl_fionbio(&socket, false)?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        set_socket_timeout(&socket, Timeout::Send, Some(left.max(Duration::from_millis(1))))?;
        match connect(&socket, &address) {
            Ok(()) => break,
            Err(Errno::INTR) if !left.is_zero() => {}
            Err(Errno::AGAIN | Errno::INTR) => return Err(io::ErrorKind::TimedOut.into()),
            Err(errno) => return Err(errno.into()),
        }
    }
    ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// The first of the contact's RDMA devices that answers.
fn connect_verbs(contact: &Contact, options: &DialOptions, deadline: Instant) -> Result<Connected, Failure> {
    let mut last = Failure::Candidate(Reason::NoEndpoint);
    for address in contact.verbs_addresses() {
        match verbs::dial(address, &options.domain, deadline) {
            Ok(stream) => {
                let detail = format!("{} {address}", stream.device_name());
                return Ok(Connected { channel: Channel::verbs(stream), detail, credentials: None });
            }
            Err(VerbsTrouble::Silent { .. }) if Instant::now() >= options.deadline => {
                return Err(Failure::Deadline("a verbs connection"));
            }
            Err(trouble) => last = Failure::Candidate(Reason::Verbs(trouble)),
        }
    }
    Err(last)
}

/// The first of the contact's addresses that answers.
fn connect_tcp(contact: &Contact, options: &DialOptions) -> Result<Connected, Failure> {
    let doing = failed("a tcp connection");
    let mut last = Failure::Candidate(Reason::NoEndpoint);
    for address in contact.tcp_addresses() {
        match open_tcp(address, options.connect_deadline()) {
            Ok(socket) => {
                let channel = secure(socket, options)?;
                return Ok(Connected { channel, detail: address.to_string(), credentials: None });
            }
            Err(error) => last = doing(error),
        }
    }
    Err(last)
}

/// TLS, where it is configured, before anything is said that a listener on the wire must not know.
fn secure(socket: OwnedFd, options: &DialOptions) -> Result<Channel, Failure> {
    let Some(identity) = &options.tls else { return Ok(Channel::plain(socket)) };
    let broken = |error: rustls::Error| Reason::Tls(TlsFailure::Broken { error: error.to_string() });
    let mut channel = Channel::secured(socket, identity.dial().map_err(broken)?);
    match channel.shake_hands(options.deadline) {
        Ok(()) => Ok(channel),
        Err(error) if TlsFailure::of(&error) == Some(&TlsFailure::NotTls) => {
            Err(plain_answer(&mut channel, options.deadline).into())
        }
        Err(error) => Err(failed("the TLS handshake")(error)),
    }
}

/// What a listener says that does not speak TLS, or has no room. Anybody on the way could have said it, so it is told
/// and nothing follows from it.
fn plain_answer(channel: &mut Channel, deadline: Instant) -> Reason {
    let mut bytes = [0; REPLY_LEN];
    let begun = channel.without_tls();
    if begun.iter().zip(REPLY_MAGIC).any(|(byte, magic)| *byte != magic) {
        return Reason::Tls(TlsFailure::NotTls); // nothing of ours: no more of it is waited for
    }
    let (first, rest) = bytes.split_at_mut(begun.len().min(REPLY_LEN));
    first.copy_from_slice(begun.get(..first.len()).unwrap_or_default());
    let heard = channel.receive_exact(rest, &mut VecDeque::new(), deadline);
    match heard.ok().and_then(|()| Reply::decode(&bytes)?.outcome.err()) {
        Some(refusal @ (Refusal::TlsAbsent | Refusal::Busy)) => Reason::Refused(refusal),
        _ => Reason::Tls(TlsFailure::NotTls),
    }
}

fn open_tcp(address: SocketAddr, deadline: Instant) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = stream_socket(family)?;
    set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => {
            if !wait_for(socket.as_fd(), PollFlags::OUT, deadline)? {
                return Err(io::ErrorKind::TimedOut.into());
            }
            socket_error(&socket)??;
        }
        Err(errno) => return Err(errno.into()),
    }
    Ok(socket)
}

fn shake_hands(
    contact: &Contact,
    options: &DialOptions,
    (kind, deadline): (TransportKind, Instant),
    mut connected: Connected,
) -> Result<Link, Failure> {
    let watch = watch_peer(kind, &connected)?;
    let hello = hello_of(options, kind).encode();
    connected.channel.send_exact(&hello, deadline).map_err(failed("room for the hello"))?;
    let mut descriptors = VecDeque::new();
    let reply = hear_reply(&mut connected.channel, &mut descriptors, deadline)?;
    let version = check_reply(contact, options, &reply)?;
    let proof = match connected.channel.stream() {
        Some(stream) => read_probe_remotely(stream, reply.challenge, deadline)?,
        None => prove(kind, &reply, descriptors.pop_front())?,
    };
    connected.channel.send_exact(&proof.to_le_bytes(), deadline).map_err(failed("room for the proof"))?;
    let last = hear_reply(&mut connected.channel, &mut descriptors, deadline)?;
    last.outcome.map_err(refused)?;
    Ok(finish(options, kind, connected, &reply, version, watch))
}

pub(super) fn hello_of(options: &DialOptions, kind: TransportKind) -> Hello {
    Hello {
        version_lowest: VERSION_LOWEST,
        version_highest: VERSION_HIGHEST,
        epoch: options.epoch,
        token: options.token.clone(),
        process: options.process,
        host: HostId::own(),
        pid: own_pid(),
        purpose: options.purpose,
        transport: kind,
    }
}

fn hear_reply(
    channel: &mut Channel,
    descriptors: &mut VecDeque<OwnedFd>,
    deadline: Instant,
) -> Result<Reply, Failure> {
    let mut bytes = [0; REPLY_LEN];
    let (magic, rest) = bytes.split_at_mut(REPLY_MAGIC.len());
    channel.receive_exact(magic, descriptors, deadline).map_err(failed("the reply"))?;
    if magic != REPLY_MAGIC {
        return Err(Reason::BadAnswer.into()); // nothing of ours: no more of it is waited for
    }
    channel.receive_exact(rest, descriptors, deadline).map_err(failed("the reply"))?;
    Ok(Reply::decode(&bytes).ok_or(Reason::BadAnswer)?)
}

fn refused(refusal: Refusal) -> Failure {
    if refusal.is_final() { Failure::Final(refusal) } else { Failure::Candidate(Reason::Refused(refusal)) }
}

/// Believes a reply only if it is of the epoch that was asked for and of the process that the contact names.
pub(super) fn check_reply(contact: &Contact, options: &DialOptions, reply: &Reply) -> Result<u16, Failure> {
    let version = reply.outcome.map_err(refused)?;
    if choose_version(version, version) != Some(version) {
        let (theirs_lowest, theirs_highest) = (reply.version_lowest, reply.version_highest);
        return Err(Failure::Final(Refusal::Version { theirs_lowest, theirs_highest }));
    }
    if options.epoch.is_some_and(|epoch| epoch != reply.epoch) {
        return Err(Failure::Final(Refusal::Epoch { theirs: reply.epoch }));
    }
    if contact.process.is_known() && contact.process != reply.process {
        return Err(Reason::OtherAnswered { expected: contact.process, found: reply.process }.into());
    }
    Ok(version)
}

/// The answer to the challenge.
pub(super) fn prove(kind: TransportKind, reply: &Reply, descriptor: Option<OwnedFd>) -> Result<u128, Reason> {
    match kind {
        TransportKind::Tcp | TransportKind::Verbs => Ok(reply.challenge),
        TransportKind::Inproc => inproc_answer(reply.challenge).ok_or(Reason::OtherCopy),
        TransportKind::Shm => read_probe(descriptor),
    }
}

/// Over verbs the answer lies in the listener's memory, and is read from there.
fn read_probe_remotely(stream: &mut Stream, challenge: u128, deadline: Instant) -> Result<u128, Reason> {
    let (address, key) = (challenge as u64, (challenge >> 64) as u32);
    let read = stream.read_probe(address, key, deadline).map_err(LinkError::from);
    let bytes =
        read.map_err(|error| Reason::Probe { what: format!("a READ of the peer's memory: {error}") })?;
    Ok(u128::from_le_bytes(bytes))
}

fn read_probe(descriptor: Option<OwnedFd>) -> Result<u128, Reason> {
    let fd = descriptor.ok_or(Reason::Probe { what: "no descriptor came with the reply".into() })?;
    let nonce = MappedSegment::map(fd, PROBE_LEN_BYTES, MapOptions::default())
        .and_then(|segment| segment.slice(0, 16))
        .map_err(|error| Reason::Probe { what: error.to_string() })?;
    let bytes = nonce.as_ref().first_chunk().copied().unwrap_or_default();
    Ok(u128::from_le_bytes(bytes))
}

/// Over shm the other process must be visible: memory that it may still see is refilled only when it is gone.
pub(super) fn watch_peer(kind: TransportKind, connected: &Connected) -> Result<Option<ProcessWatch>, Reason> {
    let credentials = connected.credentials.filter(|_| kind == TransportKind::Shm);
    let watch = credentials.map(|Credentials { pid, .. }| ProcessWatch::open(pid)).transpose();
    watch.map_err(|error| Reason::Probe { what: error.to_string() })
}

pub(super) fn finish(
    options: &DialOptions,
    kind: TransportKind,
    mut connected: Connected,
    reply: &Reply,
    version: u16,
    watch: Option<ProcessWatch>,
) -> Link {
    if options.tls.is_some() && !connected.channel.is_encrypted() {
        connected.detail = kind.without_tls().to_owned();
    }
    let pid = connected.credentials.map_or(reply.pid, |credentials| credentials.pid);
    let uid = connected.credentials.map(|credentials| credentials.uid);
    let encrypted = connected.channel.is_encrypted();
    let negotiated = Negotiated { transport: kind, encrypted, detail: connected.detail, refused: Vec::new() };
    let peer = PeerIdentity { process: reply.process, pid, host: reply.host, uid };
    let handshaken = Handshaken { negotiated, peer, peer_state: reply.state, version, watch };
    Link::new(connected.channel, handshaken)
}
