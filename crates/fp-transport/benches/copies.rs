//! Steps through memory between two threads, each pinned to one core. They are copied into the pool and out of a mapped
//! segment. The baseline copies them into and out of a hand-written ring of plain buffers. As many live buffers on both
//! sides, every byte of every step written afresh. Also bodies over tcp, without and with TLS, against a raw socket.
//! Printed as ratios from interleaved rounds.

#[path = "support/mod.rs"]
mod support;

use fp_transport::memory::MapOptions;
use fp_transport::{Link, MappedSegment, OutFrame, Payload, Pool, PoolOptions, SegmentId, TransportKind};
use std::collections::{HashMap, VecDeque};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;
use support::{deadline, linked, linked_with_tls, median, pin};

const ROUNDS: usize = 7;
const LIVE: usize = 4;
/// Steps before the clock starts: every page touched, every segment mapped.
const WARM_STEPS: usize = 8;

fn steps_of(len: usize) -> usize {
    ((512 << 20) / len).clamp(12, 400)
}

/// GB/s of `steps` steps. The first `WARM_STEPS` are not counted.
fn timed(len: usize, mut step: impl FnMut(usize)) -> f64 {
    (0..WARM_STEPS).for_each(&mut step);
    let start = Instant::now();
    (WARM_STEPS..WARM_STEPS + steps_of(len)).for_each(&mut step);
    (steps_of(len) * len) as f64 / start.elapsed().as_secs_f64() / 1e9
}

fn total(len: usize) -> usize {
    WARM_STEPS + steps_of(len)
}

/// What is published: another one of several sources each step, so that none stays in the cache by itself.
fn sources(len: usize) -> Vec<Vec<u8>> {
    (0..LIVE).map(|seed| vec![seed as u8 + 1; len]).collect()
}

/// The baseline: buffers go round between two queues.
fn by_hand(len: usize) -> f64 {
    let (full, filled): (SyncSender<Vec<u8>>, Receiver<Vec<u8>>) = sync_channel(LIVE);
    let (empty, emptied) = sync_channel(LIVE);
    (0..LIVE).for_each(|_| empty.send(vec![0; len]).expect("room"));
    let receiving = thread::spawn(move || {
        pin(1);
        let mut destination = vec![0; len];
        timed(len, |_| {
            let slot = filled.recv().expect("a step");
            destination.copy_from_slice(&slot);
            let _ = empty.send(slot);
        })
    });
    pin(0);
    let sources = sources(len);
    for step in 0..total(len) {
        let mut slot: Vec<u8> = emptied.recv().expect("a slot");
        slot.copy_from_slice(&sources[step % LIVE]);
        full.send(slot).expect("room");
    }
    receiving.join().expect("no panic")
}

/// Ours: loans of a pool, announced over a link, read through a second mapping, released over the link.
fn by_pool(len: usize) -> f64 {
    let pool = Pool::new(PoolOptions::default().with_limit_bytes(4 << 30));
    let (mut here, mut there) = linked(TransportKind::Shm);
    let fds = pool.clone();
    let receiving = thread::spawn(move || {
        pin(1);
        let (mut destination, mut mapped) = (vec![0; len], HashMap::new());
        timed(len, |_| {
            let frame = there.recv_deadline(deadline()).expect("a frame");
            let id = SegmentId(u64::from_le_bytes(frame.head[..].try_into().expect("an id")));
            let segment = mapped.entry(id).or_insert_with(|| map(&fds, id));
            destination.copy_from_slice(segment.slice(0, len as u64).expect("within").as_ref());
            there.send(OutFrame::new(vec![1])).expect("room");
        })
    });
    pin(0);
    let (sources, mut live) = (sources(len), VecDeque::new());
    for step in 0..total(len) {
        if live.len() == LIVE {
            here.recv_deadline(deadline()).expect("a frame");
            live.pop_front();
        }
        let mut loan = pool.loan(len, 64).expect("room");
        loan.copy_from_slice(&sources[step % LIVE]);
        let payload = loan.freeze();
        let segment = payload.location().expect("shareable").segment;
        here.send(OutFrame::new(segment.0.to_le_bytes().to_vec())).expect("room");
        live.push_back(payload);
    }
    receiving.join().expect("no panic")
}

fn map(pool: &Pool, id: SegmentId) -> MappedSegment {
    let len_bytes = pool.segment_descriptor(id).expect("it is live").len_bytes;
    let fd = pool.segment_fd(id).expect("it is live").try_clone().expect("a descriptor");
    MappedSegment::map(fd, len_bytes, MapOptions::default().with_prefault(true)).expect("sealed by us")
}

fn by_tcp_socket(len: usize) -> f64 {
    let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut here = TcpStream::connect(listening.local_addr().expect("its address")).expect("it listens");
    let (mut there, _) = listening.accept().expect("it is there");
    let receiving = thread::spawn(move || {
        pin(1);
        let mut destination = vec![0; len];
        timed(len, |_| there.read_exact(&mut destination).expect("a read"))
    });
    pin(0);
    let sources = sources(len);
    (0..total(len)).for_each(|step| here.write_all(&sources[step % LIVE]).expect("a write"));
    receiving.join().expect("no panic")
}

fn by_tcp_link(len: usize) -> f64 {
    by_link(len, linked(TransportKind::Tcp))
}

fn by_tls_link(len: usize) -> f64 {
    by_link(len, linked_with_tls())
}

fn by_link(len: usize, (mut here, mut there): (Link, Link)) -> f64 {
    let receiving = thread::spawn(move || {
        pin(1);
        let mut destination = vec![0; len];
        timed(len, |_| {
            there.recv_deadline(deadline()).expect("a frame");
            there.recv_body_deadline(&mut destination, deadline()).expect("its body");
        })
    });
    pin(0);
    let sources: Vec<_> = sources(len).into_iter().map(Payload::from_owner).collect();
    for step in 0..total(len) {
        let frame = OutFrame::new(vec![0; 16]).with_body(vec![sources[step % LIVE].clone()]);
        here.send_all(frame, deadline()).expect("it is written");
    }
    receiving.join().expect("no panic")
}

fn compare(name: &str, len: usize, baseline: fn(usize) -> f64, ours: fn(usize) -> f64) {
    let (mut base, mut own) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        base.push(baseline(len));
        own.push(ours(len));
    }
    let (base, own) = (median(&base), median(&own));
    println!(
        "{name:<28} {:>4} MiB  {own:>6.2} GB/s  baseline {base:>6.2} GB/s  ratio {:.2}",
        len >> 20,
        own / base
    );
}

fn main() {
    println!("copied in and out, median of {ROUNDS} interleaved rounds, both ends pinned");
    for len in [1 << 20, 16 << 20, 128 << 20] {
        compare("pool against a ring by hand", len, by_hand, by_pool);
    }
    for len in [1 << 20, 16 << 20] {
        compare("tcp link against a socket", len, by_tcp_socket, by_tcp_link);
        compare("TLS link against a socket", len, by_tcp_socket, by_tls_link);
    }
}
