//! A simulator of whole cohorts in one thread on virtual time: one seed decides everything. The machines are the
//! real ones; links, rendezvous, applications and memory are modelled; oracles with books of their own judge.
//!
//! [`run`] plays one seed. A seed becomes a `scenario`; `world` lets it happen; `oracle` judges it meanwhile.

mod application;
mod content;
mod data_message;
mod falsification;
mod layouts;
mod machine;
mod measuring;
mod names;
mod network;
mod oracle;
mod prng;
mod rendezvous;
mod runner;
mod scenario;
mod steering;
mod store;
mod trace;
mod world;

pub use falsification::{Falsification, Flaw};
pub use oracle::{Rule, Violation};
pub use runner::{Outcome, run};
pub use scenario::Scenario;
pub use trace::TraceMode;
