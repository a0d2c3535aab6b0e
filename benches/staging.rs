//! A stream through `flexpath stage`: `cargo bench -p flexpath --bench staging`, after the command was built with
//! `cargo build --release -p flexpath-cli`. `-- --steps N` takes fewer steps than 200.
//!
//! *Spill*: steps of 64 MiB as fast as they go to a stager whose memory has room for four, while nobody reads. Next to dd,
//! which writes as many bytes in blocks of that size to the same disk. Both sync each block, or both once at the end.
//! *Slow subscriber*: the publisher is paced at half of what dd reaches with as many bytes. The subscriber takes ten times
//! as long for each step. What counts is how long the publisher was held up, that every number arrives, and the
//! stager's memory. With 200 steps on a disk of 400 MiB/s that takes eleven minutes.

#[path = "rows/command.rs"]
mod command;
#[path = "rows/compared.rs"]
mod compared;
#[path = "rows/quick.rs"]
mod quick;
#[path = "rows/mod.rs"]
mod rows;

use compared::{middle, report};
use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, StartAt, Subscriber, SubscriberOptions,
    Variable,
};
use quick::or_quick;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROLE: &str = "--role";
const STEP_BYTES: u64 = 64 << 20;
const LEN: u64 = STEP_BYTES / 8;
const MEMORY_BYTES: u64 = 4 * STEP_BYTES;
const PATIENCE: Duration = Duration::from_secs(120);
/// Steps of the rows on speed.
const SPILLED: u64 = 24;
const ROUNDS: usize = 3;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, [place, steps, pause_us])) = arguments.split_first().filter(|(first, _)| *first == ROLE) {
        return subscribe(Path::new(place), steps.parse()?, Duration::from_micros(pause_us.parse()?));
    }
    // `cargo test --benches` only wants to know that it builds.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let steps = arguments.iter().skip_while(|argument| *argument != "--steps").nth(1);
    measure(steps.map_or(Ok(or_quick(200, 8)), |steps| steps.parse())?)
}

fn measure(steps: u64) -> Outcome<()> {
    let Some(command) = command::built()? else { return Ok(()) };
    println!(
        "steps of 64 MiB, {} MiB of memory, disk under {}",
        MEMORY_BYTES >> 20,
        std::env::temp_dir().display()
    );
    for (name, is_durable) in [("spill, synced once", false), ("spill, each step synced", true)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..or_quick(ROUNDS, 1) {
            theirs.push(dd(SPILLED, is_durable)?);
            ours.push(spill(&command, is_durable)?);
        }
        let (ours, theirs) = (middle(ours), middle(theirs));
        report(name, (ours, theirs), "MiB/s", (ours >= 0.8 * theirs, "ratio >= 0.8"));
    }
    // Few bytes go faster than the disk does in the long run.
    let rate = dd(steps, false)?;
    println!("dd writes {steps} steps at {rate:.0} MiB/s, and the publisher {:.0}", rate / 2.0);
    slow(&command, steps, 2.0 * STEP_BYTES as f64 / f64::from(1 << 20) / rate)
}

/// What dd writes in a second, in MiB, of as many bytes as so many steps have.
fn dd(steps: u64, syncs_each: bool) -> Outcome<f64> {
    let folder = tempfile::tempdir()?;
    let sync = if syncs_each { "oflag=dsync" } else { "conv=fdatasync" };
    let file = format!("of={}", folder.path().join("file").display());
    let began = Instant::now();
    let count = format!("count={steps}");
    let written = Command::new("dd")
        .args(["if=/dev/zero", &file, "bs=64M", &count, sync])
        .stderr(Stdio::null())
        .status()?;
    if !written.success() {
        return Err("dd failed".into());
    }
    Ok((steps << 6) as f64 / began.elapsed().as_secs_f64())
}

/// A stager of a stream, ended when it is dropped.
struct Stager(Child);

impl Stager {
    fn start(command: &Path, place: &Path, is_durable: bool) -> Outcome<Self> {
        let memory = MEMORY_BYTES.to_string();
        let mut stager = Command::new(command);
        stager.args(["stage", "sim", "--once", "--memory", &memory, "--disk"]).arg(place.join("disk"));
        stager.args(is_durable.then_some("--durable")).arg("--rendezvous").arg(place.join("found"));
        Ok(Self(stager.stderr(Stdio::null()).spawn()?))
    }

    /// The memory that is its own, in bytes: pages of no file, and of segments that it writes to. Those of the publisher
    /// it has mapped as well, but only to read.
    fn memory_bytes(&self) -> u64 {
        let maps = std::fs::read_to_string(format!("/proc/{}/smaps", self.0.id())).unwrap_or_default();
        let (mut is_own_segment, mut kibibytes) = (false, 0);
        for line in maps.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [_, access, ..] if access.len() == 4 && access.ends_with(['p', 's']) => {
                    is_own_segment = access == "rw-s" && line.contains("/memfd:");
                }
                ["Rss:", size, _] if is_own_segment => kibibytes += size.parse().unwrap_or(0),
                ["Anonymous:", size, _] if !is_own_segment => kibibytes += size.parse().unwrap_or(0),
                _ => {}
            }
        }
        kibibytes << 10
    }
}

