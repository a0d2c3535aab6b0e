//! One handshake on the accepting side: hello, reply with a challenge, proof, reply.

use super::via::Via;
use super::{Accepted, ListenOptions};
use crate::channel::Channel;
use crate::credentials::OVERFLOW_UID;
use crate::hello::{
    HELLO_LEN, HELLO_MAGIC, Hello, PROOF_LEN, Purpose, Refusal, Reply, TransportRefusal, VERSION_HIGHEST,
    VERSION_LOWEST, choose_version,
};
use crate::identity::{HostId, PeerIdentity, ProcessId, own_pid};
use crate::link::{Handshaken, Link};
use crate::memory::{ProcessWatch, seals_supported};
use crate::negotiation::Negotiated;
use crate::peer_proof::{Origin, PeerProof, ShownToken};
use crate::probe::Probe;
use crate::socket::{ReceiveError, end_sending, send_vectored};
use crate::tls::TlsFailure;
use crate::transport_kind::TransportKind;
use rustix::event::epoll;
use rustix::process::geteuid;
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// How many bytes of a refused peer are read so that it can read the refusal. Closing a socket with unread bytes would
/// destroy what was sent to it.
const DRAIN_LIMIT_BYTES: usize = 64 << 10;

/// The first byte of whoever speaks TLS.
const TLS_HANDSHAKE: u8 = 22;

/// What an advance came to.
pub(super) enum Progress {
    /// More bytes are needed.
    Waiting,
    /// It ended without a link.
    Over,
    /// It ended with one.
    Done,
}

pub(super) struct Handshake {
    channel: Channel,
    via: Via,
    pub(super) deadline: Instant,
    stage: Stage,
    input: Vec<u8>,
    /// Whether the epoll set asks for room to write.
    writing: bool,
}

enum Stage {
    Hello,
    Proof {
        hello: Box<Hello>,
        version: u16,
        probe: Probe,
        watch: Option<ProcessWatch>,
    },
    /// Refused: read until the peer closes.
    Draining {
        read_bytes: usize,
    },
}

/// How handshakes are answered: all of a listener share its options.
impl ListenOptions {
    /// Says why, and hangs up; what the peer has sent so far is not waited for.
    pub(super) fn turn_away(&self, socket: &OwnedFd, refusal: Refusal) {
        let reply = self.reply(Err(refusal), 0).encode();
        let _ = send_vectored(socket.as_fd(), &[IoSlice::new(&reply)], &[]);
        end_sending(socket.as_fd());
    }

    fn reply(&self, outcome: Result<u16, Refusal>, challenge: u128) -> Reply {
        // A stranger without the token is told nothing that it could use.
        let hidden = matches!(
            outcome,
            Err(Refusal::Token
                | Refusal::Malformed
                | Refusal::Busy
                | Refusal::TlsNeeded
                | Refusal::TlsAbsent)
        );
        Reply {
            outcome,
            state: self.state,
            version_lowest: VERSION_LOWEST,
            version_highest: VERSION_HIGHEST,
            pid: own_pid(),
            epoch: if hidden { 0 } else { self.epoch },
            process: ProcessId::own(),
            host: HostId::own(),
            challenge,
        }
    }

    /// Judges a hello: the version to speak, or why not. The token comes before anything that tells of the stream.
    fn judge(&self, hello: &Hello, via: &Via) -> Result<u16, Refusal> {
        let version = choose_version(hello.version_lowest, hello.version_highest)
            .ok_or(Refusal::Version { theirs_lowest: VERSION_LOWEST, theirs_highest: VERSION_HIGHEST })?;
        if self.token.is_some() && self.shown(hello.token.as_ref()) == ShownToken::None {
            return Err(Refusal::Token);
        }
        if hello.epoch.is_some_and(|epoch| epoch != self.epoch) {
            return Err(Refusal::Epoch { theirs: self.epoch });
        }
        check_user(via)?;
        self.check_transport(hello.transport, via).map_err(|reason| Refusal::Transport { reason })?;
        Ok(version)
    }

