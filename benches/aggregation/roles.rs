//! What the processes on the hosts do: all ranks of the simulation in one, and a process for each staging node.

use crate::Outcome;
use crate::cable::ADDRESSES;
use flexpath::{
    Cohort, NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, StartAt, Subscriber,
    SubscriberOptions, Variable,
};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const PATIENCE: Duration = Duration::from_secs(60);

/// How much is published, and of whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) ranks: u64,
    /// Bytes of a rank in a step.
    pub(crate) message_bytes: u64,
    pub(crate) steps: u64,
}

impl Load {
    fn len(self) -> u64 {
        self.message_bytes / 8
    }

    pub(crate) fn step_bytes(self) -> u64 {
        self.ranks * self.message_bytes
    }

    pub(crate) fn words(self) -> [String; 3] {
        [self.ranks, self.message_bytes, self.steps].map(|number| number.to_string())
    }

    fn of(words: &[String]) -> Outcome<Self> {
        let [ranks, message_bytes, steps] = words else { return Err("no load".into()) };
        Ok(Self { ranks: ranks.parse()?, message_bytes: message_bytes.parse()?, steps: steps.parse()? })
    }
}

/// Plays a role.
pub(crate) fn play(words: &[String]) -> Outcome<()> {
    match words {
        [role, folder, load @ ..] if role == "publish" => publish(Path::new(folder), Load::of(load)?),
        [role, folder, stream, node, nodes, load @ ..] if role == "take" => {
            take((Path::new(folder), stream), (node.parse()?, nodes.parse()?), Load::of(load)?)
        }
        [role, bytes] if role == "pour" => pour(bytes.parse()?),
        [role, bytes] if role == "drain" => drain(bytes.parse()?),
        other => Err(format!("there is no role {other:?}").into()),
    }
}

/// The number that a rank puts in all places of a step.
fn element(step: u64, rank: u64) -> f64 {
    (step * 1_000 + rank) as f64
}

/// All ranks, each in a thread. Prints the seconds from the second step's beginning until all was taken from the ranks.
fn publish(folder: &Path, load: Load) -> Outcome<()> {
    let publishers: Vec<Publisher> = std::thread::scope(|scope| {
        let open = |rank: u64| {
            scope.spawn(move || -> Result<Publisher, String> {
                let cohort = Cohort::of(rank as u32, load.ranks as u32).map_err(|error| error.to_string())?;
                let place = Rendezvous::at(folder).map_err(|error| error.to_string())?;
                let options = PublisherOptions::default().with_rendezvous(place).with_cohort(cohort);
                let options = options.with_min_subscribers(1).with_open_timeout(PATIENCE);
                Publisher::open("run", options).map_err(|error| error.to_string())
            })
        };
        let threads: Vec<_> = (0..load.ranks).map(open).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Result<_, _>>()
    })?;
    let ended: Result<Vec<(f64, Publisher)>, String> = std::thread::scope(|scope| {
        let put = |(publisher, rank)| {
            scope.spawn(move || put(publisher, rank, load).map_err(|error| error.to_string()))
        };
        let threads: Vec<_> = publishers.into_iter().zip(0..).map(put).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let ended = ended?;
    println!("{}", ended.iter().map(|(seconds, _)| *seconds).fold(0.0, f64::max));
    // They end together, and are not in the time.
    std::thread::scope(|scope| {
        ended.into_iter().for_each(|(_, publisher)| _ = scope.spawn(move || publisher.close()));
    });
    Ok(())
}

/// All steps of a rank: seconds until those behind the first one were taken from it. The nodes come before that is taken.
fn put(mut publisher: Publisher, rank: u64, load: Load) -> Outcome<(f64, Publisher)> {
    let field = Variable::global::<f64>("field", &[load.ranks * load.len()])?;
    let region = Region::new([rank * load.len()], [load.len()])?;
    let mut began = Instant::now();
    for step in 0..load.steps {
        if step == 1 {
            publisher.sync(PATIENCE)?;
            began = Instant::now();
        }
        let mut writer = publisher.begin_step()?;
        let mut loan = writer.loan::<f64>(&field, &region)?;
        loan.fill(element(step, rank));
        writer.put_loan(loan)?;
        writer.end()?;
    }
    publisher.sync(PATIENCE)?;
    Ok((began.elapsed().as_secs_f64(), publisher))
}

/// A staging node takes its part of each step. Prints when the first steps were there, after which is measured, and when
/// all were.
fn take((folder, stream): (&Path, &str), (node, nodes): (u64, u64), load: Load) -> Outcome<()> {
    let options = SubscriberOptions::default()
        .with_rendezvous(Rendezvous::at(folder)?)
        .with_name("nodes")
        .with_cohort(Cohort::of(node as u32, nodes as u32)?)
        .with_start_at(StartAt::OldestReserved)
        .with_open_timeout(PATIENCE);
    let mut subscriber = Subscriber::open(stream, options)?;
    let ranks = load.ranks * node / nodes..load.ranks * (node + 1) / nodes;
    let region = Region::new([ranks.start * load.len()], [(ranks.end - ranks.start) * load.len()])?;
    let mut part = vec![0.0; region.element_count() as usize];
    let mut times = Vec::new();
    for number in 0..load.steps {
        let NextStep::Step(step) = subscriber.next_step(PATIENCE)? else { return Err("no step".into()) };
        if (step.step().0, step.skipped()) != (number, 0) {
            return Err(format!("step {} came where {number} was expected", step.step()).into());
        }
        step.get_into("field", Selection::Region(region), &mut part)?;
        let own = part.chunks(load.len() as usize).zip(ranks.clone());
        for (block, rank) in own {
            if [block[0], block[block.len() - 1]] != [element(number, rank); 2] {
                return Err(format!("step {number}, rank {rank} has other numbers").into());
            }
        }
        drop(step);
        times.push(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64());
    }
    println!("{} {}", times[crate::warm(load) as usize - 1], times[times.len() - 1]);
    Ok(subscriber.close()?)
}

/// Sends so many bytes over one connection.
fn pour(bytes: u64) -> Outcome<()> {
    let began = Instant::now();
    let mut to = loop {
        match TcpStream::connect((ADDRESSES[1], 7001)) {
            Ok(to) => break to,
            Err(_) if began.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(error.into()),
        }
    };
    let part = vec![1u8; 1 << 20];
    (0..bytes >> 20).try_for_each(|_| to.write_all(&part))?;
    Ok(())
}

/// Receives them into memory; prints MiB/s.
fn drain(bytes: u64) -> Outcome<()> {
    let (mut from, _) = TcpListener::bind((ADDRESSES[1], 7001))?.accept()?;
    let mut part = vec![0u8; 1 << 20];
    let (began, mut came) = (Instant::now(), 0);
    while came < bytes {
        match from.read(&mut part)? {
            0 => return Err("the connection was closed too early".into()),
            len => came += len as u64,
        }
    }
    println!("{}", (bytes >> 20) as f64 / began.elapsed().as_secs_f64());
    Ok(())
}
