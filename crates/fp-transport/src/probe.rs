//! What a dialler must answer to prove that a transport works: made by the listener, found by the dialler.

use crate::channel::Channel;
use crate::identity::random_u128;
use crate::lock::lock;
use crate::memory::sealed_memfd;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

/// Length of the probe's segment.
pub(crate) const PROBE_LEN_BYTES: u64 = 4096;

/// A challenge and its answer.
pub(crate) struct Probe {
    /// What the dialler must send back.
    pub(crate) answer: u128,
    /// What the reply says.
    pub(crate) challenge: u128,
    /// What goes beside the reply.
    pub(crate) descriptor: Option<Arc<OwnedFd>>,
    _entry: Option<Entry>,
}

impl Probe {
    /// tcp: the nonce comes back.
    pub(crate) fn tcp() -> Probe {
        let nonce = random_u128();
        Probe { answer: nonce, challenge: nonce, descriptor: None, _entry: None }
    }

    /// shm: the nonce lies in a sealed segment that the dialler must be able to map. `None`: no memory for it.
    pub(crate) fn shm() -> Option<Probe> {
        let answer = random_u128();
        let (fd, mapping) = sealed_memfd(PROBE_LEN_BYTES as usize).ok()?;
        let [low, high, ..] = mapping.words() else { return None };
        low.store(answer as u64, Ordering::Relaxed);
        high.store((answer >> 64) as u64, Ordering::Relaxed);
        Some(Probe { answer, challenge: 0, descriptor: Some(Arc::new(fd)), _entry: None })
    }

    /// verbs: the answer lies in registered memory that the dialler must be able to read.
    pub(crate) fn verbs(channel: &mut Channel) -> Option<Probe> {
        let answer = random_u128();
        let (address, key) = channel.stream()?.offer_probe(answer);
        let challenge = u128::from(address) | (u128::from(key) << 64);
        Some(Probe { answer, challenge, descriptor: None, _entry: None })
    }

    /// inproc: the answer lies in a table that only this copy of the library sees.
    pub(crate) fn inproc() -> Probe {
        let (challenge, answer) = (random_u128(), random_u128());
        lock(answers()).insert(challenge, answer);
        Probe { answer, challenge, descriptor: None, _entry: Some(Entry(challenge)) }
    }
}

/// A line of the table, removed with its probe.
struct Entry(u128);

impl Drop for Entry {
    fn drop(&mut self) {
        lock(answers()).remove(&self.0);
    }
}

fn answers() -> &'static Mutex<HashMap<u128, u128>> {
    static ANSWERS: OnceLock<Mutex<HashMap<u128, u128>>> = OnceLock::new();
    ANSWERS.get_or_init(Mutex::default)
}

/// The answer to an inproc challenge, if it was made by this copy of the library in this process.
pub(crate) fn inproc_answer(challenge: u128) -> Option<u128> {
    lock(answers()).get(&challenge).copied()
}
