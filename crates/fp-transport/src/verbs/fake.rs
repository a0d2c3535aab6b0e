//! Made-up devices for unit tests of errors that no real device gives. The table of calls is filled with functions of
//! this file. A test sets their answers, for its own thread. A connection has a peer behind it, a function of the test
//! that is told each message and says one.
#![allow(unsafe_code)] // structures of C, and memory that devices write to

mod access_end;
mod device_removal;
mod forks;
mod many_reads;
mod permission;
mod probe_outcomes;
mod unsettled;

use super::call_outcome::none;
use super::connection::{EventSource, Identifier};
use super::device_list::{DeviceList, device_of};
use super::domain::Domain;
use super::library::Library;
use super::queue::Queue;
use super::stream::Stream;
use super::sys::{
    self, AsyncEvent, CmEvent, CmId, CompChannel, ConnParam, Context, Cq, DeviceAttr, EventChannel, Mr, Pd,
    PortAttr, Qp, QpAttr, QpInitAttr, RecvWr, SendWr, Sge, Wc,
};
use rustix::event::{EventfdFlags, eventfd};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::ptr::NonNull;

thread_local! {
    static ANSWERS: Cell<Answers> = const { Cell::new(Answers::of(0, 0)) };
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    static INSTALLED: Cell<Option<&'static DeviceList>> = const { Cell::new(None) };
    static MACHINE: RefCell<Machine> = RefCell::default();
    static FILES: Files = Files::new();
}

/// What the calls answer that end the access of a peer or a device, and the one that prepares for forks.
#[derive(Clone, Copy)]
struct Answers {
    modify: c_int,
    destroy: c_int,
    deregister: c_int,
    fork: c_int,
}

impl Answers {
    const fn of(modify: c_int, destroy: c_int) -> Answers {
        Answers { modify, destroy, deregister: 0, fork: 0 }
    }
}

/// The devices of a test, and what goes on at their one connection.
#[derive(Default)]
struct Machine {
    /// What a list has.
    listed: Vec<*mut Context>,
    /// Events of devices that were not taken yet.
    told: Vec<(*mut Context, c_uint)>,
    /// Lists that were given and not freed.
    lists: usize,
    happenings: VecDeque<c_uint>,
    /// Each with the queue pair that it is of, which has the number of its completion queue.
    completions: VecDeque<(usize, Wc)>,
    /// Receives that are posted: number, and first byte.
    receives: VecDeque<(u64, u64)>,
    /// READs that nothing came of: queue pair, number, address at the peer, and places.
    waiting: Vec<(usize, u64, u64, Vec<Sge>)>,
    /// The most of one queue pair at one time.
    most_waiting: usize,
    reading: Reading,
    /// Queue pairs whose READs have another fate.
    fates: Vec<(usize, Reading)>,
    peer: Option<Peer>,
}

/// Is told a message; says one, or nothing.
type Peer = Box<dyn FnMut(&[u8]) -> Option<Vec<u8>>>;

/// What comes of READs.
#[derive(Default, Clone, Copy)]
enum Reading {
    /// These bytes.
    Brings(u128),
    /// A completion with this status.
    Fails(c_uint),
    /// Nothing, until the queue pair is in the error state.
    #[default]
    Waits,
    /// Nothing at all.
    IsDead,
    /// Nothing, until so many are under way over all queue pairs. Then each byte is the last one of its address.
    ComesTogether(usize),
}

fn answer(modify: c_int, destroy: c_int) {
    ANSWERS.set(Answers::of(modify, destroy));
}

/// The calls since this was asked.
fn calls() -> Vec<&'static str> {
    CALLS.take()
}

fn on<R>(work: impl FnOnce(&mut Machine) -> R) -> R {
    MACHINE.with_borrow_mut(work)
}

/// What the code under test points at.
fn at<T>(place: *mut T) -> &'static mut T {
    // SAFETY: it hands over places and structures that are there and initialised, and looks at none while it calls.
    unsafe { place.as_mut() }.expect("a place")
}

/// A structure of C that lives as long as the process.
fn zeros<T>() -> &'static mut T {
    // SAFETY: used for structures of pointers, functions that there may be and numbers; zeros are a value of each.
    Box::leak(Box::new(unsafe { MaybeUninit::zeroed().assume_init() }))
}

