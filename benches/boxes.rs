//! An array in many boxes: `cargo bench -p flexpath --bench boxes`.
//!
//! Two publisher processes deal out the boxes of an array of 256 x 256 x 256 f64 (128 MiB) in turns. One subscriber takes
//! all of it into one array. Boxes of 16^3 and of 8^3 cells take turns with one box for each rank, which has the same
//! bytes. What a put of a box costs is measured in the publishers. It is the time of its thread on a core, as three busy
//! processes share the cores. The time of the clock stands beside it.

#[path = "rows/compared.rs"]
mod compared;
#[path = "rows/quick.rs"]
mod quick;
#[path = "rows/mod.rs"]
mod rows;

use compared::{middle, report};
use flexpath::{
    Cohort, NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions,
    TransportPolicy, Variable,
};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "--role";
/// Cells along each dimension of the array.
const SIDE: u64 = 256;
const RANKS: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(120);
/// Steps of a round; the first ones make links and plans, and are not counted.
const STEPS: u64 = 24;
const WARM: u64 = 4;
const ROUNDS: usize = 5;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, [place, rank, side])) = arguments.split_first().filter(|(first, _)| *first == ROLE) {
        return publish(Path::new(place), rank.parse()?, side.parse()?);
    }
    // `cargo test --benches` only wants to know that it builds.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    for transports in ["shm", "tcp"] {
        let sides = [SIDE, 16, 8];
        let mut found: [[Vec<f64>; 3]; 3] = Default::default();
        for _ in 0..quick::or_quick(ROUNDS, 1) {
            for (side, found) in sides.iter().zip(&mut found) {
                let round = round(transports, *side)?;
                found.iter_mut().zip(round).for_each(|(found, figure)| found.push(figure));
            }
        }
        let [[one, ..], [sixteen, ..], [eight, puts, clock]] = found;
        let [one, sixteen, eight, put_us, clock_us] = [one, sixteen, eight, puts, clock].map(middle);
        let name = |cells: &str| format!("{transports}, boxes of {cells}, of one box a rank");
        report(&name("16^3"), (sixteen, one), "GB/s", (sixteen >= 0.8 * one, "ratio >= 0.8"));
        report(&name("8^3"), (eight, one), "GB/s", (eight >= 0.4 * one, "ratio >= 0.4"));
        report(
            &format!("{transports}, put of a box of 8^3"),
            (put_us, 2.0),
            "us",
            (put_us < 2.0, "below 2 us"),
        );
        let case = format!("{transports}, the same by the clock");
        println!("{case:<34}{clock_us:>9.1}          us");
        rows::keep(&[
            ("case", rows::Figure::Text(&case)),
            ("ours", rows::Figure::Number(clock_us)),
            ("unit", rows::Figure::Text("us")),
        ]);
    }
    Ok(())
}

/// Publishers that are ended when they are dropped.
struct Publishers(Vec<Child>);

impl Drop for Publishers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Gigabytes that a get brings in a second, and microseconds that a put takes on a core and by the clock: the middle of a
/// round's steps.
fn round(transports: &str, side: u64) -> Outcome<[f64; 3]> {
    let place = tempfile::tempdir()?;
    let program = std::env::current_exe()?;
    let start = |rank: u32| {
        let mut command = Command::new(&program);
        command.arg(ROLE).arg(place.path()).args([rank.to_string(), side.to_string()]);
        command.env("FLEXPATH_TRANSPORTS", transports).stdin(Stdio::null()).spawn()
    };
    let mut publishers = Publishers((0..RANKS).map(start).collect::<Result<_, _>>()?);
    let options = SubscriberOptions::default()
        .with_rendezvous(Rendezvous::at(place.path())?)
        .with_transports(transports.parse::<TransportPolicy>()?)
        .with_open_timeout(PATIENCE);
    let mut subscriber = Subscriber::open("boxes", options)?;
    let mut whole = vec![0.0f64; (SIDE * SIDE * SIDE) as usize];
    let mut figures: [Vec<f64>; 3] = Default::default();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE)? {
        let began = Instant::now();
        step.get_into("cells", "[:, :, :]", &mut whole)?;
        let taken = began.elapsed();
        if step.step().0 >= WARM {
            let rate = size_of_val(&whole[..]) as f64 / taken.as_secs_f64() / 1e9;
            let told = [rate, step.scalar("put_us")?, step.scalar("clock_us")?];
            figures.iter_mut().zip(told).for_each(|(figures, figure)| figures.push(figure));
        }
        let wanted = step.step().0 as f64;
        assert!(whole.iter().all(|cell| *cell == wanted), "a cell of another step than {wanted}");
    }
    subscriber.close()?;
    for publisher in &mut publishers.0 {
        publisher.wait()?;
    }
    Ok(figures.map(middle))
}

/// One publisher rank.
fn publish(place: &Path, rank: u32, side: u64) -> Outcome<()> {
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(place)?)
        .with_cohort(Cohort::of(rank, RANKS)?)
        .with_min_subscribers(1)
        .with_open_timeout(PATIENCE);
    let mut publisher = Publisher::open("boxes", options)?;
    let cells = Variable::global::<f64>("cells", &[SIDE, SIDE, SIDE])?;
    let costs = [Variable::scalar::<f64>("put_us")?, Variable::scalar::<f64>("clock_us")?];
    let boxes = boxes(rank, side)?;
    let mut values = vec![0.0; boxes[0].element_count() as usize];
    let mut spent_us = [0.0; 2];
    for step in 0..STEPS {
        values.fill(step as f64);
        let mut writer = publisher.begin_step()?;
        let (began, on_core) = (Instant::now(), time_on_core());
        for region in &boxes {
            writer.put_copy(&cells, region, &values)?;
        }
        let spent = [time_on_core() - on_core, began.elapsed()];
        // Of the step before: this one's scalars are no boxes.
        for (cost, spent_us) in costs.iter().zip(spent_us) {
            writer.put_scalar(cost, spent_us)?;
        }
        spent_us = spent.map(|spent| spent.as_secs_f64() * 1e6 / boxes.len() as f64);
        writer.end()?;
    }
    Ok(publisher.close()?)
}

/// How long this thread had a core.
fn time_on_core() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The boxes of a rank: of those of that side every second one; or its half of the array.
fn boxes(rank: u32, side: u64) -> Outcome<Vec<Region>> {
    if side == SIDE {
        let half = SIDE / u64::from(RANKS);
        return Ok(vec![Region::new([u64::from(rank) * half, 0, 0], [half, SIDE, SIDE])?]);
    }
    let along = SIDE / side;
    let own = (0..along * along * along).filter(|number| number % u64::from(RANKS) == u64::from(rank));
    let region = |number: u64| {
        let at = [number / along / along, number / along % along, number % along].map(|place| place * side);
        Ok(Region::new(at, [side, side, side])?)
    };
    own.map(region).collect()
}
