//! One handshake on the accepting side: hello, reply with a challenge, proof, reply.

use super::probe::Probe;
use super::{Accepted, ListenOptions};
use crate::hello::{
    HELLO_LEN, HELLO_MAGIC, Hello, PROOF_LEN, Refusal, Reply, Token, TransportRefusal, VERSION_HIGHEST,
    VERSION_LOWEST, choose_version,
};
use crate::identity::{HostId, PeerIdentity, ProcessId, own_pid};
use crate::link::{Handshaken, Link};
use crate::memory::{ProcessWatch, seals_supported};
use crate::negotiate::{Negotiated, TransportKind};
use crate::socket::{ReceiveError, end_sending, receive_vectored, send_vectored};
use rustix::process::geteuid;
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// The id that the kernel shows for users that a user namespace does not know.
pub(crate) const OVERFLOW_UID: u32 = 65534;
/// Bytes of a refused peer that are read so that it can read the refusal (closing a socket with unread bytes would
/// destroy what was sent to it).
const DRAIN_LIMIT_BYTES: usize = 64 << 10;

/// What all handshakes of a listener share.
pub(super) struct House {
    epoch: u128,
    token: Option<Token>,
    shm: bool,
    inproc: bool,
    pub(super) state: u8,
}

/// How a peer came in.
pub(super) enum Via {
    Unix { uid: u32, pid: u32 },
    Tcp { address: SocketAddr },
}

/// What an advance came to.
pub(super) enum Step {
    /// More bytes are needed.
    Waiting,
    /// It ended without a link.
    Over,
    /// It ended with one.
    Done,
}

pub(super) struct Handshake {
    socket: OwnedFd,
    via: Via,
    pub(super) deadline: Instant,
    stage: Stage,
    input: Vec<u8>,
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

impl House {
    pub(super) fn new(options: &ListenOptions) -> House {
        House {
            epoch: options.epoch,
            token: options.token.clone(),
            shm: options.shm,
            inproc: options.inproc,
            state: options.state,
        }
    }

    /// Says why, and hangs up; what the peer has sent so far is not waited for.
    pub(super) fn turn_away(&self, socket: &OwnedFd, refusal: Refusal) {
        let reply = self.reply(Err(refusal), 0).encode();
        let _ = send_vectored(socket.as_fd(), &[IoSlice::new(&reply)], &[]);
        end_sending(socket.as_fd());
    }

