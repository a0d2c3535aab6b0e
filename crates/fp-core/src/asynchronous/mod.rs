//! The asynchronous calls: plain futures, which work under any executor, as they need none.
//!
//! Whoever waits for steps, for room or for ranks registers a waker. The process's background thread drives the handle
//! meanwhile. It wakes the task when something has happened, or at the deadline. Whoever takes elements has a thread of
//! [`crate::coordinator::workers`] move the bytes. The poll itself copies them where they are few and lie in memory
//! that is here. A poll never waits, and nothing is polled for: each is called for an event.
//!
//! Blocking calls inside a task are not refused. Nothing in the standard library tells a thread that it is inside a
//! poll. A check of one runtime would say nothing under all others.

pub(crate) mod arrays;
pub(crate) mod errand;
pub(crate) mod events;
pub(crate) mod fetch;
pub(crate) mod leave;
pub(crate) mod next_step;
pub(crate) mod publisher;
pub(crate) mod step;
#[cfg(feature = "stream")]
pub(crate) mod steps;
pub(crate) mod subscriber;
