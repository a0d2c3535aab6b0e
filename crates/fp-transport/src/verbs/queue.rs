//! A reliable connected queue pair with its completion queue, the memory of its messages and its connection. Owners
//! stand before the calls of the C libraries and let go in the right order. What is said over it is `stream`'s.
#![allow(unsafe_code)] // calls of the C libraries

use super::call_outcome::{do_not_block, made, none, succeed};
use super::connection::{EventSource, Identifier};
use super::device::Device;
use super::domain::Domain;
use super::error::VerbsTrouble;
use super::protection::Protection;
use super::registration::{Access, Registration};
use super::sys::{self, CompChannel, Cq, Qp, QpCap, QpInitAttr, RecvWr, SendWr, Sge, Wc};
use crate::memory::Mapping;
use crate::page::PAGE_BYTES;
use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// Messages that may wait at either end.
pub(super) const SLOTS: usize = 16;
/// Longest message.
pub(super) const SLOT_BYTES: usize = 8 << 10;
/// READs that are posted at one time.
pub(super) const READS: usize = 32;
/// Bytes that a message carries by itself, if the device can.
const INLINE_BYTES: u32 = 128;
/// A slot for each message that is sent, one for each that may come, and the page of the probe.
const MEMORY_BYTES: usize = 2 * SLOTS * SLOT_BYTES + PAGE_BYTES;
/// Messages, credits and READs may all be under way.
const SENDS: usize = 2 * SLOTS + READS;

/// The owners, in the order in which they must go.
pub(super) struct Queue {
    pub(super) identifier: Identifier,
    cq: CompletionQueue,
    completions: Completions,
    pub(super) source: EventSource,
    registration: Registration,
    memory: Arc<Mapping>,
    pub(super) protection: Arc<Protection>,
    inline_bytes: usize,
    pub(super) places: usize,
}

/// Where completions wake.
struct Completions {
    raw: NonNull<CompChannel>,
    device: &'static Device,
}

impl Drop for Completions {
    fn drop(&mut self) {
        // SAFETY: made by `Queue::new`; its queue is gone.
        unsafe { (self.device.library.ibv_destroy_comp_channel)(self.raw.as_ptr()) };
    }
}

struct CompletionQueue {
    raw: NonNull<Cq>,
    device: &'static Device,
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: made by `Queue::new`; its queue pair is gone, and every event was acknowledged when it was taken.
        unsafe { (self.device.library.ibv_destroy_cq)(self.raw.as_ptr()) };
    }
}

// SAFETY: libibverbs and librdmacm may be called from any thread, and all calls on one queue take `&mut` or are allowed
// at one time.
unsafe impl Send for Queue {}
// SAFETY: `&Queue` gives descriptors and numbers only.
unsafe impl Sync for Queue {}

impl Queue {
    /// A queue pair for a connection whose device is known, with all receives posted.
    pub(super) fn new(
        source: EventSource,
        identifier: Identifier,
        domain: &Domain,
    ) -> Result<Queue, VerbsTrouble> {
        let device = identifier.device()?;
        device.check_port(identifier.port())?;
        Queue::over(device, source, identifier, domain)
    }

    pub(super) fn over(
        device: &'static Device,
        source: EventSource,
        mut identifier: Identifier,
        domain: &Domain,
    ) -> Result<Queue, VerbsTrouble> {
        let protection = domain.protection(device)?;
        let memory = Arc::new(Mapping::private(MEMORY_BYTES).map_err(VerbsTrouble::of_call("mmap"))?);
        let registration =
            Registration::of_mapping(&protection, Arc::clone(&memory), Access::LocalAndRemoteRead)?;
        let (library, context) = (device.library, device.context.as_ptr());
        // SAFETY: an open context.
        let raw = made(unsafe { (library.ibv_create_comp_channel)(context) }, "ibv_create_comp_channel")?;
        let completions = Completions { raw, device };
        do_not_block(completions.fd())?;
        let entries = (SENDS + SLOTS) as c_int;
        // SAFETY: an open context and its completion channel.
        let raw = unsafe { (library.ibv_create_cq)(context, entries, none(), raw.as_ptr(), 0) };
        let cq = CompletionQueue { raw: made(raw, "ibv_create_cq")?, device };
        let places = device.limits.places;
        let inline_bytes = create_pair(&mut identifier, &protection, &cq, places)?;
        let mut queue = Queue {
            identifier,
            cq,
            completions,
            source,
            registration,
            memory,
            protection,
            inline_bytes,
            places,
        };
        (0..SLOTS).try_for_each(|slot| queue.post_receive(slot))?;
        Ok(queue)
    }

