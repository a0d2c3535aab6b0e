//! Zenoh: `zenoh ping|pong|send|receive over=tcp|shm port=N bytes=N steps=N`. One JSON object.
//!
//! Over shm the payload is allocated in a pool that has room for all steps under way. The implicit pool falls back to
//! tcp above 16 MiB without a word. So the receiving side insists that the payload came by shared memory.
#![forbid(unsafe_code)]

use flexpath_peers::{PATIENCE, await_that, element, half_trips, number, role, timed, word};
use std::io::Read as _;
use zenoh::bytes::ZBytes;
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::pubsub::Subscriber;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::shm::{BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder};
use zenoh::{Config, Wait as _};

const VERSION: &str = "Zenoh 1.10.2";
/// Steps under way at most.
const QUEUE: usize = 4;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Pool = ShmProvider<PosixShmProviderBackend>;

/// A peer that listens, or one that dials it.
fn config(listens: bool, shm: bool) -> Result<Config, Failure> {
    let mut config = Config::default();
    let endpoint = format!("[\"tcp/127.0.0.1:{}\"]", number("port", 7447));
    config.insert_json5("mode", "\"peer\"")?;
    config.insert_json5("scouting/multicast/enabled", "false")?;
    config.insert_json5("listen/endpoints", if listens { &endpoint } else { "[]" })?;
    config.insert_json5("connect/endpoints", if listens { "[]" } else { &endpoint })?;
    config.insert_json5("transport/shared_memory/enabled", if shm { "true" } else { "false" })?;
    Ok(config)
}

/// Bytes of a step, as they are put.
fn payload(pool: Option<&Pool>, elements: usize, step: usize) -> Result<ZBytes, Failure> {
    let fill = |memory: &mut [u8]| {
        for (at, bytes) in memory.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&element(step, at).to_ne_bytes());
        }
    };
    match pool {
        Some(pool) => {
            let mut memory = pool.alloc(elements * 8).with_policy::<BlockOn<GarbageCollect>>().wait()?;
            fill(&mut memory);
            Ok(memory.into())
        }
        None => {
            let mut memory = vec![0u8; elements * 8];
            fill(&mut memory);
            Ok(memory.into())
        }
    }
}

/// Waits for a step and copies it out.
fn receive(from: &Subscriber<FifoChannelHandler<Sample>>, own: &mut [i64], shm: bool, scratch: &mut Vec<u8>) {
    let sample = from.recv_timeout(PATIENCE).expect("a stream").expect("a step in time");
    assert!(!shm || sample.payload().as_shm().is_some(), "it came by tcp, not by shared memory");
    scratch.resize(own.len() * 8, 0);
    match sample.payload().slices().collect::<Vec<_>>()[..] {
        [whole] => copy_out(own, whole),
        _ => {
            sample.payload().reader().read_exact(scratch).expect("all of it");
            copy_out(own, scratch);
        }
    }
}

fn copy_out(own: &mut [i64], bytes: &[u8]) {
    for (element, bytes) in own.iter_mut().zip(bytes.chunks_exact(8)) {
        *element = i64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    }
}

fn main() -> Result<(), Failure> {
    let (role, shm) = (role(), word("over", "tcp") == "shm");
    let elements = number("bytes", 8) / 8;
    let starts = role == "ping" || role == "send";
    let net = zenoh::open(config(starts, shm)?).wait()?;
    let (outgoing, incoming) =
        if starts { ("bench/there", "bench/back") } else { ("bench/back", "bench/there") };
    let pool_bytes = (elements * 8 * (QUEUE + 4)).max(1 << 20);
    let pool = shm.then(|| PosixShmProviderBackend::builder(pool_bytes).wait());
    let pool: Option<Pool> = pool.transpose()?.map(|backend| ShmProviderBuilder::backend(backend).wait());
    let out =
        net.declare_publisher(outgoing).congestion_control(CongestionControl::Block).express(true).wait()?;
    let back = net.declare_subscriber(incoming).with(FifoChannel::new(QUEUE)).wait()?;
    await_that("the other side", || out.matching_status().wait().is_ok_and(|status| status.matching()));
    let send = |step: usize, elements: usize| {
        out.put(payload(pool.as_ref(), elements, step).expect("memory")).wait().expect("a put");
    };
    let (mut word, mut scratch) = ([0i64], Vec::new());
    match role.as_str() {
        "ping" => half_trips(VERSION, |step| {
            send(step, 1);
            receive(&back, &mut word, shm, &mut scratch);
        }),
        "pong" => {
            for step in 0..100 + number("steps", 2000) {
                receive(&back, &mut word, shm, &mut scratch);
                send(step, 1);
            }
        }
        "send" => {
            (0..8 + number("steps", 50)).for_each(|step| send(step, elements));
            receive(&back, &mut word, false, &mut scratch);
        }
        _ => {
            timed(VERSION, |own| receive(&back, own, shm, &mut scratch));
            send(0, 1);
        }
    }
    // The last answer is taken before its sender goes.
    if !starts {
        await_that("the other side's end", || {
            !out.matching_status().wait().is_ok_and(|status| status.matching())
        });
    }
    Ok(())
}
