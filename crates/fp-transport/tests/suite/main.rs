//! Links and segments as their users have them, all in one binary: linking one for each file would be most of a
//! rebuild.
//!
//! Processes that a test starts are this binary again, with the `child_entry` of the test's module.

#[path = "../support/mod.rs"]
mod support;

mod conformance;
mod dialling;
mod handshake;
mod impostors;
mod rings;
mod segments;
mod strangers;
mod tls;
mod verbs_bindings;
mod without_verbs;
