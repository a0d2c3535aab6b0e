//! Half a round trip of 8 bytes between two threads pinned to one core each: a futex, raw sockets, and what this crate
//! makes of them. Printed as medians and as ratios to the baseline of the same kind, from interleaved rounds.

#[path = "support/mod.rs"]
mod support;

use fp_transport::memory::ring::{self, RingReceiver, RingSender};
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

struct Ring {
    sender: RingSender,
    receiver: RingReceiver,
    frame: Vec<u8>,
    spin: bool,
}

impl End for Ring {
    fn send(&mut self) {
        assert!(self.sender.try_send(&[1; 8]).expect("sound"));
    }

    fn receive(&mut self) {
        while !self.receiver.try_recv(&mut self.frame).expect("sound") {
            if self.spin {
                spin_loop();
            } else {
                self.receiver.wait(deadline()).expect("sound");
            }
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

fn rings(spin: bool) -> Vec<f64> {
    let (sender, to_there) = ring::pair(4096).expect("a ring");
    let (answers, receiver) = ring::pair(4096).expect("a ring");
    let here = Ring { sender, receiver, frame: Vec::new(), spin };
    trips(here, Ring { sender: answers, receiver: to_there, frame: Vec::new(), spin })
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

/// A name, the place of its baseline in the list, and how to measure it.
type Way<'a> = (&'a str, usize, &'a dyn Fn() -> Vec<f64>);

fn main() {
    let ways: [Way<'_>; 8] = [
        ("futex", 0, &futexes),
        ("ring, asleep", 0, &|| rings(false)),
        ("ring, busy poll", 0, &|| rings(true)),
        ("unix socket", 3, &unix_sockets),
        ("shm link", 3, &|| links(linked(TransportKind::Shm))),
        ("tcp socket", 5, &tcp_sockets),
        ("tcp link", 5, &|| links(linked(TransportKind::Tcp))),
        ("tcp link, TLS", 5, &|| links(linked_with_tls())),
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
