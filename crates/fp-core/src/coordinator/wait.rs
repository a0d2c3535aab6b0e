//! Waiting without a thread: a task looks, registers its waker and goes. The background thread drives meanwhile, and
//! whoever drives wakes the task.

use crate::coordinator::background::REARM;
use crate::coordinator::wakers::{Awaited, Replaced, Seat};
use crate::coordinator::{Endpoint, Look, Role, State};
use fp_proto::time::Moment;
use std::task::{Context, Poll};
use std::time::Instant;

impl<R: Role> Endpoint<R> {
    /// As [`Endpoint::wait`], for a task. Only a look that is content takes something from the endpoint, in the very
    /// poll that says so. Dropped before, it has taken nothing.
    pub(crate) async fn wait_async<T>(
        &self,
        deadline: Instant,
        mut check: impl FnMut(&mut State<R>, Moment) -> Look<T>,
    ) -> Option<T> {
        let seat = self.wakers.seat();
        std::future::poll_fn(|ctx| self.poll_wait(&seat, deadline, &mut check, ctx)).await
    }

    fn poll_wait<T>(
        &self,
        seat: &Seat<'_>,
        deadline: Instant,
        check: &mut impl FnMut(&mut State<R>, Moment) -> Look<T>,
        ctx: &Context<'_>,
    ) -> Poll<Option<T>> {
        if let Some(answer) = self.look_briefly(check) {
            return Poll::Ready(Some(answer));
        }
        let waker = ctx.waker().clone();
        let mut state = self.lock();
        let again = loop {
            let answer = check(&mut state, self.clock.now());
            let moved = self.drain(&mut state);
            let again = match answer {
                Ok(answer) => return Poll::Ready(Some(answer)),
                Err(again) => again.map_or(deadline, |again| self.clock.instant(again).min(deadline)),
            };
            if Instant::now() >= deadline {
                return Poll::Ready(None);
            }
            if !moved {
                break again;
            }
        };
        let replaced = seat.register(waker, Awaited::News, again);
        let left_alone = !state.polling;
        drop(state);
        drop(replaced);
        self.attend(left_alone, again);
        Poll::Pending
    }

    /// Wakes the task at its deadline, and for nothing else.
    pub(crate) fn alarm(&self, seat: &Seat<'_>, ctx: &Context<'_>, due: Instant) -> Replaced {
        let replaced = seat.register(ctx.waker().clone(), Awaited::Deadline, due);
        self.attend(false, due);
        replaced
    }

    /// A place among those that wait for this endpoint.
    pub(crate) fn seat(&self) -> Seat<'_> {
        self.wakers.seat()
    }

    /// A caller that slept here goes. The background thread may have gone to sleep for longer, so it is told to look
    /// again soon.
    pub(crate) fn leave(&self) {
        if let Some((background, _)) = self.registered.get() {
            background.be_awake_by(Instant::now() + REARM);
        }
    }

    /// The background thread watches the descriptors, unless a caller is at them, and is awake when it is `due`.
    fn attend(&self, watch: bool, due: Instant) {
        let Some((background, token)) = self.registered.get() else { return };
        if watch {
            background.arm(*token);
        }
        background.be_awake_by(due);
    }
}
