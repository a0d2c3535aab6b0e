//! The steps of a subscriber as a stream of values, for services that select among many things.

use crate::asynchronous::next_step::next_step;
use crate::error::ReadError;
use crate::session::subscriber::SubscriberSession;
use crate::step::StepReader;
use crate::subscriber::NextStep;
use futures_core::Stream;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A wait for the next step.
type Waiting = Pin<Box<dyn Future<Output = Result<NextStep, ReadError>> + Send>>;

/// The steps of a subscriber, one after the other. It ends as the publisher's stream does, whatever the reason:
/// [`Subscriber::next_step`](crate::Subscriber::next_step) tells it. An error ends it too.
///
/// Cancel safe: only the poll that gives a step takes it. Neither a `next` that is dropped nor these steps lose one.
pub struct Steps<'a> {
    shared: Arc<SubscriberSession>,
    waiting: Option<Waiting>,
    is_over: bool,
    /// Nobody else takes steps meanwhile.
    subscriber: PhantomData<&'a mut ()>,
}

impl Steps<'_> {
    pub(crate) fn new(shared: &Arc<SubscriberSession>) -> Self {
        Self { shared: shared.clone(), waiting: None, is_over: false, subscriber: PhantomData }
    }
}

impl fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").field("stream", &self.shared.stream).field("is_over", &self.is_over).finish()
    }
}

impl Stream for Steps<'_> {
    type Item = Result<StepReader, ReadError>;

    fn poll_next(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let steps = &mut *self;
        while !steps.is_over {
            let waiting = steps.waiting.get_or_insert_with(|| wait(steps.shared.clone()));
            let came = ready!(waiting.as_mut().poll(ctx));
            steps.waiting = None;
            match came {
                Ok(NextStep::Step(step)) => return Poll::Ready(Some(Ok(step))),
                // Not within all of time.
                Ok(NextStep::NotYet) => {}
                Ok(NextStep::Ended(_)) => steps.is_over = true,
                Err(error) => {
                    steps.is_over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        Poll::Ready(None)
    }
}

fn wait(shared: Arc<SubscriberSession>) -> Waiting {
    Box::pin(async move { next_step(&shared, Duration::MAX).await })
}
