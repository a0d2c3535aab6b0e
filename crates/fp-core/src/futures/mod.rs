//! The asynchronous calls: plain futures, which work under any executor, as they need none.
//!
//! Who waits for steps, for room or for ranks registers a waker, and the process's background thread, which drives
//! the handle meanwhile, wakes it when something has happened, or at its deadline. Who takes elements has a thread of
//! [`crate::workers`] move the bytes, unless they are few and lie in memory that is here: then the poll copies them.
//! A poll never waits, and nothing is polled for: each is called for an event.

mod arrays;
mod errand;
mod fetching;
mod leaving;
mod publishing;
mod subscribing;
mod viewing;

pub use arrays::{Append, Arrays};
pub use fetching::{AsyncFetch, Fetched};
