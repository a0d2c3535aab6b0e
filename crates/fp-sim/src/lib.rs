//! The machines of `fp-proto` in worlds of their own: whole cohorts in one thread, on virtual time.
//!
//! * `simulator` plays seeds: each draws cohorts, their habits and the faults that hit them. Oracles judge the run.
//! * [`scale`] runs as many ranks as no machine of ours has, over links that cost. It counts messages, memory and time.
//!
//! Programs for both are in `examples/`, and tests of both in `tests/`.

mod queue;
pub mod scale;
// It can switch on the deliberate mistakes of the machines, which no other build has.
#[cfg(feature = "mutations")]
pub mod simulator;
