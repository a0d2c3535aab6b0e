//! The command as its users have it: processes of their own, so that all tests can share this one.

#[path = "../../../fp-transport/tests/support/certificates.rs"]
mod certificates;

mod bench;
mod check;
mod cli;
mod credentials;
mod doctor;
mod features;
mod forgetful;
mod forwarding;
mod forwarding_anew;
mod forwarding_bytes;
mod forwarding_faults;
mod forwarding_hops;
mod forwarding_requests;
mod forwarding_restarts;
mod forwarding_selections;
mod guides;
mod kinds;
mod library;
mod meet;
mod places;
mod recording;
mod render;
mod staging;
mod staging_bounds;
mod staging_damage;
mod staging_hosts;
mod staging_namespaces;
mod staging_ranks;
mod staging_selections;
mod status;
mod support;
mod texts;
mod two_hosts;
mod types;
mod watch_restarts;
mod watched_field;
mod watched_late;
mod watched_steps;
mod watches;
mod wire;
