//! Figures of a link, to be held against perftest's in the same machine: `tests/rdma-vm/bench.sh` starts it and reads it.

use super::support::{bytes, soon, verbs_pair};
use fp_transport::{OutFrame, Pool, PoolOptions, ReadRun, RemoteMemory};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Requests of one round: several are under way at any time.
const REQUESTS: usize = 32;
/// How long bandwidth is measured.
const MEASURING: Duration = Duration::from_millis(700);
/// Round trips.
const TRIPS: usize = 300;

/// Prints bandwidth of READs in MiB/s, and one way of 8 bytes in microseconds.
pub(crate) fn run() -> ExitCode {
    for len in [64 << 10, 1 << 20] {
        println!("read {len} {:.1}", read_mib_per_s(len));
    }
    println!("wake 8 {:.1}", one_way_us());
    ExitCode::SUCCESS
}

/// READs of so many bytes each, from places that are no neighbours: so none are put together.
fn read_mib_per_s(len: usize) -> f64 {
    let (mut one, other) = verbs_pair();
    let stride = len + 64;
    let pool = Pool::new(PoolOptions::default());
    let mut loan = pool.loan(REQUESTS * stride, 64).expect("room");
    loan.copy_from_slice(&bytes(1, REQUESTS * stride));
    let source = loan.freeze();
    let location = source.location().expect("of a pool");
    let segment = pool.remote_memory(location.segment, &other).expect("registered").expect("of the pool");
    let address = segment.address + location.offset;
    let remote = RemoteMemory { address, len_bytes: location.len, ..segment };
    let mut memory = vec![0; REQUESTS * stride];
    let mut destination = one.register(&mut memory).expect("registered");
    let run = |at: usize| ReadRun { source: (at * stride) as u64, destination: at * stride, len_bytes: len };
    let runs: Vec<ReadRun> = (0..REQUESTS).map(run).collect();
    let mut rounds = 0;
    one.read_remote(&remote, &mut destination, &runs, soon()).expect("warm");
    let began = Instant::now();
    while began.elapsed() < MEASURING {
        one.read_remote(&remote, &mut destination, &runs, soon()).expect("read");
        rounds += 1;
    }
    let taken = began.elapsed().as_secs_f64();
    drop(destination);
    assert!(
        memory[..len] == source.as_slice()[..len]
            && memory[stride..][..len] == source.as_slice()[stride..][..len]
    );
    (rounds * REQUESTS * len) as f64 / taken / (1 << 20) as f64
}

/// Half the median round trip of 8 bytes, each side asleep until they come.
fn one_way_us() -> f64 {
    let (mut one, mut other) = verbs_pair();
    let echo = thread::spawn(move || {
        while let Ok(frame) = other.recv_deadline(soon()) {
            if other.send_all(OutFrame::new(frame.head), soon()).is_err() {
                return;
            }
        }
    });
    let mut trips: Vec<Duration> = (0..TRIPS)
        .map(|_| {
            let sent = Instant::now();
            one.send_all(OutFrame::new(vec![7; 8]), soon()).expect("sent");
            one.recv_deadline(soon()).expect("back");
            sent.elapsed()
        })
        .collect();
    drop(one);
    echo.join().expect("no panic");
    trips.sort_unstable();
    trips[TRIPS / 2].as_secs_f64() * 1e6 / 2.0
}
