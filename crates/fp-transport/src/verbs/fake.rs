//! A connection over a device that there is not, for unit tests of what calls say that no real device refuses: the table
//! of calls is filled with functions of this file, whose answers a test sets.
#![allow(unsafe_code)] // zeros for structures of C

use super::connection::{EventSource, Identifier};
use super::device::{Device, none};
use super::domain::Domain;
use super::library::Library;
use super::queue::Queue;
use super::stream::Stream;
use super::sys::{CmId, CompChannel, Context, Cq, EventChannel, Mr, Pd, Qp, QpAttr, QpInitAttr, RecvWr};
use rustix::event::{EventfdFlags, eventfd};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::ptr::NonNull;

thread_local! {
    static ANSWERS: Cell<Answers> = const { Cell::new(Answers { modify: 0, destroy: 0 }) };
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// What the calls answer that end a peer's access, from now on.
#[derive(Clone, Copy)]
struct Answers {
    modify: c_int,
    destroy: c_int,
}

fn answer(modify: c_int, destroy: c_int) {
    ANSWERS.set(Answers { modify, destroy });
}

/// The calls since this was asked.
fn calls() -> Vec<&'static str> {
    CALLS.take()
}

extern "C" fn modify(_: *mut Qp, attr: *mut QpAttr, _: c_int) -> c_int {
    assert!(!attr.is_null());
    CALLS.with_borrow_mut(|calls| calls.push("modify"));
    ANSWERS.get().modify
}

extern "C" fn destroy(_: *mut Qp) -> c_int {
    CALLS.with_borrow_mut(|calls| calls.push("destroy"));
    ANSWERS.get().destroy
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
    NonNull::dangling().as_ptr()
}

extern "C" fn get_cq_event(_: *mut CompChannel, _: *mut *mut Cq, _: *mut *mut c_void) -> c_int {
    -1
}

extern "C" fn create_qp(_: *mut CmId, _: *mut Pd, _: *mut QpInitAttr) -> c_int {
    0
}

extern "C" fn post_recv(_: *mut Qp, _: *mut RecvWr, _: *mut *mut RecvWr) -> c_int {
    0
}

extern "C" fn notify(_: *mut Cq, _: c_int) -> c_int {
    0
}

extern "C" fn let_go<T>(_: *mut T) -> c_int {
    0
}

extern "C" fn let_source_go(_: *mut EventChannel) {}

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
        ibv_dereg_mr: let_go,
        ibv_create_comp_channel: create_channel,
        ibv_destroy_comp_channel: let_go,
        ibv_create_cq: create_cq,
        ibv_destroy_cq: let_go,
        ibv_get_cq_event: get_cq_event,
        rdma_create_qp: create_qp,
        rdma_destroy_id: let_go,
        rdma_destroy_event_channel: let_source_go,
        ..Library::of_no_calls()
    }))
}

/// A connection that has its queue pair.
fn stream() -> Stream {
    let library = library();
    // SAFETY: zeros are values of both: no pointers, no functions, numbers.
    let (mut context, mut id): (Context, CmId) = unsafe { MaybeUninit::zeroed().assume_init() };
    context.ops.post_recv = Some(post_recv);
    context.ops.req_notify_cq = Some(notify);
    context.async_fd = descriptor();
    id.qp = NonNull::dangling().as_ptr();
    let device = Device::fake(library, NonNull::from(Box::leak(Box::new(context))));
    let source = EventChannel { fd: descriptor() };
    let source = EventSource::fake(library, NonNull::from(Box::leak(Box::new(source))));
    let identifier = Identifier::fake(library, NonNull::from(Box::leak(Box::new(id))));
    let domain = Domain::new();
    let queue = Queue::over(device, source, identifier, &domain).expect("made");
    Stream::of(queue, &domain).expect("made")
}

mod tests {
    use super::super::trouble::{Breakage, VerbsTrouble};
    use super::*;
    use rustix::io::Errno;

    const REFUSED: c_int = Errno::IO.raw_os_error();

    #[test]
    fn the_error_state_is_enough_and_stays() {
        let mut stream = stream();
        assert!(stream.revoke().is_ok());
        assert_eq!(calls(), ["modify"]);
        answer(REFUSED, 0);
        assert!(stream.revoke().is_ok(), "no way leads out of it");
        assert_eq!(calls(), [""; 0]);
        drop(stream);
        assert_eq!(calls(), ["destroy"], "once, at the end");
    }

    #[test]
    fn a_queue_pair_that_cannot_be_moved_is_destroyed() {
        for refusal in [REFUSED, -1] {
            let mut stream = stream();
            answer(refusal, 0);
            assert!(stream.revoke().is_ok());
            assert_eq!(calls(), ["modify", "destroy"]);
            assert!(stream.revoke().is_ok(), "there is none");
            drop(stream);
            assert_eq!(calls(), [""; 0], "destroyed once");
        }
    }

    #[test]
    fn where_both_are_refused_nobody_says_that_the_access_has_ended() {
        let mut stream = stream();
        answer(REFUSED, Errno::BUSY.raw_os_error());
        for _ in 0..2 {
            let trouble = stream.revoke().expect_err("the peer can read");
            let VerbsTrouble::StillOpen { first, second } = trouble else { panic!("{trouble}") };
            assert!(first.starts_with("ibv_modify_qp failed: Input/output error"), "{first}");
            assert!(second.starts_with("ibv_destroy_qp failed: Device or resource busy"), "{second}");
        }
        answer(0, REFUSED);
        assert!(stream.revoke().is_ok(), "asked again");
    }

    #[test]
    fn a_connection_that_broke_before_is_no_proof() {
        let mut stream = stream();
        answer(REFUSED, REFUSED);
        stream.break_off(Breakage::Gone);
        assert_eq!(stream.breakage(), Some(Breakage::Gone));
        assert!(matches!(stream.revoke(), Err(VerbsTrouble::StillOpen { .. })));
        answer(REFUSED, 0);
        assert!(stream.revoke().is_ok());
        assert_eq!(stream.breakage(), Some(Breakage::Gone), "the first reason stays");
    }
}
