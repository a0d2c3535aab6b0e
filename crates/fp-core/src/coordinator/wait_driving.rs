//! Waiting on the thread that calls: it drives the endpoint meanwhile, or waits for who does.

use crate::coordinator::cores::cores_suffice;
use crate::coordinator::{Endpoint, Look, Role, State};
use crate::value::interrupt::ASK;
use fp_proto::time::Moment;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a call waits.
#[derive(Clone, Copy)]
struct Wait {
    started: Instant,
    deadline: Instant,
    /// Until then it looks by itself, whatever `busy_poll` is.
    looks_until: Option<Instant>,
}

impl<R: Role> Endpoint<R> {
    /// Waits until `check` is content, driving all the while; `None` at the deadline. A check that is not content says
    /// when it wants to look again at the latest.
    pub(crate) fn wait<T>(
        &self,
        deadline: Instant,
        check: impl FnMut(&mut State<R>, Moment) -> Look<T>,
    ) -> Option<T> {
        self.wait_since(Instant::now(), deadline, check)
    }

    /// As `wait`, for who has looked at the clock just now.
    pub(crate) fn wait_since<T>(
        &self,
        started: Instant,
        deadline: Instant,
        check: impl FnMut(&mut State<R>, Moment) -> Look<T>,
    ) -> Option<T> {
        self.wait_as(Wait { started, deadline, looks_until: None }, check)
    }

    /// As `wait`, for who is to hear of others within a moment: where no thread waits for a core, it looks by
    /// itself for so long before it sleeps.
    pub(crate) fn wait_looking<T>(
        &self,
        (deadline, looks_for): (Instant, Duration),
        check: impl FnMut(&mut State<R>, Moment) -> Look<T>,
    ) -> Option<T> {
        let looks = cores_suffice();
        let started = Instant::now();
        self.wait_as(Wait { started, deadline, looks_until: looks.then(|| started + looks_for) }, check)
    }

    fn wait_as<T>(&self, wait: Wait, check: impl FnMut(&mut State<R>, Moment) -> Look<T>) -> Option<T> {
        let mut slept = false;
        let found = self.wait_driving(wait, check, &mut slept);
        if slept && !self.attended.load(Ordering::SeqCst) {
            self.leave();
        }
        found
    }

    /// As `wait`; says whether it slept.
    fn wait_driving<T>(
        &self,
        Wait { started, deadline, looks_until }: Wait,
        mut check: impl FnMut(&mut State<R>, Moment) -> Look<T>,
        slept: &mut bool,
    ) -> Option<T> {
        let mut state = self.lock();
        let mut ask = self.interrupt.as_ref().map(|interrupt| (interrupt, started + ASK));
        let mut looked = Some(started);
        loop {
            let now = looked.take().unwrap_or_else(Instant::now);
            let answer = check(&mut state, self.clock.moment(now));
            let moved = self.perform_some(&mut state, usize::MAX);
            let again = match answer {
                Ok(answer) => {
                    self.settle(&mut state);
                    return Some(answer);
                }
                Err(again) => again.map_or(deadline, |again| self.clock.instant(again).min(deadline)),
            };
            if moved && now < deadline {
                // What the check itself set going may be what it waits for.
                continue;
            }
            if now >= deadline {
                self.settle(&mut state);
                return None;
            }
            if let Some((interrupt, due)) = &mut ask
                && now >= *due
            {
                // Whoever answers may wait for a thread that waits for this lock.
                self.settle(&mut state);
                drop(state);
                if interrupt.is_asked() {
                    return None;
                }
                *due = Instant::now() + ASK;
                state = self.lock();
                continue;
            }
            *slept = true;
            let again = ask.map_or(again, |(_, due)| again.min(due));
            state = match state.polling {
                true => self.wait_for_poller(state, again),
                false => {
                    state.show_signals();
                    let state = self.poll_descriptors(state, again, looks_until);
                    // The turn looked at the clock.
                    looked = Some(state.left_alone_since);
                    state
                }
            };
        }
    }

    /// Wakes those who wait for somebody else's polling; a wake that nobody waits for would cost a system call.
    pub(super) fn tell_waiting(&self, state: &State<R>) {
        if state.waiting > 0 {
            self.progress.notify_all();
        }
    }

    fn wait_for_poller<'a>(
        &self,
        mut state: MutexGuard<'a, State<R>>,
        until: Instant,
    ) -> MutexGuard<'a, State<R>> {
        let left = until.saturating_duration_since(Instant::now());
        self.settle(&mut state);
        state.waiting += 1;
        let mut state = self.progress.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        state.waiting -= 1;
        state
    }
}
