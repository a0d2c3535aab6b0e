//! A step of 8 bytes one way over verbs, standing selection, between two processes, to be held against perftest's latency
//! in the same machine: `tests/rdma-vm/bench.sh` starts it and reads it. Its only element is the time at which the
//! publisher began it.

use super::processes::{publishing, subscribing};
use super::support::Place;
use super::{PATIENCE, next};
use fp_core::{Publisher, Region, Selection, Subscriber, Variable};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// Steps before any is counted, and those that are.
const WARM: usize = 30;
const STEPS: usize = 200;

/// Of one machine, and so the same for both processes.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How long waiting calls look before they sleep.
fn busy_poll(busy: bool) -> Duration {
    if busy { PATIENCE } else { Duration::ZERO }
}

/// Prints the median of each way to wait, in microseconds.
pub(crate) fn run() -> ExitCode {
    for (name, busy) in [("step_wake", false), ("step_poll", true)] {
        println!("{name} 8 {:.1}", one_way_us(busy));
    }
    ExitCode::SUCCESS
}

fn one_way_us(busy: bool) -> f64 {
    let place = Place::new();
    let role = if busy { "stamps busily" } else { "stamps" };
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.env("FLEXPATH_TEST_ROLE", role).env("FLEXPATH_TEST_PLACE", place.path());
    let mut publisher = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let options =
        subscribing(place.path()).with_selection("x", Selection::All).with_busy_poll(busy_poll(busy));
    let mut subscriber = Subscriber::open(super::STREAM, options).expect("attached");
    let mut taken = publisher.stdin.take().expect("piped");
    let mut times = Vec::new();
    for _ in 0..WARM + STEPS {
        taken.write_all(&[1]).expect("told");
        let reader = next(&mut subscriber);
        let mut stamp = [0u64];
        reader.get_into("x", Selection::All, &mut stamp).expect("its data");
        times.push(now_ns() - stamp[0]);
    }
    let over_verbs = |(_, text): &(_, String)| text.starts_with("transport=verbs ");
    assert!(subscriber.transports().iter().all(over_verbs), "{:?}", subscriber.transports());
    subscriber.close().expect("left");
    assert!(publisher.wait().expect("it ends").success());
    let counted = &mut times[WARM..];
    counted.sort_unstable();
    counted[STEPS / 2] as f64 / 1e3
}

/// Role: publishes the time, whenever the last step was taken.
pub(crate) fn stamp(folder: &Path, busy: bool) {
    let options = publishing(folder).with_busy_poll(busy_poll(busy));
    let mut publisher =
        Publisher::open(super::STREAM, options.with_min_subscribers(1)).expect("the stream opens");
    let variable = Variable::global::<u64>("x", &[1]).expect("a variable");
    let region = Region::new([0], [1]).expect("inside");
    let told = std::io::stdin();
    if busy {
        rustix::io::ioctl_fionbio(told.as_fd(), true).expect("a pipe");
    }
    for _ in 0..WARM + STEPS {
        while matches!(rustix::io::read(told.as_fd(), &mut [0; 1]), Err(Errno::AGAIN | Errno::INTR)) {
            std::hint::spin_loop();
        }
        let stamp = now_ns();
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &region, &[stamp]).expect("a put");
        writer.end().expect("the end of a step");
    }
    publisher.close().expect("all is delivered");
}
