//! What is brought into a stager by us, over which road and to which place.

use crate::data::Data;
use crate::pair::Pair;
use crate::{Outcome, mebibytes, memory};
use flexpath::{
    Cohort, NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, StartAt, Subscriber,
    SubscriberOptions, Variable,
};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);
const STREAM: &str = "numbers";

/// How steps get to the stager.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Road {
    /// It maps the memory of the publisher.
    Shared,
    /// Through `flexpath forward` and a gate beside the stager, with a token of the run.
    Gate,
    /// The same, enciphered.
    Tls,
    /// Straight to the stager, over this transport alone, from where `FLEXPATH_LISTEN` says.
    Only(&'static str),
}

impl Road {
    /// Whether the stager attaches to the publisher itself.
    fn is_straight(self) -> bool {
        matches!(self, Self::Shared | Self::Only(_))
    }
}

/// Where the stager has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Memory,
    /// On the device when the time is up.
    Disk,
}

/// A data set on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Course {
    pub(crate) block_bytes: u64,
    pub(crate) data_bytes: u64,
    pub(crate) ranks: u32,
    pub(crate) road: Road,
    pub(crate) place: Place,
}

impl Course {
    fn steps(&self) -> u64 {
        self.data_bytes / self.block_bytes / u64::from(self.ranks)
    }

    fn len(&self) -> u64 {
        self.block_bytes / 8
    }

    /// The block of a rank.
    fn region(&self, rank: u32) -> Outcome<Region> {
        Ok(Region::new([u64::from(rank) * self.len()], [self.len()])?)
    }

    /// The number of a rank's block in a step among all.
    fn number(&self, step: u64, rank: u32) -> u64 {
        step * u64::from(self.ranks) + u64::from(rank)
    }

    /// What it brings in a second, in MiB, until the stager has all. Then every number is checked.
    pub(crate) fn rate(&self, command: &Path, data: &Data, tls: &[String]) -> Outcome<f64> {
        memory::check(self)?;
        let place = tempfile::tempdir()?;
        let folders = ["inside", "outside"].map(|name| place.path().join(name));
        folders.iter().try_for_each(std::fs::create_dir)?;
        let (disk, is_straight) = (place.path().join("disk"), self.road.is_straight());
        let _pair = (!is_straight).then(|| self.pair(command, &folders, tls)).transpose()?;
        let said = place.path().join("said");
        let _stager = Stager::start(command, &folders[1], self, (&disk, &said))?;
        let publishers = self.open(&folders[usize::from(is_straight)])?;
        let subscriber = attach(&folders[1])?;
        let began = Instant::now();
        let publishers = self.publish(publishers, data)?;
        match self.place {
            Place::Memory => {}
            Place::Disk => sync(&disk)?,
        }
        let seconds = began.elapsed().as_secs_f64();
        let told = || std::fs::read_to_string(&said).unwrap_or_default();
        self.check(subscriber, data).map_err(|error| format!("{error}; the stager said:\n{}", told()))?;
        drop(publishers);
        Ok(mebibytes(self.data_bytes) / seconds)
    }

    fn pair(&self, command: &Path, folders: &[PathBuf; 2], tls: &[String]) -> Outcome<Pair> {
        let local = |program: &Path| Command::new(program);
        let credentials = if self.road == Road::Tls { tls } else { &[] };
        // A step of all ranks is on its way in no more than that, with its head.
        let words = ["--listen", "127.0.0.1:0", "--memory", "2G"];
        let (pair, _) = Pair::start([&local, &local], command, folders, (&words, STREAM), credentials)?;
        Ok(pair)
    }

