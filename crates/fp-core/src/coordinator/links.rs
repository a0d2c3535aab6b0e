//! The control links of an endpoint: messages in and out, never blocking.

use fp_proto::bounds::LIMIT_LONG_BYTES;
use fp_proto::codec;
use fp_proto::effect::PeerId;
use fp_proto::message::Message;
use fp_transport::{InFrame, Link, LinkError, PeerProof, RingWatch};
use fp_types::NumberMap;
use rustix::event::epoll;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Messages that one turn takes from one link, so that a fast peer cannot keep the coordinator for ever.
const LIMIT_MESSAGES: usize = 256;

/// Bytes that may wait for a peer to read them: the longest message, and what else may come meanwhile.
const LIMIT_WAITING_BYTES: u64 = LIMIT_LONG_BYTES as u64 + fp_transport::link::SEND_LIMIT_BYTES;

struct Entry {
    link: Link,
    /// Who dialled, where this side did not.
    proof: Option<Arc<PeerProof>>,
    /// Whether the epoll set asks for room to write.
    writing: bool,
    /// Nothing can be sent any more; what the peer said before is still to be read.
    broken: bool,
    /// More was here than one turn takes.
    unfinished: bool,
    /// The socket was readable and was not looked at, as a message was here without that.
    is_owed_a_look: bool,
}

/// Where a turn looks for messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// What is here already, in a ring above all.
    Here,
    /// The socket too, which is readable.
    Socket,
}

/// What one turn has taken from one link.
#[derive(Default)]
pub(crate) struct Turn {
    messages: usize,
    /// Whether the socket was asked, which is done once.
    asked: bool,
}

/// The control links by peer; a peer's number is its token.
pub(crate) struct Links {
    entries: NumberMap<u64, Entry>,
    next: u64,
    /// What was received last: its memory is for what comes next.
    frame: InFrame,
    /// Whether all peers put messages into their rings without ringing.
    silent: bool,
}

