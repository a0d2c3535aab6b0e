//! iceoryx2: `iceoryx2 ping|pong|send|receive name=NAME wake=poll|event bytes=N steps=N`. One JSON object.
#![forbid(unsafe_code)]

use flexpath_peers::{PATIENCE, await_that, element, half_trips, number, role, timed, word};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;

const VERSION: &str = "iceoryx2 0.10.0";
/// Steps under way at most.
const QUEUE: usize = 4;

type Failure = Box<dyn std::error::Error>;

/// One direction: data, and an event that wakes who waits for it.
struct Way {
    publisher: Option<Publisher<ipc::Service, [i64], ()>>,
    subscriber: Option<Subscriber<ipc::Service, [i64], ()>>,
    notifier: Option<Notifier<ipc::Service>>,
    listener: Option<Listener<ipc::Service>>,
    is_there: Box<dyn Fn() -> bool>,
}

impl Way {
    fn open(node: &Node<ipc::Service>, name: &str, sends: bool, elements: usize) -> Result<Self, Failure> {
        let service = node.service_builder(&format!("{name}/data").as_str().try_into()?);
        let service = service.publish_subscribe::<[i64]>().enable_safe_overflow(false);
        let service = service.subscriber_max_buffer_size(QUEUE).open_or_create()?;
        let event =
            node.service_builder(&format!("{name}/event").as_str().try_into()?).event().open_or_create()?;
        let publisher = || {
            let builder = service.publisher_builder().initial_max_slice_len(elements);
            builder.backpressure_strategy(BackpressureStrategy::RetryUntilDelivered).create()
        };
        Ok(Self {
            publisher: sends.then(publisher).transpose()?,
            subscriber: (!sends).then(|| service.subscriber_builder().create()).transpose()?,
            notifier: sends.then(|| event.notifier_builder().create()).transpose()?,
            listener: (!sends).then(|| event.listener_builder().create()).transpose()?,
            is_there: Box::new(move || {
                let data = service.dynamic_config();
                let events = event.dynamic_config();
                data.number_of_subscribers() * data.number_of_publishers() > 0
                    && events.number_of_listeners() * events.number_of_notifiers() > 0
            }),
        })
    }

    fn await_other(&self) {
        await_that("the other side", || (self.is_there)());
    }

    /// Fills memory that is lent, and sends it.
    fn send(&self, elements: usize, step: usize, wakes: bool) -> Result<(), Failure> {
        let sample = self.publisher.as_ref().ok_or("this side receives")?.loan_slice_uninit(elements)?;
        sample.write_from_fn(|at| element(step, at)).send()?;
        if let (true, Some(notifier)) = (wakes, &self.notifier) {
            notifier.notify()?;
        }
        Ok(())
    }

    /// Waits for a step and copies it out.
    fn receive(&self, own: &mut [i64], sleeps: bool) -> Result<(), Failure> {
        let subscriber = self.subscriber.as_ref().ok_or("this side sends")?;
        let until = std::time::Instant::now() + PATIENCE;
        loop {
            if let Some(sample) = subscriber.receive()? {
                own.copy_from_slice(&sample);
                return Ok(());
            }
            match (&self.listener, sleeps) {
                (Some(listener), true) => drop(listener.timed_wait(|_| {}, PATIENCE)?),
                _ => std::hint::spin_loop(),
            }
            if std::time::Instant::now() > until {
                return Err("no step came".into());
            }
        }
    }
}

fn main() -> Result<(), Failure> {
    set_log_level(LogLevel::Error);
    let (name, role, wakes) = (word("name", "flexpath-peers"), role(), word("wake", "poll") == "event");
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let elements = number("bytes", 8) / 8;
    let starts = role == "ping" || role == "send";
    let there = Way::open(&node, &format!("{name}/there"), starts, elements)?;
    let back = Way::open(&node, &format!("{name}/back"), !starts, 1)?;
    there.await_other();
    back.await_other();
    let mut word = [0i64];
    match role.as_str() {
        "ping" => half_trips(VERSION, |step| {
            there.send(1, step, wakes).expect("a ping");
            back.receive(&mut word, wakes).expect("a pong");
        }),
        "pong" => {
            for step in 0..100 + number("steps", 2000) {
                there.receive(&mut word, wakes)?;
                back.send(1, step, wakes)?;
            }
        }
        "send" => {
            for step in 0..8 + number("steps", 50) {
                there.send(elements, step, wakes)?;
            }
            // Not before all was taken: its memory goes with this process.
            back.receive(&mut word, true)?;
        }
        _ => {
            timed(VERSION, |own| there.receive(own, wakes).expect("a step"));
            back.send(1, 0, true)?;
        }
    }
    // The last answer is taken before its sender goes.
    if role == "pong" || role == "receive" {
        await_that("the other side's end", || !(there.is_there)());
    }
    Ok(())
}
