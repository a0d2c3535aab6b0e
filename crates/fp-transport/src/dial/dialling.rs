//! A dial that never waits, for who waits for other things as well. It is for candidates of this host that need nothing
//! but a socket: unix, and tcp over loopback without TLS. What else takes its time is left to [`super::dial`].
//!
//! The link is there with the answer to the challenge. What is sent over it goes behind that answer, in one way to the
//! peer. What comes over it is heard after the peer has said that the answer is right.

use super::attempt::{
    Connected, Failure, check_possible, check_reply, connect_at_once, failed, finish, hello_of, prove,
    watch_peer,
};
use super::{Candidates, DialError, DialOptions};
use crate::contact::Contact;
use crate::hello::{REPLY_LEN, REPLY_MAGIC, Reply};
use crate::link::Link;
use crate::memory::ProcessWatch;
use crate::negotiation::Reason;
use crate::socket::ReceiveError;
use crate::transport_kind::TransportKind;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// Where a dial stands.
#[derive(Debug)]
pub enum DialStep {
    /// The peer is to answer: go on when the descriptor is readable, or give up at the deadline.
    Waits(Box<Dialling>),
    /// The link. Flush it: the answer to the challenge waits in it for what is sent first.
    Linked(Box<Link>),
    /// The next candidate cannot be tried without waiting: the rest is for a thread that may.
    Blocks(Candidates),
    /// Nothing came of it.
    Failed(DialError),
}

/// A candidate that has been told the hello.
pub struct Dialling {
    candidates: Candidates,
    kind: TransportKind,
    connected: Connected,
    watch: Option<ProcessWatch>,
    reply: [u8; REPLY_LEN],
    heard: usize,
    descriptors: VecDeque<OwnedFd>,
}

impl Dialling {
    /// Begins to dial. Candidates that fail at once are passed over.
    pub fn begin(contact: &Contact, options: DialOptions) -> DialStep {
        begin(Candidates::of(contact, options))
    }

    /// When to give it up.
    pub fn deadline(&self) -> Instant {
        self.candidates.options.deadline
    }

    /// Gives it up: its deadline is over.
    pub fn give_up(self) -> DialError {
        self.candidates.late("the reply")
    }

    /// Goes on as far as what has come allows. Who still waits does so on the same descriptor.
    pub fn advance(mut self: Box<Self>) -> DialStep {
        match self.hear() {
            Ok(false) => DialStep::Waits(self),
            Ok(true) => self.answer(),
            Err(failure) => self.pass_over(failure),
        }
    }

    /// Reads what is here; whether the reply is whole.
    fn hear(&mut self) -> Result<bool, Failure> {
        let broken = failed("the reply");
        while let Some(rest) = self.reply.get_mut(self.heard..).filter(|rest| !rest.is_empty()) {
            match self.connected.channel.receive(&mut [IoSliceMut::new(rest)], &mut self.descriptors) {
                Ok(0) => return Err(broken(io::ErrorKind::UnexpectedEof.into())),
                Ok(received) => self.heard += received,
                Err(ReceiveError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(false);
                }
                Err(ReceiveError::Io(error)) => return Err(broken(error)),
                Err(ReceiveError::DescriptorsLost { .. }) => return Err(broken(Errno::MFILE.into())),
            }
            if self.reply.iter().take(self.heard).zip(REPLY_MAGIC).any(|(byte, magic)| *byte != magic) {
                return Err(Reason::BadAnswer.into()); // nothing of ours: no more of it is waited for
            }
        }
        Ok(true)
    }

    fn answer(mut self) -> DialStep {
        let Candidates { contact, options, .. } = &self.candidates;
        let answered = Reply::decode(&self.reply).ok_or(Reason::BadAnswer.into()).and_then(|reply| {
            let version = check_reply(contact, options, &reply)?;
            Ok((prove(self.kind, &reply, self.descriptors.pop_front())?, reply, version))
        });
        match answered {
            Ok((proof, reply, version)) => {
                let mut link = finish(options, self.kind, self.connected, &reply, version, self.watch);
                link.handshaken.negotiated.refused = self.candidates.refused;
                link.begin_with_proof(&proof.to_le_bytes());
                DialStep::Linked(Box::new(link))
            }
            Err(failure) => self.pass_over(failure),
        }
    }

    /// The others are for a thread: who was refused once is in no hurry.
    fn pass_over(self, failure: Failure) -> DialStep {
        match self.candidates.without(self.kind, failure) {
            Ok(rest) if rest.next().is_none() => DialStep::Failed(rest.exhausted()),
            Ok(rest) => DialStep::Blocks(rest),
            Err(error) => DialStep::Failed(error),
        }
    }
}

impl AsFd for Dialling {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connected.channel.as_fd()
    }
}

impl fmt::Debug for Dialling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heard = &self.heard;
        f.debug_struct("Dialling").field("candidates", &self.candidates).field("heard", heard).finish()
    }
}

fn begin(mut candidates: Candidates) -> DialStep {
    while let Some(kind) = candidates.next() {
        match say_hello(&candidates, kind) {
            Ok(Some((connected, watch))) => {
                let (reply, descriptors) = ([0; REPLY_LEN], VecDeque::new());
                let dialling = Dialling { candidates, kind, connected, watch, reply, heard: 0, descriptors };
                return DialStep::Waits(Box::new(dialling));
            }
            Ok(None) => return DialStep::Blocks(candidates),
            Err(failure) => match candidates.without(kind, failure) {
                Ok(rest) => candidates = rest,
                Err(error) => return DialStep::Failed(error),
            },
        }
    }
    DialStep::Failed(candidates.exhausted())
}

/// Connects and says the hello; `None` where that could not be done without waiting.
fn say_hello(
    candidates: &Candidates,
    kind: TransportKind,
) -> Result<Option<(Connected, Option<ProcessWatch>)>, Failure> {
    let Candidates { contact, options, .. } = candidates;
    check_possible(contact, options, kind)?;
    let Some(mut connected) = connect_at_once(contact, options, kind)? else { return Ok(None) };
    let watch = watch_peer(kind, &connected)?;
    let hello = hello_of(options, kind).encode();
    match connected.channel.send(&[IoSlice::new(&hello)], &[], usize::MAX) {
        Ok(sent) if sent == hello.len() => Ok(Some((connected, watch))),
        Ok(_) => Ok(None), // a fresh socket without room for it: who may wait begins anew
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(failed("room for the hello")(error)),
    }
}