/// Memory of the code under test that its device may read and write now.
fn memory(address: u64, len: usize) -> &'static mut [u8] {
    // SAFETY: registered memory of a request that was posted; nobody else touches it until that has completed.
    unsafe { std::slice::from_raw_parts_mut(address as *mut u8, len) }
}

extern "C" fn modify(pair: *mut Qp, attr: *mut QpAttr, _: c_int) -> c_int {
    assert_eq!(at(attr).qp_state, sys::QPS_ERR);
    CALLS.with_borrow_mut(|calls| calls.push("modify"));
    on(|machine| {
        let flushed = |wr_id| Wc { wr_id, status: sys::WC_WR_FLUSH_ERR, ..Wc::default() };
        let of_pair = machine.waiting.extract_if(.., |(of, ..)| *of == pair.addr());
        machine.completions.extend(of_pair.map(|(of, wr_id, ..)| (of, flushed(wr_id))));
    });
    ANSWERS.get().modify
}

extern "C" fn destroy(_: *mut Qp) -> c_int {
    CALLS.with_borrow_mut(|calls| calls.push("destroy"));
    ANSWERS.get().destroy
}

extern "C" fn deregister(_: *mut Mr) -> c_int {
    ANSWERS.get().deregister
}

extern "C" fn prepare_for_forks() -> c_int {
    ANSWERS.get().fork
}

/// As after the peer has gone: nothing rests on it.
extern "C" fn disconnect(_: *mut CmId) -> c_int {
    -1
}

extern "C" fn alloc_pd(_: *mut Context) -> *mut Pd {
    NonNull::dangling().as_ptr()
}

extern "C" fn reg_mr(pd: *mut Pd, addr: *mut c_void, length: usize, _: c_int) -> *mut Mr {
    Box::into_raw(Box::new(Mr { context: none(), pd, addr, length, handle: 1, lkey: 2, rkey: 3 }))
}

extern "C" fn create_channel(context: *mut Context) -> *mut CompChannel {
    Box::into_raw(Box::new(CompChannel { context, fd: descriptor() }))
}

extern "C" fn create_cq(_: *mut Context, _: c_int, _: *mut c_void, _: *mut CompChannel, _: c_int) -> *mut Cq {
    zeros::<u64>() as *mut u64 as *mut Cq
}

extern "C" fn get_cq_event(_: *mut CompChannel, _: *mut *mut Cq, _: *mut *mut c_void) -> c_int {
    -1
}

/// It has the number of its completion queue.
extern "C" fn create_qp(id: *mut CmId, _: *mut Pd, attr: *mut QpInitAttr) -> c_int {
    at(id).qp = at(attr).send_cq.cast();
    0
}

extern "C" fn post_recv(_: *mut Qp, request: *mut RecvWr, _: *mut *mut RecvWr) -> c_int {
    let request = at(request);
    on(|machine| machine.receives.push_back((request.wr_id, at(request.sg_list).addr)));
    0
}

/// A message arrives at once, and so does what the peer says; a READ does what the test has set.
extern "C" fn post_send(pair: *mut Qp, request: *mut SendWr, _: *mut *mut SendWr) -> c_int {
    let (request, pair) = (at(request), pair.addr());
    let done = Wc { wr_id: request.wr_id, ..Wc::default() };
    let places = (0..request.num_sge as usize).map(|place| *at(request.sg_list.wrapping_add(place)));
    let places: Vec<Sge> = places.collect();
    let first = places.first().map_or(&mut [][..], |place| memory(place.addr, place.length as usize));
    on(|machine| match (request.opcode, machine.fate_of(pair)) {
        (sys::WR_RDMA_READ, Reading::Brings(bytes)) => {
            first.copy_from_slice(&bytes.to_le_bytes());
            machine.completions.push_back((pair, done));
        }
        (sys::WR_RDMA_READ, Reading::Fails(status)) => {
            machine.completions.push_back((pair, Wc { status, ..done }));
        }
        (sys::WR_RDMA_READ, Reading::IsDead) => {}
        (sys::WR_RDMA_READ, Reading::Waits | Reading::ComesTogether(_)) => {
            machine.waiting.push((pair, request.wr_id, request.remote_addr, places));
            machine.bring_together(pair);
        }
        _ => {
            machine.completions.push_back((pair, done));
            let said = machine.peer.as_mut().filter(|_| !first.is_empty()).and_then(|peer| peer(first));
            if let Some(said) = said {
                let (wr_id, slot) = machine.receives.pop_front().expect("a receive is posted");
                memory(slot, said.len()).copy_from_slice(&said);
                let byte_len = said.len() as u32;
                machine.completions.push_back((pair, Wc { wr_id, byte_len, ..Wc::default() }));
            }
        }
    });
    0
}

