//! Bytes in order over a queue pair, as a socket would carry them, with credit.
//!
//! Each end posts [`SLOTS`] receives. A message takes one of the peer's, and every message tells beside its bytes how
//! many receives were posted anew. The last credit is kept for a message of credit alone. So whoever reads can always
//! say so, and a message never comes for which no receive is posted.
//!
//! The descriptor is an epoll set: completions, the connection's events, the device's, and a bell of this side. The
//! bell is rung when something is here that no completion will tell of any more.
//!
//! One message for each frame would need a second kind of framing, for heads and bodies beyond a message
//! (`docs/decisions/0026-verbs-carry-bytes-and-payload-goes-beside-them.md`).

use super::connection::{EventSource, Identifier};
use super::domain::Domain;
use super::error::{Breakage, VerbsTrouble};
use super::filled_slot::fill;
use super::protection::Protection;
use super::queue::{Kind, Queue, SLOT_BYTES, SLOTS, kind_of};
use super::read_requests::Reads;
use super::sys::{self, Wc};
use crate::socket::timespec;
use rustix::event::{EventfdFlags, PollFd, PollFlags, epoll, eventfd, poll};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The word beside a message: how many receives were posted since the last one, and whether it is the end.
const END: u32 = 1 << 31;
/// Receives that are told of by themselves, where no message of this side tells of them.
const TELL: usize = SLOTS / 2;
/// How long an end waits for what was sent to arrive. The peer's process need not read for that.
const LINGER: Duration = Duration::from_secs(1);

/// A connection, as a link sees it.
pub(crate) struct Stream {
    pub(super) queue: Queue,
    set: OwnedFd,
    bell: Arc<OwnedFd>,
    completions: Vec<Wc>,
    /// Slots that can be filled.
    empty: Vec<usize>,
    /// Messages that came: slot, bytes taken, bytes.
    arrived: VecDeque<(usize, usize, usize)>,
    /// Messages that the peer has room for.
    credits: usize,
    /// Receives posted anew that the peer was not told of.
    owed: usize,
    /// Messages under way.
    flying: usize,
    pub(super) reads: Reads,
    /// How long a wait looks again and again before it sleeps.
    pub(super) busy_poll: Duration,
    pub(super) domain: Domain,
    ending: Ending,
    /// The peer's end came.
    peer_ended: bool,
    pub(super) broken: Option<Breakage>,
    /// The bell was rung.
    rung: bool,
    /// More is to be sent than was taken: the holder is to be told of room.
    unsent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Open,
    /// To be told as soon as there is credit.
    Due,
    Told,
}

impl Stream {
    /// Over a queue pair whose connection is being made.
    pub(super) fn new(
        source: EventSource,
        identifier: Identifier,
        domain: &Domain,
    ) -> Result<Stream, VerbsTrouble> {
        Stream::of(Queue::new(source, identifier, domain)?, domain)
    }

    pub(super) fn of(queue: Queue, domain: &Domain) -> Result<Stream, VerbsTrouble> {
        let no_descriptor = VerbsTrouble::of_call("epoll");
        let set = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(&no_descriptor)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(&no_descriptor)?;
        for fd in [queue.fd(), queue.source.fd(), queue.device().events(), bell.as_fd()] {
            let data = epoll::EventData::new_u64(0);
            epoll::add(&set, fd, data, epoll::EventFlags::IN).map_err(&no_descriptor)?;
        }
        let bell = Arc::new(bell);
        queue.device().add_bell(Arc::downgrade(&bell));
        let mut stream = Stream {
            queue,
            set,
            bell,
            completions: Vec::with_capacity(SLOTS),
            empty: (0..SLOTS).collect(),
            arrived: VecDeque::with_capacity(SLOTS),
            credits: SLOTS,
            owed: 0,
            flying: 0,
            reads: Reads::default(),
            busy_poll: Duration::ZERO,
            domain: domain.clone(),
            ending: Ending::Open,
            peer_ended: false,
            broken: None,
            rung: false,
            unsent: false,
        };
        stream.queue.arm(false)?;
        Ok(stream)
    }

