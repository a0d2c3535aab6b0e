//! How a peer's access ends, where the calls that end it are refused.

use super::super::error::{Breakage, VerbsTrouble};
use super::super::stream::Stream;
use super::{answer, calls, device, install, over};
use rustix::io::Errno;
use std::ffi::c_int;

const REFUSED: c_int = Errno::IO.raw_os_error();

fn stream() -> Stream {
    let context = device(c"fake0");
    install(&[context]);
    over(context)
}

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