impl Links {
    pub(crate) fn new(first: u64) -> Self {
        Self { entries: NumberMap::default(), next: first, frame: InFrame::default(), silent: false }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes a link over; `None` if it cannot be watched.
    pub(crate) fn add(
        &mut self,
        link: Link,
        proof: Option<PeerProof>,
        set: BorrowedFd<'_>,
    ) -> Option<PeerId> {
        let token = self.next_token();
        let data = epoll::EventData::new_u64(token);
        epoll::add(set, link.as_fd(), data, epoll::EventFlags::IN).ok()?;
        self.insert(token, link, proof);
        Some(PeerId(token))
    }

    /// A token that no link had and no other will have.
    pub(crate) fn next_token(&mut self) -> u64 {
        let token = self.next;
        self.next += 1;
        token
    }

    /// Takes a link over that the epoll set watches under this token already.
    pub(crate) fn adopt(&mut self, token: u64, link: Link) {
        self.insert(token, link, None);
    }

    fn insert(&mut self, token: u64, mut link: Link, proof: Option<PeerProof>) {
        link.set_send_limit_bytes(LIMIT_WAITING_BYTES);
        self.silent = false;
        self.entries.insert(
            token,
            Entry {
                link,
                proof: proof.map(Arc::new),
                writing: false,
                broken: false,
                unfinished: false,
                is_owed_a_look: false,
            },
        );
    }

    /// Writes what waits, as far as there is room. That the link is broken is heard by who receives.
    pub(crate) fn flush(&mut self, token: u64, set: BorrowedFd<'_>) {
        if let Some(entry) = self.entries.get_mut(&token) {
            entry.broken |= entry.link.flush().is_err();
            entry.watch(token, set);
        }
    }

    /// Sends, or queues what the kernel does not take now; the peer's number if the peer does not read.
    ///
    /// A broken link is not given up here. What its peer said before it went is still to be heard, and after it the
    /// end.
    pub(crate) fn send(&mut self, to: PeerId, message: &Message, set: BorrowedFd<'_>) -> Result<(), PeerId> {
        let Some(entry) = self.entries.get_mut(&to.0).filter(|entry| !entry.broken) else { return Ok(()) };
        match entry.link.send_head(&codec::encode(message)) {
            Ok(()) => entry.watch(to.0, set),
            Err(LinkError::Closed | LinkError::Lost(_)) => entry.broken = true,
            Err(error) => {
                tracing::warn!(%error, peer = to.0, "a peer does not read its control link");
                self.entries.remove(&to.0);
                return Err(to);
            }
        }
        Ok(())
    }

    /// The next of the messages that are here; after as many as one turn takes there is none. `Err` with the peer if
    /// the link is lost.
    pub(crate) fn receive(
        &mut self,
        token: u64,
        from: From,
        turn: &mut Turn,
    ) -> Result<Option<Message>, PeerId> {
        let Some(entry) = self.entries.get_mut(&token) else { return Ok(None) };
        match entry.receive(from, turn, &mut self.frame) {
            Ok(received) => Ok(received),
            Err(()) => {
                self.entries.remove(&token);
                Err(PeerId(token))
            }
        }
    }

    /// Watches for room to write, if something waits to be written. Says whether the turn left some of what was here.
    pub(crate) fn end_turn(&mut self, token: u64, set: BorrowedFd<'_>) -> bool {
        let Some(entry) = self.entries.get_mut(&token) else { return false };
        entry.watch(token, set);
        entry.unfinished
    }

    /// What is known for sure of a peer that dialled this side.
    pub(crate) fn proof(&self, token: u64) -> Option<Arc<PeerProof>> {
        self.entries.get(&token).and_then(|entry| entry.proof.clone())
    }

    /// How bytes go over each link, and why no faster.
    pub(crate) fn described(&self) -> BTreeMap<PeerId, (String, String)> {
        self.entries.iter().map(|(&token, entry)| (PeerId(token), entry.link.negotiated().told())).collect()
    }

    /// Has the peers put messages into their rings without ringing.
    pub(crate) fn be_silent(&mut self) {
        if std::mem::replace(&mut self.silent, true) {
            return;
        }
        for entry in self.entries.values_mut() {
            entry.link.arm(false);
        }
    }

    /// As [`Links::be_silent`], and gives what sees messages come.
    pub(crate) fn watch(&mut self) -> Vec<RingWatch> {
        self.be_silent();
        self.entries.values().filter_map(|entry| entry.link.watch_ring()).collect()
    }

    /// Has the peers ring again; gives the links that have something already.
    pub(crate) fn be_rung(&mut self) -> impl Iterator<Item = u64> {
        self.silent = false;
        self.entries.iter_mut().filter_map(|(&token, entry)| entry.link.arm(true).then_some(token))
    }

    /// The links that have something here.
    pub(crate) fn here(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().filter(|(_, entry)| entry.link.has_buffered()).map(|(&token, _)| token)
    }

    /// The links whose sockets were readable and were not looked at. Mostly there is a bell that was heard already, and to
    /// read it would have kept the message waiting that it told of.
    pub(crate) fn owed(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().filter(|(_, entry)| entry.is_owed_a_look).map(|(&token, _)| token)
    }

    /// The links where a turn left some of what was here.
    pub(crate) fn unfinished(&self) -> Vec<u64> {
        self.entries.iter().filter(|(_, entry)| entry.unfinished).map(|(&token, _)| token).collect()
    }

    /// Flushes and closes.
    pub(crate) fn close(&mut self, peer: PeerId) {
        if let Some(mut entry) = self.entries.remove(&peer.0) {
            // What the kernel does not take now is lost with the link; a farewell always fits.
            let _ = entry.link.flush();
        }
    }
}

impl Entry {
    fn receive(&mut self, from: From, turn: &mut Turn, frame: &mut InFrame) -> Result<Option<Message>, ()> {
        if turn.messages == 0 && self.link.wants_write() {
            self.broken |= self.link.flush().is_err();
        }
        self.unfinished = turn.messages >= LIMIT_MESSAGES;
        if self.unfinished {
            return Ok(None);
        }
        turn.messages += 1;
        if from == From::Socket && turn.messages == 1 {
            self.is_owed_a_look = self.link.has_buffered();
        }
        let looks = from == From::Socket && !self.is_owed_a_look && !turn.asked;
        let came = if looks { self.link.recv_into(frame) } else { self.link.recv_here_into(frame) };
        turn.asked |= looks && self.link.has_asked();
        match came {
            Ok(true) => codec::decode(&frame.head).map(Some).map_err(|error| {
                tracing::warn!(%error, peer = ?self.link.peer(), "a peer misbehaved");
            }),
            Ok(false) => Ok(None),
            Err(LinkError::Closed) => Err(()),
            Err(error) => {
                tracing::debug!(%error, "control link lost");
                Err(())
            }
        }
    }

    fn watch(&mut self, token: u64, set: BorrowedFd<'_>) {
        let wants = self.link.wants_write();
        if wants == self.writing {
            return;
        }
        let mut flags = epoll::EventFlags::IN;
        flags.set(epoll::EventFlags::OUT, wants);
        if epoll::modify(set, self.link.as_fd(), epoll::EventData::new_u64(token), flags).is_ok() {
            self.writing = wants;
        }
    }
}
