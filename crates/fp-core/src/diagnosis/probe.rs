//! The side that probes: dials over one transport, has bytes sent, checks them, and takes the time.

use crate::data::segment::told;
use crate::diagnosis::answer::Answering;
use crate::diagnosis::words::{BULK_BYTES, EPOCH, Request, check};
use crate::diagnosis::{ProbeError, Reason, policy_of, tls_of};
use crate::options::link::LinkOptions;
use crate::session::prepare::pinned_device;
use crate::value::limit::after;
use fp_transport::memory::MapOptions;
use fp_transport::{
    Contact, DialError, DialOptions, Domain, InFrame, InprocKey, Link, MappedSegment, OutFrame, Payload,
    Purpose, ReadRun, Refusal, RemoteMemory, TlsIdentity, Token, TransportKind, TransportPolicy, dial,
    inproc,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long each of the two figures is measured.
const MEASURING: Duration = Duration::from_millis(250);

/// Most round trips that are timed.
const LIMIT_TRIPS: u64 = 2000;

/// A transport that works.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Probed {
    /// What was agreed, as `transport=tcp 127.0.0.1:4000`.
    pub link: String,
    /// Figures. None where a stream answered: its handshake proved the transport with a few real bytes, and a running
    /// stream is not asked for more.
    pub measured: Option<Measured>,
}

/// How fast a transport is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// Bytes that came and were compared with what they should be.
    pub checked_bytes: u64,
    /// Bytes that reach an array of the one who asks, in a second.
    pub bandwidth_bytes_per_s: f64,
    /// One way of a message of a few bytes: half the median of the round trips.
    pub latency: Duration,
}

/// Probes one transport to a contact: that of an [`super::Answering`], or of any rank of a running stream. Takes at
/// most `link.open_timeout`. What the contact is shown, and which transports are allowed, is in the options as for a
/// stream.
///
/// # Errors
/// Why the transport does not work between the two.
pub fn probe(contact: &Contact, transport: TransportKind, link: &LinkOptions) -> Result<Probed, ProbeError> {
    let deadline = after(Instant::now(), link.open_timeout);
    if !policy_of(link)?.allow.contains(&transport) {
        return Err(ProbeError::Refused(Reason::NotAllowed));
    }
    let (token, tls) = (link.run_token()?, tls_of(link)?);
    let dialling = Dialling { contact, transport, link, token, tls, deadline };
    match dialling.dial(Some(EPOCH)) {
        Ok(link) => Asking { link, deadline }.measure(),
        Err(DialError::Refused { refusal: Refusal::Epoch { .. }, .. }) => {
            let link = dialling.dial(None).map_err(|error| ProbeError::of_dial(error, transport))?;
            Ok(Probed { link: link.negotiated().to_string(), measured: None })
        }
        Err(error) => Err(ProbeError::of_dial(error, transport)),
    }
}

/// Probes RDMA from a device of this machine to itself, within this process: a device sends to itself as to any other.
///
/// # Errors
/// Why there is none.
pub fn probe_own_verbs(link: &LinkOptions) -> Result<Probed, ProbeError> {
    if !policy_of(link)?.allow.contains(&TransportKind::Verbs) {
        return Err(ProbeError::Refused(Reason::NotAllowed));
    }
    let token = Token::random().map_err(|_| ProbeError::Answer { what: "a system without random bytes" })?;
    let answering = Answering::listen_for_verbs(link, token.clone())?;
    let contact = answering.contact().clone();
    let asking = LinkOptions { token: Some(token), ..link.clone() };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = &over;
        scope.spawn(move || answering.serve(&|| over.load(Ordering::Relaxed)));
        let probed = probe(&contact, TransportKind::Verbs, &asking);
        over.store(true, Ordering::Relaxed);
        probed
    })
}

/// Who is dialled, and how.
struct Dialling<'a> {
    contact: &'a Contact,
    transport: TransportKind,
    link: &'a LinkOptions,
    token: Option<Token>,
    tls: Option<TlsIdentity>,
    deadline: Instant,
}

impl Dialling<'_> {
    fn dial(&self, epoch: Option<u128>) -> Result<Link, DialError> {
        let options = DialOptions::new(self.deadline)
            .with_purpose(Purpose::Data)
            .with_epoch(epoch)
            .with_token(self.token.clone())
            .with_tls(self.tls.clone())
            .with_domain(Domain::new().with_device(pinned_device(self.link)))
            .with_policy(TransportPolicy::only(self.transport));
        dial(self.contact, &options)
    }
}

/// A link to an answering side.
struct Asking {
    link: Link,
    deadline: Instant,
}

impl Asking {
    fn measure(mut self) -> Result<Probed, ProbeError> {
        // What is better and was not dialled here is on other lines.
        let negotiated = fp_transport::Negotiated { refused: Vec::new(), ..self.link.negotiated().clone() };
        let latency = self.latency()?;
        let (checked_bytes, bandwidth_bytes_per_s) = self.bandwidth()?;
        let measured = Measured { checked_bytes, bandwidth_bytes_per_s, latency };
        Ok(Probed { link: negotiated.to_string(), measured: Some(measured) })
    }

