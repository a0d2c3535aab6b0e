//! Devices that come and go while a process runs.

use super::{calls, device, install, on, over};
use crate::socket::wait_for;
use crate::verbs::device::Device;
use crate::verbs::device_list::{DeviceList, device_of, verbs_devices};
use crate::verbs::error::{Breakage, VerbsTrouble};
use crate::verbs::sys::{self, Context};
use rustix::event::PollFlags;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

fn names() -> Vec<String> {
    verbs_devices().expect("devices").into_iter().map(|device| device.name).collect()
}

fn name_of(context: *mut Context) -> Result<String, VerbsTrouble> {
    device_of(context).map(|device| device.name.clone())
}

fn devices() -> Result<Vec<&'static Device>, VerbsTrouble> {
    DeviceList::of_process()?.devices()
}

#[test]
fn without_a_device_the_next_look_may_find_one() {
    install(&[]);
    assert_eq!(verbs_devices(), Err(VerbsTrouble::NoDevice));
    on(|machine| machine.listed.push(device(c"fake0")));
    assert_eq!(names(), ["fake0"]);
}

#[test]
fn a_device_that_comes_is_found_when_it_is_wanted() {
    let (one, two) = (device(c"fake0"), device(c"fake1"));
    install(&[one]);
    assert_eq!(name_of(one), Ok("fake0".to_owned()));
    assert_eq!(name_of(two), Err(VerbsTrouble::NoDevice), "nobody knows it");
    on(|machine| machine.listed.push(two));
    assert_eq!(devices().expect("devices").len(), 1, "nothing was missed yet");
    assert_eq!(name_of(two), Ok("fake1".to_owned()));
    assert_eq!(names(), ["fake0", "fake1"]);
}

#[test]
fn to_look_again_opens_nothing_twice() {
    let one = device(c"fake0");
    install(&[one]);
    let before = device_of(one).expect("known");
    for _ in 0..5 {
        assert_eq!(names(), ["fake0"]);
    }
    assert!(std::ptr::eq(before, device_of(one).expect("known")), "the same device");
    assert_eq!(on(|machine| machine.lists), 1, "one list keeps it open, the others were freed");
    on(|machine| machine.listed.push(device(c"fake1")));
    assert_eq!(names(), ["fake0", "fake1"]);
    assert_eq!(on(|machine| machine.lists), 2, "and one keeps the new one");
}

/// By an event of the device, which nobody took as there was no connection.
#[test]
fn a_device_that_says_that_it_is_gone_is_looked_for() {
    let (old, new) = (device(c"fake0"), device(c"fake0"));
    install(&[old]);
    assert_eq!(names(), ["fake0"]);
    on(|machine| machine.listed = vec![new]);
    assert_eq!(devices().expect("devices")[0].context.as_ptr(), old, "it has said nothing");
    on(|machine| machine.told.push((old, sys::EVENT_DEVICE_FATAL)));
    let found = devices().expect("devices");
    assert_eq!((found.len(), found[0].context.as_ptr()), (1, new));
    assert!(!found[0].is_down(1), "the new one is another");
    on(|machine| machine.listed.clear());
    on(|machine| machine.told.push((new, sys::EVENT_DEVICE_FATAL)));
    assert!(matches!(devices(), Err(VerbsTrouble::NoDevice)));
}

/// The connection hears of it, and ends as it should: with calls of a device that is not listed any more.
#[test]
fn a_connection_outlives_its_device() {
    let (old, new) = (device(c"fake0"), device(c"fake1"));
    install(&[old]);
    let [mut stream, mut other] = [over(old), over(old)];
    on(|machine| {
        machine.listed = vec![new];
        machine.told.push((old, sys::EVENT_DEVICE_FATAL));
    });
    assert_eq!(name_of(new), Ok("fake1".to_owned()));
    assert_eq!(name_of(old), Err(VerbsTrouble::NoDevice));
    for stream in [&mut stream, &mut other] {
        assert!(stream.hear());
        assert_eq!((stream.breakage(), stream.device_name()), (Some(Breakage::Device), "fake0"));
    }
    calls();
    drop((stream, other));
    assert_eq!(calls(), ["destroy", "destroy"], "each queue pair, by the device that it was made with");
}

/// By an event of a connection, which all others over the device are told of.
#[test]
fn a_connection_that_hears_of_the_removal_tells_all() {
    let (old, new) = (device(c"fake0"), device(c"fake0"));
    install(&[old]);
    let [mut stream, mut other] = [over(old), over(old)];
    on(|machine| {
        machine.listed = vec![new];
        machine.happenings.push_back(sys::CM_DEVICE_REMOVAL);
    });
    rustix::io::write(stream.queue.source.fd(), &1u64.to_ne_bytes()).expect("its descriptor");
    assert!(stream.hear());
    let soon = Instant::now() + Duration::from_secs(30);
    assert!(wait_for(other.as_fd(), PollFlags::IN, soon).expect("it can be waited for"), "it is woken");
    assert!(other.hear());
    assert_eq!((stream.breakage(), other.breakage()), (Some(Breakage::Device), Some(Breakage::Device)));
    assert_eq!(devices().expect("devices")[0].context.as_ptr(), new);
}