    /// All publisher ranks, each in a thread: they wait for one another.
    fn open(&self, folder: &Path) -> Outcome<Vec<Publisher>> {
        let options = |rank: u32| -> Outcome<PublisherOptions> {
            let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(folder)?);
            let options = options.with_min_subscribers(1).with_open_timeout(PATIENCE);
            Ok(options.with_cohort(Cohort::of(rank, self.ranks)?))
        };
        let options = (0..self.ranks).map(options).collect::<Outcome<Vec<_>>>()?;
        let opened: Result<Vec<Publisher>, _> = std::thread::scope(|scope| {
            let open = |options| scope.spawn(move || Publisher::open(STREAM, options));
            let threads: Vec<_> = options.into_iter().map(open).collect();
            threads.into_iter().map(|thread| thread.join().expect("opened")).collect()
        });
        Ok(opened?)
    }

    /// All ranks put all of their blocks at once, until the stager has let go of the last one.
    fn publish(&self, publishers: Vec<Publisher>, data: &Data) -> Outcome<Vec<Publisher>> {
        std::thread::scope(|scope| {
            let publish = |(publisher, rank)| {
                scope.spawn(move || {
                    self.publish_rank(publisher, rank, data).map_err(|error| error.to_string())
                })
            };
            let threads: Vec<_> = publishers.into_iter().zip(0..).map(publish).collect();
            let published = threads.into_iter().map(|thread| Ok(thread.join().expect("published")?));
            published.collect()
        })
    }

    fn publish_rank(&self, mut publisher: Publisher, rank: u32, data: &Data) -> Outcome<Publisher> {
        let field = Variable::global::<u64>("field", &[self.len() * u64::from(self.ranks)])?;
        let region = self.region(rank)?;
        for step in 0..self.steps() {
            let mut writer = publisher.begin_step()?;
            writer.put_copy(&field, &region, data.block(self.number(step, rank), self.len()))?;
            writer.end()?;
        }
        publisher.sync(PATIENCE)?;
        Ok(publisher)
    }

    /// Takes what was staged, and compares every number.
    fn check(&self, mut subscriber: Subscriber, data: &Data) -> Outcome<()> {
        for number in 0..self.steps() {
            let NextStep::Step(step) = subscriber.next_step(PATIENCE)? else {
                return Err(format!("step {number} is missing").into());
            };
            if (step.step().0, step.skipped()) != (number, 0) {
                return Err(format!("step {} came where {number} was expected", step.step()).into());
            }
            for rank in 0..self.ranks {
                let view = step.view::<u64>("field", Selection::Region(self.region(rank)?))?;
                if view[..] != *data.block(self.number(number, rank), self.len()) {
                    return Err(format!("step {number}, rank {rank} has other numbers").into());
                }
            }
        }
        Ok(())
    }
}

/// Subscribes to what is staged, and takes nothing yet: so the stager keeps all.
fn attach(folder: &Path) -> Outcome<Subscriber> {
    let options = SubscriberOptions::default().with_rendezvous(Rendezvous::at(folder)?);
    let options = options.with_start_at(StartAt::OldestReserved).with_open_timeout(PATIENCE);
    Ok(Subscriber::open(&format!("{STREAM}-staged"), options)?)
}

/// Waits until all files under a folder are on the device.
fn sync(folder: &Path) -> Outcome<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { sync(&path)? } else { std::fs::File::open(path)?.sync_data()? }
    }
    Ok(())
}

/// `flexpath stage`, ended when this is dropped.
struct Stager(Child);

impl Stager {
    /// What it says goes to a file.
    fn start(command: &Path, folder: &Path, course: &Course, (disk, said): (&Path, &Path)) -> Outcome<Self> {
        let mut stager = Command::new(command);
        stager.args(["stage", STREAM, "--rendezvous"]).arg(folder).arg("--memory");
        match course.place {
            Place::Memory => stager.arg(memory::bound(course).to_string()),
            // No step has room in one byte.
            Place::Disk => stager.args(["1", "--disk"]).arg(disk),
        };
        if let Road::Only(transport) = course.road {
            stager.env("FLEXPATH_TRANSPORTS", transport);
        }
        Ok(Self(stager.stderr(std::fs::File::create(said)?).spawn()?))
    }
}

impl Drop for Stager {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
