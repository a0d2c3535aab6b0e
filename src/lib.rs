//! Flexpath: typed publish/subscribe for parallel science.
//!
//! A [`Publisher`] opens a stream and writes steps. A [`Subscriber`] attaches while it runs, and leaves when it likes.
//! It takes the slices that it asks for straight from the ranks that own them. The README has both as programs.
//!
//! # For tasks
//!
//! Every call that may wait has a counterpart that returns a plain future. It needs no particular executor: tokio,
//! smol, or the loop of ten lines in `examples/async_subscriber.rs`.
//!
//! | waits | its future | dropped before it is ready |
//! |---|---|---|
//! | [`Publisher::open`], [`Subscriber::open`] | `open_async` | what was opened is closed again |
//! | [`Subscriber::of`] | [`Subscriber::of_async`] | the step that was looked at is still the next one |
//! | [`Publisher::begin_step`] | [`Publisher::begin_step_async`] | no step is begun |
//! | [`Publisher::sync`] | [`Publisher::sync_async`] | nothing changes |
//! | [`Subscriber::next_step`] | [`Subscriber::next_step_async`] | no step is lost: the next call gives it |
//! | the same | `Subscriber::steps`, a `Stream` (feature `stream`) | no step is lost |
//! | [`StepReader::get`], [`StepReader::get_into`] | [`StepReader::get_async`], [`StepReader::get_into_async`] | the stream goes on; the memory is freed when nothing can write there any more |
//! | [`StepReader::fetch`], [`StepReader::view`] | [`StepReader::fetch_async`], [`StepReader::view_async`] | as above |
//! | [`StepReader::variables`] | [`StepReader::variables_async`] | nothing is lost |
//! | [`Publisher::close`], [`Subscriber::close`] | `close_async` | it goes on closing |
//!
//! No poll waits, and none is called but for an event or a deadline. The waiting calls are not refused inside a task,
//! as nothing tells them that they are in one. Nor is dropping a [`Publisher`] or a [`Subscriber`] that was not closed:
//! it waits as `close` does. So a task awaits the futures alone, and `close_async` before it drops a handle. Waiting
//! calls stand on threads that may wait: `spawn_blocking` of tokio, `blocking` of smol, or threads of your own.
//! `examples/two_streams.rs` serves two streams and a timer in one `select!`.
//!
//! # For records
//!
//! `#[derive(flexpath::Record)]` makes a Rust struct a record: see docs/types.md. Structs that are put and viewed as
//! they lie in memory are `Pod` as well, which the derives of [`bytemuck`] make them.
//!
//! # Derived variables
//!
//! [`SubscriberOptions::with_derivation`] has a variable computed where the data is: see docs/derived.md.
#![forbid(unsafe_code)]
pub use bytemuck;
pub use fp_core::*;
pub use fp_derive::Record;

/// The programs of docs/types.md, which the tests run.
#[cfg(doctest)]
#[doc = include_str!("../docs/types.md")]
struct Guide;

/// The programs of docs/derived.md, which the tests run.
#[cfg(doctest)]
#[doc = include_str!("../docs/derived.md")]
struct DerivedGuide;
