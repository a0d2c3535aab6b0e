//! What the benches share: pinning, medians, a connected pair.
#![allow(dead_code, unreachable_pub)] // each bench uses its part

#[path = "../../tests/support/certificates.rs"]
mod certificates;

use fp_transport::{
    DialOptions, Link, ListenOptions, Listener, TlsIdentity, TlsOptions, TransportKind, TransportPolicy, dial,
};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// Long enough that only a hang reaches it.
pub fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Pins the calling thread to a core, where there are that many (counted before anything is pinned).
pub fn pin(core: usize) {
    static CORES: OnceLock<usize> = OnceLock::new();
    let mut cores = CpuSet::new();
    cores.set(core % *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from)));
    sched_setaffinity(None, &cores).expect("a core");
}

pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Both ends of a link within this process.
pub fn linked(kind: TransportKind) -> (Link, Link) {
    linked_with(kind, None)
}

/// Both ends of a tcp link with TLS.
pub fn linked_with_tls() -> (Link, Link) {
    let authority = certificates::Authority::new();
    let own = authority.issue("flexpath");
    let tls = TlsOptions::new(own.certificate, own.key, authority.path()).load().expect("sound files");
    linked_with(TransportKind::Tcp, Some(tls))
}

fn linked_with(kind: TransportKind, tls: Option<TlsIdentity>) -> (Link, Link) {
    let mut listener = Listener::bind(ListenOptions::new(1).with_tls(tls.clone())).expect("a listener");
    let contact = listener.contact().clone();
    let options = DialOptions::new(deadline()).with_policy(TransportPolicy::only(kind)).with_tls(tls);
    let dialling = thread::spawn(move || dial(&contact, &options).expect("the dial succeeds"));
    let accepted = loop {
        if let Some(accepted) = listener.accept(Instant::now()).expect("the listener is sound") {
            break accepted.link;
        }
        thread::yield_now();
    };
    (dialling.join().expect("no panic"), accepted)
}