    fn check_transport(&self, kind: TransportKind, via: &Via) -> Result<(), TransportRefusal> {
        match (kind, via) {
            (TransportKind::Tcp, Via::Tcp { .. }) | (TransportKind::Verbs, Via::Verbs { .. }) => Ok(()),
            (TransportKind::Inproc, Via::Unix { .. }) if !self.inproc => Err(TransportRefusal::SwitchedOff),
            (TransportKind::Inproc, Via::Unix { pid, .. }) if *pid != own_pid() => {
                Err(TransportRefusal::OtherProcess)
            }
            (TransportKind::Inproc, Via::Unix { .. }) => Ok(()),
            (TransportKind::Shm, Via::Unix { .. }) if !self.shm => Err(TransportRefusal::SwitchedOff),
            (TransportKind::Shm, Via::Unix { .. }) if !seals_supported() => Err(TransportRefusal::NoSeals),
            (TransportKind::Shm, Via::Unix { .. }) => Ok(()),
            (TransportKind::Tcp | TransportKind::Verbs | TransportKind::Inproc | TransportKind::Shm, _) => {
                Err(TransportRefusal::WrongSocket)
            }
        }
    }
}

fn check_user(via: &Via) -> Result<(), Refusal> {
    match via {
        Via::Unix { uid: OVERFLOW_UID, .. } => {
            Err(Refusal::Transport { reason: TransportRefusal::OverflowUid })
        }
        Via::Unix { uid, .. } if *uid != geteuid().as_raw() => Err(Refusal::Uid),
        Via::Unix { .. } | Via::Tcp { .. } | Via::Verbs { .. } => Ok(()),
    }
}

impl Handshake {
    /// `None`: TLS has no random bytes, or no memory.
    pub(super) fn new(
        socket: OwnedFd,
        via: Via,
        deadline: Instant,
        options: &ListenOptions,
    ) -> Option<Handshake> {
        let channel = match (&options.tls, &via) {
            (Some(identity), Via::Tcp { .. }) => Channel::secured(socket, identity.listen().ok()?),
            _ => Channel::plain(socket),
        };
        Some(Handshake::over(channel, via, deadline))
    }

    /// Over a queue pair.
    pub(super) fn over(channel: Channel, via: Via, deadline: Instant) -> Handshake {
        let input = Vec::with_capacity(HELLO_LEN);
        Handshake { channel, via, deadline, stage: Stage::Hello, input, writing: false }
    }

    /// Whose it is, as far as bounds go.
    pub(super) fn origin(&self) -> Origin {
        self.via.origin()
    }