impl Drop for Stager {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn open(place: &Path) -> Outcome<Publisher> {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place.join("found"))?);
    Ok(Publisher::open("sim", options.with_min_subscribers(1).with_open_timeout(PATIENCE))?)
}

fn attach(place: &Path) -> Outcome<Subscriber> {
    let options = SubscriberOptions::default().with_rendezvous(Rendezvous::at(place.join("found"))?);
    Ok(Subscriber::open(
        "sim-staged",
        options.with_start_at(StartAt::OldestReserved).with_open_timeout(PATIENCE),
    )?)
}

fn element(step: u64, at: u64) -> f64 {
    (step * 7_919 + at) as f64
}

fn put(publisher: &mut Publisher, field: &Variable) -> Outcome<()> {
    let all = Region::new([0], [LEN])?;
    let mut writer = publisher.begin_step()?;
    let step = writer.step().0;
    let mut loan = writer.loan::<f64>(field, &all)?;
    loan.iter_mut().zip(0..).for_each(|(place, at)| *place = element(step, at));
    writer.put_loan(loan)?;
    Ok(writer.end()?)
}

fn place() -> Outcome<tempfile::TempDir> {
    let place = tempfile::tempdir()?;
    std::fs::create_dir(place.path().join("found"))?;
    Ok(place)
}

/// What a stager takes in a second while nobody reads, in MiB, until it is on the device.
fn spill(command: &Path, is_durable: bool) -> Outcome<f64> {
    let place = place()?;
    let _stager = Stager::start(command, place.path(), is_durable)?;
    let mut publisher = open(place.path())?;
    let _idle = attach(place.path())?;
    let field = Variable::global::<f64>("field", &[LEN])?;
    let began = Instant::now();
    for _ in 0..SPILLED {
        put(&mut publisher, &field)?;
    }
    publisher.sync(PATIENCE)?;
    if !is_durable {
        files(&place.path().join("disk"))?
            .iter()
            .try_for_each(|file| std::fs::File::open(file)?.sync_data())?;
    }
    let seconds = began.elapsed().as_secs_f64();
    Ok((SPILLED << 6) as f64 / seconds)
}

fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

/// A subscriber that is ten times as slow as the publisher, which has so many seconds for a step.
fn slow(command: &Path, steps: u64, seconds: f64) -> Outcome<()> {
    let place = place()?;
    let stager = Stager::start(command, place.path(), false)?;
    let mut publisher = open(place.path())?;
    let pause = Duration::from_secs_f64(10.0 * seconds).as_micros().to_string();
    let mut reader = Command::new(std::env::current_exe()?);
    reader.arg(ROLE).arg(place.path()).args([steps.to_string(), pause]);
    let mut reader = reader.stdout(Stdio::piped()).spawn()?;
    // The staged stream is there before the subscriber is: steps wait for it.
    while !place.path().join("attached").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let (peak, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
    let published = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                peak.fetch_max(stager.memory_bytes(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let published = publish_paced(&mut publisher, steps, Duration::from_secs_f64(seconds));
        let ended = reader.wait();
        is_done.store(true, Ordering::Relaxed);
        published.and_then(|published| match ended?.success() {
            true => Ok(published),
            false => Err("a step was lost, or had other numbers".into()),
        })
    });
    let (held_up, wall) = published?;
    publisher.close()?;
    let percent = 100.0 * held_up / wall;
    report("publisher held up, of its time", (percent, 100.0), "%", (percent < 1.0, "below 1 %"));
    let (peak, bound) = ((peak.into_inner() >> 20) as f64, (MEMORY_BYTES >> 20) as f64);
    report("stager's memory, of its bound", (peak, bound), "MiB", (peak <= 1.1 * bound, "ratio <= 1.1"));
    println!("{steps} steps arrived in order, every number as it was put");
    Ok(())
}

/// How long the publisher was held up, and how long it took, in seconds.
fn publish_paced(publisher: &mut Publisher, steps: u64, pace: Duration) -> Outcome<(f64, f64)> {
    let field = Variable::global::<f64>("field", &[LEN])?;
    let began = Instant::now();
    for step in 0..steps {
        let due = began + pace * u32::try_from(step)?;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        put(publisher, &field)?;
    }
    let wall = began.elapsed().as_secs_f64();
    let counted = publisher.statistics();
    let waited = counted.begin_subscription_ns + counted.begin_skew_ns;
    Ok((waited as f64 / 1e9, wall))
}

/// Takes all steps, each after a pause, and checks every number.
fn subscribe(place: &Path, steps: u64, pause: Duration) -> Outcome<()> {
    let mut subscriber = attach(place)?;
    std::fs::write(place.join("attached"), "")?;
    for number in 0..steps {
        let NextStep::Step(step) = subscriber.next_step(PATIENCE)? else { return Err("no step".into()) };
        let began = Instant::now();
        if (step.step().0, step.skipped()) != (number, 0) {
            return Err(format!("step {} came where {number} was expected", step.step()).into());
        }
        let field = step.view::<f64>("field", flexpath::Selection::All)?;
        if field.len() as u64 != LEN
            || !field.iter().zip(0..).all(|(found, at)| *found == element(number, at))
        {
            return Err(format!("step {number} has other numbers").into());
        }
        drop((field, step));
        std::thread::sleep(pause.saturating_sub(began.elapsed()));
    }
    Ok(())
}