    pub(super) fn device(&self) -> &'static Device {
        self.protection.device
    }

    fn slot(&self, slot: usize, received: bool) -> NonNull<u8> {
        let index = (slot % SLOTS) + if received { SLOTS } else { 0 };
        // SAFETY: the mapping has room for twice as many slots.
        unsafe { self.memory.pointer().add(index * SLOT_BYTES) }
    }

    /// A message that has come: the bytes that the device is done with.
    pub(super) fn received(&self, slot: usize, len_bytes: usize) -> &[u8] {
        // SAFETY: within the mapping; the device writes only to slots whose receive is posted, and this one has
        // completed.
        unsafe { std::slice::from_raw_parts(self.slot(slot, true).as_ptr(), len_bytes.min(SLOT_BYTES)) }
    }

    /// A message that is not under way, to be filled.
    pub(super) fn outgoing(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: within the mapping, apart from the slots that the device writes to, and borrowed with the queue.
        unsafe { std::slice::from_raw_parts_mut(self.slot(slot, false).as_ptr(), SLOT_BYTES) }
    }

    /// The bytes that a peer reads to prove that it can.
    pub(super) fn probe(&mut self) -> &mut [u8] {
        // SAFETY: the last page of the mapping; no request of this side touches it but `read` of a probe, which is over
        // when it returns.
        unsafe {
            let start = self.memory.pointer().add(2 * SLOTS * SLOT_BYTES);
            std::slice::from_raw_parts_mut(start.as_ptr(), PAGE_BYTES)
        }
    }

    /// Where the probe is for the peer: address and key.
    pub(super) fn probe_place(&self) -> (u64, u32) {
        (self.registration.address() + (2 * SLOTS * SLOT_BYTES) as u64, self.registration.remote_key())
    }

    /// The probe's page as a place to read to.
    pub(super) fn probe_destination(&self, len_bytes: u32) -> Sge {
        Sge { addr: self.probe_place().0, length: len_bytes, lkey: self.registration.local_key() }
    }

    /// The first bytes of a slot as a place of a request.
    fn place(&self, slot: usize, received: bool, len_bytes: usize) -> Sge {
        let addr = self.slot(slot, received).as_ptr() as u64;
        Sge { addr, length: len_bytes.min(SLOT_BYTES) as u32, lkey: self.registration.local_key() }
    }

    /// Gives a slot back to the device.
    pub(super) fn post_receive(&mut self, slot: usize) -> Result<(), VerbsTrouble> {
        let mut place = self.place(slot, true, SLOT_BYTES);
        let mut request =
            RecvWr { wr_id: id_of(Kind::Receive, slot), next: none(), sg_list: &mut place, num_sge: 1 };
        let post = self.operations().post_recv.ok_or(VerbsTrouble::NoDevice)?;
        // SAFETY: a live queue pair; the slot stays mapped and registered as long as it, and nobody has its bytes.
        succeed("ibv_post_recv", unsafe { post(self.pair()?, &mut request, &mut none()) })
    }

    /// Sends the first bytes of a slot and a word beside them.
    pub(super) fn post_send(&mut self, slot: usize, len_bytes: usize, word: u32) -> Result<(), VerbsTrouble> {
        let mut place = self.place(slot, false, len_bytes);
        let inline = if len_bytes <= self.inline_bytes { sys::SEND_INLINE } else { 0 };
        let flags = sys::SEND_SIGNALED | sys::SEND_SOLICITED | inline;
        let mut request = SendWr::new(id_of(Kind::Send, slot), sys::WR_SEND_WITH_IMM, flags);
        (request.sg_list, request.num_sge, request.imm_data) = (&mut place, 1, word.to_be());
        // SAFETY: the slot stays mapped and registered as long as the queue pair, and is not filled until this
        // completes.
        unsafe { self.post(&mut request) }
    }

    /// Sends a word and no bytes.
    pub(super) fn post_word(&mut self, word: u32) -> Result<(), VerbsTrouble> {
        let flags = sys::SEND_SIGNALED | sys::SEND_SOLICITED;
        let mut request = SendWr::new(id_of(Kind::Word, 0), sys::WR_SEND_WITH_IMM, flags);
        request.imm_data = word.to_be();
        // SAFETY: it names no memory.
        unsafe { self.post(&mut request) }
    }

    /// Reads from the peer's memory, at an address with its key, into places of this side. The completion has the
    /// number, and comes only for those that are told of, or fail.
    ///
    /// # Safety
    /// The places are registered for writing, and nobody touches them until the request has completed or the
    /// registration is gone.
    pub(super) unsafe fn post_read(
        &mut self,
        places: &mut [Sge],
        (address, key): (u64, u32),
        number: usize,
        told: bool,
    ) -> Result<(), VerbsTrouble> {
        let flags = if told { sys::SEND_SIGNALED } else { 0 };
        let mut request = SendWr::new(id_of(Kind::Read, number), sys::WR_RDMA_READ, flags);
        (request.sg_list, request.num_sge) = (places.as_mut_ptr(), places.len() as c_int);
        (request.remote_addr, request.rkey) = (address, key);
        // SAFETY: as the caller says.
        unsafe { self.post(&mut request) }
    }

    /// # Safety
    /// The memory that the request names is there and registered until it completes.
    unsafe fn post(&mut self, request: &mut SendWr) -> Result<(), VerbsTrouble> {
        let post = self.operations().post_send.ok_or(VerbsTrouble::NoDevice)?;
        // SAFETY: a live queue pair; the memory is there, as the caller says.
        succeed("ibv_post_send", unsafe { post(self.pair()?, request, &mut none()) })
    }

    fn operations(&self) -> &sys::ContextOps {
        // SAFETY: an open context, whose table does not change.
        unsafe { &(*self.device().context.as_ptr()).ops }
    }

    fn pair(&self) -> Result<*mut Qp, VerbsTrouble> {
        self.identifier.pair().ok_or(VerbsTrouble::NoDevice)
    }

    /// Takes completions, at most as many as a call gives, into `taken`.
    pub(super) fn poll(&mut self, taken: &mut Vec<Wc>) -> Result<(), VerbsTrouble> {
        let mut completions = [Wc::default(); SLOTS];
        let poll = self.operations().poll_cq.ok_or(VerbsTrouble::NoDevice)?;
        // SAFETY: a live completion queue, and room for so many.
        let count = unsafe { poll(self.cq.raw.as_ptr(), SLOTS as c_int, completions.as_mut_ptr()) };
        let count = usize::try_from(count).map_err(|_| VerbsTrouble::call("ibv_poll_cq"))?;
        taken.extend(completions.iter().take(count));
        Ok(())
    }

    /// Makes the descriptor readable for the next completion: any, or a message of the peer (and any error).
    pub(super) fn arm(&mut self, any: bool) -> Result<(), VerbsTrouble> {
        let (mut cq, mut context) = (none(), none());
        let library = self.device().library;
        // SAFETY: a live completion channel whose descriptor does not block, and room for what is written.
        while unsafe { (library.ibv_get_cq_event)(self.completions.raw.as_ptr(), &mut cq, &mut context) } == 0
        {
            // SAFETY: the event that was just taken, of our only queue.
            unsafe { (library.ibv_ack_cq_events)(cq, 1) };
        }
        let notify = self.operations().req_notify_cq.ok_or(VerbsTrouble::NoDevice)?;
        // SAFETY: a live completion queue.
        succeed("ibv_req_notify_cq", unsafe { notify(self.cq.raw.as_ptr(), c_int::from(!any)) })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.completions.fd()
    }
}

