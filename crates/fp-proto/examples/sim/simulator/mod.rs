//! A simulator of whole cohorts in one thread on virtual time: one seed decides everything. The machines are the
//! real ones; links, rendezvous, applications and memory are modelled; oracles with books of their own judge.

mod boot;
mod content;
mod data;
mod driving;
mod faults;
mod layouts;
mod locating;
mod machine;
mod network;
mod oracle;
mod prng;
mod publisher_app;
mod queue;
mod reading;
mod rendezvous;
pub(crate) mod runner;
pub(crate) mod scenario;
mod store;
mod striking;
mod subscriber_app;
pub(crate) mod trace;
mod world;
