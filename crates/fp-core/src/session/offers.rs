//! The transforms that a publisher offers, as it told them last.

use fp_proto::subscriber::AttachmentId;
use fp_transform::Offers;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a publisher is taken to offer the transforms that it offered.
const FRESH: Duration = Duration::from_secs(1);

/// What a publisher offered.
struct Offered {
    since: Instant,
    /// In which opening of the stream.
    epoch: Option<AttachmentId>,
    offers: Arc<Offers>,
}

/// What a publisher offered when it was asked last.
#[derive(Default)]
pub(crate) struct KnownOffers(Mutex<Option<Offered>>);

impl KnownOffers {
    fn lock(&self) -> MutexGuard<'_, Option<Offered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, epoch: Option<AttachmentId>) -> Option<Arc<Offers>> {
        let known = self.lock();
        let known = known.as_ref().filter(|known| known.epoch == epoch && known.since.elapsed() < FRESH)?;
        Some(known.offers.clone())
    }

    pub(crate) fn keep(&self, epoch: Option<AttachmentId>, offers: Arc<Offers>) {
        *self.lock() = Some(Offered { since: Instant::now(), epoch, offers });
    }

    /// Has the publisher asked again.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }
}
