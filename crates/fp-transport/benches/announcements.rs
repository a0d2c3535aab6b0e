//! Half a round trip of 8 bytes between two threads, each pinned to one core. It compares a futex, raw sockets, and
//! what this crate makes of them. Printed as medians and as ratios to the baseline of the same kind, from interleaved
//! rounds.

#[path = "support/mod.rs"]
mod support;

use fp_transport::{Link, OutFrame, TransportKind};
use rustix::thread::futex;
use std::hint::spin_loop;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;
use support::{deadline, linked, linked_with_tls, median, pin, quantile};

const ROUNDS: usize = 5;
const TRIPS: usize = 4000;

/// One end of a way to hand 8 bytes over.
trait End: Send + 'static {
    fn send(&mut self);
    fn receive(&mut self);
}

struct Futex {
    mine: Arc<AtomicU32>,
    theirs: Arc<AtomicU32>,
    seen: u32,
}

impl End for Futex {
    fn send(&mut self) {
        self.theirs.fetch_add(1, Ordering::Release);
        futex::wake(&self.theirs, futex::Flags::empty(), 1).expect("a wake");
    }

    fn receive(&mut self) {
        while self.mine.load(Ordering::Acquire) == self.seen {
            let _ = futex::wait(&self.mine, futex::Flags::empty(), self.seen, None);
        }
        self.seen += 1;
    }
}

struct Raw<S>(S);

impl<S: Read + Write + Send + 'static> End for Raw<S> {
    fn send(&mut self) {
        self.0.write_all(&[1; 8]).expect("a write");
    }

    fn receive(&mut self) {
        self.0.read_exact(&mut [0; 8]).expect("a read");
    }
}

struct Framed(Link);

impl End for Framed {
    fn send(&mut self) {
        self.0.send(OutFrame::new(vec![1; 8])).expect("room");
    }

    fn receive(&mut self) {
        self.0.recv_deadline(deadline()).expect("a frame");
    }
}

/// A link whose ends look at its ring again and again.
struct Polled(Link);

impl End for Polled {
    fn send(&mut self) {
        self.0.send(OutFrame::new(vec![1; 8])).expect("room");
    }

    fn receive(&mut self) {
        if self.0.watch_ring().is_none() {
            self.0.recv_deadline(deadline()).expect("a frame");
            self.0.arm(false);
            return;
        }
        while self.0.recv_here().expect("sound").is_none() {
            spin_loop();
        }
    }
}

/// Half round trips in nanoseconds.
fn trips(mut here: impl End, mut there: impl End) -> Vec<f64> {
    let answering = thread::spawn(move || {
        pin(1);
        for _ in 0..TRIPS {
            there.receive();
            there.send();
        }
    });
    pin(0);
    let times = (0..TRIPS).map(|_| {
        let start = Instant::now();
        here.send();
        here.receive();
        start.elapsed().as_nanos() as f64 / 2.0
    });
    let times = times.collect();
    answering.join().expect("no panic");
    times
}

fn futexes() -> Vec<f64> {
    let (one, two) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let here = Futex { mine: Arc::clone(&one), theirs: Arc::clone(&two), seen: 0 };
    trips(here, Futex { mine: two, theirs: one, seen: 0 })
}

fn unix_sockets() -> Vec<f64> {
    let (here, there) = UnixStream::pair().expect("a pair");
    trips(Raw(here), Raw(there))
}

fn tcp_sockets() -> Vec<f64> {
    let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
    let here = TcpStream::connect(listening.local_addr().expect("its address")).expect("it listens");
    let (there, _) = listening.accept().expect("it is there");
    here.set_nodelay(true).expect("a socket");
    there.set_nodelay(true).expect("a socket");
    trips(Raw(here), Raw(there))
}

fn links((here, there): (Link, Link)) -> Vec<f64> {
    trips(Framed(here), Framed(there))
}

fn polled((here, there): (Link, Link)) -> Vec<f64> {
    trips(Polled(here), Polled(there))
}

/// A name, the place of its baseline in the list, and how to measure it.
type Way<'a> = (&'a str, usize, &'a dyn Fn() -> Vec<f64>);

fn main() {
    let ways: [Way<'_>; 7] = [
        ("futex", 0, &futexes),
        ("unix socket", 1, &unix_sockets),
        ("shm link", 1, &|| links(linked(TransportKind::Shm))),
        ("shm, busy poll", 0, &|| polled(linked(TransportKind::Shm))),
        ("tcp socket", 4, &tcp_sockets),
        ("tcp link", 4, &|| links(linked(TransportKind::Tcp))),
        ("tcp link, TLS", 4, &|| links(linked_with_tls())),
    ];
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for (times, (_, _, run)) in times.iter_mut().zip(&ways) {
            times.extend(run());
        }
    }
    println!("half a round trip of 8 bytes, {} trips each, both ends pinned", ROUNDS * TRIPS);
    println!("{:<18} {:>10} {:>10} {:>10}  ratio of p50", "", "p50 ns", "p99 ns", "max ns");
    for (way, (name, baseline, _)) in ways.iter().enumerate() {
        let (p50, base) = (median(&times[way]), median(&times[*baseline]));
        let (p99, most) = (quantile(&times[way], 0.99), quantile(&times[way], 1.0));
        println!(
            "{name:<18} {p50:>10.0} {p99:>10.0} {most:>10.0}  {:.2} of {}",
            p50 / base,
            ways[*baseline].0
        );
    }
}
