//! Where threads that look for members leave what they found, and who wants it is woken.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use fp_core::Subscriber;

use crate::family::event::FamilyEvent;

/// Notices that may lie here before no more members are looked for.
const LIMIT_NOTICES: usize = 1024;

/// Something that was found.
pub(crate) enum Notice {
    /// A new member.
    Attached { subscriber: Subscriber, is_again: bool },
    /// What is told as it is.
    Event(FamilyEvent),
}

#[derive(Default)]
struct State {
    notices: VecDeque<Notice>,
    waker: Option<Waker>,
    /// When who waits is woken though nothing was found.
    alarm: Option<Instant>,
    is_closed: bool,
}

/// Notices, the waker of who waits for them, and whether anybody ever will again.
#[derive(Default)]
pub(crate) struct Board {
    state: Mutex<State>,
    changed: Condvar,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a notice; it comes back if nobody will take it.
    pub(crate) fn post(&self, notice: Notice) -> Option<Notice> {
        let mut state = self.lock();
        if state.is_closed {
            return Some(notice);
        }
        state.notices.push_back(notice);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        None
    }

    pub(crate) fn take(&self) -> Option<Notice> {
        self.lock().notices.pop_front()
    }

    /// Whether there is a notice, or it is that late. Who asked is woken when one of these is so.
    pub(crate) fn poll(&self, ctx: &Context<'_>, alarm: Option<Instant>) -> bool {
        let waker = ctx.waker().clone();
        let mut state = self.lock();
        if !state.notices.is_empty() || alarm.is_some_and(|alarm| Instant::now() >= alarm) {
            return true;
        }
        state.alarm = alarm;
        let replaced = state.waker.replace(waker);
        drop(state);
        // Dropped outside the lock: it may be anybody's.
        drop(replaced);
        self.changed.notify_all();
        false
    }

    /// Whether there are so many notices that no more are to be looked for.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().notices.len() >= LIMIT_NOTICES
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Nobody takes notices any more: those that are left.
    pub(crate) fn close(&self) -> VecDeque<Notice> {
        let mut state = self.lock();
        state.is_closed = true;
        let left = std::mem::take(&mut state.notices);
        drop(state);
        self.changed.notify_all();
        left
    }

    /// Lets that much time pass: false if the board was closed meanwhile.
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut state = self.lock();
        while !state.is_closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Wakes who waits at its alarm, until the board is closed.
    pub(crate) fn keep_time(&self) {
        let mut state = self.lock();
        while !state.is_closed {
            let left = state.alarm.map(|alarm| alarm.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                let waker = state.waker.take();
                state.alarm = None;
                drop(state);
                waker.into_iter().for_each(Waker::wake);
                state = self.lock();
                continue;
            }
            state = match left {
                Some(left) => {
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