impl Machine {
    fn fate_of(&self, pair: usize) -> Reading {
        let own = self.fates.iter().find(|(of, _)| *of == pair);
        own.map_or(self.reading, |(_, reading)| *reading)
    }

    /// READs that wait for one another come when there are enough.
    fn bring_together(&mut self, pair: usize) {
        let of_pair = self.waiting.iter().filter(|(of, ..)| *of == pair).count();
        self.most_waiting = self.most_waiting.max(of_pair);
        let Reading::ComesTogether(count) = self.reading else { return };
        let fates = &self.fates;
        let comes = |pair: usize| fates.iter().all(|(of, _)| *of != pair);
        if self.waiting.iter().filter(|(of, ..)| comes(*of)).count() < count {
            return;
        }
        for (pair, wr_id, mut address, places) in self.waiting.extract_if(.., |(of, ..)| comes(*of)) {
            for place in places {
                for byte in memory(place.addr, place.length as usize) {
                    *byte = address as u8;
                    address += 1;
                }
            }
            self.completions.push_back((pair, Wc { wr_id, ..Wc::default() }));
        }
    }
}

extern "C" fn poll_cq(cq: *mut Cq, most: c_int, places: *mut Wc) -> c_int {
    on(|machine| {
        let mut count = 0;
        while count < most as usize
            && let Some(next) = machine.completions.iter().position(|(of, _)| *of == cq.addr())
            && let Some((_, completion)) = machine.completions.remove(next)
        {
            *at(places.wrapping_add(count)) = completion;
            count += 1;
        }
        count as c_int
    })
}

extern "C" fn notify(_: *mut Cq, _: c_int) -> c_int {
    0
}

extern "C" fn let_go<T>(_: *mut T) -> c_int {
    0
}

extern "C" fn ignore<T>(_: *mut T) {}

extern "C" fn create_source() -> *mut EventChannel {
    Box::into_raw(Box::new(EventChannel { fd: descriptor() }))
}

extern "C" fn create_id(
    source: *mut EventChannel,
    place: *mut *mut CmId,
    _: *mut c_void,
    _: c_uint,
) -> c_int {
    let id: &mut CmId = zeros();
    id.event_source = source;
    *at(place) = id;
    0
}

/// Every address is the first device's.
extern "C" fn resolve_addr(id: *mut CmId, _: *mut c_void, _: *mut c_void, _: c_int) -> c_int {
    on(|machine| {
        at(id).verbs = machine.listed.first().copied().expect("a device");
        at(id).port_num = 1;
        machine.happenings.push_back(sys::CM_ADDR_RESOLVED);
    });
    0
}

extern "C" fn resolve_route(_: *mut CmId, _: c_int) -> c_int {
    on(|machine| machine.happenings.push_back(sys::CM_ROUTE_RESOLVED));
    0
}

extern "C" fn connect(_: *mut CmId, _: *mut ConnParam) -> c_int {
    on(|machine| machine.happenings.push_back(sys::CM_ESTABLISHED));
    0
}

extern "C" fn get_cm_event(_: *mut EventChannel, place: *mut *mut CmEvent) -> c_int {
    let Some(event) = on(|machine| machine.happenings.pop_front()) else { return -1 };
    let happening: &mut CmEvent = zeros();
    happening.event = event;
    *at(place) = happening;
    0
}

extern "C" fn list_devices(count: *mut c_int) -> *mut *mut c_void {
    *at(count) = on(|machine| machine.listed.len() as c_int);
    NonNull::dangling().as_ptr()
}

extern "C" fn get_devices(count: *mut c_int) -> *mut *mut Context {
    on(|machine| {
        machine.lists += 1;
        *at(count) = machine.listed.len() as c_int;
        machine.listed.clone().leak().as_mut_ptr()
    })
}

extern "C" fn free_devices(_: *mut *mut Context) {
    on(|machine| machine.lists -= 1);
}

/// A device is its name.
extern "C" fn device_name(device: *mut c_void) -> *const c_char {
    device.cast_const().cast()
}

