//! Tasks that wait for a process which is killed, or stopped, meanwhile.

use crate::cast::{Actor, PATIENCE, Stage, heed, publisher_options, tell};
use flexpath::{
    EndReason, NextStep, Publisher, ReadError, Region, Selection, StepReader, Subscriber, SubscriberOptions,
    TransportKind, TransportPolicy, Variable,
};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Elements of a step: far more than fit into the buffers of a connection.
const LEN: u64 = 4 << 20;

/// A publisher that puts a step whenever it is told to.
pub(crate) fn publish() {
    let options = publisher_options().with_min_subscribers(1);
    let mut publisher = Publisher::open("awaited", options).expect("the stream opens");
    let array = Variable::global::<u64>("array", &[LEN]).expect("a shape");
    let region = Region::new([0], [LEN]).expect("inside");
    while heed() == "publish" {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&array, &region, (0..LEN).collect()).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
    tell("closed");
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn waker() -> Waker {
    Arc::new(Unpark(std::thread::current())).into()
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&waker()))
}

fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, started) = (pin!(future), Instant::now());
    loop {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return output;
        }
        assert!(started.elapsed() < PATIENCE * 2, "nobody wakes the task");
        std::thread::park_timeout(PATIENCE * 2);
    }
}

fn attach(stage: &Stage, kind: TransportKind) -> (Actor, Subscriber) {
    let publisher = stage.start("awaited-publisher", &[]);
    let options = SubscriberOptions::default()
        .with_rendezvous(stage.rendezvous())
        .with_transports(TransportPolicy::only(kind))
        .with_open_timeout(PATIENCE)
        .with_fetch_timeout(PATIENCE);
    let subscriber = block_on(Subscriber::open_async("awaited", options)).expect("attached");
    (publisher, subscriber)
}

fn take(publisher: &mut Actor, subscriber: &mut Subscriber) -> StepReader {
    publisher.say("publish");
    let next = block_on(subscriber.next_step_async(PATIENCE)).expect("a step");
    let NextStep::Step(step) = next else { panic!("no step: {next:?}") };
    step
}

fn read(step: &StepReader) -> Result<(), ReadError> {
    let all: Vec<u64> = block_on(step.get_async("array", &Selection::All))?;
    assert!(all.into_iter().eq(0..LEN));
    Ok(())
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "never {what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_publisher_killed_while_a_task_waits_for_it_is_lost() {
    for kind in [TransportKind::Shm, TransportKind::Tcp] {
        let stage = Stage::new();
        let (mut publisher, mut subscriber) = attach(&stage, kind);
        let step = take(&mut publisher, &mut subscriber);
        read(&step).expect("whole");
        let started = Instant::now();
        {
            let mut next = pin!(subscriber.next_step_async(PATIENCE));
            assert!(poll(next.as_mut()).is_pending());
            publisher.kill();
            let end = block_on(next).expect("the end");
            let NextStep::Ended(ending) = end else { panic!("not the end: {end:?}") };
            assert!(matches!(ending.reason, EndReason::Lost { .. }));
        }
        // What it shared is still here; what it would have to send is not.
        match (kind, read(&step)) {
            (TransportKind::Tcp, Err(ReadError::Lost { .. })) | (TransportKind::Shm, Ok(())) => {}
            (kind, outcome) => panic!("{kind:?}: {outcome:?}"),
        }
        assert!(started.elapsed() < Duration::from_secs(8), "noticed after {:?}", started.elapsed());
        drop(step);
        block_on(subscriber.close_async()).expect("closed");
    }
}

#[test]
fn a_fetch_dropped_while_its_owner_is_stopped_gives_its_link_up() {
    let stage = Stage::new();
    let (mut publisher, mut subscriber) = attach(&stage, TransportKind::Tcp);
    let step = take(&mut publisher, &mut subscriber);
    read(&step).expect("whole");
    publisher.stop();
    let (counters, all) = (|| subscriber.statistics(), Selection::All);
    {
        let asked = counters().requests;
        let mut fetch = pin!(step.get_async::<u64>("array", &all));
        assert!(poll(fetch.as_mut()).is_pending());
        eventually("asks for the pieces", || counters().requests > asked);
    }
    {
        // The stream's threads are taken by these two: the third one's time runs out before there is one for it.
        let mut others = [step.get_async::<u64>("array", &all), step.get_async::<u64>("array", &all)];
        assert!(others.iter_mut().all(|fetch| poll(fetch.as_mut()).is_pending()));
        let third = step.fetch_async().get("array", &all, Vec::<u64>::with_capacity(99));
        let (outcome, array) = block_on(third.wait(Duration::from_millis(200)));
        let Err(ReadError::TimedOut { waits_for, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((waits_for.as_str(), array.0.capacity()), ("a thread to fetch on", 99));
    }
    publisher.resume();
    read(&step).expect("whole");
    assert!(subscriber.statistics().data_links >= 2, "a link that waits for bytes is not used again");
    drop(step);
    let step = take(&mut publisher, &mut subscriber);
    read(&step).expect("the stream goes on");
    drop(step);
    publisher.say("close");
    assert!(matches!(block_on(subscriber.next_step_async(PATIENCE)), Ok(NextStep::Ended(_))));
    publisher.hear("closed");
}
