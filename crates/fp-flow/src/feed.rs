//! One of several streams: its subscriber, what it gave and was not looked at yet, and whether it is late.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fp_core::{CloseError, Epoch, NextStep, StepReader, Subscriber};

use crate::late::Lateness;
use crate::stay::{Pinned, Stay};
use crate::wait::{Came, Slot};

/// A stream of several.
pub(crate) struct Feed {
    name: Arc<str>,
    /// None when no more steps are taken.
    subscriber: Option<Subscriber>,
    stay: Arc<Stay>,
    credit: u32,
    /// What was taken and not looked at: it is here before anything is awaited, so a dropped call loses nothing.
    came: Option<Came>,
    /// The step whose key is not known yet.
    pending: Option<Arc<Pinned>>,
    epoch: Option<Epoch>,
    lateness: Lateness,
}

impl Feed {
    pub(crate) fn new(subscriber: Subscriber) -> Self {
        Self {
            name: subscriber.stream().into(),
            credit: subscriber.options().held_steps(),
            subscriber: Some(subscriber),
            stay: Arc::default(),
            came: None,
            pending: None,
            epoch: None,
            lateness: Lateness::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        self.name.clone()
    }

    /// The opening of which it gave a step last.
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        self.epoch
    }

    pub(crate) fn credit(&self) -> u32 {
        self.credit
    }

    /// Its steps that are held, by rows and by the program.
    pub(crate) fn held(&self) -> u32 {
        self.stay.held()
    }

    /// Whether so many steps are held that it gives no other.
    pub(crate) fn is_spent(&self) -> bool {
        self.held() >= self.credit
    }

    pub(crate) fn is_late(&self) -> bool {
        self.lateness.is_late()
    }

    /// Others wait for it: since when, unless it cannot give anything.
    pub(crate) fn await_from(&mut self, now: Instant) -> Option<Instant> {
        if self.is_spent() {
            self.lateness.await_no_more();
            return None;
        }
        Some(self.lateness.await_from(now))
    }

    /// Nobody waits for it.
    pub(crate) fn await_no_more(&mut self) {
        self.lateness.await_no_more();
    }

    /// It was looked at: whether it gave nothing, and is late from now on.
    pub(crate) fn judge(&mut self, now: Instant, patience: Duration) -> bool {
        !self.has_come() && self.lateness.judge(now, patience)
    }

    /// Whether it gave something that was not looked at.
    pub(crate) fn has_come(&self) -> bool {
        self.came.as_ref().is_some_and(|came| !matches!(came, Ok(NextStep::NotYet)))
    }

    /// A wait for its next step, and the place for that.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Option<Slot<'_>> {
        let waiting = Box::pin(self.subscriber.as_mut()?.next_step_async(timeout));
        Some((&mut self.came, waiting))
    }

    /// What was taken last, but for what says nothing.
    pub(crate) fn take_came(&mut self) -> Option<Came> {
        self.came.take().filter(|came| !matches!(came, Ok(NextStep::NotYet)))
    }

    /// A step of it, held.
    pub(crate) fn pin(&self, step: StepReader) -> Arc<Pinned> {
        Arc::new(Pinned::new(step, &self.stay))
    }

    pub(crate) fn set_pending(&mut self, step: StepReader) {
        self.pending = Some(self.pin(step));
    }

    pub(crate) fn pending(&self) -> Option<&Pinned> {
        self.pending.as_deref()
    }

    /// The step whose key is known now: it is in time, whatever was before.
    pub(crate) fn take_pending(&mut self) -> Option<Arc<Pinned>> {
        self.lateness.came();
        self.pending.take()
    }

    /// Whether a step of this opening is the first of another one than before.
    pub(crate) fn is_restarted(&mut self, epoch: Option<Epoch>) -> bool {
        let before = std::mem::replace(&mut self.epoch, epoch);
        before.is_some() && before != epoch
    }

    /// Takes no more steps. It leaves the stream when none of it is held any more, and nobody waits for that.
    pub(crate) fn retire(&mut self) {
        (self.came, self.pending) = (None, None);
        if let Some(subscriber) = self.subscriber.take() {
            std::mem::take(&mut self.stay).retire(subscriber);
        }
    }

    /// As [`Feed::retire`], but a stream of which nothing is held is left here, as a subscriber that is dropped leaves.
    pub(crate) fn leave(&mut self) {
        (self.came, self.pending) = (None, None);
        match self.subscriber.take() {
            Some(subscriber) if self.held() == 0 => drop(subscriber),
            Some(subscriber) => std::mem::take(&mut self.stay).retire(subscriber),
            None => {}
        }
    }

    /// Leaves the stream now.
    pub(crate) fn close(&mut self) -> Result<(), CloseError> {
        (self.came, self.pending) = (None, None);
        self.subscriber.take().map_or(Ok(()), Subscriber::close)
    }
}
