//! Follows the stream `heat` as a task: the calls are plain futures, so any executor will do. This one has ten lines.
use flexpath::{NextStep, Region, Selection, Subscriber, SubscriberOptions};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

async fn follow() -> Result<(), Box<dyn std::error::Error>> {
    let middle = Selection::Region(Region::new([48], [4])?);
    let mut subscriber = Subscriber::open_async("heat", SubscriberOptions::default()).await?;
    let mut cells = Vec::<f64>::new();
    loop {
        // Dropping this future before it is ready loses no step; a `select` may do so.
        match subscriber.next_step_async(Duration::from_secs(10)).await? {
            NextStep::Step(step) => {
                // The call owns the memory until it is done, and gives it back to be used again.
                let (outcome, filled) = step.get_into_async("temperature", &middle, cells).await;
                outcome?;
                println!("step {}: {filled:.2?}", step.step());
                cells = filled;
            }
            NextStep::NotYet => println!("no step for 10 s"),
            NextStep::Ended(ending) => {
                println!("{}", ending.reason);
                // A subscriber that is dropped leaves as well, but a task should not wait in a drop.
                return Ok(subscriber.close_async().await?);
            }
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(task: F) -> F::Output {
    let (mut task, waker) = (pin!(task), Arc::new(Unpark(thread::current())).into());
    loop {
        match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    block_on(follow())
}
