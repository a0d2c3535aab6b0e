//! The side that answers probes: listens as a publisher does, and serves each link on a thread of its own.

use crate::data::segment::telling;
use crate::diagnosis::words::{BULK_BYTES, EPOCH, Request, fill};
use crate::diagnosis::{ProbeError, policy_of, tls_of};
use crate::options::link::LinkOptions;
use crate::session::prepare::{device_address, pinned_device, verbs_address};
use fp_transport::{
    Contact, Domain, InprocKey, Link, LinkError, ListenError, ListenOptions, Listener, OutFrame, Payload,
    Pool, PoolOptions, RemoteMemory, Token, TransportKind, VerbsTrouble, inproc,
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

/// The same over verbs, where a peer that READs is silent.
const SILENCE_READING: Duration = Duration::from_secs(600);

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
    /// TLS that cannot be set up, a token that cannot be read, and what keeps a publisher from listening.
    pub fn listen(link: &LinkOptions) -> Result<Answering, ProbeError> {
        let (tls, device) = (tls_of(link)?, pinned_device(link));
        let (tcp, token) = (link.tcp_address()?, link.run_token()?);
        let listens = tls.is_none() && policy_of(link)?.allow.contains(&TransportKind::Verbs);
        let options = ListenOptions::new(EPOCH)
            .with_verbs(
                tcp.filter(|_| listens && token.is_some())
                    .and_then(|tcp| verbs_address(tcp, link, device.as_deref())),
            )
            .with_domain(Domain::new().with_device(device))
            .with_tcp(tcp)
            .with_advertised(link.advertised)
            .with_token(token)
            .with_tls(tls);
        Ok(Answering { listener: Listener::bind(options)? })
    }

    /// Listens for RDMA alone, at the address of a device that is up; to peers with this token.
    pub(crate) fn listen_for_verbs(link: &LinkOptions, token: Token) -> Result<Answering, ProbeError> {
        if tls_of(link)?.is_some() {
            return Err(VerbsTrouble::Tls.into());
        }
        let device = pinned_device(link);
        let options = ListenOptions::new(EPOCH)
            .with_verbs(Some(device_address(device.as_deref(), &[])?))
            .with_domain(Domain::new().with_device(device))
            .with_tcp(None)
            .with_token(Some(token));
        let listener = Listener::bind(options)?;
        match listener.verbs_trouble() {
            Some(trouble) => Err(trouble.clone().into()),
            None => Ok(Answering { listener }),
        }
    }

    /// Where it can be probed.
    pub fn contact(&self) -> &Contact {
        self.listener.contact()
    }

    /// Answers until `stopped` says so; it is asked ten times a second.
    ///
    /// # Errors
    /// The listener itself broke; no peer can cause that.
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
    let silence = if link.reads_remote() { SILENCE_READING } else { SILENCE };
    while !stopped() && heard.elapsed() < silence {
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
            announce(request, pool, ready, link)?
        }
        (Request::Take(_), Some(ready)) if transport == TransportKind::Tcp => {
            OutFrame::new(request.encode()).with_body(vec![ready.payload.clone()])
        }
        (Request::Take(_), Some(_)) => OutFrame::new(request.encode()),
        (Request::Take(_), None) => return Err(ProbeError::Answer { what: "taken before it was prepared" }),
    };
    Ok(link.send_all(frame, deadline)?)
}

/// Makes bytes ready in memory of the kind that loans are of.
fn prepare(pool: &Pool, seed: u64, transport: TransportKind) -> Result<Bulk, ProbeError> {
    let mut loan = pool.loan(BULK_BYTES, 64)?;
    fill(&mut loan, seed);
    let payload = loan.freeze();
    let key = (transport == TransportKind::Inproc).then(|| inproc::export(payload.clone()));
    Ok(Bulk { payload, key })
}

/// Says where the bytes are, to a peer that gets them by itself. Within the process that is the key. Over shm it is the
/// segment's length, the offset in it, and its descriptor. Over verbs it is the address and the key by which they are
/// READ.
fn announce(request: Request, pool: &Pool, bulk: &Bulk, link: &Link) -> Result<OutFrame, ProbeError> {
    let unshared = || ProbeError::Answer { what: "memory that cannot be shared" };
    let mut head = request.encode();
    if let Some(key) = bulk.key {
        head.extend(key.0.to_le_bytes());
    }
    if !matches!(link.transport(), TransportKind::Shm | TransportKind::Verbs) {
        return Ok(OutFrame::new(head));
    }
    let place = bulk.payload.location().ok_or_else(unshared)?;
    if link.reads_remote() {
        let segment = pool.remote_memory(place.segment, &link.memory_registrar()?)?.ok_or_else(unshared)?;
        let address = segment.address.wrapping_add(place.offset);
        head.extend(telling(&RemoteMemory { address, ..segment }));
        return Ok(OutFrame::new(head));
    }
    let segment = pool.segment_descriptor(place.segment).zip(pool.segment_fd(place.segment));
    let (segment, descriptor) = segment.ok_or_else(unshared)?;
    head.extend(segment.len_bytes.to_le_bytes());
    head.extend(place.offset.to_le_bytes());
    Ok(OutFrame::new(head).with_descriptor(descriptor))
}