impl Completions {
    fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: a live completion channel, whose descriptor is open as long.
        unsafe { BorrowedFd::borrow_raw(self.raw.as_ref().fd) }
    }
}

/// Makes the queue pair; says how many bytes a request may carry by itself. A device without room for any is asked
/// again.
fn create_pair(
    identifier: &mut Identifier,
    protection: &Arc<Protection>,
    cq: &CompletionQueue,
    places: usize,
) -> Result<usize, VerbsTrouble> {
    let mut create = |max_inline_data| {
        let cap = QpCap {
            max_send_wr: SENDS as u32,
            max_recv_wr: SLOTS as u32,
            max_send_sge: places as u32,
            max_recv_sge: 1,
            max_inline_data,
        };
        let (send_cq, recv_cq) = (cq.raw.as_ptr(), cq.raw.as_ptr());
        let mut attr = QpInitAttr {
            qp_context: none(),
            send_cq,
            recv_cq,
            srq: none(),
            cap,
            qp_type: sys::QPT_RC,
            sq_sig_all: 0,
        };
        identifier.create_pair(protection, &mut attr)?;
        Ok(attr.cap.max_inline_data.min(SLOT_BYTES as u32) as usize)
    };
    create(INLINE_BYTES).or_else(|_: VerbsTrouble| create(0))
}

/// What a request was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Receive,
    Send,
    Word,
    Read,
}

fn id_of(kind: Kind, slot: usize) -> u64 {
    ((kind as u64) << 32) | slot as u64
}

/// What a completion is of, and its slot.
pub(super) fn kind_of(id: u64) -> (Kind, usize) {
    let kind = match id >> 32 {
        0 => Kind::Receive,
        1 => Kind::Send,
        2 => Kind::Word,
        _ => Kind::Read,
    };
    (kind, (id & 0xffff_ffff) as usize)
}
