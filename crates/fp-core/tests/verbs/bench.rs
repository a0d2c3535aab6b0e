//! A step of 8 bytes one way over verbs, with a standing selection, between two processes. It is to be held against
//! perftest's latency in the same machine, and against the same step over shared memory. `tests/rdma-vm/bench.sh`
//! starts it and reads it. Its only element is the time at which the publisher began it.

use super::processes::{publishing, subscribing};
use super::support::Place;
use super::{PATIENCE, next};
use fp_core::{Publisher, Region, Selection, Subscriber, TransportPolicy, Variable};
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

/// Names the transports of the step.
const OVER: &str = "FLEXPATH_TEST_OVER";
/// Payload by RDMA and control by tcp, as it is where nothing else is asked for; all by RDMA; and what else there is.
const EACH: [(&str, &str); 4] =
    [("step", super::TRANSPORTS), ("verbs_step", "verbs"), ("tcp_step", "tcp"), ("shm_step", "shm")];

fn only(over: &str) -> TransportPolicy {
    over.parse::<TransportPolicy>().expect("a list").with_forbid_fallback(true)
}

/// Prints the median over each and of each way to wait, in microseconds.
pub(crate) fn run() -> ExitCode {
    for (name, over) in EACH {
        println!("{name}_wake 8 {:.1}", one_way_us(over, false));
        println!("{name}_poll 8 {:.1}", one_way_us(over, true));
    }
    ExitCode::SUCCESS
}

/// Prints the median over each, asleep until the step comes. Where the clock counts instructions, a thousand are a
/// microsecond.
pub(crate) fn count() -> ExitCode {
    for (name, over) in EACH {
        println!("{name}_wake 8 {:.3}", one_way_us(over, false));
    }
    ExitCode::SUCCESS
}

fn one_way_us(over: &str, busy: bool) -> f64 {
    let place = Place::new();
    let role = if busy { "stamps busily" } else { "stamps" };
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.env("FLEXPATH_TEST_ROLE", role).env("FLEXPATH_TEST_PLACE", place.path()).env(OVER, over);
    let mut publisher = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let options = subscribing(place.path()).with_transports(only(over));
    let options = options.with_selection("x", Selection::All).with_busy_poll(busy_poll(busy));
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
    let kind = format!("transport={}", over.split(',').next().unwrap_or_default());
    let found = subscriber.transports();
    assert!(!found.is_empty() && found.iter().all(|(_, text)| text.starts_with(&kind)), "{found:?}");
    subscriber.close().expect("left");
    assert!(publisher.wait().expect("it ends").success());
    let counted = &mut times[WARM..];
    counted.sort_unstable();
    counted[STEPS / 2] as f64 / 1e3
}

/// Role: publishes the time, whenever the last step was taken.
pub(crate) fn stamp(folder: &Path, busy: bool) {
    let over = std::env::var(OVER).expect("told by its parent");
    let options = publishing(folder).with_transports(only(&over)).with_busy_poll(busy_poll(busy));
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
