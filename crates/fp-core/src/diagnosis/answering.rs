//! The side that answers probes: listens as a publisher does, and serves each link on a thread of its own.

use super::words::{BULK_BYTES, EPOCH, Request, fill};
use super::{ProbeError, tls_of};
use crate::options::LinkOptions;
use fp_transport::{
    Contact, InprocKey, Link, LinkError, ListenError, ListenOptions, Listener, OutFrame, Payload, Pool,
    PoolOptions, TransportKind, inproc,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often it looks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);
/// After that much silence a link is dropped.
const SILENCE: Duration = Duration::from_secs(30);
/// Links that are served at one time; more are turned away.
const LIMIT_LINKS: usize = 8;

/// A process that can be probed.
#[derive(Debug)]
pub struct Answering {
    listener: Listener,
}

impl Answering {
    /// Listens where a publisher with these options would.
    ///
    /// # Errors
    /// TLS that cannot be set up, and what keeps a publisher from listening.
    pub fn listen(link: &LinkOptions) -> Result<Answering, ProbeError> {
        let options = ListenOptions::new(EPOCH)
            .with_tcp(link.tcp)
            .with_advertised(link.advertised)
            .with_token(link.token.clone())
            .with_tls(tls_of(link)?);
        Ok(Answering { listener: Listener::bind(options)? })
    }

    /// Where it can be probed.
    pub fn contact(&self) -> &Contact {
        self.listener.contact()
    }

    /// Answers until `stopped` says so; it is asked ten times a second.
    ///
    /// # Errors
    /// What breaks the listener itself: no peer can.
    pub fn serve(mut self, stopped: &(dyn Fn() -> bool + Sync)) -> Result<(), ListenError> {
        let live = AtomicUsize::new(0);
        let live = &live;
        std::thread::scope(|scope| {
            while !stopped() {
                await_readable(&self.listener);
                while let Some(accepted) = self.listener.accept(Instant::now())? {
                    if live.load(Ordering::Relaxed) >= LIMIT_LINKS {
                        continue;
                    }
                    live.fetch_add(1, Ordering::Relaxed);
                    scope.spawn(move || {
                        let ended = serve_link(accepted.link, stopped);
                        tracing::debug!(?ended, "a probe is over");
                        live.fetch_sub(1, Ordering::Relaxed);
                    });
                }
            }
            Ok(())
        })
    }
}

/// Waits until somebody dials, for a moment at most.
fn await_readable(listener: &Listener) {
    let mut dialled = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
    let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
    // An interrupted wait is a short one.
    let _ = poll(&mut dialled, Some(&moment));
}

/// Answers what one peer asks, until it goes or says nothing for long.
fn serve_link(mut link: Link, stopped: &dyn Fn() -> bool) -> Result<(), ProbeError> {
    let pool = Pool::new(PoolOptions::default().with_limit_bytes(2 * BULK_BYTES as u64));
    let mut bulk = None;
    let mut heard = Instant::now();
    while !stopped() && heard.elapsed() < SILENCE {
        match link.recv_deadline(Instant::now() + LOOK) {
            Ok(frame) => {
                heard = Instant::now();
                let (request, _) = Request::decode(&frame.head)?;
                answer(&mut link, &pool, &mut bulk, request, heard + SILENCE)?;
            }
            Err(LinkError::Deadline { .. }) => {}
            Err(LinkError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Bytes that are ready, and the key under which they lie for the own process.
struct Bulk {
    payload: Payload,
    key: Option<InprocKey>,
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.key.map(inproc::withdraw);
    }
}

fn answer(
    link: &mut Link,
    pool: &Pool,
    bulk: &mut Option<Bulk>,
    request: Request,
    deadline: Instant,
) -> Result<(), ProbeError> {
    let transport = link.transport();
    let frame = match (request, &*bulk) {
        (Request::Ping(_), _) => OutFrame::new(request.encode()),
        (Request::Prepare(seed), _) => {
            let ready = bulk.insert(prepare(pool, seed, transport)?);
            announce(request, pool, ready, transport)?
        }
        (Request::Take(_), Some(ready)) if !shares_memory(transport) => {
            OutFrame::new(request.encode()).with_body(vec![ready.payload.clone()])
        }
        (Request::Take(_), Some(_)) => OutFrame::new(request.encode()),
        (Request::Take(_), None) => return Err(ProbeError::Answer { what: "taken before it was prepared" }),
    };
    Ok(link.send_all(frame, deadline)?)
}

/// Whether a peer finds the bytes by itself, once it knows where they are.
pub(super) fn shares_memory(transport: TransportKind) -> bool {
    matches!(transport, TransportKind::Inproc | TransportKind::Shm)
}

/// Makes bytes ready in memory of the kind that loans are of.
fn prepare(pool: &Pool, seed: u64, transport: TransportKind) -> Result<Bulk, ProbeError> {
    let mut loan = pool.loan(BULK_BYTES, 64)?;
    fill(&mut loan, seed);
    let payload = loan.freeze();
    let key = (transport == TransportKind::Inproc).then(|| inproc::export(payload.clone()));
    Ok(Bulk { payload, key })
}

/// Says where the bytes are, to a peer that finds them by itself: the key within the process; over shm the segment's
/// length, the offset in it, and its descriptor.
fn announce(
    request: Request,
    pool: &Pool,
    bulk: &Bulk,
    transport: TransportKind,
) -> Result<OutFrame, ProbeError> {
    let mut head = request.encode();
    if let Some(key) = bulk.key {
        head.extend(key.0.to_le_bytes());
    }
    if transport != TransportKind::Shm {
        return Ok(OutFrame::new(head));
    }
    let unshared = ProbeError::Answer { what: "memory that cannot be shared" };
    let Some(place) = bulk.payload.location() else { return Err(unshared) };
    let segment = pool.segment_descriptor(place.segment).zip(pool.segment_fd(place.segment));
    let Some((segment, descriptor)) = segment else { return Err(unshared) };
    head.extend(segment.len_bytes.to_le_bytes());
    head.extend(place.offset.to_le_bytes());
    Ok(OutFrame::new(head).with_descriptor(descriptor))
}
