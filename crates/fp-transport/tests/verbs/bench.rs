//! Figures of a link, to be held against perftest's in the same machine: `tests/rdma-vm/bench.sh` starts it and reads
//! it.

use super::support::{bytes, soon, verbs_pair};
use fp_transport::{OutFrame, Payload, Pool, PoolOptions, ReadRun, RemoteMemory};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Places that are read from and to, in turns: as few as there can be, as perftest has one buffer for all of its own.
const PLACES: usize = 2;
/// READs of one round: so many that its end counts for little.
const REQUESTS: usize = 256;
/// How long bandwidth is measured.
const MEASURING: Duration = Duration::from_millis(700);
/// Longer than any wait.
const BUSY: Duration = Duration::from_secs(60);
/// Round trips.
const TRIPS: usize = 300;

/// Prints bandwidth in MiB/s, of READs straight and through memory of the domain, and of frames. Then one way of 8
/// bytes in microseconds, asleep until they come and looking again and again.
pub(crate) fn run() -> ExitCode {
    for len in [64 << 10, 1 << 20] {
        println!("read {len} {:.1}", read_mib_per_s(len, Duration::ZERO, false));
        println!("read_poll {len} {:.1}", read_mib_per_s(len, BUSY, false));
        println!("through {len} {:.1}", read_mib_per_s(len, Duration::ZERO, true));
        println!("frames {len} {:.1}", frames_mib_per_s(len));
    }
    println!("wake 8 {:.1}", one_way_us(Duration::ZERO));
    println!("poll 8 {:.1}", one_way_us(BUSY));
    ExitCode::SUCCESS
}

/// Prints one way of 8 bytes, asleep until they come: where the clock counts instructions, a thousand are a
/// microsecond.
pub(crate) fn count() -> ExitCode {
    println!("wake 8 {:.3}", one_way_us(Duration::ZERO));
    ExitCode::SUCCESS
}

/// READs of so many bytes each, from places that are no neighbours: so none are put together.
fn read_mib_per_s(len: usize, busy_poll: Duration, through: bool) -> f64 {
    let (mut one, other) = verbs_pair();
    one.set_busy_poll(busy_poll);
    let stride = len + 64;
    let pool = Pool::new(PoolOptions::default());
    let mut loan = pool.loan(PLACES * stride, 64).expect("room");
    loan.copy_from_slice(&bytes(1, PLACES * stride));
    let source = loan.freeze();
    let location = source.location().expect("of a pool");
    let segment = pool
        .remote_memory(location.segment, &other.memory_registrar().expect("verbs"))
        .expect("registered")
        .expect("of the pool");
    let address = segment.address + location.offset;
    let remote = RemoteMemory { address, len_bytes: location.len, ..segment };
    let mut memory = vec![0; PLACES * stride];
    let mut destination = one.register(&mut memory).expect("registered");
    let mut landing = one.landing(1 << 20).expect("registered");
    let run = |at: usize| {
        let place = at % PLACES * stride;
        ReadRun { source: place as u64, destination: place, len_bytes: len }
    };
    // About as many bytes in each round, whatever their cut.
    let requests = REQUESTS.min((64 << 20) / len);
    let runs: Vec<ReadRun> = (0..requests).map(run).collect();
    let mut round = || match through {
        true => one.read_remote_through(&remote, &mut landing, (destination.parts().0, &runs), soon()),
        false => one.read_remote(&remote, &mut destination, &runs, soon()),
    };
    round().expect("warm");
    let (began, mut rounds) = (Instant::now(), 0);
    while began.elapsed() < MEASURING {
        round().expect("read");
        rounds += 1;
    }
    let taken = began.elapsed().as_secs_f64();
    drop(destination);
    assert!(
        memory[..len] == source.as_slice()[..len]
            && memory[stride..][..len] == source.as_slice()[stride..][..len]
    );
    (rounds * requests * len) as f64 / taken / (1 << 20) as f64
}

/// Frames with bodies of so many bytes, as blocks go that are gathered.
fn frames_mib_per_s(len: usize) -> f64 {
    let (mut one, mut other) = verbs_pair();
    let body = Payload::from_owner(bytes(2, len));
    let sender = thread::spawn(move || {
        let began = Instant::now();
        while began.elapsed() < MEASURING {
            one.send_all(OutFrame::new(vec![1]).with_body(vec![body.clone()]), soon()).expect("sent");
        }
        one.finish(soon()).expect("all came");
    });
    let (began, mut frames, mut found) = (Instant::now(), 0, vec![0; len]);
    while other.recv_deadline(soon()).is_ok() {
        other.recv_body_deadline(&mut found, soon()).expect("a body");
        frames += 1;
    }
    let taken = began.elapsed().as_secs_f64();
    drop(other);
    sender.join().expect("no panic");
    (frames * len) as f64 / taken / (1 << 20) as f64
}

/// Half the median round trip of 8 bytes.
fn one_way_us(busy_poll: Duration) -> f64 {
    let (mut one, mut other) = verbs_pair();
    one.set_busy_poll(busy_poll);
    other.set_busy_poll(busy_poll);
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
