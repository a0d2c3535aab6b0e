//! READs under way on a device that answers nothing any more, and whose queue pair can be neither moved nor destroyed.

use super::{ANSWERS, Answers, Reading, device, install, on, over};
use crate::memory::RemoteMemory;
use crate::verbs::error::ReadTrouble;
use crate::verbs::landing_memory::ReadTarget;
use crate::verbs::read_requests::ReadRun;
use crate::verbs::stream::Stream;
use crate::verbs::sys::{self, Context};
use rustix::io::Errno;
use std::ffi::c_int;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

const REFUSED: c_int = Errno::IO.raw_os_error();
const LEN: usize = 10_000;
const REMOTE: RemoteMemory = RemoteMemory { address: 1 << 40, key: 7, len_bytes: LEN as u64 };
const WHOLE: [ReadRun; 1] = [ReadRun { source: 0, destination: 0, len_bytes: LEN }];
/// Says to a process of this test that it is the one that may end.
const ROLE: &str = "FLEXPATH_TEST_UNSETTLED";

/// A connection over a device that is dead; whether it still ends registrations.
fn dead(deregister: c_int) -> (*mut Context, Stream) {
    let context = device(c"fake0");
    install(&[context]);
    let stream = over(context);
    on(|machine| machine.reading = Reading::IsDead);
    ANSWERS.set(Answers { deregister, ..Answers::of(REFUSED, REFUSED) });
    (context, stream)
}

/// A read straight into the memory of a guard.
fn read(stream: &mut Stream, guard: &mut ReadTarget<'_>) -> Result<(), ReadTrouble> {
    stream.register(guard.parts().1).expect("registered");
    stream.read(&REMOTE, guard.parts(), &WHOLE, Instant::now() + Duration::from_millis(20))
}

#[test]
fn a_queue_pair_that_stays_has_no_registration_of_the_callers_memory() {
    let (_, mut stream) = dead(0);
    let mut memory = vec![0; LEN];
    let mut guard = ReadTarget::new(&mut memory);
    assert!(matches!(read(&mut stream, &mut guard), Err(ReadTrouble::Deadline)));
    assert_eq!(guard.devices(), 0, "the device has no key any more");
    assert_eq!(stream.domain.stats().unsettled_reads, 1);
}

#[test]
fn a_landing_that_a_device_may_write_to_is_nobodys_any_more() {
    let (_, mut stream) = dead(REFUSED);
    let mut memory = vec![3; LEN];
    let mut landing = stream.landing(LEN).expect("memory");
    let deadline = Instant::now() + Duration::from_millis(20);
    let outcome = stream.read_through(&REMOTE, &mut landing, (&mut memory, &WHOLE), deadline);
    assert!(matches!(outcome, Err(ReadTrouble::Deadline)));
    assert!(landing.parts().is_none(), "nobody looks at it");
    drop(landing);
    assert_eq!(stream.domain.stats().unsettled_reads, 1);
    let before = stream.domain.stats().registrations;
    stream.landing(LEN).expect("another");
    assert_eq!(stream.domain.stats().registrations, before + 1, "it is not lent again");
    assert_eq!(memory, vec![3; LEN]);
}

/// The kernel takes a device that is gone from the process: its calls fail, as there is nothing left to end.
#[test]
fn memory_comes_back_from_a_device_that_is_gone() {
    let (context, mut stream) = dead(REFUSED);
    on(|machine| machine.told.push((context, sys::EVENT_DEVICE_FATAL)));
    let mut memory = vec![0; LEN];
    assert!(read(&mut stream, &mut ReadTarget::new(&mut memory)).is_err());
    assert_eq!(stream.domain.stats().unsettled_reads, 1);
}

#[test]
fn a_borrow_that_cannot_end_ends_the_process() {
    if std::env::var_os(ROLE).is_some() {
        let (_, mut stream) = dead(REFUSED);
        let mut memory = vec![0; LEN];
        let _ = read(&mut stream, &mut ReadTarget::new(&mut memory));
        return;
    }
    let name = concat!(module_path!(), "::a_borrow_that_cannot_end_ends_the_process");
    let name = name.split_once("::").expect("a crate").1;
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    let child = child.args(["--exact", name, "--nocapture"]).env(ROLE, "ends").output().expect("it runs");
    let said = String::from_utf8_lossy(&child.stderr);
    assert_eq!(child.status.signal(), Some(libc::SIGABRT), "{said}");
    for word in [
        "fake0 may write to 10000 bytes",
        "ibv_dereg_mr failed",
        "ibv_destroy_qp failed",
        "FLEXPATH_TRANSPORTS=tcp",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
}
