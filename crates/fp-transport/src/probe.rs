//! What a dialler must answer to prove that a transport works: made by the listener, found by the dialler.

use crate::channel::Channel;
use crate::identity::random_u128;
use crate::lock::lock;
use crate::memory::{Mapping, sealed_memfd};
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
    /// Over shm the segment, as this side writes it.
    page: Option<Mapping>,
}

impl Probe {
    /// tcp: the nonce comes back.
    pub(crate) fn tcp() -> Probe {
        let nonce = random_u128();
        Probe { answer: nonce, challenge: nonce, descriptor: None, _entry: None, page: None }
    }

    /// shm: the nonce lies in a sealed segment that the dialler must be able to map. `None`: no memory for it. The segment
    /// may be that of a handshake that is over: whoever had it then finds another nonce there, and has no use for it.
    pub(crate) fn shm(over: Option<Probe>) -> Option<Probe> {
        let answer = random_u128();
        let (fd, page) = over.and_then(Probe::into_segment).or_else(|| {
            let (fd, page) = sealed_memfd(PROBE_LEN_BYTES as usize).ok()?;
            Some((Arc::new(fd), page))
        })?;
        let [low, high, ..] = page.words() else { return None };
        low.store(answer as u64, Ordering::Relaxed);
        high.store((answer >> 64) as u64, Ordering::Relaxed);
        Some(Probe { answer, challenge: 0, descriptor: Some(fd), _entry: None, page: Some(page) })
    }

    /// Whether it has a segment.
    pub(crate) fn is_shm(&self) -> bool {
        self.page.is_some()
    }

    /// `None` in a forked child too: it has the descriptor, and not the page.
    fn into_segment(self) -> Option<(Arc<OwnedFd>, Mapping)> {
        let page = self.page.filter(Mapping::is_here)?;
        Some((self.descriptor?, page))
    }

    /// verbs: the answer lies in registered memory that the dialler must be able to read.
    pub(crate) fn verbs(channel: &mut Channel) -> Option<Probe> {
        let answer = random_u128();
        let (address, key) = channel.stream()?.offer_probe(answer);
        let challenge = u128::from(address) | (u128::from(key) << 64);
        Some(Probe { answer, challenge, descriptor: None, _entry: None, page: None })
    }

    /// inproc: the answer lies in a table that only this copy of the library sees.
    pub(crate) fn inproc() -> Probe {
        let (challenge, answer) = (random_u128(), random_u128());
        lock(answers()).insert(challenge, answer);
        Probe { answer, challenge, descriptor: None, _entry: Some(Entry(challenge)), page: None }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    /// What the page of a probe says, as its dialler reads it.
    fn shown(probe: &Probe) -> u128 {
        let descriptor = probe.descriptor.as_ref().expect("a segment");
        let page =
            Mapping::shared_readable(descriptor.as_fd(), PROBE_LEN_BYTES as usize, false).expect("a page");
        let [low, high, ..] = page.words() else { panic!("a page of words") };
        u128::from(low.load(Ordering::Relaxed)) | (u128::from(high.load(Ordering::Relaxed)) << 64)
    }

    #[test]
    fn a_probe_takes_the_segment_of_one_that_is_over_and_another_nonce() {
        let old = Probe::shm(None).expect("memory");
        let (segment, answer) = (old.descriptor.clone().expect("a segment"), old.answer);
        assert_eq!(shown(&old), answer);
        let probe = Probe::shm(Some(old)).expect("memory");
        assert!(Arc::ptr_eq(probe.descriptor.as_ref().expect("a segment"), &segment));
        assert_ne!(probe.answer, answer);
        assert_eq!(shown(&probe), probe.answer);
    }
    /// It would write to a page that is not there.
    #[test]
    fn a_forked_child_leaves_the_segment_of_its_parent_alone() {
        let mut old = Probe::shm(None).expect("memory");
        let segment = old.descriptor.clone().expect("a segment");
        old.page = old.page.map(Mapping::of_a_parent);
        let probe = Probe::shm(Some(old)).expect("memory");
        assert!(!Arc::ptr_eq(probe.descriptor.as_ref().expect("a segment"), &segment));
        assert_eq!(shown(&probe), probe.answer);
    }
}
