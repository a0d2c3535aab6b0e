//! What the Python package is measured against: the same calls in Rust. `bench.py` beside it runs both in turns.
//!
//! ```text
//! floor publish STREAM BYTES                publishes a step for each byte that it reads, and says so by a byte
//! floor subscribe STREAM WHAT STEPS FILE    asks for steps that way, lets each wait, takes it, and times that
//! floor alone WHAT BYTES STEPS FILE         both in one process
//! ```
//!
//! WHAT is `get` (into fresh memory), `into` (memory that is there already) or `view`. FILE becomes JSON: nanoseconds
//! of each step. Whoever starts the two connects their standard streams. Each step is published, waits half a
//! millisecond, and is taken while the publisher does nothing.

use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Selection, StepReader, Subscriber, SubscriberOptions,
    Variable,
};
use std::error::Error;
use std::hint::black_box;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// No wait is longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// From the end of a step until it is taken. Its announcement arrived long before.
const SETTLE: Duration = Duration::from_micros(500);
/// Steps before any is counted.
const WARM_STEPS: usize = 20;
/// The array of each step.
const NAME: &str = "x";

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["publish", stream, bytes] => publish(stream, bytes.parse()?),
        ["subscribe", stream, what, steps, file] => subscribe(stream, what, steps.parse()?, file),
        ["alone", what, bytes, steps, file] => alone(what, bytes.parse()?, steps.parse()?, file),
        // `cargo bench` and `cargo test --benches` only want to know that it builds.
        _ => Ok(println!("floor: bench.py beside it runs this")),
    }
}

/// A publisher of one array, which it writes afresh for every step.
struct Source {
    publisher: Publisher,
    array: Variable,
    region: Region,
    next: usize,
}

impl Source {
    fn open(stream: &str, bytes: u64, min_subscribers: usize) -> Outcome<Self> {
        let elements = bytes / 8;
        let options = PublisherOptions::default().with_min_subscribers(min_subscribers.try_into()?);
        let publisher = Publisher::open(stream, options)?;
        let (array, region) = (Variable::global::<f64>(NAME, &[elements])?, Region::new([0], [elements])?);
        Ok(Self { publisher, array, region, next: 0 })
    }

    fn step(&mut self) -> Outcome<()> {
        let mut step = self.publisher.begin_step()?;
        let mut loan = step.loan::<f64>(&self.array, &self.region)?;
        loan.fill(self.next as f64);
        step.put_loan(loan)?;
        step.end()?;
        self.next += 1;
        Ok(())
    }
}

fn publish(stream: &str, bytes: u64) -> Outcome<()> {
    let mut source = Source::open(stream, bytes, 1)?;
    let (mut asked, mut ended) = (std::io::stdin().lock(), std::io::stdout());
    while asked.read(&mut [0])? == 1 {
        source.step()?;
        ended.write_all(&[1])?;
        ended.flush()?;
    }
    source.publisher.close()?;
    Ok(())
}

fn subscribe(stream: &str, what: &str, steps: usize, file: &str) -> Outcome<()> {
    let (mut ask, mut ended) = (std::io::stdout(), std::io::stdin().lock());
    let mut subscriber = Subscriber::open(stream, SubscriberOptions::default())?;
    rustix::io::ioctl_fionbio(&ended, true)?;
    let taken = take(&mut subscriber, what, steps, || {
        ask.write_all(&[1])?;
        ask.flush()?;
        hear(&mut ended)
    })?;
    subscriber.close()?;
    Ok(std::fs::write(file, format!("{taken:?}"))?)
}

/// Waits for the byte that says that a step has ended. The core is not given away meanwhile, so that its caches stay
/// this program's.
fn hear(ended: &mut impl Read) -> Outcome<()> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        match ended.read(&mut [0]) {
            Ok(0) => return Err("the publisher is gone".into()),
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err("the publisher publishes nothing".into())
}

fn alone(what: &str, bytes: u64, steps: usize, file: &str) -> Outcome<()> {
    let mut source = Source::open("alone", bytes, 0)?;
    let mut subscriber = Subscriber::open("alone", SubscriberOptions::default())?;
    let taken = take(&mut subscriber, what, steps, || source.step())?;
    subscriber.close()?;
    source.publisher.close()?;
    Ok(std::fs::write(file, format!("{taken:?}"))?)
}

/// Nanoseconds that taking each of the steps took.
fn take(
    subscriber: &mut Subscriber,
    what: &str,
    steps: usize,
    mut ask: impl FnMut() -> Outcome<()>,
) -> Outcome<Vec<u128>> {
    let (mut taken, mut place) = (Vec::new(), Vec::new());
    for number in 0..WARM_STEPS + steps {
        ask()?;
        let settled = Instant::now() + SETTLE;
        while Instant::now() < settled {
            std::hint::spin_loop();
        }
        let NextStep::Step(step) = subscriber.next_step(PATIENCE)? else { return Err("no step".into()) };
        let (ns, first, last) = timed(&step, what, &mut place)?;
        if [first, last] != [number as f64; 2] {
            return Err(format!("step {number} has {first} and {last}").into());
        }
        taken.push(ns);
    }
    Ok(taken.split_off(WARM_STEPS))
}

/// Takes the array of a step: nanoseconds, and the first and the last element.
fn timed(step: &StepReader, what: &str, place: &mut Vec<f64>) -> Outcome<(u128, f64, f64)> {
    let ends =
        |all: &[f64]| (all.first().copied().unwrap_or(f64::NAN), all.last().copied().unwrap_or(f64::NAN));
    let began = Instant::now();
    let (ns, (first, last)) = match what {
        "get" => {
            let found = black_box(step.get::<f64>(NAME, Selection::All)?);
            (began.elapsed().as_nanos(), ends(&found))
        }
        "into" => {
            step.get_into(NAME, Selection::All, place)?;
            (began.elapsed().as_nanos(), ends(place))
        }
        "view" => {
            let found = black_box(step.view::<f64>(NAME, Selection::All)?);
            (began.elapsed().as_nanos(), ends(&found))
        }
        other => return Err(format!("there is no way to take called {other:?}").into()),
    };
    Ok((ns, first, last))
}