    /// Sends what there is room for, at most `limit` bytes; says how many.
    pub(crate) fn send(&mut self, slices: &[IoSlice<'_>], limit: usize) -> io::Result<usize> {
        let wanted = slices.iter().map(|slice| slice.len()).sum::<usize>().min(limit);
        let mut sent = 0;
        self.unsent = false;
        while sent < wanted {
            if self.broken.is_some() || self.ending != Ending::Open {
                return if sent > 0 { Ok(sent) } else { Err(io::ErrorKind::BrokenPipe.into()) };
            }
            let slot = if self.credits > 1 { self.empty.pop() } else { None };
            let Some(slot) = slot else {
                if self.progress() || self.stall() {
                    continue;
                }
                self.unsent = true;
                self.remind();
                return if sent > 0 { Ok(sent) } else { Err(io::ErrorKind::WouldBlock.into()) };
            };
            let len = fill(self.queue.outgoing(slot), slices, sent, wanted - sent);
            let word = self.word();
            if let Err(trouble) = self.queue.post_send(slot, len, word) {
                return Err(self.give_up(trouble));
            }
            (self.credits, self.flying, sent) = (self.credits - 1, self.flying + 1, sent + len);
        }
        self.remind();
        Ok(sent)
    }

    /// Receives what is here; 0 bytes is the end.
    pub(crate) fn receive(&mut self, slices: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        while self.arrived.is_empty() {
            if self.progress() || self.stall() {
                continue;
            }
            self.quieten();
            return match self.broken {
                _ if self.peer_ended => Ok(0),
                Some(_) => Err(io::ErrorKind::ConnectionReset.into()),
                None => Err(io::ErrorKind::WouldBlock.into()),
            };
        }
        let mut received = 0;
        for slice in slices {
            let mut filled = 0;
            while filled < slice.len() {
                let Some((slot, taken, len)) = self.arrived.front_mut() else { break };
                let message = self.queue.received(*slot, *len).get(*taken..).unwrap_or_default();
                let bytes = message.len().min(slice.len() - filled);
                if let (Some(to), Some(from)) = (slice.get_mut(filled..filled + bytes), message.get(..bytes))
                {
                    to.copy_from_slice(from);
                }
                (*taken, filled) = (*taken + bytes, filled + bytes);
                if taken == len {
                    let slot = *slot;
                    self.arrived.pop_front();
                    self.post_anew(slot);
                }
            }
            received += filled;
        }
        Ok(received)
    }

    /// Whether bytes are here that no completion will tell of.
    pub(crate) fn has_buffered(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Says that nothing more will be sent.
    pub(crate) fn end_sending(&mut self) {
        if self.ending == Ending::Open {
            self.ending = Ending::Due;
            self.tell();
        }
    }

    /// Breaks the connection. Whether the peer's access to this side's memory has ended is `revoke`'s to say.
    pub(crate) fn break_off(&mut self, breakage: Breakage) {
        if self.broken.is_none() {
            self.broken = Some(breakage);
            if let Err(trouble) = self.queue.identifier.end_access() {
                tracing::warn!(%trouble, "a broken verbs connection");
            }
            self.queue.identifier.disconnect();
        }
    }

    /// Breaks the connection, if it is not. After success the peer reads nothing of this side's memory any more,
    /// however the connection came to break; after an error it might.
    pub(crate) fn revoke(&mut self) -> Result<(), VerbsTrouble> {
        self.break_off(Breakage::Ended);
        self.queue.identifier.end_access()
    }

    /// Why it is broken, if it is.
    pub(crate) fn breakage(&self) -> Option<Breakage> {
        self.broken
    }

    /// The device that it goes over.
    pub(crate) fn device_name(&self) -> &str {
        &self.queue.device().name
    }

    pub(crate) fn protection(&self) -> &Arc<Protection> {
        &self.queue.protection
    }

    /// Sets how long a wait looks again and again before it sleeps.
    pub(crate) fn set_busy_poll(&mut self, at_most: Duration) {
        self.busy_poll = at_most;
    }

    /// Looks again and again whether something came, until the deadline or for as long as is allowed; whether it did.
    pub(crate) fn look(&mut self, deadline: Instant) -> bool {
        let until = deadline.min(Instant::now() + self.busy_poll);
        while !self.busy_poll.is_zero() && Instant::now() < until {
            if self.glance() {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// Looks once whether something came.
    pub(crate) fn glance(&mut self) -> bool {
        self.progress() && (self.has_buffered() || self.peer_ended || self.broken.is_some())
    }

    /// How long a wait looks again and again.
    pub(crate) fn busy_poll(&self) -> Duration {
        self.busy_poll
    }

    /// Puts an answer where the peer can read it; says where: address and key.
    pub(crate) fn offer_probe(&mut self, answer: u128) -> (u64, u32) {
        if let Some(place) = self.queue.probe().first_chunk_mut() {
            *place = answer.to_le_bytes();
        }
        self.queue.probe_place()
    }

    /// Waits until something may have come that makes room to send; `false` when the deadline is over.
    pub(crate) fn await_room(&mut self, deadline: Instant) -> io::Result<bool> {
        if self.has_room_for_unsent() {
            return Ok(true);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let fds = self.wakers();
        let mut fds: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        match poll(&mut fds, Some(&timespec(left))) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }

    /// What tells of completions, of the connection's end and of the device's.
    pub(super) fn wakers(&self) -> [BorrowedFd<'_>; 3] {
        [self.queue.fd(), self.queue.source.fd(), self.queue.device().events()]
    }

    /// More waits than one call sends, though there may be room: no completion need tell of that.
    pub(crate) fn leave_unsent(&mut self) {
        self.unsent = true;
        self.ring();
    }

    /// Whether there is room for what was not taken. A completion that made it may have been handled by who received, and
    /// tells of it no more.
    fn has_room_for_unsent(&self) -> bool {
        let is_open = self.ending == Ending::Open && self.broken.is_none();
        self.unsent && is_open && self.credits > 1 && !self.empty.is_empty()
    }

    /// Makes the descriptor readable, for what is here already.
    pub(crate) fn ring(&mut self) {
        self.rung = true;
        let _ = rustix::io::write(&*self.bell, &1u64.to_ne_bytes());
    }

    /// Rings for what came while nobody received: its completions are taken, and tell of it no more.
    pub(super) fn remind(&mut self) {
        let news = !self.arrived.is_empty() || self.peer_ended || self.broken.is_some();
        if news && !self.rung {
            self.ring();
        }
    }

    /// Nothing is here any more. The descriptor stays readable as long as there is room for what is to be sent, as a socket's
    /// stays writable.
    fn quieten(&mut self) {
        if self.has_room_for_unsent() {
            if !self.rung {
                self.ring();
            }
        } else if std::mem::take(&mut self.rung) {
            let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
        }
    }

    /// Handles the completions that are here; whether there were any.
    pub(super) fn progress(&mut self) -> bool {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self.queue.poll(&mut completions);
        let any = !completions.is_empty();
        completions.drain(..).for_each(|completion| self.complete(&completion));
        self.completions = completions;
        if let Err(trouble) = polled {
            self.give_up(trouble);
        }
        any
    }

    /// Before waiting: asks to be woken, and looks once more. Whether anything was there.
    pub(super) fn stall(&mut self) -> bool {
        let any = self.empty.is_empty() || self.reads.under_way() > 0 || self.ending == Ending::Due;
        if let Err(trouble) = self.queue.arm(any) {
            self.give_up(trouble);
            return false;
        }
        self.hear_all()
    }

    /// Hears of the connection and of the device, and handles completions; whether there was anything.
    fn hear_all(&mut self) -> bool {
        let heard = self.hear();
        self.progress() || heard
    }

    fn complete(&mut self, completion: &Wc) {
        let (kind, slot) = kind_of(completion.wr_id);
        match kind {
            Kind::Send => {
                self.empty.push(slot);
                self.flying = self.flying.saturating_sub(1);
            }
            Kind::Word => self.flying = self.flying.saturating_sub(1),
            Kind::Read => self.reads.complete(slot),
            Kind::Receive => {}
        }
        match (completion.status, kind) {
            (0, Kind::Receive) => self.arrive(slot, completion),
            (0, Kind::Send | Kind::Word | Kind::Read) => {}
            (sys::WC_WR_FLUSH_ERR, _) => self.break_off(Breakage::Gone),
            (status, _) => self.break_off(Breakage::Status { status }),
        }
    }

    fn arrive(&mut self, slot: usize, completion: &Wc) {
        let (word, len_bytes) = (u32::from_be(completion.imm_data), completion.byte_len as usize);
        self.credits += (word & !END) as usize;
        self.peer_ended |= word & END != 0;
        if self.credits > SLOTS || len_bytes > SLOT_BYTES {
            return self.break_off(Breakage::Misbehaved);
        }
        match len_bytes {
            0 => self.post_anew(slot),
            len => self.arrived.push_back((slot, 0, len)),
        }
        if self.ending == Ending::Due {
            self.tell();
        }
    }

    /// Gives a slot back, and says so if the peer might wait for it.
    fn post_anew(&mut self, slot: usize) {
        if self.broken.is_some() {
            return;
        }
        if let Err(trouble) = self.queue.post_receive(slot) {
            self.give_up(trouble);
            return;
        }
        self.owed += 1;
        if self.owed >= TELL {
            self.tell();
        }
    }

    /// A message of credit alone, or the end.
    fn tell(&mut self) {
        if self.credits == 0 || self.broken.is_some() {
            return;
        }
        let end = if self.ending == Ending::Due { END } else { 0 };
        let word = self.word() | end;
        match self.queue.post_word(word) {
            Ok(()) => (self.credits, self.flying) = (self.credits - 1, self.flying + 1),
            Err(trouble) => drop(self.give_up(trouble)),
        }
        if end != 0 {
            self.ending = Ending::Told;
        }
    }

    fn word(&mut self) -> u32 {
        std::mem::take(&mut self.owed) as u32
    }

    /// Hears of the connection and of the device; whether there was anything.
    pub(super) fn hear(&mut self) -> bool {
        let fds = [self.queue.source.fd(), self.queue.device().events(), self.bell.as_fd()];
        let mut ready = fds.each_ref().map(|fd| PollFd::new(fd, PollFlags::IN));
        let instant = timespec(Duration::ZERO);
        let any = poll(&mut ready, Some(&instant)).is_ok_and(|count| count > 0);
        let [source, device, rung] = ready.map(|fd| any && !fd.revents().is_empty());
        self.rung |= rung;
        if device {
            self.queue.device().hear_events();
        }
        if self.queue.device().is_down(self.queue.identifier.port()) && self.broken.is_none() {
            self.break_off(Breakage::Device);
            return true;
        }
        let mut heard = false;
        while let Some(happening) = source.then(|| self.queue.source.next()).flatten() {
            match happening.event {
                sys::CM_DISCONNECTED => {
                    // What came before the end is heard first.
                    while self.progress() {}
                    self.break_off(Breakage::Gone);
                }
                sys::CM_DEVICE_REMOVAL => {
                    self.queue.device().remove();
                    self.break_off(Breakage::Device);
                }
                _ => {}
            }
            heard = true;
        }
        heard
    }

    pub(super) fn give_up(&mut self, trouble: VerbsTrouble) -> io::Error {
        tracing::debug!(%trouble, "a verbs connection is given up");
        self.break_off(Breakage::Ended);
        io::Error::other(trouble)
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.set.as_fd()
    }
}

impl Drop for Stream {
    /// What was taken is still delivered, as by a socket. But nobody does it when this is gone. So this waits for it,
    /// for a moment, and not at all when the peer is known to be gone.
    fn drop(&mut self) {
        self.end_sending();
        let deadline = Instant::now() + LINGER;
        while self.broken.is_none()
            && (self.flying > 0 || self.ending == Ending::Due)
            && Instant::now() < deadline
        {
            let came = self.progress() || (self.queue.arm(true).is_ok() && self.hear_all());
            if !came && !self.await_room(deadline).unwrap_or(false) {
                break;
            }
        }
        self.break_off(Breakage::Ended);
    }
}