extern "C" fn query_device(_: *mut Context, attr: *mut DeviceAttr) -> c_int {
    let attr = at(attr);
    (attr.max_sge, attr.phys_port_cnt) = (4, 1);
    0
}

extern "C" fn query_port(_: *mut Context, _: u8, attr: *mut PortAttr) -> c_int {
    let attr = at(attr);
    (attr.state, attr.active_mtu) = (sys::PORT_ACTIVE, 5);
    0
}

extern "C" fn get_async_event(context: *mut Context, event: *mut AsyncEvent) -> c_int {
    on(|machine| {
        let Some(found) = machine.told.iter().position(|(of, _)| *of == context) else { return -1 };
        *at(event) = AsyncEvent { element: 0, event_type: machine.told.remove(found).1 };
        0
    })
}

fn descriptor() -> c_int {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("a descriptor").into_raw_fd()
}

fn library() -> &'static Library {
    Box::leak(Box::new(Library {
        ibv_modify_qp: modify,
        ibv_destroy_qp: destroy,
        rdma_disconnect: disconnect,
        ibv_alloc_pd: alloc_pd,
        ibv_dealloc_pd: let_go,
        ibv_reg_mr: reg_mr,
        ibv_dereg_mr: deregister,
        ibv_fork_init: prepare_for_forks,
        ibv_create_comp_channel: create_channel,
        ibv_destroy_comp_channel: let_go,
        ibv_create_cq: create_cq,
        ibv_destroy_cq: let_go,
        ibv_get_cq_event: get_cq_event,
        rdma_create_qp: create_qp,
        rdma_destroy_id: let_go,
        rdma_create_event_channel: create_source,
        rdma_destroy_event_channel: ignore,
        rdma_create_id: create_id,
        rdma_resolve_addr: resolve_addr,
        rdma_resolve_route: resolve_route,
        rdma_connect: connect,
        rdma_get_cm_event: get_cm_event,
        rdma_ack_cm_event: let_go,
        ibv_get_device_list: list_devices,
        ibv_free_device_list: ignore,
        rdma_get_devices: get_devices,
        rdma_free_devices: free_devices,
        ibv_get_device_name: device_name,
        ibv_query_device: query_device,
        ibv_query_port: query_port,
        ibv_get_async_event: get_async_event,
        ibv_ack_async_event: ignore,
        ..Library::of_no_calls()
    }))
}

/// A folder with a file that may be opened, as the libraries would; gone with the thread.
struct Files(&'static str);

impl Files {
    fn new() -> Files {
        let thread = std::thread::current().id();
        let folder = format!("flexpath-fake-{}-{thread:?}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir(&folder).and_then(|()| std::fs::write(folder.join("rdma_cm"), "")).expect("room");
        Files(folder.to_string_lossy().into_owned().leak())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        std::fs::remove_dir_all(self.0).expect("ours");
    }
}

/// An open device of this name.
fn device(name: &'static CStr) -> *mut Context {
    let context: &mut Context = zeros();
    context.device = name.as_ptr().cast_mut().cast();
    context.ops.post_recv = Some(post_recv);
    context.ops.post_send = Some(post_send);
    context.ops.poll_cq = Some(poll_cq);
    context.ops.req_notify_cq = Some(notify);
    context.async_fd = descriptor();
    context
}

/// From now on this thread is on a machine that has these devices and no others.
fn install(devices: &[*mut Context]) {
    MACHINE.set(Machine { listed: devices.to_vec(), ..Machine::default() });
    let list = DeviceList::new(library(), FILES.with(|files| files.0));
    INSTALLED.set(Some(Box::leak(Box::new(list))));
}

/// The devices of this thread, if a test has put some there.
pub(super) fn of_this_thread() -> Option<&'static DeviceList> {
    INSTALLED.get()
}

/// A connection over a device of the machine, with its queue pair.
fn over(context: *mut Context) -> Stream {
    let id: &mut CmId = zeros();
    (id.verbs, id.port_num) = (context, 1);
    let device = device_of(context).expect("known");
    let identifier = Identifier::fake(device.library, NonNull::from(id));
    let domain = Domain::new();
    let source = EventSource::new().expect("made");
    Stream::of(Queue::over(device, source, identifier, &domain).expect("made"), &domain).expect("made")
}