    /// Whether it has said no hello that was accepted.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self.stage, Stage::Hello | Stage::Draining { .. })
    }

    /// Says that it has to give way, unless it was told something else already.
    pub(super) fn turn_away(&mut self, options: &ListenOptions) {
        if matches!(self.stage, Stage::Hello) {
            self.channel.without_tls();
            self.say(&options.reply(Err(Refusal::Busy), 0), &[]);
            self.channel.end_raw();
        }
    }

    pub(super) fn is_over_verbs(&self) -> bool {
        matches!(self.via, Via::Verbs { .. })
    }

    /// Asks for room to write as long as something waits for it (a long chain of certificates).
    pub(super) fn watch(&mut self, epoll: &OwnedFd, key: u64) {
        let writing = self.channel.wants_write();
        if writing != self.writing {
            let mut flags = epoll::EventFlags::IN;
            flags.set(epoll::EventFlags::OUT, writing);
            let data = epoll::EventData::new_u64(key);
            self.writing = epoll::modify(epoll, &self.channel, data, flags).is_ok() && writing;
        }
    }

    /// Goes on as far as the bytes that are here allow. Over shm it takes the segment of a probe that is over, if there is
    /// one.
    pub(super) fn advance(&mut self, options: &ListenOptions, over: &mut Option<Probe>) -> Progress {
        loop {
            let step = match &self.stage {
                Stage::Hello => self.hear_hello(options, over),
                Stage::Proof { .. } => self.hear_proof(options),
                Stage::Draining { .. } => return self.drain(),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Reads until `input` has `wanted` bytes and not one more: what follows belongs to the link.
    fn read_up_to(&mut self, wanted: usize, options: &ListenOptions) -> Result<(), Option<Progress>> {
        while self.input.len() < wanted {
            let mut bytes = [0; HELLO_LEN];
            let missing = wanted - self.input.len();
            match self.receive(options, &mut bytes[..missing])? {
                0 => return Err(Some(Progress::Over)),
                received => self.input.extend_from_slice(&bytes[..received]),
            }
            if self.input.iter().zip(HELLO_MAGIC).any(|(byte, magic)| *byte != magic) && wanted == HELLO_LEN {
                return Ok(()); // no hello: refused now, rather than when all its bytes have come
            }
        }
        Ok(())
    }

    fn receive(&mut self, options: &ListenOptions, bytes: &mut [u8]) -> Result<usize, Option<Progress>> {
        // Descriptors that a peer sends with its hello are closed here.
        match self.channel.receive(&mut [IoSliceMut::new(bytes)], &mut VecDeque::new()) {
            Ok(received) => Ok(received),
            Err(ReceiveError::Io(error)) => Err(self.judge_error(options, &error)),
            Err(ReceiveError::DescriptorsLost { .. }) => Err(Some(Progress::Over)),
        }
    }

    /// What an error means: wait, the end, or (without a step) another stage.
    fn judge_error(&mut self, options: &ListenOptions, error: &io::Error) -> Option<Progress> {
        match TlsFailure::of(error) {
            None if error.kind() == io::ErrorKind::WouldBlock => Some(Progress::Waiting),
            None => Some(Progress::Over),
            Some(TlsFailure::NotTls) => {
                tracing::warn!(peer = %self.via, "a peer without TLS was refused: this side has it configured");
                self.channel.without_tls();
                self.refuse(options, Refusal::TlsNeeded)
            }
            Some(failure) => {
                tracing::warn!(peer = %self.via, %failure, "a peer was refused");
                // The alert is on its way; closing before the peer has read it could destroy it.
                self.channel.end_raw();
                self.stage = Stage::Draining { read_bytes: 0 };
                None
            }
        }
    }

    /// Why bytes are no hello: those of TLS are known by the first.
    fn no_hello(&self) -> Refusal {
        let is_tls = self.input.first() == Some(&TLS_HANDSHAKE) && !self.channel.is_encrypted();
        if is_tls && matches!(self.via, Via::Tcp { .. }) {
            tracing::warn!(peer = %self.via, "a peer that speaks TLS was refused: this side has none configured");
            return Refusal::TlsAbsent;
        }
        Refusal::Malformed
    }

    fn hear_hello(&mut self, options: &ListenOptions, over: &mut Option<Probe>) -> Option<Progress> {
        if let Err(step) = self.read_up_to(HELLO_LEN, options) {
            return step;
        }
        match self.prepare(options, over) {
            Ok((hello, version, probe, watch)) => {
                let reply = options.reply(Ok(version), probe.challenge);
                self.input.clear();
                let sent = self.say(&reply, probe.descriptor.as_slice());
                self.stage = Stage::Proof { hello: Box::new(hello), version, probe, watch };
                // Its proof needs what it has just been told.
                Some(if sent { Progress::Waiting } else { Progress::Over })
            }
            Err(refusal) => self.refuse(options, refusal),
        }
    }

    /// Judges the hello that was read, and makes what its proof needs.
    fn prepare(
        &mut self,
        options: &ListenOptions,
        over: &mut Option<Probe>,
    ) -> Result<(Hello, u16, Probe, Option<ProcessWatch>), Refusal> {
        let hello = self.input.first_chunk().ok_or(Refusal::Malformed).and_then(Hello::decode);
        let hello =
            hello.map_err(|refusal| if refusal == Refusal::Malformed { self.no_hello() } else { refusal })?;
        let version = options.judge(&hello, &self.via)?;
        let refused = |reason| Refusal::Transport { reason };
        let (probe, watch) = match hello.transport {
            TransportKind::Inproc => (Probe::inproc(), None),
            TransportKind::Tcp => (Probe::tcp(), None),
            TransportKind::Verbs => {
                (Probe::verbs(&mut self.channel).ok_or(refused(TransportRefusal::NoRoom))?, None)
            }
            TransportKind::Shm => {
                let watch = self.watch_peer().ok_or(refused(TransportRefusal::NoWatch))?;
                (Probe::shm(over.take()).ok_or(refused(TransportRefusal::NoRoom))?, Some(watch))
            }
        };
        Ok((hello, version, probe, watch))
    }

    fn watch_peer(&self) -> Option<ProcessWatch> {
        match self.via {
            Via::Unix { pid, .. } => ProcessWatch::open(pid).ok(),
            Via::Tcp { .. } | Via::Verbs { .. } => None,
        }
    }

    /// Sends a reply; a fresh socket has room for it, so a short write is a broken peer.
    fn say(&mut self, reply: &Reply, descriptors: &[Arc<OwnedFd>]) -> bool {
        let bytes = reply.encode();
        let sent = self.channel.send(&[IoSlice::new(&bytes)], descriptors, usize::MAX);
        matches!(sent, Ok(sent) if sent == bytes.len())
    }

    fn refuse(&mut self, options: &ListenOptions, refusal: Refusal) -> Option<Progress> {
        tracing::debug!(%refusal, "a peer was refused");
        self.say(&options.reply(Err(refusal), 0), &[]);
        self.channel.end_sending();
        self.stage = Stage::Draining { read_bytes: 0 };
        None
    }

    fn hear_proof(&mut self, options: &ListenOptions) -> Option<Progress> {
        if let Err(step) = self.read_up_to(PROOF_LEN, options) {
            return step;
        }
        let proof = self.input.first_chunk().map(|bytes| u128::from_le_bytes(*bytes));
        let Stage::Proof { version, probe, .. } = &self.stage else { return Some(Progress::Over) };
        if proof != Some(probe.answer) {
            return self.refuse(options, Refusal::Probe);
        }
        if self.gathers(options) {
            return Some(Progress::Done);
        }
        let reply = options.reply(Ok(*version), 0);
        Some(if self.say(&reply, &[]) { Progress::Done } else { Progress::Over })
    }

    /// Whether its last words go with the first of the link.
    fn gathers(&self, options: &ListenOptions) -> bool {
        let is_plain = !self.channel.is_encrypted() && !self.is_over_verbs();
        let is_control =
            matches!(&self.stage, Stage::Proof { hello, .. } if hello.purpose == Purpose::Control);
        options.gathers && is_plain && is_control
    }

    /// Reads what a refused peer still sends, as it comes from the socket.
    fn drain(&mut self) -> Progress {
        let mut bytes = [0; 4096];
        loop {
            let slices = &mut [IoSliceMut::new(&mut bytes)];
            match self.channel.receive_raw(slices, &mut VecDeque::new()) {
                Err(ReceiveError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Progress::Waiting;
                }
                Ok(0) | Err(_) => return Progress::Over,
                Ok(received) => {
                    let Stage::Draining { read_bytes } = &mut self.stage else { return Progress::Over };
                    *read_bytes += received;
                    if *read_bytes > DRAIN_LIMIT_BYTES {
                        return Progress::Over;
                    }
                }
            }
        }
    }

    /// The link of a finished handshake, and its probe.
    pub(super) fn into_accepted(self, options: &ListenOptions) -> Option<(Accepted, Probe)> {
        let gathers = self.gathers(options);
        let Stage::Proof { hello, version, watch, probe } = self.stage else { return None };
        let proof = PeerProof {
            certificate_names: self.channel.certificate_names(),
            token: options.shown(hello.token.as_ref()),
            place: self.via.to_string(),
            origin: self.via.origin(),
        };
        let (uid, pid, detail) = match self.via {
            Via::Unix { uid, pid } if options.tls.is_some() => {
                (Some(uid), pid, hello.transport.without_tls().to_owned())
            }
            Via::Unix { uid, pid } => (Some(uid), pid, String::new()),
            Via::Tcp { address } | Via::Verbs { address } => (None, hello.pid, address.to_string()),
        };
        let peer = PeerIdentity { process: hello.process, pid, host: hello.host, uid };
        let encrypted = self.channel.is_encrypted();
        let negotiated = Negotiated { transport: hello.transport, encrypted, detail, refused: Vec::new() };
        let handshaken = Handshaken { negotiated, peer, peer_state: 0, version, watch };
        let mut link = Link::new(self.channel, handshaken);
        if gathers {
            link.begin_with(&options.reply(Ok(version), 0).encode());
        }
        Some((Accepted { link, hello: *hello, peer, proof }, probe))
    }
}

impl AsFd for Handshake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

#[cfg(test)]
#[path = "../../tests/support/certificates.rs"]
mod certificates;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::stream_socket;
    use crate::tls::{TlsIdentity, TlsOptions};
    use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
    use rustix::net::{AddressFamily, connect};
    use rustix::time::Timespec;
    use std::mem::MaybeUninit;
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::time::Duration;

    /// An identity with more certificates than the sockets below take at once.
    fn identity() -> TlsIdentity {
        let authority = super::certificates::Authority::new();
        let own = authority.issue("flexpath");
        let chain = std::fs::read_to_string(&own.certificate).expect("a file").repeat(100);
        std::fs::write(&own.certificate, chain).expect("written");
        TlsOptions::new(&own.certificate, &own.key, authority.path()).load().expect("sound files")
    }

    /// Goes on as a dialler that has said its first words, over a socket that takes little. It reads nothing until it
    /// is told to. Gives the first reply, and the channel to be kept.
    fn dial_slowly(mut channel: Channel, deadline: Instant, go: &mpsc::Receiver<()>) -> ([u8; 96], Channel) {
        go.recv_timeout(Duration::from_secs(30)).expect("a word");
        channel.shake_hands(deadline).expect("keys");
        let hello = [
            &HELLO_MAGIC[..],
            &[VERSION_LOWEST as u8, 0, VERSION_HIGHEST as u8, 0],
            &[0; 84],
            &[1, 3],
            &[0; 34],
        ]
        .concat();
        channel.send_exact(&hello, deadline).expect("sent");
        let mut reply = [0; 96];
        channel.receive_exact(&mut reply, &mut VecDeque::new(), deadline).expect("a reply");
        (reply, channel)
    }

    /// The rest goes when epoll tells that there is room.
    #[test]
    fn a_long_chain_is_written_as_there_is_room() {
        let (tls, deadline) = (identity(), Instant::now() + Duration::from_secs(30));
        let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = stream_socket(AddressFamily::INET).expect("a socket");
        set_socket_recv_buffer_size(&near, 1).expect("a socket");
        let _ = connect(&near, &listening.local_addr().expect("bound"));
        let (far, address) = listening.accept().expect("a dialler");
        set_socket_send_buffer_size(&far, 1).expect("a socket");
        far.set_nonblocking(true).expect("a socket");
        let mut dialler = Channel::secured(near, tls.dial().expect("a connection"));
        let options = ListenOptions::new(1).with_tls(Some(tls));
        dialler.shake_hands(Instant::now()).expect_err("nobody answers yet");
        let (told, go) = mpsc::channel();
        let dialling = std::thread::spawn(move || dial_slowly(dialler, deadline, &go));
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a set");
        epoll::add(&epoll, &far, epoll::EventData::new_u64(1), epoll::EventFlags::IN).expect("watched");
        let mut handshake =
            Handshake::new(far.into(), Via::Tcp { address }, deadline, &options).expect("begun");
        let mut waited = false;
        while !matches!(handshake.stage, Stage::Proof { .. }) {
            let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
            let mut events = [MaybeUninit::uninit(); 1];
            let (ready, _) = epoll::wait(&epoll, &mut events, Some(&patience)).expect("a set");
            assert!(!ready.is_empty(), "nothing happens any more");
            assert!(matches!(handshake.advance(&options, &mut None), Progress::Waiting), "it goes on");
            handshake.watch(&epoll, 1);
            if handshake.writing && !std::mem::replace(&mut waited, true) {
                told.send(()).expect("it listens");
            }
        }
        let (reply, _channel) = dialling.join().expect("no panic");
        assert!(Reply::decode(&reply).is_some_and(|reply| reply.outcome == Ok(VERSION_HIGHEST)));
        assert!(waited, "the sockets took it all at once: this test shows nothing");
    }
}