    /// Sends a request; the answer repeats it.
    fn ask(&mut self, request: Request) -> Result<InFrame, ProbeError> {
        self.link.send_all(OutFrame::new(request.encode()), self.deadline)?;
        let mut frame = self.link.recv_deadline(self.deadline)?;
        let (answered, rest) = Request::decode(&frame.head)?;
        if answered != request {
            return Err(ProbeError::Answer { what: "an answer to something else" });
        }
        frame.head = rest.into();
        Ok(frame)
    }

    /// Half the median round trip, after some that warm up and set up the rings.
    fn latency(&mut self) -> Result<Duration, ProbeError> {
        for number in 0..20 {
            self.ask(Request::Ping(number))?;
        }
        let began = Instant::now();
        let mut trips = Vec::new();
        while trips.len() < 3 || (began.elapsed() < MEASURING && (trips.len() as u64) < LIMIT_TRIPS) {
            let sent = Instant::now();
            self.ask(Request::Ping(trips.len() as u64))?;
            trips.push(sent.elapsed());
        }
        trips.sort_unstable();
        Ok(trips.get(trips.len() / 2).copied().unwrap_or_default() / 2)
    }

    /// Takes all bytes again and again. The first round finds cold memory, and counts only where it takes so long that
    /// another would be too much to ask.
    fn bandwidth(&mut self) -> Result<(u64, f64), ProbeError> {
        let seed = (u64::from(std::process::id()) << 32) | 0x5eed;
        let prepared = self.ask(Request::Prepare(seed))?;
        let bytes = self.bytes(prepared)?;
        let mut array = vec![0; BULK_BYTES];
        let cold = self.round(0, seed, &bytes, &mut array)?;
        let (mut rounds, mut taken) = if cold > 4 * MEASURING { (1, cold) } else { (0, Duration::ZERO) };
        while taken < MEASURING {
            rounds += 1;
            taken += self.round(rounds, seed, &bytes, &mut array)?;
        }
        let bytes = rounds * BULK_BYTES as u64;
        Ok((bytes, bytes as f64 / taken.as_secs_f64()))
    }

    /// Takes all bytes once, and says how long that took. The check that they are right is outside of that time.
    fn round(
        &mut self,
        number: u64,
        seed: u64,
        bytes: &Bytes,
        array: &mut [u8],
    ) -> Result<Duration, ProbeError> {
        array.fill(0);
        let began = Instant::now();
        let answer = self.ask(Request::Take(number))?;
        self.take(&answer, bytes, array)?;
        let taken = began.elapsed();
        check(array, seed)?;
        Ok(taken)
    }

    /// The bytes where they lie, if this process can get them by itself.
    fn bytes(&self, prepared: InFrame) -> Result<Bytes, ProbeError> {
        let short = || ProbeError::Answer { what: "a place that is cut short" };
        match self.link.transport() {
            TransportKind::Inproc => {
                let key = prepared.head.first_chunk().map(|bytes| InprocKey(u128::from_le_bytes(*bytes)));
                let withdrawn = ProbeError::Answer { what: "a key under which nothing lies" };
                Ok(Bytes::Seen(inproc::import(key.ok_or_else(short)?).ok_or(withdrawn)?))
            }
            TransportKind::Shm => {
                let (len_bytes, rest) = prepared.head.split_first_chunk().ok_or_else(short)?;
                let offset = rest.first_chunk().ok_or_else(short)?;
                let descriptor = prepared.descriptors.into_iter().next().ok_or_else(short)?;
                let options = MapOptions::default().with_prefault(true);
                let segment = MappedSegment::map(descriptor, u64::from_le_bytes(*len_bytes), options)?;
                let slice = segment.slice(u64::from_le_bytes(*offset), BULK_BYTES as u64)?;
                Ok(Bytes::Seen(Payload::from_owner(slice)))
            }
            TransportKind::Verbs => {
                let place = prepared.head.first_chunk().ok_or_else(short)?;
                Ok(Bytes::Read(told(place, BULK_BYTES as u64).ok_or_else(short)?))
            }
            TransportKind::Tcp | _ => Ok(Bytes::Sent),
        }
    }

    /// Brings the bytes of a round to the array.
    fn take(&mut self, answer: &InFrame, bytes: &Bytes, array: &mut [u8]) -> Result<(), ProbeError> {
        let wrong_len = ProbeError::Answer { what: "bytes of another length" };
        match bytes {
            Bytes::Seen(payload) if payload.len() == array.len() => array.copy_from_slice(payload.as_slice()),
            Bytes::Read(remote) => {
                let run = ReadRun { source: 0, destination: 0, len_bytes: array.len() };
                let mut destination = self.link.register(array)?;
                self.link.read_remote(remote, &mut destination, &[run], self.deadline)?;
            }
            Bytes::Sent if answer.body_len == array.len() as u64 => {
                self.link.recv_body_deadline(array, self.deadline)?;
            }
            Bytes::Seen(_) | Bytes::Sent => return Err(wrong_len),
        }
        Ok(())
    }
}

/// How the bytes come.
enum Bytes {
    /// This process sees them.
    Seen(Payload),
    /// They are READ from there.
    Read(RemoteMemory),
    /// They come by the link.
    Sent,
}
