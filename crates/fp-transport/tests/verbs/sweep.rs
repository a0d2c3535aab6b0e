//! What a part of a block costs its reader, by its length and that of its runs. It is READ from where it lies, or asked
//! for, gathered by the owner and sent. `tests/rdma-vm/bench.sh` starts it and reads it; the bounds that rest on it are
//! those of `fp-core/src/fetch/reading.rs`.

use super::support::{bytes, soon, verbs_pair};
use fp_transport::{Landing, Link, OutFrame, Payload, Pool, PoolOptions, ReadRun, ReadTarget, RemoteMemory};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a part, and of its runs.
const PARTS: [usize; 7] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10];
const RUNS: [usize; 7] = [64, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10];
/// Half of the owner's memory is wanted: one run of two.
const STRIDE: usize = 2;
/// Each way once in a turn. The first is not counted.
const TURNS: usize = 31;
/// Runs this long are sent from where they lie, as `fp-core/src/server.rs` does.
const GATHER_BYTES: usize = 4 << 10;

/// The three ways to have a part.
struct Reader<'a> {
    link: Link,
    remote: RemoteMemory,
    destination: ReadTarget<'a>,
    landing: Landing,
}

/// Prints for each length of parts and runs the medians in microseconds. The ways are: READ straight to its place, READ
/// by way of memory of the domain, gathered and sent.
pub(crate) fn run() -> ExitCode {
    let (link, mut other) = verbs_pair();
    let len = STRIDE * PARTS[PARTS.len() - 1];
    let pool = Pool::new(PoolOptions::default());
    let mut loan = pool.loan(len, 64).expect("room");
    loan.copy_from_slice(&bytes(3, len));
    let source = loan.freeze();
    let location = source.location().expect("of a pool");
    let segment = pool
        .remote_memory(location.segment, &other.memory_registrar().expect("verbs"))
        .expect("registered")
        .expect("of the pool");
    let remote =
        RemoteMemory { address: segment.address + location.offset, len_bytes: location.len, ..segment };
    let owned = source.clone();
    let owner = thread::spawn(move || answer(&mut other, &owned));
    let mut memory = vec![0; len];
    let destination = link.register(&mut memory).expect("registered");
    let landing = link.landing(1 << 20).expect("registered");
    let mut reader = Reader { link, remote, destination, landing };
    for part in PARTS {
        for run in RUNS {
            let [straight, through, gathered] = reader.medians(&source, part, run);
            println!("sweep {part} {run} {straight:.0} {through:.0} {gathered:.0}");
        }
    }
    drop(reader);
    owner.join().expect("no panic");
    ExitCode::SUCCESS
}

/// The owner: gathers what it is asked for and sends it, until nobody asks any more.
fn answer(link: &mut Link, source: &Payload) {
    while let Ok(frame) = link.recv_deadline(soon()) {
        let word = |at: usize| usize::from_le_bytes(frame.head[at * 8..][..8].try_into().expect("a word"));
        let (part, run) = (word(0), word(1));
        let starts = (0..part / run).map(|at| at * STRIDE * run);
        let body: Vec<Payload> = if run >= GATHER_BYTES {
            starts.map(|start| source.slice(start..start + run).expect("inside")).collect()
        } else {
            let mut gathered = Vec::with_capacity(part);
            starts.for_each(|start| gathered.extend_from_slice(&source.as_slice()[start..start + run]));
            vec![Payload::from_owner(gathered)]
        };
        link.send_all(OutFrame::new(frame.head).with_body(body), soon()).expect("sent");
    }
}

impl Reader<'_> {
    /// In turns, so that all of them find the machine equally busy.
    fn medians(&mut self, source: &Payload, part: usize, run: usize) -> [f64; 3] {
        let one =
            |at: usize| ReadRun { source: (at * STRIDE * run) as u64, destination: at * run, len_bytes: run };
        let runs: Vec<ReadRun> = (0..part / run).map(one).collect();
        let mut taken: [Vec<Duration>; 3] = Default::default();
        for _ in 0..=TURNS {
            for (way, taken) in taken.iter_mut().enumerate() {
                self.destination.parts().0[..part].fill(0);
                let began = Instant::now();
                match way {
                    0 => self.read_straight(&runs),
                    1 => self.read_through(&runs),
                    _ => self.ask(part, run),
                }
                taken.push(began.elapsed());
                let found = &*self.destination.parts().0;
                let right = |run: &ReadRun| {
                    found[run.destination..][..run.len_bytes]
                        == source.as_slice()[run.source as usize..][..run.len_bytes]
                };
                assert!(runs.iter().all(right), "way {way}, {part} bytes in runs of {run}");
            }
        }
        taken.map(|mut taken| {
            let counted = &mut taken[1..];
            counted.sort_unstable();
            counted[TURNS / 2].as_secs_f64() * 1e6
        })
    }

    fn read_straight(&mut self, runs: &[ReadRun]) {
        self.link.read_remote(&self.remote, &mut self.destination, runs, soon()).expect("read");
    }

    fn read_through(&mut self, runs: &[ReadRun]) {
        let destination = (self.destination.parts().0, runs);
        self.link.read_remote_through(&self.remote, &mut self.landing, destination, soon()).expect("read");
    }

    fn ask(&mut self, part: usize, run: usize) {
        let head = [part.to_le_bytes(), run.to_le_bytes()].concat();
        self.link.send_all(OutFrame::new(head), soon()).expect("asked");
        self.link.recv_deadline(soon()).expect("an answer");
        self.link.recv_body_deadline(&mut self.destination.parts().0[..part], soon()).expect("its body");
    }
}