    fn reply(&self, outcome: Result<u16, Refusal>, challenge: u128) -> Reply {
        // A stranger without the token is told nothing that it could use.
        let hidden = matches!(outcome, Err(Refusal::Token | Refusal::Malformed | Refusal::Busy));
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
        if self.token.as_ref().is_some_and(|token| !token.matches(hello.token.as_ref())) {
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
            (TransportKind::Tcp, Via::Tcp { .. }) => Ok(()),
            (TransportKind::Inproc, Via::Unix { .. }) if !self.inproc => Err(TransportRefusal::SwitchedOff),
            (TransportKind::Inproc, Via::Unix { pid, .. }) if *pid != own_pid() => {
                Err(TransportRefusal::OtherProcess)
            }
            (TransportKind::Inproc, Via::Unix { .. }) => Ok(()),
            (TransportKind::Shm, Via::Unix { .. }) if !self.shm => Err(TransportRefusal::SwitchedOff),
            (TransportKind::Shm, Via::Unix { .. }) if !seals_supported() => Err(TransportRefusal::NoSeals),
            (TransportKind::Shm, Via::Unix { .. }) => Ok(()),
            (TransportKind::Tcp | TransportKind::Inproc | TransportKind::Shm, _) => {
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
        Via::Unix { .. } | Via::Tcp { .. } => Ok(()),
    }
}

impl Handshake {
    pub(super) fn new(socket: OwnedFd, via: Via, deadline: Instant) -> Handshake {
        Handshake { socket, via, deadline, stage: Stage::Hello, input: Vec::with_capacity(HELLO_LEN) }
    }

    /// Goes on as far as the bytes that are here allow.
    pub(super) fn advance(&mut self, house: &House) -> Step {
        loop {
            let step = match &self.stage {
                Stage::Hello => self.hear_hello(house),
                Stage::Proof { .. } => return self.hear_proof(house),
                Stage::Draining { .. } => return self.drain(),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Reads until `input` has `wanted` bytes and not one more: what follows belongs to the link.
    fn read_up_to(&mut self, wanted: usize) -> Option<Step> {
        while self.input.len() < wanted {
            let mut bytes = [0; HELLO_LEN];
            let missing = wanted - self.input.len();
            match self.receive(&mut bytes[..missing]) {
                Ok(0) => return Some(Step::Over),
                Ok(received) => self.input.extend_from_slice(&bytes[..received]),
                Err(step) => return Some(step),
            }
            if self.input.iter().zip(HELLO_MAGIC).any(|(byte, magic)| *byte != magic) && wanted == HELLO_LEN {
                return None; // no hello: refused now, rather than when all its bytes have come
            }
        }
        None
    }

    fn receive(&self, bytes: &mut [u8]) -> Result<usize, Step> {
        // Descriptors that a peer sends with its hello are closed here.
        match receive_vectored(self.socket.as_fd(), &mut [IoSliceMut::new(bytes)], &mut VecDeque::new()) {
            Ok(received) => Ok(received),
            Err(ReceiveError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Err(Step::Waiting),
            Err(_) => Err(Step::Over),
        }
    }

    fn hear_hello(&mut self, house: &House) -> Option<Step> {
        if let Some(step) = self.read_up_to(HELLO_LEN) {
            return Some(step);
        }
        let hello = self.input.first_chunk().ok_or(Refusal::Malformed).and_then(Hello::decode);
        let judged = hello.and_then(|hello| house.judge(&hello, &self.via).map(|version| (hello, version)));
        let prepared = judged.and_then(|(hello, version)| self.prepare(hello, version));
        match prepared {
            Ok((hello, version, probe, watch)) => {
                let reply = house.reply(Ok(version), probe.challenge);
                self.input.clear();
                let sent = self.say(&reply, &probe);
                self.stage = Stage::Proof { hello: Box::new(hello), version, probe, watch };
                (!sent).then_some(Step::Over)
            }
            Err(refusal) => self.refuse(house, refusal),
        }
    }

    fn prepare(
        &self,
        hello: Hello,
        version: u16,
    ) -> Result<(Hello, u16, Probe, Option<ProcessWatch>), Refusal> {
        let refused = |reason| Refusal::Transport { reason };
        let (probe, watch) = match hello.transport {
            TransportKind::Inproc => (Probe::inproc(), None),
            TransportKind::Tcp => (Probe::tcp(), None),
            TransportKind::Shm => {
                let watch = self.watch_peer().ok_or(refused(TransportRefusal::NoWatch))?;
                (Probe::shm().ok_or(refused(TransportRefusal::NoRoom))?, Some(watch))
            }
        };
        Ok((hello, version, probe, watch))
    }

    fn watch_peer(&self) -> Option<ProcessWatch> {
        match self.via {
            Via::Unix { pid, .. } => ProcessWatch::open(pid).ok(),
            Via::Tcp { .. } => None,
        }
    }

    /// Sends a reply; a fresh socket has room for it, so a short write is a broken peer.
    fn say(&self, reply: &Reply, probe: &Probe) -> bool {
        let bytes = reply.encode();
        let sent = send_vectored(self.socket.as_fd(), &[IoSlice::new(&bytes)], probe.descriptor.as_slice());
        matches!(sent, Ok(sent) if sent == bytes.len())
    }

    fn refuse(&mut self, house: &House, refusal: Refusal) -> Option<Step> {
        tracing::debug!(%refusal, "a peer was refused");
        house.turn_away(&self.socket, refusal);
        self.stage = Stage::Draining { read_bytes: 0 };
        None
    }

    fn hear_proof(&mut self, house: &House) -> Step {
        if let Some(step) = self.read_up_to(PROOF_LEN) {
            return step;
        }
        let proof = self.input.first_chunk().map(|bytes| u128::from_le_bytes(*bytes));
        let Stage::Proof { version, probe, .. } = &self.stage else { return Step::Over };
        if proof != Some(probe.answer) {
            self.refuse(house, Refusal::Probe);
            return self.drain();
        }
        let bytes = house.reply(Ok(*version), 0).encode();
        match send_vectored(self.socket.as_fd(), &[IoSlice::new(&bytes)], &[]) {
            Ok(sent) if sent == bytes.len() => Step::Done,
            _ => Step::Over,
        }
    }

    fn drain(&mut self) -> Step {
        let mut bytes = [0; 4096];
        loop {
            match self.receive(&mut bytes) {
                Ok(0) => return Step::Over,
                Ok(received) => {
                    let Stage::Draining { read_bytes } = &mut self.stage else { return Step::Over };
                    *read_bytes += received;
                    if *read_bytes > DRAIN_LIMIT_BYTES {
                        return Step::Over;
                    }
                }
                Err(step) => return step,
            }
        }
    }

    /// The link of a finished handshake.
    pub(super) fn into_accepted(self) -> Option<Accepted> {
        let Stage::Proof { hello, version, watch, .. } = self.stage else { return None };
        let (uid, pid, detail) = match self.via {
            Via::Unix { uid, pid } => (Some(uid), pid, String::new()),
            Via::Tcp { address } => (None, hello.pid, address.to_string()),
        };
        let peer = PeerIdentity { process: hello.process, pid, host: hello.host, uid };
        let negotiated = Negotiated { transport: hello.transport, detail, refused: Vec::new() };
        let done = Handshaken { socket: self.socket, negotiated, peer, peer_state: 0, version, watch };
        Some(Accepted { link: Link::new(done), hello: *hello, peer })
    }
}

impl AsFd for Handshake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
